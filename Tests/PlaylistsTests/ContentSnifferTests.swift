// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Playlists

struct ContentSnifferTests {
    private static let plain = ContentSniffer(type: "text/plain", url: "http://h/x")
    private static let named = ContentSniffer(type: "audio/x-mpegurl", url: "http://h/x")

    @Test(
        arguments: [
            ("#EXTM3U\n#EXTINF:1,a\na\n", .playlist(.m3u)), ("\n \n#EXTINF:1,a\na", .playlist(.m3u)),
            ("http://h/stream", .playlist(.m3u)), ("# made by\r\nHTTP://h/a b\r\n", .playlist(.m3u)),
            ("a song.mp3\nanother.mp3\n", .playlist(.m3u)), ("file:/a", .playlist(.m3u)),
            ("[playlist]\nFile1=a", .playlist(.pls)), (" [Playlist]\r\n", .playlist(.pls)),
            ("[Reference]\nRef1=http://h/", .playlist(.pls)), ("File1=http://h/\n", .playlist(.pls)),
            ("NumberOfEntries = 1\nFile1=a", .playlist(.pls)),
            ("<?xml version='1.0'?>\n<!-- x -->\n<playlist xmlns='http://xspf.org/ns/0/'>", .playlist(.xspf)),
            ("<!DOCTYPE p [<!ENTITY a \"b>\">]><playlist>", .playlist(.xspf)),
            ("<x:playlist ", .playlist(.xspf)),
            ("<ASX version=3>", .playlist(.asx)), ("<asx>", .playlist(.asx)), ("<smil>", .playlist(.smil)),
            ("<?wpl version='1.0'?><smil>", .playlist(.smil)),
            ("<!DOCTYPE HTML PUBLIC><html><title>Index of /music</title>", .playlist(.index)),
            ("<html><head><title>Directory listing for /</title>", .playlist(.index)),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n", .hls),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n", .hls),
            ("#EXTM3U\n#EXTINF:4,\na.ts\n#EXT-X-TARGETDURATION:4\n", .hls),
            ("#EXTM3U\n#EXT-X-APP x\n#EXTINF:-1,a\nhttp://h/a\n", .playlist(.m3u)),
            ("<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011'>", .dash),
            ("<SmoothStreamingMedia MajorVersion='2'>", .smoothStreaming),
            ("<!doctype html><html><head><title>Sign in</title>", .webPage), ("<html>", .webPage),
            ("<h1>404</h1>", .webPage),
            ("<rss version='2.0'>", .other), ("{\"a\": 1}", .other), ("Once upon a time", .other),
            ("", .other),
            ("\n\n", .other), ("# nothing but a comment", .other), ("<", .other), ("mailto:a", .other),
        ] as [(String, ContentSniffer.Verdict)])
    func `what it is shows in the content`(_ text: String, _ verdict: ContentSniffer.Verdict) {
        #expect(Self.plain.look(at: Array(text.utf8), isComplete: true) == verdict)
        let marked = [0xff, 0xfe] + utf16(text, isBigEndian: false)
        #expect(Self.plain.look(at: marked, isComplete: true) == verdict)
        #expect(Self.plain.look(at: [0xef, 0xbb, 0xbf] + Array(text.utf8), isComplete: true) == verdict)
    }

    @Test func `a list of plain names needs a name or type that speaks of playlists`() {
        let text = Array("first\nsecond\n".utf8)
        #expect(Self.plain.look(at: text, isComplete: true) == .other)
        #expect(Self.named.look(at: text, isComplete: true) == .playlist(.m3u))
        for sniffer in [
            ContentSniffer(type: "Audio/X-ScPls; charset=utf-8", url: "http://h/x"),
            ContentSniffer(url: "http://h/a/x.M3U?token=a.b/c"),
        ] { #expect(sniffer.look(at: text, isComplete: true) == .playlist(.m3u)) }
        #expect(ContentSniffer(url: "http://h.m3u/x?a=.m3u").look(at: text, isComplete: true) == .other)
    }

    /// The first bytes of media, as encoders write them.
    private static let media: [(String, [UInt8])] = [
        ("MP3", [0xff, 0xfb, 0x90, 0x64, 0x00, 0x0f, 0xf0]),
        ("ID3", Array("ID3".utf8) + [3, 0, 0, 0, 0, 0x0f]),
        ("ADTS", [0xff, 0xf1, 0x50, 0x80, 0x2e, 0x7f, 0xfc, 0x21, 0x00]),
        ("Ogg", Array("OggS".utf8) + [0, 2, 0, 0]),
        ("FLAC", Array("fLaC".utf8) + [0, 0, 0, 0x22]), ("WAV", Array("RIFF".utf8) + [0x24, 0x08, 0, 0]),
        ("MP4", [0, 0, 0, 0x20] + Array("ftypM4A ".utf8)), ("Matroska", [0x1a, 0x45, 0xdf, 0xa3, 1]),
        ("TS", [0x47, 0x40, 0x11, 0x10, 0x00, 0x42]),
        ("ASF", [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11]),
        ("FLV", Array("FLV".utf8) + [1, 5, 0, 0, 0, 9]), ("AMR", Array("#!AMR\n<".utf8)),
        ("AIFF", Array("FORM".utf8) + [0, 0, 1, 0]), ("MIDI", Array("MThd".utf8) + [0, 0, 0, 6]),
        ("gzip", [0x1f, 0x8b, 8, 0]),
    ]

    @Test(arguments: media)
    func `media behind a playlist's name is known by its first bytes`(_ name: String, _ bytes: [UInt8]) {
        #expect(Self.named.look(at: bytes, isComplete: false) == .other)
    }

    @Test func `a stream joined anywhere is not taken for a list of names`() {
        var random = Random(seed: 3)
        for _ in 0..<3_000 {
            let bytes = (0..<600).map { _ in UInt8.random(in: 0...255, using: &random) }
            // The byte order mark of UTF-16 and a mark of its own would make it a playlist: once in 30,000 at most.
            guard bytes[0] < 0xfe else { continue }
            #expect(Self.named.look(at: bytes, isComplete: false) == .other)
        }
    }

    @Test func `it waits for what decides, and no longer than the window`() {
        func look(_ text: String) -> ContentSniffer.Verdict {
            Self.plain.look(at: Array(text.utf8), isComplete: false)
        }
        #expect(look("") == .needsMore)
        #expect(look("#EXTM3U") == .needsMore)
        #expect(look("#EXTM3U\n#EXTINF:-1,a\nhttp://h/a\n") == .needsMore)
        #expect(look("#EXTM3U\n#EXTINF:-1,a\nhttp://h/a\nhttp://h/b\n") == .playlist(.m3u))
        #expect(look("#EXTM3U\n#EXT-X-TARGETDURATION:4\n") == .hls)
        #expect(look("http://h/a") == .needsMore)
        #expect(look("http://h/a\n") == .playlist(.m3u))
        #expect(look("[play") == .needsMore)
        #expect(look("<?xml version='1.0'?><!-- ") == .needsMore)
        #expect(look("<!-- \(String(repeating: " ", count: 4_096))") == .other)
        #expect(look("<html><head><title>Index o") == .needsMore)
        #expect(look("#\(String(repeating: " ", count: 4_096))") == .other)
        #expect(look(String(repeating: "\n", count: 4_096)) == .other)
    }

    @Test func `what is decided on the first bytes stays so`() {
        let texts = [
            "#EXTM3U\n#EXTINF:4,\na.ts\n#EXT-X-TARGETDURATION:4\n#EXTINF:1,\nb.ts\n",
            "http://h/a\n\u{1}\u{2}\n",
            "<!DOCTYPE html><html><head><title>Index of /</title></head></html>",
            "<?xml version='1.0'?><!DOCTYPE a [ <!ENTITY b 'c'> ]><playlist><title>x</title>",
            "[playlist]\nFile1=a\n", String(repeating: "name\n", count: 200) + "\u{1}",
        ]
        for text in texts {
            for sniffer in [Self.plain, Self.named] {
                var decided: ContentSniffer.Verdict?
                let bytes = Array(text.utf8)
                for count in 0...bytes.count {
                    let verdict = sniffer.look(at: Array(bytes[..<count]), isComplete: count == bytes.count)
                    if let decided { #expect(verdict == decided, "at \(count) of \(text)") }
                    if verdict != .needsMore { decided = verdict }
                }
                #expect(decided != nil)
            }
        }
    }
}
