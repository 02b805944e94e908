// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What the owner of the state is told, in the past tense.
package enum SwitchingEvent: Equatable, Sendable {
    case connected(SourceID, name: String)
    case disconnected(SourceID)
    /// It plays from now on. That it goes on after it lost the output is no start.
    case started(SourceID, by: Cause)
    /// It plays no more, for the time being.
    case paused(SourceID)
    case callBegan(SourceID)
    case callEnded(SourceID)
    /// A person wants to hear it.
    case takeRequested(SourceID)
    /// A person does not want to hear it.
    case yieldRequested(SourceID)
    /// It has the output and cannot be heard.
    case hearingFailed(SourceID)
    case preferenceChanged(SourceAddress, SourcePreference)
    /// Nil: nobody knows.
    case placementChanged(DevicePlacement?)
    case jackChanged(isPlugged: Bool)
    case announcementBegan
    case announcementEnded
    case timerFired(generation: UInt64)
}

/// What the owner must do, in the imperative, in order.
package enum SwitchingEffect: Equatable, Sendable {
    /// It is heard from now on, and nothing else.
    case hear(SourceID)
    /// It is not heard any more, and nothing is.
    case silence(SourceID)
    /// Have it pause: it is not heard.
    case pause(SourceID, Reason)
    /// Have it go on: it is heard.
    case play(SourceID)
    /// End its connection.
    case letGo(SourceID)
    case moveOutput(toJack: Bool)
    /// Replaces the one before it. `at`: a moment of the clock that events carry.
    case armTimer(at: Int64, generation: UInt64)
    case cancelTimer
}

/// Why something is heard or is not. The raw value is the stable name on the wire.
package enum Reason: String, Sendable, CaseIterable {
    // It is heard.
    case started, asked, call, cameBack, wornAgain
    // It is not heard any more.
    case ended, pausedLong, yielded, failed, takenOff, unplugged
    // It is not heard although it plays.
    case callHasPriority, preferredIsHeard, onlyWhenAsked, tooManySwitches, notWorn
    // It is not connected any more.
    case multipointLimit
    // Nothing changes.
    case takenOffTooLong, announced, announcementOver, pluggedIn

    /// For people.
    package var sentence: String {
        switch self {
        case .started: "It started."
        case .asked: "Somebody asked for it."
        case .call: "A call began."
        case .cameBack: "What was heard since is over."
        case .wornAgain: "The device is worn again."
        case .ended: "It ended."
        case .pausedLong: "It was paused for long."
        case .yielded: "Somebody asked it to make way."
        case .failed: "It could not be heard."
        case .takenOff: "The device was taken off."
        case .unplugged: "The jack was pulled."
        case .callHasPriority: "A call goes on."
        case .preferredIsHeard: "A preferred source is heard."
        case .onlyWhenAsked: "It is heard only when somebody asks for it."
        case .tooManySwitches: "There were too many switches that nobody asked for."
        case .notWorn: "The device is not worn."
        case .multipointLimit: "No more phones can be connected at once."
        case .takenOffTooLong: "The device was off for too long."
        case .announced: "An announcement is heard over it."
        case .announcementOver: "The announcement is over."
        case .pluggedIn: "Something was plugged in."
        }
    }
}

/// One decision, so that people can see why they hear what they hear.
package struct Decision: Equatable, Sendable {
    /// The raw value is the stable name on the wire.
    package enum Outcome: String, Sendable, CaseIterable { case heard, silent, refused, letGo, noted }

    /// Counts decisions.
    package var number: UInt64
    /// When, by the clock that events carry.
    package var moment: Int64
    package var outcome: Outcome
    package var reason: Reason
    /// What it is about.
    package var source: SourceID?
    package var name: String
    /// What was heard before.
    package var previous: SourceID?
}
