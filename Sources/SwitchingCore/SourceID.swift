// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Names one source of sound.
package struct SourceID: Hashable, Sendable {
    /// The raw value is the stable name on the wire.
    package enum Kind: String, Sendable, CaseIterable {
        /// A sender that has something played by address.
        case network
        /// A companion application that has something played.
        case application
        case bluetooth
        case lineIn

        /// True if its samples come here by themselves, so that nothing is gained by keeping them while it is silent.
        package var isCaptured: Bool { self == .bluetooth || self == .lineIn }
    }

    package var kind: Kind
    package var address: SourceAddress
    package init(_ kind: Kind, _ address: SourceAddress) { (self.kind, self.address) = (kind, address) }
}

/// Whose doing it is that a source starts.
package enum Cause: Sendable {
    /// Its own, as far as anybody knows here.
    case itself
    /// A person said so, to this receiver.
    case person
}

/// What a person wants of one source, for as long as it is known. The raw value is the stable name on the wire and in the file of the state.
package enum SourcePreference: String, Sendable, CaseIterable {
    case normal
    /// Nothing that starts by itself takes the output from it.
    case preferred
    /// It is heard only when a person asks for it.
    case manual
}

/// The choices that an administrator makes for the switching between sources. Times are in nanoseconds.
package struct SwitchingPolicy: Equatable, Sendable {
    /// The raw value is the stable name in settings.
    package enum Resume: String, Sendable, CaseIterable {
        /// What was heard before comes back.
        case always
        /// Only after calls.
        case calls
        case never
    }

    /// How long a source that was paused keeps the output.
    package var hold: Int64 = 8_000_000_000
    package var resume = Resume.always
    /// How long after it lost the output a source gets it back. After calls there is no limit.
    package var resumeLimit: Int64 = 600_000_000_000
    /// How long a source has to play before it takes the output from another one, unless a person asked: longer than the
    /// blips that phones make.
    package var confirmation: Int64 = 300_000_000
    /// How long a source is heard at least before another one takes over by itself.
    package var dwell: Int64 = 1_000_000_000
    /// The most switches in `window` that nobody asked for.
    package var switchLimit = 6
    package var window: Int64 = 60_000_000_000
    /// How long after the device was taken off what was heard goes on when it is worn again.
    package var wearLimit: Int64 = 300_000_000_000
    /// True: what is heard is paused when the jack is pulled.
    package var pausesWhenUnplugged = false
    /// The most phones at once.
    package var multipoint = 2

    package init() {}
}
