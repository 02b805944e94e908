// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a participant asks of the whole group, for itself or for a sender that talks to it.
package enum GroupRequest: Equatable, Sendable {
    /// All go over to this item; nil: to none. The proposal sets its timing (nil: paused at its start), unless the group is there
    /// already.
    case setItem(GroupItem?, proposing: TimingProposal?)
    /// 0 pauses; `itemTime` is then where the one who asks stopped. From 0 the group starts when those who take part are ready,
    /// or at once (`immediately`).
    case setRate(Double, item: String, itemTime: Int64? = nil, immediately: Bool = false)
    /// All go there. What played goes on when those who take part are ready, or at once.
    case seek(to: Int64, item: String, resumeImmediately: Bool = false)
    case setPolicy(GroupPolicy)
    case setActivity(GroupActivity)
    case setName(String)
    case remove(ParticipantID)
}

/// Why a request, or somebody who wants to join, was refused.
package enum GroupRefusal: String, Error, Equatable, Sendable, CaseIterable {
    /// A number or a text that means nothing here.
    case invalid
    /// The one who asks plays another item, or none.
    case otherItem
    /// The one who asks takes no part at present; its requests are for itself alone.
    case suspended
    case unknownParticipant
    case limitReached
    /// There is no host at present. Said by the participant alone.
    case unavailable
}
