// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SoupListener
import Testing

@Suite struct RequestScreenTests {
    private let screen = RequestScreen(names: ["den", "den.local", "Music.Example.org"])

    @Test(arguments: [
        "192.0.2.1", "192.0.2.1:7380", "[2001:db8::1]:7380", "[fe80::1%25eth0]", "localhost", "LOCALHOST:1",
        "den",
        "Den.local:7380", "den.local.", "music.example.org",
    ])
    func `an address or a name of ours is taken`(host: String) {
        #expect(screen.refusal(host: host, origin: nil) == nil)
    }

    @Test(arguments: [
        "", "evil.example", "den.local.evil.example", "192.0.2.1.evil.example", "192.0.2", "192.0.2.256",
        "[::1",
        "[den]", "den:x", "::1", "0x7f.1", "localhost:7380:1", "[::1]x",
    ])
    func `a name that a stranger could have made up is misdirected`(host: String) {
        #expect(screen.refusal(host: host, origin: nil) == 421)
    }

    @Test func `a request without a host is misdirected`() {
        #expect(screen.refusal(host: nil, origin: nil) == 421)
    }

    @Test(arguments: ["http://evil.example", "null", "https://den", "http://den:1", "http://den.local", ""])
    func `a page of a stranger is refused`(origin: String) {
        #expect(screen.refusal(host: "den", origin: origin) == 403)
    }

    @Test func `a page of the receiver itself is taken`() {
        #expect(screen.refusal(host: "Den:7380", origin: "http://den:7380") == nil)
    }
}
