// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Playlists

struct LimitTests {
    private let base = "http://example.org/lists/mine.m3u"

    private func read(_ text: String, _ format: Playlist.Format = .m3u, _ limits: Playlist.Limits) -> Playlist
    {
        Playlist(decoding: Array(text.utf8), as: format, base: base, limits: limits)
    }

    @Test func `no more entries are taken than the limit, and that is told`() {
        var limits = Playlist.Limits()
        limits.entries = 3
        #expect(read("a\nb\nc\n", .m3u, limits).entries.count == 3)
        #expect(!read("a\nb\nc\n", .m3u, limits).isCut)
        for (text, format) in [
            ("a\nb\nc\nd\n", .m3u), ("file1=a\nfile2=b\nfile3=c\nfile4=d", .pls),
            ("<asx><ref href=a><ref href=b><ref href=c><ref href=d>", .asx),
        ] as [(String, Playlist.Format)] {
            let list = read(text, format, limits)
            #expect(list.urls.map(\.last) == ["a", "b", "c"])
            #expect(list.isCut)
        }
    }

    @Test func `no more bytes are read than the limit`() {
        var limits = Playlist.Limits()
        limits.bytes = 3
        #expect(read("a\nb\nc\n", .m3u, limits).entries.count == 2)
        #expect(read("a\nb\nc\n", .m3u, limits).isCut)
    }

    @Test func `a line or value beyond the limit is left out, the others stay`() {
        let long = String(repeating: "x", count: 8_193)
        let list = read("a\n\(long)\n#EXTINF:1,\(long)\nb\n", .m3u, .init())
        #expect(list.urls.map(\.last) == ["a", "b"])
        #expect(list.titles == [nil, nil])
        #expect(list.isCut)
        #expect(read("<asx><ref href='\(long)'><ref href='b'>", .asx, .init()).urls.map(\.last) == ["b"])
        #expect(read("<asx><ref href=\(long)><ref href='b'>", .asx, .init()).urls.map(\.last) == ["b"])
    }

    @Test func `a long base does not make much of short entries`() {
        let far = "http://example.org/" + String(repeating: "x/", count: 4_000)
        let list = Playlist(
            decoding: Array(String(repeating: "a\n", count: 10_000).utf8), as: .m3u, base: far)
        #expect(list.isCut)
        #expect(list.urls.reduce(0) { $0 + $1.utf8.count } <= 4 << 20)
        #expect(list.entries.count > 500)
    }

    @Test func `an entry has no more other places than the limit`() {
        let refs = (0..<20).map { "<ref href='\($0)'>" }.joined()
        let list = read("<asx><entry>\(refs)</entry>", .asx, .init())
        #expect(list.entries.map(\.urls.count) == [8])
    }

    @Test(.timeLimit(.minutes(3)), arguments: Playlist.Format.allCases)
    func `anything is read in a time in proportion`(_ format: Playlist.Format) {
        let pieces = [
            "a\n", "\n", "File1=\n", "title1=\n", "<a b=\"", "<a b='<a b=\"", "<!--->", "a<!---->", "&#1",
            "&", "<",
            "<ref href=a>", "<location>", "<track><location>a</location>", "<a href='x/'>", "../", "%", "\\",
            "\u{0}",
            "<![CDATA[", "]]>", "#EXTINF:,\"\n", "<!DOCTYPE [",
        ]
        // The clock is that of the test's limit: a reader that looks at everything again for each piece runs into it.
        for piece in pieces {
            let bytes = Array(String(repeating: piece, count: (1 << 14) / piece.utf8.count).utf8)
            let list = Playlist(decoding: bytes, as: format, base: base)
            #expect(list.entries.count <= 10_000)
            _ = ContentSniffer(url: base).look(at: bytes, isComplete: true)
        }
    }
}
