// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Avahi
import Testing

@Suite struct ServiceNameTests {
    @Test func `a short name stays as it is`() {
        #expect(ServiceName.fitting("Küche \"Süd\" ☕️") == "Küche \"Süd\" ☕️")
    }

    @Test(arguments: [
        (String(repeating: "a", count: 64), String(repeating: "a", count: 63)),
        (String(repeating: "a", count: 62) + "é", String(repeating: "a", count: 62)),
        (String(repeating: "a", count: 61) + "é", String(repeating: "a", count: 61) + "é"),
        // One character of 25 bytes is not cut in the middle.
        (String(repeating: "a", count: 50) + "👩‍👩‍👧‍👦", String(repeating: "a", count: 50)),
    ]) func `a long name is cut at a character`(name: String, expected: String) {
        #expect(ServiceName.fitting(name) == expected)
        #expect(ServiceName.fitting(name).utf8.count <= 63)
    }

    @Test func `control characters become blanks`() {
        #expect(ServiceName.fitting("a\u{0}b\nc\u{7f}") == "a b c ")
    }

    @Test func `an address is written as a URI needs it`() {
        let loopback = DiscoveredService.Address(text: "fe80::1", isIPv6: true, interface: 1)
        #expect(loopback.uriHost == "[fe80::1%25lo]")
        #expect(
            DiscoveredService.Address(text: "2001:db8::1", isIPv6: true, interface: 1).uriHost
                == "[2001:db8::1]")
        #expect(
            DiscoveredService.Address(text: "10.0.0.1", isIPv6: false, interface: 1).uriHost == "10.0.0.1")
    }

    @Test func `a text value is found whatever its key's case, and the first one counts`() {
        let service = DiscoveredService(
            name: "a", host: "h", port: 1, addresses: [], text: ["ID=1=2", "id=3", "flag"])
        #expect(service.value("id") == "1=2")
        #expect(service.value("flag") == "")
        #expect(service.value("none") == nil)
    }
}
