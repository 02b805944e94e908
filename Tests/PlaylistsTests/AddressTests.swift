// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Playlists

struct AddressTests {
    private static let base = "http://a/b/c/d;p?q"

    /// The examples of RFC 3986, sections 5.4.1 and 5.4.2.
    private static let examples = [
        "g:h": "http://a/b/c/g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/",
        "/g": "http://a/g", "//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y",
        "#s": "http://a/b/c/d;p?q#s", "g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s",
        ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "g;x?y#s": "http://a/b/c/g;x?y#s",
        ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/",
        "../g": "http://a/b/g", "../..": "http://a/", "../../": "http://a/", "../../g": "http://a/g",
        "../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g",
        "/../g": "http://a/g",
        "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..",
        "..g": "http://a/b/c/..g",
        "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h",
        "g/../h": "http://a/b/c/h", "g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y",
        "g?y/./x": "http://a/b/c/g?y/./x", "g?y/../x": "http://a/b/c/g?y/../x", "http:g": "http://a/b/c/g",
        "g:h//": "http://a/b/c/g:h//",
    ]

    private static func resolve(_ text: String, _ base: String = base, _ style: Address.Style = .uri)
        -> String?
    {
        Address.resolve(Array(text.utf8)[...], against: Address(absolute: base), style)
    }

    @Test(arguments: examples) func `references are resolved as the RFC has it`(
        _ reference: String, _ url: String
    ) {
        #expect(Self.resolve(reference) == url)
    }

    @Test(arguments: [
        // An unknown word before a colon is part of a name, one before two slashes a scheme.
        ("part two: the end.mp3", "http://a/b/c/part%20two:%20the%20end.mp3"),
        ("x-thing://a/b", "x-thing://a/b"), ("spotify:track:1", "spotify:track:1"),
        // Windows.
        ("sub\\b.mp3", "http://a/b/c/sub/b.mp3"), ("..\\b.mp3?x=\\y", "http://a/b/b.mp3?x=%5Cy"),
        ("C:\\Music\\50% #1?.mp3", "file:///C:/Music/50%25%20%231%3F.mp3"),
        ("d:/y/./../x.mp3", "file:///d:/x.mp3"),
        ("\\\\nas\\share\\x.mp3", "file://nas/share/x.mp3"), ("http:\\\\h\\x.mp3", "http://h/x.mp3"),
        // Hosts.
        ("radio.example:8000/live", "http://radio.example:8000/live"),
        ("localhost:80", "http://localhost:80"),
        ("http://[fe80::1%wlan0]:80/x", "http://[fe80::1%25wlan0]:80/x"),
        ("http://u:p@h.org/x", "http://u:p@h.org/x"), ("//other/x.mp3", "http://other/x.mp3"),
        ("http://müsli.example/x", "http://m%C3%BCsli.example/x"), ("HTTPS://H/../x", "https://H/x"),
        // Letters.
        ("a b.mp3", "http://a/b/c/a%20b.mp3"), ("a%20b%.mp3", "http://a/b/c/a%20b%25.mp3"),
        ("日本/Ünï.mp3", "http://a/b/c/%E6%97%A5%E6%9C%AC/%C3%9Cn%C3%AF.mp3"),
        ("x?q=ä&y=[1]", "http://a/b/c/x?q=%C3%A4&y=%5B1%5D"), ("\"q.mp3\"", "http://a/b/c/q.mp3"),
        ("http://h/a\tb\u{1}c", "http://h/abc"), ("a#1.mp3", "http://a/b/c/a%231.mp3"),
        ("http://h/a#t=1", "http://h/a#t=1"), ("file:///etc/x", "file:///etc/x"),
    ]) func `what playlists have in place of addresses becomes one`(_ reference: String, _ url: String) {
        #expect(Self.resolve(reference, Self.base, .path) == url)
    }

    @Test func `beside a local playlist every letter is one of the name`() {
        func local(_ text: String) -> String? { Self.resolve(text, "file:///home/me/list.m3u", .path) }
        #expect(local("50% #1?.mp3") == "file:///home/me/50%25%20%231%3F.mp3")
        #expect(local("../x.mp3") == "file:///home/x.mp3")
        #expect(local("/x.mp3") == "file:///x.mp3")
        #expect(local("http://h/50%25") == "http://h/50%25")
    }

    @Test func `without a base a reference stays what it is`() {
        #expect(Self.resolve("a b/c.mp3", "", .path) == "a%20b/c.mp3")
        #expect(Self.resolve("http://h/x", "", .path) == "http://h/x")
        #expect(Self.resolve("", Self.base, .path) == nil)
        #expect(Self.resolve(" \u{1} ", Self.base, .path) == nil)
    }

    @Test func `an address that was resolved stays the same when it is again`() throws {
        for (reference, _) in Self.examples {
            let url = try #require(Self.resolve(reference))
            #expect(Self.resolve(url) == url)
        }
    }
}
