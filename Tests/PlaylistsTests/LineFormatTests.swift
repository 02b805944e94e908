// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import Playlists

struct LineFormatTests {
    private let text = """
        #EXTM3U x-tvg-url="http://h/guide"
        #PLAYLIST: My  list
        #EXTINF:12,Tïtle – one
        one two.mp3

        # a comment
        #EXTINF:-1 tvg-id="a,b" group-title="News, all",Radio, one
        #EXTVLCOPT:http-user-agent=Player/1.0
        #EXTVLCOPT:http-referrer=http://h/page
        http://h/live
        #EXTART:Somebody
        #EXTALB:Something
        #EXTINF:1.5
        ../two.mp3
        three.mp3
        """

    private var expected: [Playlist.Entry] {
        [
            .init(
                urls: ["http://example.org/lists/one%20two.mp3"], title: "Tïtle – one",
                duration: milliseconds(12_000)),
            .init(
                urls: ["http://h/live"], title: "Radio, one", userAgent: "Player/1.0",
                referrer: "http://h/page"),
            .init(
                urls: ["http://example.org/two.mp3"], artist: "Somebody", album: "Something",
                duration: milliseconds(1_500)),
            .init(urls: ["http://example.org/lists/three.mp3"]),
        ]
    }

    @Test(arguments: ["\n", "\r\n", "\r", " \t\r\n\n"])
    func `an extended list has entries in order, whatever ends its lines`(_ end: String) {
        let list = read(text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: end))
        #expect(list.entries == expected)
        #expect(list.title == "My list")
        #expect(!list.isCut)
    }

    @Test func `byte order marks, UTF-16 and NUL bytes change nothing`() {
        let base = "http://example.org/lists/mine.m3u"
        for bytes in [
            [0xef, 0xbb, 0xbf] + Array(text.utf8), [0xff, 0xfe] + utf16(text, isBigEndian: false),
            [0xfe, 0xff] + utf16(text, isBigEndian: true), utf16(text, isBigEndian: false),
            utf16(text, isBigEndian: true), Array(text.utf8.flatMap { $0 == 0x0a ? [0, 0x0a, 0, 0] : [$0] }),
        ] {
            #expect(Playlist(decoding: bytes, as: .m3u, base: base).entries == expected)
        }
    }

    @Test func `text that is not UTF-8 is Latin-1, value by value`() {
        let list = Playlist(
            decoding: bytes("#EXTINF:1,Caf\u{e9} \u{80}\u{96}\nna\u{ef}ve.mp3\n#EXTINF:1,")
                + Array("Café €\nx.mp3".utf8),
            as: .m3u, base: "http://h/")
        #expect(list.titles == ["Café €–", "Café €"])
        #expect(list.urls == ["http://h/na%C3%AFve.mp3", "http://h/x.mp3"])
    }

    @Test(
        arguments: [
            ("0", nil), ("-1", nil), ("", nil), ("abc", nil), ("1e9", nil), ("99999999999999999999", nil),
            ("7", 7_000),
            (" 7 ", 7_000), ("7.1239", 7_123), ("7.", 7_000), ("3:05", 185_000), ("1:02:03.25", 3_723_250),
            ("1:2:3:4", nil), ("999999999:0:0", 3_599_999_996_400_000), ("+5", nil), ("1.2.3", nil),
            ("1.5:0", nil),
        ] as [(String, Int64?)]) func `a length is a number of seconds or a clock's`(
            _ text: String, _ length: Int64?
        )
    {
        #expect(PlaylistText.duration(Array(text.utf8)[...]) == length.map { milliseconds($0) })
    }

    @Test func `titles have no control characters, and an end`() {
        let list = read(
            "#EXTINF:1,\u{7}a\u{1b}[31m \t b\u{85}\nx\n#EXTINF:1,\(String(repeating: "é", count: 2_000))\ny")
        #expect(list.titles[0] == "a [31m b")
        #expect(list.titles[1] == String(repeating: "é", count: 512))
    }

    @Test func `what would break a request header is not taken over`() {
        let list = read(
            "#EXTVLCOPT:http-user-agent=a\u{1}b\nx\n#EXTVLCOPT:http-user-agent=é\ny\n#EXTVLCOPT:http-user-agent=\nz"
        )
        #expect(list.entries.map(\.userAgent) == [nil, nil, nil])
    }

    @Test func `a metafile of RealAudio is a list`() {
        #expect(
            read("rtsp://h/a.rm?x=1\n--stop--\nhttp://h/b.ra\n").urls == [
                "rtsp://h/a.rm?x=1", "http://h/b.ra",
            ])
    }

    @Test func `a numbered list is in the order of its numbers`() {
        let list = read(
            """
            [playlist]
            NumberOfEntries=1
            file10=c.mp3
            FILE2 = http://h/b ?x=y=z
            File1=a.mp3
            Title2=Bee = two
            Title1=
            Length1=5
            Length2=-1
            File1=again.mp3
            File=no.mp3
            File99999999999999999999=no.mp3
            Version=2
            """, .pls)
        #expect(
            list.entries == [
                .init(urls: ["http://example.org/lists/a.mp3"], duration: milliseconds(5_000)),
                .init(urls: ["http://h/b%20?x=y=z"], title: "Bee = two"),
                .init(urls: ["http://example.org/lists/c.mp3"]),
            ])
    }

    @Test func `the references of Windows Media are a numbered list`() {
        #expect(
            read("[Reference]\r\nRef1=http://h/a?MSWMExt=.asf\r\nRef2=http://h/b\r\n", .pls).urls
                == ["http://h/a?MSWMExt=.asf", "http://h/b"])
    }
}
