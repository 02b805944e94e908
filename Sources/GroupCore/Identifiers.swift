// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Names one group, on every member and for every sender, also after its host was lost. Random text, never used again.
package struct GroupID: Equatable, Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// Names one member of a group, the same each time that it attaches.
package struct ParticipantID: Equatable, Hashable, Sendable, Comparable {
    package let text: String
    package init(_ text: String) { self.text = text }
    package static func < (one: ParticipantID, other: ParticipantID) -> Bool { one.text < other.text }
}

/// Names one command to one participant. Later commands have greater numbers, also those of a later host.
package struct CommandID: Equatable, Hashable, Sendable, Comparable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: CommandID, other: CommandID) -> Bool { one.number < other.number }
}

/// Names one suspension among those of its participant. 0 is the stall recovery that the participant begins by itself; who
/// begins others counts from 1.
package struct SuspensionID: Equatable, Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// Names one request among those of the participant that made it, so that its answer finds the way back.
package struct GroupRequestID: Equatable, Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// What a participant is.
package enum ParticipantKind: String, Equatable, Hashable, Sendable, CaseIterable {
    /// A device that follows the group's item and may become the host.
    case receiver
    /// A program with a renderer of its own, which says itself what it plays. Never the host, and not waited for before it
    /// is on the item.
    case player
}

/// Sizes that nobody in a group exceeds. Longer texts are cut, but for identifiers, which are refused.
package enum GroupLimits {
    package static let participants = 64
    /// Items whose timelines are remembered at one time: one for each participant, and the group's.
    package static let items = 65
    package static let nameBytes = 63
    package static let identifierBytes = 1_024
    package static let titleBytes = 1_024
    package static let descriptorBytes = 65_536
    package static let reasonBytes = 128
    /// Open at one time, of one participant.
    package static let suspensions = 16
    /// Reasons that a policy names.
    package static let policyReasons = 32
    /// Commands on the way to one participant: one that it performs, and one that overtakes it.
    package static let commands = 2
    /// Commands that one participant takes on at one time; it completes more of them at once.
    package static let intake = 8
    /// So long after its time a command without an answer counts as lost, and the participant is told anew: 10 s.
    package static let answer: Int64 = 10_000_000_000
    package static let rates = 0.25...4.0
    /// Some 73 years; what lies beyond is no place in an item.
    package static let itemTimes = 0...Int64.max / 4
}
