// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A member's own side of a group: takes commands in order, starts one at a time, completes each exactly once, and knows when it
/// takes no part.
///
/// It serves the receiver's renderer and any other player alike. It never reads a clock or does I/O.
package struct GroupParticipant: Equatable, Sendable {
    package let id: ParticipantID
    package let name: String
    package let kind: ParticipantKind
    /// Begins and ends `stallRecovery` by itself, as the player's readiness goes and comes.
    package let recoversStalls: Bool
    package internal(set) var item: String?
    package internal(set) var isReady = false
    package internal(set) var suspensions: [Suspension] = []

    package init(id: ParticipantID, name: String, kind: ParticipantKind, recoversStalls: Bool) {
        (self.id, self.name, self.kind) = (id, name, kind)
        self.recoversStalls = recoversStalls
    }

    package mutating func apply(_ event: ParticipantEvent) -> [ParticipantEffect] {
        []
    }

    /// What is told to a host when a link to it is up; `attached` follows in the same step.
    package var participation: Participation {
        Participation(
            id: id, name: name, kind: kind, item: item, isReady: isReady, suspensions: suspensions)
    }

    /// Where the group is in its item at a moment of the group's clock, also while it takes no part. Nil: it is on no item, or the
    /// group has no timeline for it.
    package func expectedItemTime(atHostTime time: Int64) -> Int64? {
        nil
    }
}
