// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A stretch of a media timeline; the end does not belong to it.
public struct TimeRange: Equatable, Hashable, Sendable {
    public let start: MediaTime
    /// Never negative.
    public let duration: MediaTime

    /// A range; a negative duration becomes zero.
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = duration < .zero ? .zero : duration
    }

    public static let empty = TimeRange(start: .zero, duration: .zero)

    /// Where the range ends, never before its start. Exact with one timescale, else to the nanosecond.
    public var end: MediaTime {
        guard start.isNumeric, duration.isNumeric else { return duration.isNumeric ? start : duration }
        guard duration.value > 0 else { return start }
        if start.timescale == duration.timescale {
            let (sum, overflow) = start.value.addingReportingOverflow(duration.value)
            if !overflow { return MediaTime(value: sum, timescale: start.timescale) }
        }
        guard let first = start.nanoseconds, let length = duration.nanoseconds else { return start }
        let (sum, overflow) = first.addingReportingOverflow(length)
        return overflow ? .positiveInfinity : max(start, MediaTime(nanoseconds: sum))
    }

    public func contains(_ time: MediaTime) -> Bool { !(time < start) && time < end }

    /// `time`, or the nearest moment of the range.
    public func clamp(_ time: MediaTime) -> MediaTime { time < start ? start : (end < time ? end : time) }
}

/// Where playback was at one moment of the receiver's clock. The three values belong together and are read
/// atomically; a consumer extrapolates `position + rate * (now - clockTime)`.
public struct PlaybackPosition: Equatable, Hashable, Sendable {
    public let position: MediaTime
    /// Nanoseconds of the receiver's monotonic clock.
    public let clockTime: Int64
    /// Media seconds in a second of the clock: 0 paused or starved, negative in a reverse scan, speed included.
    public let rate: Double

    public init(position: MediaTime, clockTime: Int64, rate: Double) {
        (self.position, self.clockTime, self.rate) = (position, clockTime, rate)
    }

    public static let zero = PlaybackPosition(position: .zero, clockTime: 0, rate: 0)

    /// The position at another moment of the same clock, not clamped to any range. Where that cannot be told, as
    /// after a jump beyond the ends of `Int64`, it is the position that was read.
    public func position(atClockTime time: Int64) -> MediaTime {
        let (elapsed, isFar) = time.subtractingReportingOverflow(clockTime)
        guard rate != 0, !isFar, let start = position.nanoseconds,
            let moved = Int64(exactly: (Double(elapsed) * rate).rounded())
        else { return position }
        let (sum, overflow) = start.addingReportingOverflow(moved)
        return overflow ? position : MediaTime(nanoseconds: sum)
    }
}

/// What the timeline of a loaded item looks like, and what may be done on it.
public struct Timeline: Equatable, Sendable {
    /// Finite. A live stream without a window has no length and advances.
    public var range: TimeRange
    /// Nil: all of `range`. Empty: nothing.
    public var seekableRanges: [TimeRange]?
    public var isLive: Bool
    public var capabilities: SeekCapabilities

    public init(
        range: TimeRange, seekableRanges: [TimeRange]?, isLive: Bool, capabilities: SeekCapabilities
    ) {
        (self.range, self.seekableRanges) = (range, seekableRanges)
        (self.isLive, self.capabilities) = (isLive, capabilities)
    }

    public static let unknown = Timeline(range: .empty, seekableRanges: [], isLive: false, capabilities: [])
}

/// The ways in which a timeline can be moved on.
public struct SeekCapabilities: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let seek = SeekCapabilities(rawValue: 1)
    public static let scanForward = SeekCapabilities(rawValue: 2)
    public static let scanBackward = SeekCapabilities(rawValue: 4)
}

/// A part of the timeline with a meaning of its own.
public struct Segment: Equatable, Sendable {
    /// The kinds that senders know.
    public enum Kind: String, Sendable, CaseIterable {
        case primary
        case advertisement
        case bonus
        case credits
        case intro
        case recap
        case trailer
        case other
    }

    public let range: TimeRange
    public let kind: Kind
    public let isMarked: Bool
    /// True: seeking, scanning and changing speed inside or across the segment are refused.
    public let requiresLinearPlayback: Bool
    public let identifier: String?

    public init(
        range: TimeRange, kind: Kind = .primary, isMarked: Bool = false,
        requiresLinearPlayback: Bool = false, identifier: String? = nil
    ) {
        (self.range, self.kind, self.isMarked) = (range, kind, isMarked)
        (self.requiresLinearPlayback, self.identifier) = (requiresLinearPlayback, identifier)
    }
}
