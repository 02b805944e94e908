// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Why a participant takes no part for a while. The six that everybody knows have names; any other text is passed on.
package struct SuspensionReason: RawRepresentable, Equatable, Hashable, Sendable, Comparable {
    package let rawValue: String
    /// A text that is too long is cut.
    package init(rawValue: String) { self.rawValue = rawValue.prefix(bytes: GroupLimits.reasonBytes) }
    package init(_ text: String) { self.init(rawValue: text) }

    /// The system took the output away; also a pause that it forced.
    package static let audioSessionInterrupted = SuspensionReason("audioSessionInterrupted")
    /// Data did not come in time.
    package static let stallRecovery = SuspensionReason("stallRecovery")
    /// It plays something that the others do not, such as an advertisement.
    package static let playingInterstitial = SuspensionReason("playingInterstitial")
    /// It cannot play this item in step.
    package static let coordinatedPlaybackNotPossible = SuspensionReason("coordinatedPlaybackNotPossible")
    /// Somebody has to do something at the device first.
    package static let userActionRequired = SuspensionReason("userActionRequired")
    /// Somebody looks for a place.
    package static let userIsChangingCurrentTime = SuspensionReason("userIsChangingCurrentTime")

    package static func < (one: SuspensionReason, other: SuspensionReason) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// One reason for which a participant takes no part, from its begin to its end.
package struct Suspension: Equatable, Hashable, Sendable {
    package let id: SuspensionID
    package let reason: SuspensionReason
    package init(id: SuspensionID, reason: SuspensionReason) { (self.id, self.reason) = (id, reason) }
}
