// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A member as all members see it.
package struct GroupMember: Equatable, Sendable {
    package let id: ParticipantID
    package let name: String
    package let kind: ParticipantKind
    /// Counts up with each that joined, and is kept by a new host; the order in which members become hosts.
    package let joinNumber: UInt64
    package let item: String?
    package let isReady: Bool
    /// Empty: it takes part. `stallRecovery` also for one that was left behind.
    package let suspensions: [SuspensionReason]

    package init(
        id: ParticipantID, name: String, kind: ParticipantKind, joinNumber: UInt64, item: String? = nil,
        isReady: Bool = false, suspensions: [SuspensionReason] = []
    ) {
        (self.id, self.name, self.kind, self.joinNumber) = (id, name, kind, joinNumber)
        (self.item, self.isReady, self.suspensions) = (item, isReady, suspensions)
    }
}

/// The members in the order in which they joined.
package struct GroupRoster: Equatable, Sendable {
    package let members: [GroupMember]
    package init(_ members: [GroupMember]) {
        self.members = members.sorted { ($0.joinNumber, $0.id) < ($1.joinNumber, $1.id) }
    }
    package subscript(_ id: ParticipantID) -> GroupMember? { members.first { $0.id == id } }
}

/// All that members know of their group; enough for one of them to go on as its host.
package struct GroupSnapshot: Equatable, Sendable {
    package let id: GroupID
    package let name: String
    package let host: ParticipantID
    /// Counts hosts: each that takes over adds one to what it knew.
    package let epoch: UInt32
    package let roster: GroupRoster
    /// What the receivers are to play.
    package let item: GroupItem?
    /// By item.
    package let timelines: [String: GroupTimeline]
    package let activity: GroupActivity
    package let policy: GroupPolicy

    package init(
        id: GroupID, name: String, host: ParticipantID, epoch: UInt32, roster: GroupRoster, item: GroupItem?,
        timelines: [String: GroupTimeline], activity: GroupActivity, policy: GroupPolicy
    ) {
        (self.id, self.name, self.host, self.epoch) = (id, name, host, epoch)
        (self.roster, self.item, self.timelines) = (roster, item, timelines)
        (self.activity, self.policy) = (activity, policy)
    }
}
