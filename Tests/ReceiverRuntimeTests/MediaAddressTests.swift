// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteWire
import Testing

@testable import ReceiverRuntime

/// A sender that came from somewhere.
private final class Somebody: Client {
    let address: String
    private let zones: [String]
    let isCongested = false
    let pendingBytes = 0
    init(_ address: String, _ linkZones: [String] = []) {
        (self.address, zones) = (address, linkZones)
    }
    func linkZones(for address: String) -> [String] { zones }
    func send(text: String) {}
    func send(binary: [UInt8]) {}
    func close(code: UInt16, reason: String) {}
}

struct MediaAddressTests {
    @Test(arguments: [
        ("http://0.0.0.0:80/a", "http://192.0.2.7:80/a"), ("http://[::]/a", "http://192.0.2.7/a"),
        ("https://u:p@0.0.0.0", "https://u:p@192.0.2.7"), ("HTTP://0.0.0.0?a", "HTTP://192.0.2.7?a"),
    ])
    func `any address is the sender's own`(written: String, meant: String) {
        #expect(MediaAddress.meant(by: written, of: Somebody("192.0.2.7")) == meant)
        #expect(MediaAddress.meant(by: written, of: Somebody("::ffff:192.0.2.7")) == meant)
    }

    @Test func `any address is the sender's also with IPv6`() {
        let zones = ["eth0", "eth1"]
        #expect(
            MediaAddress.meant(by: "http://0.0.0.0:8/", of: Somebody("2001:db8::1"))
                == "http://[2001:db8::1]:8/")
        #expect(
            MediaAddress.meant(by: "http://0.0.0.0:8/", of: Somebody("fe80::1", zones))
                == "http://[fe80::1%25eth0]:8/")
    }

    @Test(arguments: [
        "http://[fe80::1%25wlan0]:8080/a%25b", "http://[fe80::1%wlan0]:8080/a%25b",
        "http://[fe80::1]:8080/a%25b",
        "http://[FE80::1%25]:8080/a%25b",
    ])
    func `an address of a link is sought on a link of this machine`(written: String) {
        let meant = MediaAddress.meant(by: written, of: Somebody("192.0.2.7", ["eth0", "eth1"]))
        #expect(meant.lowercased() == "http://[fe80::1%25eth0]:8080/a%25b")
    }

    @Test func `a link that is there is kept, and without any the name is left out`() {
        let url = "http://[fea0::1%eth1]/"
        #expect(
            MediaAddress.meant(by: url, of: Somebody("", ["eth0", "eth1"])) == "http://[fea0::1%25eth1]/")
        #expect(MediaAddress.meant(by: url, of: Somebody("")) == "http://[fea0::1]/")
    }

    @Test(arguments: [
        (" http://a/b c?d e#f \n", "http://a/b%20c?d%20e#f"), ("http://a/ä%20", "http://a/ä%20"),
        ("http://a b/", "http://a b/"), ("http://a", "http://a"), ("", ""), ("  ", ""),
        ("http://", "http://"),
        ("file:///a b", "file:///a b"), ("http://10.0.0.0.0/", "http://10.0.0.0.0/"),
        ("http://a/0.0.0.0", "http://a/0.0.0.0"), ("http://[fe80::1", "http://[fe80::1"),
        ("http://[fec0::1]/", "http://[fec0::1]/"), ("http://[]/", "http://[]/"), ("http://@/", "http://@/"),
        ("http://[2001:db8::1%25x]/", "http://[2001:db8::1%25x]/"), ("no address", "no address"),
        ("http://a/\u{0}", "http://a/\u{0}"),
    ])
    func `anything else stays as it is, but for blanks`(written: String, meant: String) {
        #expect(MediaAddress.meant(by: written, of: Somebody("192.0.2.7", ["eth0"])) == meant)
    }

    @Test func `the addresses of all items of a request are meant so`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        try sender.ask(.start(SessionStart(url: "http://0.0.0.0/a b")))
        var uris: [String] = []
        for case .load(_, let item, _) in receiver.renderer.commands { uris.append(item.uri) }
        #expect(uris.count == 1)
        #expect(uris.allSatisfy { $0.hasPrefix("http://192.0.2.") && $0.hasSuffix("/a%20b") })
    }
}
