// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What happens at the host. The moment of the group's clock comes beside it, in `GroupCoordinator.apply`.
package enum GroupEvent: Equatable, Sendable {
    /// Also when one that is known attaches anew: what was on the way to it is lost then.
    case joined(Participation)
    case left(ParticipantID)
    /// Its link broke.
    case lost(ParticipantID)
    case reported(ParticipantID, ParticipantReport)
    case timerFired(GroupTimer)
}

/// What the host has to do, in order.
package enum GroupEffect: Equatable, Sendable {
    case send(GroupCommand, to: ParticipantID)
    /// At this moment of the group's clock say `timerFired`. Those that are overtaken may fire too; nothing comes of it.
    case arm(GroupTimer, at: Int64)
    /// Nil: accepted. Exactly one for each request, in the list that its own event returns.
    case answer(GroupRequestID, to: ParticipantID, GroupRefusal?)
    case refuseJoin(ParticipantID, GroupRefusal)
    /// A command has come to its one end.
    case completed(CommandID, by: ParticipantID, CommandOutcome)
    /// It is no participant any more, since somebody asked for that.
    case removed(ParticipantID)
    /// So much of the snapshot has changed.
    case changed(GroupPart)
    /// Those who take part have played it to the end.
    case ended(item: String)
}

/// A part of what members know.
package enum GroupPart: Equatable, Hashable, Sendable {
    case roster, item, activity, policy, name
    /// Of this item; it may be gone.
    case timeline(String)
}

/// Names what a timer is for; a stale one is known by what it names.
package enum GroupTimer: Equatable, Hashable, Sendable {
    /// A start has waited long enough for those that are not ready.
    case readiness(item: String, generation: UInt64)
    /// And for those that are suspended.
    case suspensions(item: String, generation: UInt64)
    /// A command has waited long enough for its end.
    case completion(ParticipantID, CommandID)
    /// A new host has waited long enough for those that were members before.
    case members
    /// Those that have not played to the end have had time enough.
    case end(item: String, generation: UInt64)
}
