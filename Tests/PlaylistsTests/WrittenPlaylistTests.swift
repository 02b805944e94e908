// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import Playlists

struct WrittenPlaylistTests {
    @Test func `what is written is read again as it was`() {
        let list = Playlist(
            format: .m3u, title: "Täg",
            entries: [
                .init(urls: ["http://h/a%20b.mp3"], title: "A, \"B\"", duration: milliseconds(61_005)),
                .init(urls: ["http://h/b"], title: "Radio"), .init(urls: ["http://h/c"]),
                .init(
                    urls: ["http://h/d"], artist: "X", album: "Y", duration: milliseconds(2_000),
                    userAgent: "u",
                    referrer: "http://r/"),
            ])
        #expect(Playlist(decoding: Array(list.m3u.utf8), as: .m3u, base: "http://base/") == list)
        #expect(list.m3u.contains("#EXTINF:61.005,A, \"B\"\nhttp://h/a%20b.mp3\n"))
    }

    @Test(
        arguments: [
            ("file:///m/a%20%25.mp3", "/m/a %.mp3"), ("file:/m/%C3%BC.FLAC", "/m/ü.FLAC"),
            ("file:///m/list.m3u", "/m/list.m3u"),
            ("http://h/a.mp3", nil), ("file://nas/a.mp3", nil), ("file:///etc/passwd", nil),
            ("file:///etc/passwd?.mp3", nil), ("file:///etc/passwd#.mp3", nil),
            ("file:///etc/passwd%00.mp3", nil),
        ] as [(String, String?)])
    func `only media and playlists are files of a list`(_ url: String, _ path: String?) {
        #expect(Playlist.Entry(urls: [url]).mediaFile == path)
    }
}
