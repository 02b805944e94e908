// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// A group as its host sees it: who takes part, where each item stands, and what each participant was told.
///
/// It never reads a clock or does I/O. Its transitions are in `Docs/state-machines/group.md`.
package struct GroupCoordinator: Equatable, Sendable {
    package let id: GroupID
    package let host: ParticipantID
    package let epoch: UInt32
    package internal(set) var name: String
    package internal(set) var item: GroupItem?
    package internal(set) var activity: GroupActivity
    package internal(set) var policy: GroupPolicy

    /// A new group, of nobody yet. The host takes part as any other member: by `joined`.
    package init(
        id: GroupID, name: String, host: ParticipantID, activity: GroupActivity = GroupActivity(),
        policy: GroupPolicy = GroupPolicy()
    ) {
        (self.id, self.host, self.epoch) = (id, host, 1)
        self.name = name.prefix(bytes: GroupLimits.nameBytes)
        (self.activity, self.policy) = (activity, policy)
    }

    /// Goes on where a lost host left off, in the next epoch. The members of the snapshot are waited for until they have joined
    /// again.
    ///
    /// - Parameter carry: Binds an anchor to the new host's clock: `Election.carryOver`.
    package init(
        succeeding snapshot: GroupSnapshot, as host: ParticipantID, carry: (PlaybackAnchor) -> PlaybackAnchor
    ) {
        (id, self.host, epoch) = (snapshot.id, host, snapshot.epoch &+ 1)
        (name, item, activity, policy) = (snapshot.name, snapshot.item, snapshot.activity, snapshot.policy)
    }

    /// Takes one event at a moment of the group's clock and says what is to be done, in order.
    package mutating func apply(_ event: GroupEvent, at now: Int64) -> [GroupEffect] {
        []
    }

    /// What all members are to know.
    package var snapshot: GroupSnapshot {
        GroupSnapshot(
            id: id, name: name, host: host, epoch: epoch, roster: GroupRoster([]), item: item, timelines: [:],
            activity: activity, policy: policy)
    }
}
