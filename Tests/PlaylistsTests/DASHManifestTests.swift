// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Playlists

private let base = "http://h/a/live.mpd"

private func manifest(_ periods: String, _ attributes: String = "type=\"dynamic\"") -> DASHManifest? {
    DASHManifest(
        decoding: Array("<?xml version=\"1.0\"?><MPD \(attributes)>\(periods)</MPD>".utf8), base: base)
}

/// A period with one representation of sound.
private func period(
    _ timeline: String, _ attributes: String = "start=\"PT0S\"", template: String = "",
    media: String = "s-$Number$.m4s", set: String = "lang=\"en\"", type: String = "audio/mp4"
) -> String {
    "<Period \(attributes)><AdaptationSet mimeType=\"\(type)\" \(set)>"
        + "<SegmentTemplate timescale=\"10\" initialization=\"i.mp4\" media=\"\(media)\" \(template)>"
        + "<SegmentTimeline>\(timeline)</SegmentTimeline></SegmentTemplate>"
        + "<Representation id=\"r\" codecs=\"mp4a.40.2\" bandwidth=\"64000\"/></AdaptationSet></Period>"
}

private func media(_ manifest: DASHManifest?) throws -> String {
    let manifest = try #require(manifest)
    return try #require(HLSOfDASH(manifest).media(0))
}

private func addresses(_ manifest: DASHManifest?) throws -> [String] {
    try media(manifest).split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0) }
}

struct DASHManifestTests {
    @Test func `a live list says the same in HLS`() throws {
        let live = manifest(
            period("<S t=\"5000\" d=\"20\" r=\"1\"/><S d=\"15\"/>", template: "startNumber=\"7\""))
        let text = try media(live)
        #expect(
            text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-MAP:URI="http://h/a/i.mp4"
                #EXTINF:2.000000,
                http://h/a/s-7.m4s
                #EXTINF:2.000000,
                http://h/a/s-8.m4s
                #EXTINF:1.500000,
                http://h/a/s-9.m4s

                """)
    }

    @Test func `a list that ends says so`() throws {
        let two =
            period("<S d=\"20\"/>")
            + period("<S t=\"20\" d=\"20\"/>", "start=\"PT2S\"", template: "presentationTimeOffset=\"20\"")
        let text = try media(manifest(two, "type=\"static\""))
        #expect(text.hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(text.split(separator: "\n").contains("#EXT-X-PLAYLIST-TYPE:VOD"))
    }

    @Test func `what stays in the list keeps its number`() throws {
        func window(from number: Int, _ count: Int) throws -> DASHManifest {
            let timeline = "<S t=\"\(number * 20)\" d=\"20\" r=\"\(count - 1)\"/>"
            return try #require(manifest(period(timeline, template: "startNumber=\"\(number)\"")))
        }
        var lists = HLSOfDASH(try window(from: 5, 5))
        for (number, sequence) in [(7, 2), (7, 2), (8, 3), (45, 8)] {
            let isTaken = lists.update(try window(from: number, 5))
            #expect(isTaken)
            let text = try #require(lists.media(0))
            #expect(text.split(separator: "\n").contains("#EXT-X-MEDIA-SEQUENCE:\(sequence)"))
        }
    }

    @Test func `of a long window the last part is kept`() throws {
        let long = manifest(
            period("<S t=\"0\" d=\"20\" r=\"499\"/>", "start=\"PT0S\" duration=\"PT1000S\"")
                + period(
                    "<S t=\"10000\" d=\"20\" r=\"599\"/>", "start=\"PT1000S\"",
                    template: "startNumber=\"501\" presentationTimeOffset=\"10000\""))
        let found = try addresses(long)
        #expect(found.count == 900)
        #expect(found.first == "http://h/a/s-201.m4s")
        #expect(found.last == "http://h/a/s-1100.m4s")
    }

    @Test func `times that go on over periods do not jump, others do`() throws {
        let first = period("<S t=\"0\" d=\"20\"/>", "start=\"PT0S\" duration=\"PT2S\"")
        let goesOn = period(
            "<S t=\"20\" d=\"20\"/>", "start=\"PT2S\"", template: "presentationTimeOffset=\"20\"")
        #expect(try !media(manifest(first + goesOn)).split(separator: "\n").contains("#EXT-X-DISCONTINUITY"))
        let jumps = period("<S t=\"0\" d=\"20\"/>", "start=\"PT2S\"", media: "b-$Number$.m4s")
        #expect(
            try media(manifest(first + jumps)).split(separator: "\n").count { $0 == "#EXT-X-DISCONTINUITY" }
                == 1)
    }

    @Test func `jumps that left the list are counted`() throws {
        let first = period("<S t=\"0\" d=\"20\"/>", "start=\"PT0S\" duration=\"PT2S\"")
        let second = period("<S t=\"0\" d=\"20\" r=\"1\"/>", "start=\"PT2S\"", media: "b-$Number$.m4s")
        let (before, after) = (try #require(manifest(first + second)), try #require(manifest(second)))
        var lists = HLSOfDASH(before)
        let isTaken = lists.update(after)
        #expect(isTaken)
        let text = try #require(lists.media(0))
        let lines = text.split(separator: "\n")
        #expect(lines.contains("#EXT-X-DISCONTINUITY-SEQUENCE:1"))
        #expect(!lines.contains("#EXT-X-DISCONTINUITY"))
    }

    @Test func `a line goes on to the next one, or to the end of its period`() throws {
        let list = manifest(
            period(
                "<S t=\"0\" d=\"20\" r=\"-1\"/><S t=\"60\" d=\"20\" r=\"-1\"/>",
                "start=\"PT0S\" duration=\"PT11S\""))
        #expect(try addresses(list).count == 6)
        #expect(manifest(period("<S t=\"0\" d=\"20\" r=\"-1\"/>")) == nil)
    }

    @Test func `templates and bases are filled in`() throws {
        let list = manifest(
            "<BaseURL>http://cdn/x/</BaseURL>"
                + period(
                    "<S t=\"30\" d=\"20\"/>",
                    media: "$RepresentationID$/$Bandwidth$/$$-$Time%05d$-$Number$.m4s&amp;q",
                    set: "lang=\"en\"><BaseURL>y/</BaseURL><BaseURL>http://other/</BaseURL"))
        #expect(try addresses(list) == ["http://cdn/x/y/r/64000/$-00030-1.m4s&q"])
    }

    @Test func `languages are a group, pictures are variants with it`() throws {
        let template =
            "<SegmentTemplate media=\"$RepresentationID$-$Time$\"><SegmentTimeline><S t=\"9\" d=\"2\"/></SegmentTimeline></SegmentTemplate>"
        let sound = { (language: String) in
            "<AdaptationSet contentType=\"audio\" mimeType=\"audio/mp4\" lang=\"\(language)\" codecs=\"mp4a\">\(template)"
                + "<Representation id=\"\(language)\" bandwidth=\"10\"/></AdaptationSet>"
        }
        let pictures =
            "<AdaptationSet mimeType=\"video/mp4\">\(template)<Representation id=\"v\" codecs=\"avc1\" "
            + "bandwidth=\"100\" width=\"16\" height=\"9\"/></AdaptationSet>"
        let texts =
            "<AdaptationSet contentType=\"text\" mimeType=\"text/vtt\"><Representation id=\"t\"/></AdaptationSet>"
        let list = try #require(
            manifest("<Period>\(sound("en"))\(sound("d\"e"))\(pictures)\(texts)</Period>"))
        #expect(
            HLSOfDASH(list).master(prefix: "p/") == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en 1",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="p/0.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="d 2",LANGUAGE="d",AUTOSELECT=YES,URI="p/1.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=110,CODECS="avc1,mp4a",RESOLUTION=16x9,AUDIO="a"
                p/2.m3u8

                """)
    }

    @Test(arguments: [
        // The demuxer plays it.
        (period("<S t=\"0\" d=\"20\"/>"), "type=\"static\""),
        // No list of times.
        (
            "<Period><AdaptationSet mimeType=\"audio/mp4\"><SegmentTemplate media=\"a\" duration=\"2\"/>"
                + "<Representation id=\"r\"/></AdaptationSet></Period>", "type=\"dynamic\""
        ),
        (
            "<Period><AdaptationSet mimeType=\"audio/mp4\"><Representation id=\"r\"><SegmentBase/></Representation>"
                + "</AdaptationSet></Period>", "type=\"dynamic\""
        ),
        // No container of HLS.
        (period("<S t=\"50\" d=\"20\"/>", type: "audio/webm"), "type=\"dynamic\""),
        // Elsewhere.
        ("<Period xlink:href=\"http://h/p\"/>", "type=\"dynamic\""),
        // Without an end.
        (period("<S t=\"0\" d=\"1\" r=\"999999999\"/>"), "type=\"dynamic\""),
        (period("<S t=\"18446744073709551615\" d=\"9\"/>"), "type=\"dynamic\""),
        (period("<S t=\"1\" d=\"0\"/>"), "type=\"dynamic\""),
        ("", "type=\"dynamic\""),
    ])
    func `others are left to the demuxer`(_ periods: String, _ attributes: String) {
        #expect(manifest(periods, attributes) == nil)
    }

    @Test func `another file is no manifest`() {
        #expect(DASHManifest(decoding: Array("<playlist/>".utf8), base: base) == nil)
        #expect(DASHManifest(decoding: [], base: base) == nil)
    }

    @Test func `lengths are read, and months are none`() {
        #expect(DASHReader.seconds(Array("P1DT2H3M4.5S".utf8)) == 93_784.5)
        #expect(DASHReader.seconds(Array("PT0S".utf8)) == 0)
        #expect(DASHReader.seconds(Array("P1M".utf8)) == nil)
        #expect(DASHReader.seconds(Array("5".utf8)) == nil)
        #expect(DASHReader.seconds(Array("PT5".utf8)) == nil)
    }

    @Test(arguments: 1...2)
    func `changed manifests never trap`(_ seed: UInt64) {
        var random = Random(seed: seed)
        let whole =
            "<?xml version=\"1.0\"?><MPD type=\"dynamic\" minimumUpdatePeriod=\"PT2S\"><BaseURL>b/</BaseURL>"
            + period(
                "<S t=\"5000\" d=\"20\" r=\"3\"/><S t=\"5090\" d=\"9\" r=\"-1\"/>", "duration=\"PT509.5S\"")
            + period("<S t=\"1\" d=\"20\"/>", media: "$Time%09d$") + "</MPD>"
        var taken = 0
        for _ in 0..<500 {
            var bytes = Array(whole.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0x20...0x7e, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8.random(in: 0x30...0x39, using: &random), at: place)
                default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
                }
            }
            guard let found = DASHManifest(decoding: bytes, base: base) else { continue }
            var lists = HLSOfDASH(found)
            taken += lists.update(found) ? 1 : 0
            let text =
                lists.master(prefix: "p") + found.renditions.indices.compactMap { lists.media($0) }.joined()
            #expect(text.utf8.allSatisfy { $0 == 0x0a || $0 >= 0x20 })
        }
        #expect(taken > 50)
    }
}
