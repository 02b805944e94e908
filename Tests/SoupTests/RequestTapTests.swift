// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Soup
import Testing

@Suite struct RequestTapTests {
    private static let item = "https://media.example/a/stream.m3u8"

    @Test(arguments: [
        "https://media.example/a/1.ts", "https://MEDIA.example:8443/key", "https://user@media.example/b",
    ])
    func `what may be a secret goes to the item's host`(address: String) {
        #expect(RequestTap.sends("Authorization", to: address, of: Self.item))
        #expect(RequestTap.sends("X-Token", to: address, of: Self.item))
    }

    @Test(arguments: [
        "https://cdn.media.example/1.ts", "https://example/1.ts", "http://media.example/1.ts",
        "https://media.example.evil/",
        "https://media.example@evil.example/", "no address", "",
    ])
    func `what may be a secret goes nowhere else`(address: String) {
        #expect(!RequestTap.sends("Authorization", to: address, of: Self.item))
        #expect(!RequestTap.sends("Cookie", to: address, of: Self.item))
        #expect(RequestTap.sends("Referer", to: address, of: Self.item))
        #expect(RequestTap.sends("Origin", to: address, of: Self.item))
    }

    @Test func `an item in clear goes on in clear or better`() {
        for address in ["http://a.example/1.ts", "https://a.example/1.ts"] {
            #expect(RequestTap.sends("Authorization", to: address, of: "http://a.example/stream.mpd"))
        }
    }

    @Test(arguments: ["Range", "host", "Content-Length", "Connection"])
    func `fields of the transport are not the sender's`(field: String) {
        #expect(!RequestTap.sends(field, to: Self.item, of: Self.item))
    }
}
