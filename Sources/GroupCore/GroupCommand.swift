// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What one participant shall do. It does one after the other and completes each exactly once: when it is done, or at once
/// if the item is another one or it takes no part.
package struct GroupCommand: Equatable, Hashable, Sendable {
    package enum Action: Equatable, Hashable, Sendable {
        /// Be heard at the anchor's place at its moment; one that has passed means: fall in where the others are. Also sent when
        /// only the anchor changes.
        case play(PlaybackAnchor)
        /// Stand. With an anticipated rate: done only when ready to play at that rate.
        case pause(anticipatedRate: Double?)
        /// Stand at this place, and never go on by itself. With an anticipated rate: done only when ready to play at that rate
        /// from there. The group goes on without those that are not at `due`, on its clock.
        case seek(to: Int64, anticipatedRate: Double?, due: Int64?)
        /// Be ready to play at the rate from where it stands, and show that it waits. Over with any command that follows.
        case buffer(anticipatedRate: Double, due: Int64?)

        /// Whether it is done only when ready, so that a later request must not wait for it.
        package var waitsForReadiness: Bool { anticipatedRate != nil }

        package var anticipatedRate: Double? {
            switch self {
            case .play: nil
            case .pause(let rate), .seek(_, let rate, _): rate
            case .buffer(let rate, _): rate
            }
        }

        package var due: Int64? {
            switch self {
            case .play, .pause: nil
            case .seek(_, _, let due), .buffer(_, let due): due
            }
        }
    }

    package let id: CommandID
    /// The item that it is about. A participant on another one ignores it, and completes it.
    package let item: String
    /// Who asked. Nil for own requests of the one that gets it, and for states that are only told anew.
    package let originator: ParticipantID?
    package let action: Action
    /// The participant stops waiting for the readiness of the command before: somebody has asked for something else.
    package let overtakes: Bool

    package init(
        id: CommandID, item: String, originator: ParticipantID? = nil, action: Action, overtakes: Bool = false
    ) {
        (self.id, self.item, self.originator) = (id, item, originator)
        (self.action, self.overtakes) = (action, overtakes)
    }
}

/// How a command ended.
package enum CommandOutcome: String, Equatable, Hashable, Sendable, CaseIterable {
    case done
    /// The participant takes no part.
    case suspended
    /// It was about another item, or a later one had overtaken it.
    case ignored
    /// The participant left, or did not answer in time. Said by the coordinator alone.
    case lost
}
