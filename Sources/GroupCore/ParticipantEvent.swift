// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What happens at a participant: from the host, from its player, and from whoever controls it.
package enum ParticipantEvent: Equatable, Sendable {
    /// A link to the host is up; also to another host than before.
    case attached(host: ParticipantID, epoch: UInt32)
    case detached
    case received(GroupCommand)
    /// The host's timeline of an item has changed; nil: it has none.
    case timelineChanged(item: String, GroupTimeline?)

    /// The player has done what `perform` asked.
    case performed(CommandID)
    /// The player could begin at once, or cannot any more.
    case readinessChanged(Bool)
    /// Here the player stood still when it had paused.
    case stopped(item: String, at: Int64)
    /// The player has played its item to the end.
    case ended(item: String)
    /// It is on this item from now on.
    case transitioned(to: String?, proposing: TimingProposal?)

    case suspensionBegan(Suspension)
    case suspensionEnded(SuspensionID, proposing: Int64?)
    case requested(GroupRequestID, GroupRequest)
    /// The player has drifted off.
    case reapplyRequested
    case timerFired(ParticipantTimer)
}

/// What a participant has to do, in order.
package enum ParticipantEffect: Equatable, Sendable {
    /// Tell the host.
    case report(ParticipantReport)
    /// Start this; `performed` comes when it is done. At most one at a time.
    case perform(GroupCommand)
    /// Stop waiting for this one; nobody asks for its end any more.
    case abandon(CommandID)
    /// Nobody else is asked: do it at this player alone.
    case performLocally(GroupRequestID, GroupRequest)
    /// There is no host at present.
    case refuse(GroupRequestID, GroupRefusal)
    /// At this moment of the group's clock say `timerFired`.
    case arm(ParticipantTimer, at: Int64)
    /// Its own suspensions have changed.
    case suspensionsChanged
}

package enum ParticipantTimer: Equatable, Hashable, Sendable {
    /// The group goes on now without those that have not done this.
    case due(CommandID)
}
