// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupLink
import MediaModel
package import ReceiverRuntime

/// The network between receivers of a test: links between members and hosts, and clocks, by their ports. Nothing moves until the
/// test says so.
package final class FakeNetwork {
    /// By the port of HTTP.
    fileprivate var listeners: [UInt16: FakeListener] = [:]
    /// By the port of the clock.
    fileprivate var clocks: [UInt16: ManualClock] = [:]
    fileprivate var links: [WeakLink] = []
    fileprivate var readers: [WeakReader] = []
    fileprivate var vanished: [FakeClient] = []
    /// Receivers that nobody reaches, and that reach nobody.
    package private(set) var unreachable: Set<UInt16> = []
    /// How many links are cut off as soon as they are open, from now on.
    package var interruptions = 0
    /// True: clocks are not read yet.
    package var areClocksSilent = false
    /// What members have sent, in order.
    package fileprivate(set) var said: [String] = []
    /// The ports of receivers that read another one's clock often.
    package var readersInUse: Set<UInt16> {
        Set(readers.compactMap { entry in entry.reader.flatMap { $0.isInUse ? $0.port : nil } })
    }

    fileprivate struct WeakLink { weak var link: FakeMemberLink? }
    fileprivate struct WeakReader { weak var reader: FakeGroupClock? }

    package init() {}

    /// The ports of a receiver on this network.
    package func ports(
        at port: UInt16, clockPort: UInt16, listener: FakeListener, clock: ManualClock
    ) -> GroupPorts {
        listeners[port] = listener
        clocks[clockPort] = clock
        let reader = FakeGroupClock(self, clock, port)
        readers.append(WeakReader(reader: reader))
        return GroupPorts(
            clock: reader, connector: FakeConnector(self, from: port),
            secrets: FakeSecrets(seed: UInt64(port)))
    }

    /// Cuts a receiver off, as a pulled plug or a kill does.
    package func cut(_ port: UInt16) {
        unreachable.insert(port)
        for entry in links { entry.link?.breakOff(ifTo: port) }
    }

    package func heal(_ port: UInt16) { unreachable.remove(port) }

    /// Moves what is on its way. True if there was anything.
    package func deliver() -> Bool {
        var moved = false
        let gone = vanished
        vanished = []
        for client in gone {
            client.vanish()
            moved = true
        }
        links.removeAll { $0.link == nil }
        for entry in links { if entry.link?.deliver() == true { moved = true } }
        readers.removeAll { $0.reader == nil }
        for entry in readers { if entry.reader?.deliver() == true { moved = true } }
        return moved
    }

    /// The code that everybody on this network makes.
    package func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        FakeSecrets(seed: 0).code(of: message, key: key)
    }

    fileprivate func drop(_ client: FakeClient) { vanished.append(client) }
}

private final class FakeConnector: MemberConnector {
    private let network: FakeNetwork
    private let port: UInt16
    init(_ network: FakeNetwork, from port: UInt16) { (self.network, self.port) = (network, port) }

    func connect(
        to addresses: [String], port: UInt16, report: @escaping (MemberLinkEvent) -> Void
    ) -> any MemberLink {
        let link = FakeMemberLink(network, from: self.port, to: port, addresses, report)
        network.links.append(FakeNetwork.WeakLink(link: link))
        return link
    }
}

private final class FakeMemberLink: MemberLink {
    private let network: FakeNetwork
    private let (origin, target): (UInt16, UInt16)
    private let addresses: [String]
    private var report: ((MemberLinkEvent) -> Void)?
    private var client: FakeClient?
    private var outgoing: [String] = []

    init(
        _ network: FakeNetwork, from origin: UInt16, to target: UInt16, _ addresses: [String],
        _ report: @escaping (MemberLinkEvent) -> Void
    ) {
        (self.network, self.origin, self.target) = (network, origin, target)
        (self.addresses, self.report) = (addresses, report)
    }

    deinit { if let client { network.drop(client) } }

    func send(text: String) { outgoing.append(text) }

    func breakOff(ifTo port: UInt16) {
        guard port == target || port == origin, let client else { return }
        self.client = nil
        network.drop(client)
        end("cut")
    }

    private func end(_ reason: String) {
        let report = report
        self.report = nil
        report?(.closed(reason: reason))
    }

    func deliver() -> Bool {
        guard report != nil else { return false }
        guard let client else {
            guard !network.unreachable.contains(target), !network.unreachable.contains(origin),
                let listener = network.listeners[target], listener.isOpen, let address = addresses.first
            else {
                end("unreachable")
                return true
            }
            self.client = listener.connect()
            report?(.opened(address: address))
            if network.interruptions > 0 {
                network.interruptions -= 1
                breakOff(ifTo: target)
            }
            return true
        }
        var moved = false
        for text in client.takeTexts() {
            report?(.received(text))
            moved = true
        }
        if client.closing != nil {
            self.client = nil
            end("closed")
            return true
        }
        let texts = outgoing
        outgoing = []
        for text in texts {
            network.said.append(text)
            client.say(text)
            moved = true
        }
        return moved
    }
}

/// A clock that is read without error.
private final class FakeGroupClock: GroupClockPort {
    private let network: FakeNetwork
    private let clock: ManualClock
    private var followed: (port: UInt16, report: (ClockLine?) -> Void)?
    private var isReportDue = false
    private var isPlaying = false
    /// Of the receiver that it belongs to.
    let port: UInt16
    var isInUse: Bool { followed != nil && isPlaying }

    init(_ network: FakeNetwork, _ clock: ManualClock, _ port: UInt16) {
        (self.network, self.clock, self.port) = (network, clock, port)
    }

    func provide(port: UInt16) throws -> UInt16 { port }
    func stopProviding() {}

    func setPlaying(_ isPlaying: Bool) { self.isPlaying = isPlaying }

    func follow(address: String, port: UInt16, machine: String, report: @escaping (ClockLine?) -> Void) {
        followed = (port, report)
        isReportDue = true
    }

    func stopFollowing() { followed = nil }

    func deliver() -> Bool {
        guard let followed, isReportDue, !network.areClocksSilent, let other = network.clocks[followed.port]
        else { return false }
        isReportDue = false
        followed.report(ClockLine(local: clock.now, remote: other.now, skew: 0))
        return true
    }
}

/// Secrets that come again; the code depends on every byte of key and message, and is of no use to anybody.
private final class FakeSecrets: GroupSecrets {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    func random() -> [UInt8] {
        (0..<32).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 14_695_981_039_346_656_037
        return (0..<32).map { round in
            for byte in key + message + [UInt8(round)] { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
            return UInt8(truncatingIfNeeded: hash >> 24)
        }
    }
}
