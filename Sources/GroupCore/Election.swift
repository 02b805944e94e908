// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The rules by which members who cannot ask each other come to the same host.
package enum Election {
    /// Who goes on as the host: the receiver that joined first of those that are not known to be lost. Nil: nobody is left.
    package static func successor(in roster: GroupRoster, lost: Set<ParticipantID>) -> ParticipantID? {
        roster.members.first { $0.kind == .receiver && !lost.contains($0.id) }?.id
    }

    /// What a host says of itself to another one of the same group. It stays the same for as long as it is the host.
    package struct Claim: Equatable, Hashable, Sendable {
        package let epoch: UInt32
        package let host: ParticipantID
        package init(epoch: UInt32, host: ParticipantID) { (self.epoch, self.host) = (epoch, host) }
    }

    /// Which of two hosts of one group stays: the one of the higher epoch, since most members followed it when the group was cut
    /// in two; of equal ones the lesser identifier. The other gives its group up and attaches there.
    package static func survivor(of one: Claim, and other: Claim) -> Claim {
        if one.epoch != other.epoch { return one.epoch > other.epoch ? one : other }
        return one.host <= other.host ? one : other
    }

    /// The same line in the item, bound to a new host's clock. Exact at `local`; from there on the new clock leads.
    ///
    /// - Parameter local: Nanoseconds of the machine's own clock, at or near the present.
    package static func carryOver(
        _ anchor: PlaybackAnchor, from old: ClockLine, to new: ClockLine, at local: Int64
    ) -> PlaybackAnchor {
        PlaybackAnchor(
            itemTime: anchor.itemTime(at: old.remote(at: local)), clockTime: new.remote(at: local),
            rate: anchor.rate)
    }
}
