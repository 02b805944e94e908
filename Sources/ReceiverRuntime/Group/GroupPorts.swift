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
