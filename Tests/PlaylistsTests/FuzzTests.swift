// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import Playlists

/// 100,000 inputs, the same in every run: playlists of all dialects with a few bytes changed, removed, doubled or cut.
struct FuzzTests {
    private static let seeds: [String] = [
        "#EXTM3U\n#EXTINF:12,A - B\nhttp://h/a b.mp3?x=1&y=2#z\n#EXTVLCOPT:http-user-agent=x\r\n..\\c.mp3\n",
        "[playlist]\nFile1=http://u:p@[::1%25a]:80/x\nTitle1=caf\u{e9}\nLength1=1:02.5\nFile2=C:\\x#\nRef3=//h/x\n",
        "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b 'c'>]><playlist xml:base='/b/'><trackList><track>"
            + "<location>a&amp;b</location><title>x<![CDATA[<&]]>&#x41;</title><duration>5</duration></track>",
        "<ASX VERSION=3><Base href='http://h/'/><ENTRY><REF HREF=\"a\"/><ref href=b/><title>t</ENTRY>"
            + "<entryref href='c.asx'/></ASX>",
        "<html><title>Index of /</title><a href='a.mp3'>a</a><a href=\"b/\"></a></html>",
        "<smil><meta name='base' content='http://h/'/><audio src='../a' title='b'/></smil>",
    ]

    private static let formats: [Playlist.Format] = [.m3u, .pls, .xspf, .asx, .index, .smil]

    private static func mutate(_ bytes: inout [UInt8], _ random: inout Random) {
        for _ in 0..<Int.random(in: 1...5, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2:
                bytes.insert(
                    Array("<>/=\"'&;:#?%\\[]!-.\n\r\0 ".utf8).randomElement(using: &random) ?? 0, at: place)
            case 3: bytes.removeSubrange(place...)
            default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
            }
        }
    }

    @Test(arguments: 1...4)
    func `changed playlists never trap, and what is taken can be fetched and shown`(_ seed: UInt64) {
        var random = Random(seed: seed)
        var taken = 0
        for index in 0..<25_000 {
            var bytes = bytes(Self.seeds[index % Self.seeds.count])
            Self.mutate(&bytes, &random)
            if index % 5 > 2 {
                checkVerdict(bytes, index)
                continue
            }
            // Mostly the dialect of the seed, sometimes another.
            let formats = Self.formats
            let format = formats[index % 7 == 0 ? index / 7 % formats.count : index % formats.count]
            let list = Playlist(decoding: bytes, as: format, base: "http://base/dir/list?q")
            taken += list.entries.count
            if let fault = Self.fault(in: list) {
                Issue.record("\(fault) in \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
        }
        // The generator must reach beyond the first check.
        #expect(taken > 10_000)
    }

    /// There is a verdict, and what is decided on the first bytes stays so.
    private func checkVerdict(_ bytes: [UInt8], _ index: Int) {
        let sniffer = ContentSniffer(url: index % 2 == 0 ? "http://h/x.m3u" : "http://h/x")
        let verdict = sniffer.look(at: bytes, isComplete: true)
        let early = sniffer.look(at: Array(bytes.prefix(bytes.count / 2)), isComplete: false)
        // Quotation marks that are left open may hide a page's title.
        let pages: [ContentSniffer.Verdict] = [.webPage, .playlist(.index)]
        let stays =
            early == .needsMore || early == verdict || pages.contains(early) && pages.contains(verdict)
        if verdict == .needsMore || !stays {
            Issue.record("\(early), \(verdict): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    private static let base = Address(absolute: "http://base/dir/list?q")

    /// What is wrong with a playlist that was read; nil if nothing is.
    private static func fault(in list: Playlist) -> String? {
        for entry in list.entries {
            guard (1...8).contains(entry.urls.count) else { return "places" }
            for url in entry.urls {
                guard !url.isEmpty,
                    url.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c })
                else { return "letters of \(url)" }
                guard url.contains(":"), Address.resolve(Array(url.utf8)[...], against: base, .uri) == url
                else {
                    return "meaning of \(url)"
                }
            }
            for text in [entry.title, entry.artist, entry.album, entry.userAgent, entry.referrer] {
                guard let text else { continue }
                guard !text.isEmpty, text.utf8.count <= 1_024,
                    text.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
                else { return "text" }
            }
            if let duration = entry.duration, !(duration > .zero) { return "duration" }
        }
        return nil
    }
}
