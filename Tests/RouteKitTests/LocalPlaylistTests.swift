// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Playlists
import Settings
import Soup
import Testing

@testable import RouteKit
@testable import linnet

@RouteActor final class LocalPlaylistTests {
    private let client = HTTPClient()
    private let folder: String

    init() throws {
        folder = "/tmp/linnet-playlist-\(RandomText.token())"
        try FileSystem.makeDirectory("\(folder)/sub")
        for (name, text) in [("50% #1?.mp3", "one"), ("sub/b c.flac", "two"), ("secret.txt", "three")] {
            try FileSystem.write(Array(text.utf8), to: "\(folder)/\(name)")
        }
    }

    isolated deinit {
        for name in ["50% #1?.mp3", "sub/b c.flac", "secret.txt", "list"] {
            try? FileSystem.remove("\(folder)/\(name)")
        }
        for name in ["/sub", ""] { try? FileSystem.removeDirectory(folder + name) }
    }

    private func write(_ text: String) throws -> String {
        try FileSystem.write(Array(text.utf8), to: "\(folder)/list")
        return "\(folder)/list"
    }

    @Test func `a list is served with its media files, and nothing else is`() async throws {
        let path = try write(
            """
            #EXTM3U
            #EXTINF:5,One
            50% #1?.mp3
            sub\\b%20c.flac
            http://h/live
            secret.txt
            gone.mp3
            """)
        let local = try #require(try LocalPlaylist(path))
        let server = try local.server(reachedAt: "127.0.0.1")
        let answer = try await client.get(server.url, maximum: 1 << 20)
        let list = Playlist(decoding: answer.body, as: .m3u, base: server.url)
        #expect(list.entries.count == 5)
        #expect(list.entries[0].title == "One")
        #expect(list.entries[2].urls == ["http://h/live"])
        // Not served, and refused by the receiver.
        #expect(list.entries[3].urls == ["file://\(folder)/secret.txt"])
        #expect(try await client.get(list.entries[0].urls[0], maximum: 99).body == Array("one".utf8))
        #expect(try await client.get(list.entries[1].urls[0], maximum: 99).body == Array("two".utf8))
        #expect(try await client.get(list.entries[4].urls[0], maximum: 99).status == 404)
        let root = server.url.prefix(server.url.utf8.count - "list.m3u".utf8.count)
        for other in ["", "1/", "9/secret.txt", "../list", "2/../1"] {
            #expect(try await client.get(root + other, maximum: 99).status == 404)
        }
        server.stop()
    }

    @Test func `media, other text and playlists of segments are no lists`() throws {
        #expect(try LocalPlaylist("\(folder)/sub/b c.flac") == nil)
        #expect(try LocalPlaylist(write("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n")) == nil)
        #expect(try LocalPlaylist(write("Once upon a time")) == nil)
        #expect(try LocalPlaylist(folder) == nil)
        #expect(try LocalPlaylist("\(folder)/nothing") == nil)
        #expect(throws: CommandFailure.self) { try LocalPlaylist(self.write("[playlist]\n")) }
    }
}
