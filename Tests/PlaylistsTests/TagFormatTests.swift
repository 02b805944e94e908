// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import Playlists

struct TagFormatTests {
    @Test func `an XSPF has titles, people, lengths and other places`() {
        let list = read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- <track><location>no.mp3</location></track> -->
            <playlist version="1" xmlns="http://xspf.org/ns/0/">
              <title>The &lt;list&gt;</title>
              <trackList>
                <track>
                  <location> a b.mp3?x=1&amp;y=2 </location>
                  <location>http://mirror/a.mp3</location>
                  <title>A <![CDATA[& <B>]]> &#x41;&#66;&bogus;</title>
                  <creator>Some &amp; body</creator><album>Al</album>
                  <duration>1234</duration>
                  <image>http://h/cover.jpg</image>
                  <extension application="x"><title>no</title><location>no.mp3</location></extension>
                </track>
                <track><title>No place</title></track>
                <track xml:base="http://other/dir/"><location>c.mp3#t=1</location></track>
              </trackList>
            </playlist>
            """, .xspf)
        #expect(list.title == "The <list>")
        #expect(
            list.entries == [
                .init(
                    urls: ["http://example.org/lists/a%20b.mp3?x=1&y=2", "http://mirror/a.mp3"],
                    title: "A & <B> AB&bogus;", artist: "Some & body", album: "Al",
                    duration: milliseconds(1_234)),
                .init(urls: ["http://other/dir/c.mp3#t=1"]),
            ])
    }

    @Test func `a prefix before every name changes nothing`() {
        let text =
            "<x:playlist xmlns:x='http://xspf.org/ns/0/'><x:trackList><x:track><x:location>a</x:location>"
        #expect(read(text, .xspf).urls == ["http://example.org/lists/a"])
    }

    @Test func `an ASX as people write it is read`() {
        let list = read(
            """
            <asx VERSION=3.0>
            <TITLE>Outer</title>
            <Base HREF="http://base/x/" />
            <ENTRY><REF HREF="a.mp3?x=1&y=2"/><ref href='http://h/b&amp;c'/>
            <Title>One & only<author>Me</AUTHOR>
            <duration value="00:03:05.5" />
            </ENTRY>
            <entry><ref href=c.mp3/><title>Two</entry>
            <ref href=d.mp3><EntryRef href = "nested.asx" />
            <entry><title>Nothing</title></entry>
            <entry><ref href="e.mp3
            """, .asx)
        #expect(list.title == "Outer")
        #expect(
            list.entries == [
                .init(
                    urls: ["http://base/x/a.mp3?x=1&y=2", "http://h/b&c"], title: "One & only", artist: "Me",
                    duration: milliseconds(185_500)),
                .init(urls: ["http://base/x/c.mp3"], title: "Two"), .init(urls: ["http://base/x/d.mp3"]),
                .init(urls: ["http://base/x/nested.asx"]), .init(urls: ["http://base/x/e.mp3"]),
            ])
    }

    @Test func `a SMIL and a WPL name their media`() {
        let smil = """
            <smil><head><meta name="base" content="http://h/d/"/><meta name="title" content="T"/></head>
            <body><seq><audio src="a.mp3" title="A"/><video src="/b.mp4"/><img src="no.jpg"/></seq></body></smil>
            """
        #expect(read(smil, .smil).urls == ["http://h/d/a.mp3", "http://h/b.mp4"])
        #expect(read(smil, .smil).titles == ["A", nil])
        #expect(read(smil, .smil).title == "T")
        let wpl =
            "<?wpl version=\"1.0\"?><smil><head><title>W</title></head><body><seq><media src=\"..\\a.mp3\"/>"
        #expect(read(wpl, .smil).urls == ["http://example.org/a.mp3"])
        #expect(read(wpl, .smil).title == "W")
    }

    @Test func `the page of a folder names the media, the playlists and the folders in it`() {
        let list = read(
            """
            <html><head><title>Index of /music</title></head><body><h1>Index of /music</h1>
            <a href="?C=N;O=D">Name</a> <a href="/">Parent</a> <a href="../">Parent</a> <a href="./">Here</a>
            <a href="a%20b.mp3"><img src="x.png"></a> <a href="a%20b.mp3">a b.mp3</a> <a href="cover.jpg">cover</a>
            <A HREF="list.m3u">list</A> <a href="sub/">sub/</a> <a href="http://else/x.mp3">x</a>
            <a href="/music/c.flac">c</a><a name="x">y</a>
            """, .index, base: "http://h/music/?C=M;O=A")
        #expect(
            list.urls == [
                "http://h/music/a%20b.mp3", "http://h/music/list.m3u", "http://h/music/sub/",
                "http://h/music/c.flac",
            ])
    }

    @Test func `entities of a document's own are never followed`() {
        var declarations = "<!ENTITY a0 \"lol\">"
        for level in 1...9 {
            declarations += "<!ENTITY a\(level) \"\(String(repeating: "&a\(level - 1);", count: 10))\">"
        }
        let list = read(
            """
            <?xml version="1.0"?><!DOCTYPE playlist [\(declarations)<!ENTITY f SYSTEM "file:///etc/passwd">]>
            <playlist><title>&f;</title><trackList><track><location>a.mp3</location><title>&a9;</title></track>
            """, .xspf)
        #expect(list.urls == ["http://example.org/lists/a.mp3"])
        #expect(list.titles == ["&a9;"])
        #expect(list.title == "&f;")
    }

    @Test func `neither depth nor open tags cost anything`() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(read("<asx>\(deep)<ref href='x'>", .asx).urls == ["http://example.org/lists/x"])
        #expect(read("<asx>\(String(repeating: "<", count: 200_000))ref href='x'>", .asx).urls.count == 1)
    }

    @Test(arguments: [
        "<!-- ", "<![CDATA[", "<!DOCTYPE x [", "<?xml ", "<ref href=\"", "</", "<ref href", "<ref =", "&#",
    ]) func `what is never closed ends with the text`(_ tail: String) {
        #expect(read("<asx><ref href='x'/>\(tail)", .asx).urls == ["http://example.org/lists/x"])
    }
}
