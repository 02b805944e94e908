// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A moment or a length on a media timeline, as a rational number of seconds.
///
/// The form is that of `CMTime`: a 64-bit count of a 32-bit timescale, and the named values that are not
/// numbers. Arithmetic never traps; what does not fit becomes an infinity.
public struct MediaTime: Equatable, Hashable, Sendable {
    private enum Kind: UInt8, Sendable {
        case number, positiveInfinity, negativeInfinity, indefinite, invalid
    }

    private let kind: Kind
    /// The count, in units of `1 / timescale` seconds; 0 if the time is no number.
    public let value: Int64
    /// Units in a second, at least 1; 0 if the time is no number.
    public let timescale: Int32

    private init(kind: Kind) {
        self.kind = kind
        (value, timescale) = (0, 0)
    }

    /// A number of seconds as `value / timescale`. A timescale below 1 makes the time `invalid`.
    public init(value: Int64, timescale: Int32) {
        guard timescale >= 1 else {
            self = .invalid
            return
        }
        kind = .number
        (self.value, self.timescale) = (value, timescale)
    }

    public static let zero = MediaTime(value: 0, timescale: 1)
    public static let positiveInfinity = MediaTime(kind: .positiveInfinity)
    public static let negativeInfinity = MediaTime(kind: .negativeInfinity)
    public static let indefinite = MediaTime(kind: .indefinite)
    public static let invalid = MediaTime(kind: .invalid)

    public var isNumeric: Bool { kind == .number }

    /// The timescale of times that come from nanoseconds.
    public static let nanosecondTimescale: Int32 = 1_000_000_000

    /// A time counted in nanoseconds, as GStreamer counts.
    public init(nanoseconds: Int64) { self.init(value: nanoseconds, timescale: Self.nanosecondTimescale) }

    /// The nearest count of nanoseconds, saturated at the ends of `Int64`; nil if the time is no number.
    public var nanoseconds: Int64? {
        guard kind == .number else { return nil }
        let scale = UInt64(timescale)
        let product = value.magnitude.multipliedFullWidth(by: 1_000_000_000)
        // The quotient fits whenever the high word is smaller than the divisor.
        guard product.high < scale else { return value < 0 ? .min : .max }
        let (quotient, remainder) = scale.dividingFullWidth(product)
        // Half and more is rounded away from zero.
        let (rounded, overflow) = quotient.addingReportingOverflow(remainder * 2 >= scale ? 1 : 0)
        guard !overflow, rounded <= UInt64(Int64.max) else { return value < 0 ? .min : .max }
        return value < 0 ? -Int64(rounded) : Int64(rounded)
    }

    /// The time as floating seconds, for people to read and for estimates; never for the wire.
    public var seconds: Double {
        switch kind {
        case .number: Double(value) / Double(timescale)
        case .positiveInfinity: .infinity
        case .negativeInfinity: -.infinity
        case .indefinite, .invalid: .nan
        }
    }

    /// The name of a time that is no number, as it stands on the wire; nil for a number.
    public var name: String? {
        switch kind {
        case .number: nil
        case .positiveInfinity: "positiveInfinity"
        case .negativeInfinity: "negativeInfinity"
        case .indefinite: "indefinite"
        case .invalid: "invalid"
        }
    }

    /// The time with a wire name, or nil if there is none of that name.
    public init?(named name: String) {
        switch name {
        case "positiveInfinity": self = .positiveInfinity
        case "negativeInfinity": self = .negativeInfinity
        case "indefinite": self = .indefinite
        case "invalid": self = .invalid
        default: return nil
        }
    }
}

extension MediaTime: Comparable {
    /// Orders numbers by their value and infinities beyond them; `indefinite` and `invalid` come last.
    public static func < (one: MediaTime, other: MediaTime) -> Bool {
        func rank(_ time: MediaTime) -> Int {
            switch time.kind {
            case .negativeInfinity: 0
            case .number: 1
            case .positiveInfinity: 2
            case .indefinite: 3
            case .invalid: 4
            }
        }
        guard one.isNumeric, other.isNumeric else { return rank(one) < rank(other) }
        let left = one.value.multipliedFullWidth(by: Int64(other.timescale))
        let right = other.value.multipliedFullWidth(by: Int64(one.timescale))
        return left.high != right.high ? left.high < right.high : left.low < right.low
    }

    /// True if both are the same moment, whatever their timescales: 1/2 is 2/4.
    public func isSameMoment(as other: MediaTime) -> Bool { !(self < other) && !(other < self) }
}

extension MediaTime: CustomStringConvertible {
    /// Minutes and seconds for a number, such as `3:05.250`; the name for the rest.
    public var description: String {
        guard let total = nanoseconds else { return name ?? "" }
        let milliseconds = total.magnitude / 1_000_000
        let (minutes, rest) = milliseconds.quotientAndRemainder(dividingBy: 60_000)
        let fraction = String(rest % 1_000)
        let seconds = String(rest / 1_000)
        return "\(total < 0 ? "-" : "")\(minutes):\(seconds.count < 2 ? "0" : "")\(seconds)."
            + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}
