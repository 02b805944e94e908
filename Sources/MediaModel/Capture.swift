// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Sound that comes by itself, such as from a line input or from a phone: what it is read from, and what its bytes are.
package struct CaptureSource: Equatable, Hashable, Sendable {
    package enum Kind: Equatable, Hashable, Sendable {
        /// An ALSA capture device.
        case device(name: String)
        /// A descriptor that was handed over under this token (`Renderer.hand(over:token:)`).
        case descriptor(token: UInt64)
    }

    /// The raw value is the name on the wire.
    package enum Format: String, Sendable, CaseIterable {
        case s16le
        /// Three bytes for a sample.
        case s24le
        case s32le

        package var bytesPerSample: Int {
            switch self {
            case .s16le: 2
            case .s24le: 3
            case .s32le: 4
            }
        }
    }

    package var kind: Kind
    /// Frames a second. A device that has another rate takes the nearest.
    package var sampleRate: Int32
    package var channels: Int32
    /// Of a descriptor's bytes; a device is asked for the best that it has.
    package var format: Format
    /// From when a frame can be read until it is heard; 0 is what is usual for the kind.
    package var latencyNanoseconds: Int64

    package init(
        kind: Kind, sampleRate: Int32 = 48_000, channels: Int32 = 2, format: Format = .s16le,
        latencyNanoseconds: Int64 = 0
    ) {
        (self.kind, self.sampleRate, self.channels) = (kind, sampleRate, channels)
        (self.format, self.latencyNanoseconds) = (format, latencyNanoseconds)
    }

    /// What can be played: anything else comes of a mistake.
    package var isPlayable: Bool {
        (8_000...192_000).contains(sampleRate) && (1...8).contains(channels)
    }
}

/// A capture device that is listened to for sound, so that it can be told when somebody plays into it.
package struct CaptureWatch: Equatable, Hashable, Sendable {
    /// So many are listened to at most.
    package static let limit = 8

    /// An ALSA name.
    package var name: String
    /// Louder than this is sound: the mean of 20 ms in decibels below full scale, such as -50.
    package var threshold: Double
    /// So long it is quiet before it counts as silent.
    package var holdMilliseconds: Int32
    /// So long it is loud before it counts as sound.
    package var attackMilliseconds: Int32

    package init(
        name: String, threshold: Double = -50, holdMilliseconds: Int32 = 10_000,
        attackMilliseconds: Int32 = 100
    ) {
        (self.name, self.threshold) = (name, threshold)
        (self.holdMilliseconds, self.attackMilliseconds) = (holdMilliseconds, attackMilliseconds)
    }
}

extension Timeline {
    /// What comes by itself has neither a beginning nor an end.
    package static let capture = Timeline(range: .empty, seekableRanges: [], isLive: true, capabilities: [])
}
