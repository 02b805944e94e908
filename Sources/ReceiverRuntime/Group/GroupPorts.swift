// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What a receiver needs in order to play in groups. As the other ports: used on the receiver's executor alone, reporting there,
/// never from inside a call.
package struct GroupPorts {
    let clock: any GroupClockPort
    let connector: any MemberConnector
    let secrets: any GroupSecrets

    package init(
        clock: any GroupClockPort, connector: any MemberConnector, secrets: any GroupSecrets
    ) {
        (self.clock, self.connector, self.secrets) = (clock, connector, secrets)
    }
}

/// The clock of a group: this machine's, shown to the members, or that of another machine, read from here.
package protocol GroupClockPort: AnyObject {
    /// Shows this machine's monotonic clock at a UDP port and returns the one taken: another one than `port` if that is 0 or
    /// somebody has it.
    func provide(port: UInt16) throws -> UInt16
    func stopProviding()
    /// Reads the clock at this address, in place of the one before, and reports how it runs, some ten times a second; nil
    /// once it is not known any more. `clock` names it: with another name nothing of what was learned counts.
    func follow(
        address: String, port: UInt16, clock: String, report: @escaping (ClockLine?) -> Void)
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
