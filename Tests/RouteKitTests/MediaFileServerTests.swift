// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Soup
import Testing

@testable import RouteKit

@RouteActor struct MediaFileServerTests {
    private let client = HTTPClient()
    // This file itself: it is there, and its ending has no media type.
    private let path = #filePath

    @Test func `the file is served under its secret path and nothing else is`() async throws {
        let server = try MediaFileServer(file: path, reachedAt: "127.0.0.1")
        let answer = try await client.get(server.url, maximum: 1 << 20)
        #expect(answer.status == 200)
        #expect(Int64(answer.body.count) == server.size)
        #expect(server.url.hasSuffix("/MediaFileServerTests.swift"))
        let root = server.url.split(separator: "/").prefix(2).joined(separator: "//")
        for other in ["/", "/MediaFileServerTests.swift", "/../../etc/passwd"] {
            #expect(try await client.get(root + other, maximum: 1 << 20).status == 404)
        }
        server.stop()
    }

    @Test func `two servers have different secrets`() throws {
        let one = try MediaFileServer(file: path, reachedAt: "127.0.0.1")
        let other = try MediaFileServer(file: path, reachedAt: "127.0.0.1")
        #expect(one.url.split(separator: "/")[2] != other.url.split(separator: "/")[2])
        #expect(one.url.split(separator: "/")[2].count == 32)
    }

    @Test func `a file that is not there, or a folder, cannot be served`() {
        for path in ["/nonexistent", "/"] {
            #expect(throws: RoutingError(.unreadableFile, family: .session, "")) {
                try MediaFileServer(file: path, reachedAt: "127.0.0.1")
            }
        }
    }

    @Test func `the type follows the ending, the name is fit for a URL`() {
        #expect(MediaFileServer.mediaType(of: "a.FLAC") == "audio/flac")
        #expect(MediaFileServer.mediaType(of: "a.b.mkv") == "video/x-matroska")
        #expect(MediaFileServer.mediaType(of: "noending") == "application/octet-stream")
        #expect(MediaFileServer.urlName(of: "/x/My song #1?.mp3") == "My_song__1_.mp3")
    }

    @Test func `addresses are written as URLs have them`() {
        #expect(Receiver.Address(host: "::1", port: 1).description == "[::1]:1")
        #expect(Receiver.Address(host: "fe80::1%eth0", port: 1).description == "[fe80::1%25eth0]:1")
        #expect(Receiver.Address(host: "a.local", port: 80).description == "a.local:80")
    }

    @Test func `identifiers are UUIDs and differ`() {
        let one = RandomText.uuid()
        #expect(one.count == 36)
        #expect(one.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(one.split(separator: "-")[2].hasPrefix("4"))
        #expect(one != RandomText.uuid())
    }
}
