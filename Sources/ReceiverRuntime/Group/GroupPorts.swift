// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What a receiver needs in order to play in groups. As the other ports: used on the receiver's executor alone, reporting there,
/// never from inside a call.
package struct GroupPorts {
    let clock: any GroupClockPort
    let connector: any MemberConnector
    let secrets: any GroupSecrets
    /// Nil: nothing is remembered of cards.
    let cards: (any CardMemory)?

    package init(
        clock: any GroupClockPort, connector: any MemberConnector, secrets: any GroupSecrets,
        cards: (any CardMemory)? = nil
    ) {
        (self.clock, self.connector, self.secrets, self.cards) = (clock, connector, secrets, cards)
    }
}

/// Remembers how much faster than the clock this machine's cards run, by their devices, in parts per million.
package protocol CardMemory: AnyObject {
    var drifts: [(device: String, drift: Double)] { get }
    func learn(drift: Double, of device: String)
}

/// The clock of a group: this machine's, shown to the members, or that of another machine, read from here.
package protocol GroupClockPort: AnyObject {
    /// Shows this machine's monotonic clock at a UDP port and returns the one taken: another one than `port` if that is 0 or
    /// somebody has it.
    func provide(port: UInt16) throws -> UInt16
    func stopProviding()
    /// Reads the clock at this address, in place of the one before, and reports how it runs, some ten times a second; nil
    /// once it is not known any more. `machine` names what it is the clock of: how fast that runs is remembered under it.
    func follow(
        address: String, port: UInt16, machine: String, report: @escaping (ClockLine?) -> Void)
    /// Whether anybody plays by the clock, or will in a moment: otherwise it is read seldom.
    func setPlaying(_ isPlaying: Bool)
    func stopFollowing()
}

/// Opens links to hosts.
package protocol MemberConnector: AnyObject {
    /// Tries the addresses in their order, for 10 s at most. The link lives as long as it is held.
    func connect(
        to addresses: [String], port: UInt16, report: @escaping (MemberLinkEvent) -> Void
    ) -> any MemberLink
}

/// One WebSocket to a host. Dropping it closes it.
package protocol MemberLink: AnyObject {
    func send(text: String)
}

package enum MemberLinkEvent: Equatable, Sendable {
    /// At this one of the addresses.
    case opened(address: String)
    case received(String)
    /// It is over, or could not be opened. The last event.
    case closed(reason: String)
}

/// What needs a library for secrets.
package protocol GroupSecrets: AnyObject {
    /// 32 bytes that nobody can guess.
    func random() -> [UInt8]
    /// HMAC-SHA256.
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8]
}
