// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GroupLink
import LoopTestKit
import Soup
import Testing

@testable import MemberLink

@Suite struct `Addresses of a host` {
    private let zones = { (_: String) in ["eth0", "wlan0"] }

    @Test func `that count on one link are tried on each of this machine's`() {
        #expect(
            HostConnector.onLinks(["FE80::1", "192.0.2.7"], zones: zones)
                == ["FE80::1%eth0", "FE80::1%wlan0", "192.0.2.7"])
    }

    @Test func `that name their link are tried there alone`() {
        #expect(HostConnector.onLinks(["fe80::1%eth1"], zones: zones) == ["fe80::1%eth1"])
    }

    @Test func `are passed over where this machine has no such link`() {
        #expect(HostConnector.onLinks(["fe80::1", "2001:db8::1"]) { _ in [] } == ["2001:db8::1"])
    }

    @Test func `are no more than twelve tries`() {
        let many = (0..<8).map { "fe80::\($0)" }
        let tries = HostConnector.onLinks(many, zones: zones)
        #expect(tries.count == 12)
        #expect(tries.first == "fe80::0%eth0" && tries.last == "fe80::5%wlan0")
    }

    @Test(arguments: [
        ("192.0.2.7", "ws://192.0.2.7:7380/v1/route"),
        ("2001:db8::1", "ws://[2001:db8::1]:7380/v1/route"),
        ("fe80::1%wlan0", "ws://[fe80::1%25wlan0]:7380/v1/route"),
    ])
    func `become addresses of its route protocol`(address: String, uri: String) {
        #expect(WebSocketLink.uri(address, 7380) == uri)
    }
}

@Suite(.timeLimit(.minutes(1)), .serialized) struct `A link to a host` {
    /// A host that says what it is told, and closes when it is told `end`.
    private func makeHost(in here: isolated OnLoop) throws -> UInt16 {
        let server = Server()
        here.keep(server)
        server.handleWebSocket("/v1/route") { socket, _ in
            socket.onMessage = { [unowned socket] message in
                if message == .text("end") {
                    socket.close(code: 1000, reason: "moved")
                } else {
                    socket.send(message)
                }
            }
            here.keep(socket)
        }
        return try server.listen(port: 0)
    }

    private func open(
        _ addresses: [String], _ port: UInt16, in here: isolated OnLoop, _ events: Mailbox<MemberLinkEvent>
    ) -> any MemberLink {
        let connector = HostConnector()
        let link = connector.connect(to: addresses, port: port) { events.put($0) }
        here.keep(connector)
        here.keep(link)
        return link
    }

    @Test func `is that to the first address that answers, and carries texts both ways until its end`()
        async throws
    {
        let here = OnLoop()
        let events = Mailbox<MemberLinkEvent>()
        let link = try await here.run { here in
            let port = try makeHost(in: here)
            return Kept(open(["256.0.0.1", "::1", "127.0.0.1"], port, in: here, events))
        }
        guard case .opened(let address) = await events.next() else {
            Issue.record("the link is not open")
            return
        }
        #expect(["::1", "127.0.0.1"].contains(address))
        await here.run { _ in link.value.send(text: "hello") }
        #expect(await events.next() == .received("hello"))
        await here.run { _ in link.value.send(text: "end") }
        #expect(await events.next() == .closed(reason: "moved"))
    }

    @Test(arguments: [[], ["127.0.0.1"], ["not an address", "127.0.0.1"]])
    func `is over, with a reason, when no address answers`(addresses: [String]) async throws {
        let here = OnLoop()
        let events = Mailbox<MemberLinkEvent>()
        try await here.run { here in
            // It was somebody's a moment ago and is nobody's now.
            let port = try Server().listen(port: 0)
            _ = open(addresses, port, in: here, events)
        }
        guard case .closed(let reason) = await events.next() else {
            Issue.record("the link is not over")
            return
        }
        #expect(!reason.isEmpty)
    }
}

/// Carries what belongs to a loop back to it.
private struct Kept: @unchecked Sendable {
    let value: any MemberLink
    init(_ value: any MemberLink) { self.value = value }
}

@Suite struct SystemSecretsTests {
    /// Test cases 1 and 2 of RFC 4231.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
    ])
    func `codes are HMAC-SHA256`(key: [UInt8], message: String, code: String) {
        let made = SystemSecrets().code(of: Array(message.utf8), key: key)
        let digits = Array("0123456789abcdef")
        #expect(String(made.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) == code)
    }

    @Test func `random bytes are 32, and others each time`() {
        let secrets = SystemSecrets()
        let (one, other) = (secrets.random(), secrets.random())
        #expect(one.count == 32 && other.count == 32 && one != other)
    }
}
