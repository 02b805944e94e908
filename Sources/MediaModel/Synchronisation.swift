// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// How another clock is read by this machine's: a straight line through one pair of readings, good for as long as both
/// crystals keep their rate. A new one comes several times a second.
public struct ClockLine: Equatable, Hashable, Sendable {
    /// Nanoseconds of the local monotonic clock.
    public var local: Int64
    /// What the other clock shows then, in nanoseconds.
    public var remote: Int64
    /// How much faster than the local one the other clock runs: 1e-6 is one part in a million. Within ±0.01.
    public var skew: Double

    public init(local: Int64, remote: Int64, skew: Double) {
        (self.local, self.remote) = (local, remote)
        self.skew = skew.isNaN ? 0 : min(max(skew, -Self.skewLimit), Self.skewLimit)
    }

    /// More than any crystal, and than any correction of one.
    public static let skewLimit = 0.01

    /// The line of a clock by itself.
    public static let identity = ClockLine(local: 0, remote: 0, skew: 0)

    /// What the other clock shows at `local`; saturates at the ends of `Int64`.
    public func remote(at local: Int64) -> Int64 {
        let passed = local.saturatingSubtracting(self.local)
        let drift = Int64(saturating: Double(passed) * skew)
        return remote.saturatingAdding(passed).saturatingAdding(drift)
    }

    /// When the other clock shows `remote`, in nanoseconds of the local one; saturates at the ends of `Int64`.
    public func local(at remote: Int64) -> Int64 {
        let passed = remote.saturatingSubtracting(self.remote)
        let drift = Int64(saturating: Double(passed) * (skew / (1 + skew)))
        return local.saturatingAdding(passed).saturatingSubtracting(drift)
    }
}

/// Where an item stands on the group's clock: at `clockTime` its `itemTime` is heard, and it runs on at `rate` from there;
/// also backward from there, so a moment that has passed is as good as one to come.
public struct PlaybackAnchor: Equatable, Hashable, Sendable {
    /// Nanoseconds on the item's timeline.
    public var itemTime: Int64
    /// Nanoseconds of the group's clock.
    public var clockTime: Int64
    /// Item seconds in a second of the group's clock; above 0.
    public var rate: Double

    public init(itemTime: Int64, clockTime: Int64, rate: Double) {
        (self.itemTime, self.clockTime, self.rate) = (itemTime, clockTime, rate)
    }

    /// The item's time that belongs to a moment of the group's clock; saturates.
    public func itemTime(at clockTime: Int64) -> Int64 {
        let passed = clockTime.saturatingSubtracting(self.clockTime)
        return itemTime.saturatingAdding(rate == 1 ? passed : Int64(saturating: Double(passed) * rate))
    }
}

/// How exactly an output follows the group, as it measures it at the card.
public struct SyncReport: Equatable, Hashable, Sendable {
    /// How much later than it should a frame is heard: the median of what was measured since the report before, in nanoseconds.
    public var error: Int64
    /// The same, the largest magnitude.
    public var largestError: Int64
    /// How much faster than the machine's clock the card runs, in parts per million.
    public var cardDrift: Double
    /// How much faster than the machine's clock the group's clock runs, in parts per million.
    public var clockDrift: Double
    /// Jumps since the item was bound to the group: errors too large to be slewed away.
    public var resyncs: UInt32
    /// Times at which the card ran dry since then.
    public var underruns: UInt32

    public init(
        error: Int64 = 0, largestError: Int64 = 0, cardDrift: Double = 0, clockDrift: Double = 0,
        resyncs: UInt32 = 0, underruns: UInt32 = 0
    ) {
        (self.error, self.largestError) = (error, largestError)
        (self.cardDrift, self.clockDrift) = (cardDrift, clockDrift)
        (self.resyncs, self.underruns) = (resyncs, underruns)
    }
}

extension Int64 {
    /// The sum, or the end of the range that it lies beyond.
    package func saturatingAdding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that it lies beyond.
    package func saturatingSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The nearest integer, or the end of the range that it lies beyond; 0 for what is no number.
    package init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= 0x1p63 {
            self = .max
        } else if value <= -0x1p63 {
            self = .min
        } else {
            self = Int64(value.rounded())
        }
    }
}
