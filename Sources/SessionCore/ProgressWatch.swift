// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// Notices that an item stands still while it claims to play, and says what to try: first a push, then a new
/// renderer, then no more. Its transitions are in `Docs/state-machines/progress.md`.
///
/// It knows no clock: the time limit is a timer that it has armed, named by a generation, and that others measure.
struct ProgressWatch: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// Nothing claims to play. Leaves for `watching` when something does.
        case resting
        /// Something claims to play, and the newest timer runs. Leaves for `resting` when the claim ends or the timer
        /// has fired; a step that was taken shows in `tries`.
        case watching
        /// Everything was tried. Not left: the session is over.
        case over
    }

    enum Event: Equatable, Sendable {
        /// The item claims to play from now on.
        case claimed
        /// It does not any more: paused, buffering, seeking, without a device.
        case rested
        /// This place was heard.
        case heard(MediaTime)
        case timerFired(generation: UInt64)
        /// What was asked of the renderer was not answered in its time: a push would not be either.
        case unanswered
    }

    enum Effect: Equatable, Sendable {
        /// Within the limit `timerFired` with this generation.
        case armTimer(generation: UInt64)
        /// Seek to where it stands.
        case nudge
        /// End the renderer by force and load the item again.
        case restart
        /// End the session.
        case giveUp
    }

    /// So many places in a row, one a second, and what was tried before is forgotten.
    static let proof = 30

    private(set) var phase = Phase.resting
    /// 0: nothing was tried; 1: a push; 2: a new renderer.
    private(set) var tries = 0
    private(set) var generation: UInt64 = 0
    private(set) var place: MediaTime?
    /// Places that were heard in a row since the last trouble.
    private(set) var moves = 0

    mutating func apply(_ event: Event) -> [Effect] {
        switch (phase, event) {
        case (.over, _): return []
        case (.resting, .claimed), (.watching, .claimed):
            guard phase == .resting else { return [] }
            phase = .watching
            return [arm()]
        case (.resting, .rested), (.watching, .rested):
            phase = .resting
            return []
        case (.resting, .heard(let new)):
            place = new
            return []
        case (.watching, .heard(let new)):
            if let place, new.isSameMoment(as: place) { return [] }
            place = new
            moves = min(moves + 1, Self.proof)
            if moves == Self.proof { tries = 0 }
            return [arm()]
        case (.watching, .timerFired(let fired)) where fired == generation:
            phase = .resting
            return step()
        case (.resting, .timerFired), (.watching, .timerFired): return []
        case (.resting, .unanswered), (.watching, .unanswered):
            phase = .resting
            tries = max(tries, 1)
            return step()
        }
    }

    private mutating func arm() -> Effect {
        generation &+= 1
        return .armTimer(generation: generation)
    }

    private mutating func step() -> [Effect] {
        moves = 0
        tries += 1
        switch tries {
        case 1: return [.nudge]
        case 2: return [.restart]
        default:
            phase = .over
            return [.giveUp]
        }
    }
}
