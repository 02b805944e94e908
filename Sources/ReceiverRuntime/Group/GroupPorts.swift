// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GroupLink
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
