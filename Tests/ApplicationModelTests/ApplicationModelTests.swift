// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import Testing

struct ApplicationModelTests {
    @Test(arguments: ["org.linnet.echo", "a.b", "A-1.b-2.c"])
    func `an id in reverse DNS form is taken`(_ text: String) { #expect(ApplicationID(text)?.text == text) }

    @Test(arguments: [
        "", "echo", "a..b", ".a.b", "a.b.", "a b.c", "a/b.c", "../a.b", "ä.b",
        String(repeating: "a.", count: 64) + "b",
    ])
    func `what is no id in reverse DNS form is not taken`(_ text: String) {
        #expect(ApplicationID(text) == nil)
    }

    @Test(arguments: [
        ("echo:*", "echo:anything"), ("echo:*", "ECHO:"),
        ("https://Party.Example/*", "https://party.example/Room"),
        ("https://*/watch?*", "https://a.example/watch?v=1"), ("x:a*b*c", "x:abbcbc"), ("x:**", "x:"),
    ])
    func `a pattern claims what it says`(_ pattern: String, _ url: String) throws {
        #expect(try #require(URLPattern(pattern)).matches(url))
    }

    @Test(arguments: [
        ("echo:*", "echos:1"), ("https://party.example/*", "https://party.example"),
        ("https://party.example/Room", "https://party.example/room"), ("x:a*b", "x:abc"), ("x:a", "x:"),
    ])
    func `a pattern claims nothing else`(_ pattern: String, _ url: String) throws {
        #expect(try !#require(URLPattern(pattern)).matches(url))
    }

    @Test(arguments: ["", "noscheme", ":x", "x: y", "x:\u{7}", "x:" + String(repeating: "a", count: 256)])
    func `what is no pattern is not taken`(_ text: String) { #expect(URLPattern(text) == nil) }

    @Test func `a pattern of many stars does not take for ever`() throws {
        let pattern = try #require(URLPattern("x:" + String(repeating: "a*", count: 120) + "b"))
        #expect(!pattern.matches("x:" + String(repeating: "a", count: 8_000)))
    }

    @Test func `the longest pattern takes a URL, then the first id`() throws {
        func manifest(_ id: String, _ patterns: [String]) throws -> ApplicationManifest {
            var manifest = ApplicationManifest(
                id: try #require(ApplicationID(id)), name: id, version: "1",
                content: .program(path: "run", arguments: []))
            manifest.patterns = patterns.compactMap { URLPattern($0) }
            return manifest
        }
        let all = try [
            manifest("b.wide", ["https://*"]), manifest("c.narrow", ["https://a.example/*"]),
            manifest("a.narrow", ["https://a.example/*", "a:*"]), manifest("d.none", []),
        ]
        #expect(all.claiming("https://a.example/1")?.id.text == "a.narrow")
        #expect(all.claiming("https://b.example/1")?.id.text == "b.wide")
        #expect(all.claiming("ftp://b.example/1") == nil)
    }
}
