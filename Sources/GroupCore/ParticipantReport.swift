// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a participant tells the coordinator. Over a link that keeps the order.
package enum ParticipantReport: Equatable, Sendable {
    case completed(CommandID, CommandOutcome)
    /// It is on this item from now on (nil: on none), ready or not. The proposal counts if nobody is on it yet; nil: paused at its
    /// start, or as the group is.
    case transitioned(to: String?, proposing: TimingProposal?)
    /// Whether it could begin at once.
    case readinessChanged(Bool)
    case suspensionBegan(Suspension)
    /// With a time: all go there, and go on as they did. Without effect while others of its suspensions are open.
    case suspensionEnded(SuspensionID, proposing: Int64?)
    /// Here it stood still when it had paused.
    case stopped(item: String, at: Int64)
    /// It has played its item to the end.
    case ended(item: String)
    /// It has drifted off and wants the state told anew.
    case reapplied
    case requested(GroupRequestID, GroupRequest)
}

/// Who wants to take part, and what it is doing: all that a new host has to know of it.
package struct Participation: Equatable, Sendable {
    package let id: ParticipantID
    package let name: String
    package let kind: ParticipantKind
    package var item: String?
    package var proposal: TimingProposal?
    package var isReady: Bool
    package var suspensions: [Suspension]

    package init(
        id: ParticipantID, name: String, kind: ParticipantKind, item: String? = nil,
        proposal: TimingProposal? = nil, isReady: Bool = false, suspensions: [Suspension] = []
    ) {
        (self.id, self.kind, self.item, self.proposal) = (id, kind, item, proposal)
        self.name = name.prefix(bytes: GroupLimits.nameBytes)
        (self.isReady, self.suspensions) = (isReady, Array(suspensions.prefix(GroupLimits.suspensions)))
    }
}
