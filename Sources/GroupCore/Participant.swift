// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// What the coordinator knows of one participant.
struct Participant: Equatable, Sendable {
    /// What it does when it has done all that it was told.
    enum Motion: Equatable, Sendable {
        /// Nobody knows: it was suspended, or an answer was lost.
        case unknown
        case standing
        /// Stands, and is ready to play at this rate.
        case prepared(Double)
        case playing(PlaybackAnchor)
    }

    /// A command that it has not completed yet.
    struct Sent: Equatable, Sendable {
        let id: CommandID
        let item: String
        let revision: UInt64
        let action: GroupCommand.Action
    }

    let id: ParticipantID
    let name: String
    let kind: ParticipantKind
    let joinNumber: UInt64
    var item: String?
    var isReady: Bool
    var suspensions: [Suspension]
    /// A start goes on without it, until it has caught up.
    var isLeftBehind = false
    /// Its suspensions were waited for long enough.
    var isWaitedOut = false
    /// It has played to the end what the others still play.
    var hasEnded = false
    /// In the order in which they were sent.
    var outstanding: [Sent] = []
    var motion = Motion.unknown
    /// The place in the item from which it goes on, as `ItemState.placement` names it. Nil: nobody knows.
    var placement: UInt64?
    /// The state that it is told anew rather than for the first time.
    var realigned: UInt64?
    var lastCommand: CommandID?

    var takesPart: Bool { suspensions.isEmpty }

    /// Forgets what it was told, so that all is told anew.
    mutating func forgetWhatItWasTold() { (motion, placement) = (.unknown, nil) }

    var member: GroupMember {
        var reasons = suspensions.map(\.reason)
        if isLeftBehind, !reasons.contains(.stallRecovery) { reasons.append(.stallRecovery) }
        return GroupMember(
            id: id, name: name, kind: kind, joinNumber: joinNumber, item: item, isReady: isReady,
            suspensions: reasons)
    }
}

/// Where the group is in one item, and since which request.
struct ItemState: Equatable, Sendable {
    var timeline: GroupTimeline
    /// Named anew by each change that was asked for; never used for another item.
    var revision: UInt64
    /// Named anew by each jump to another place: who goes on from an older one has to seek first.
    var placement: UInt64
    /// Who asked for the last change.
    var originator: ParticipantID?
    /// Where the last jump led.
    var place: Int64
    /// Named anew by each start and each end, so that a timer of an older one does nothing.
    var generation: UInt64 = 0
    /// When the start that is waited for happens at the latest.
    var due: Int64?
    /// The originator of the pause has not told yet where it stopped.
    var awaitsStop = false
    /// The rest has only so long to play to the end.
    var isEnding = false

    /// What a participant has to do next in order to be where the group is; nil: nothing.
    func nextAction(for participant: Participant) -> GroupCommand.Action? {
        switch timeline {
        case .paused(let time):
            if case .playing = participant.motion { return .pause(anticipatedRate: nil) }
            if participant.placement != placement { return .seek(to: time, anticipatedRate: nil, due: nil) }
            return nil
        case .waiting(let time, let rate):
            if participant.placement != placement {
                return .seek(to: time, anticipatedRate: rate, due: due)
            }
            switch participant.motion {
            case .playing: return .pause(anticipatedRate: rate)
            case .prepared(rate): return nil
            case .unknown, .standing, .prepared: return .buffer(anticipatedRate: rate, due: due)
            }
        case .playing(let anchor):
            if participant.motion == .playing(anchor) { return nil }
            if let known = participant.placement, known != placement {
                return .seek(to: place, anticipatedRate: nil, due: nil)
            }
            return .play(anchor)
        }
    }
}
