// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SwitchingCore
import Testing

struct SourceAddressTests {
    @Test func `an address is read as it is written`() {
        let address = SourceAddress(0x0102_03A0_B0FF)
        #expect(address.text == "01:02:03:A0:B0:FF")
        #expect(SourceAddress("01:02:03:a0:B0:ff") == address)
        #expect(address.bytes == [1, 2, 3, 0xA0, 0xB0, 0xFF])
        #expect(SourceAddress(bytes: [1, 2, 3, 0xA0, 0xB0, 0xFF]) == address)
    }

    @Test(arguments: [
        "", "01:02:03:04:05", "01:02:03:04:05:0", "01:02:03:04:05:066", "01:02:03:04:05:06:",
        "01-02-03-04-05-06",
        "0102:03:04:05:06:", "gg:02:03:04:05:06", " 1:02:03:04:05:06", "01:02:03:04:05:06:07",
    ])
    func `what is no address is not read`(_ text: String) { #expect(SourceAddress(text) == nil) }

    @Test func `only six bytes are an address`() {
        #expect(SourceAddress(bytes: [1, 2, 3, 4, 5]) == nil)
        #expect(SourceAddress(bytes: [1, 2, 3, 4, 5, 6, 7]) == nil)
        #expect(SourceAddress(.max).number == 0xFFFF_FFFF_FFFF)
    }

    @Test func `a derived address is local, of one device, and always the same`() {
        let addresses = (0..<1_000).map { SourceAddress(derivedFrom: "sender-\($0)") }
        for address in addresses { #expect(address.bytes[0] & 3 == 2) }
        #expect(Set(addresses).count == 1_000)
        #expect(SourceAddress(derivedFrom: "sender-7") == addresses[7])
    }
}
