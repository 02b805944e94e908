// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A moment of the receiver's monotonic clock, in nanoseconds. It means nothing without the clock's identity,
/// which changes at reboot.
public struct ClockTime: Equatable, Hashable, Sendable, Comparable {
    public let nanoseconds: Int64
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    public static func < (one: ClockTime, other: ClockTime) -> Bool { one.nanoseconds < other.nanoseconds }
}

/// One exchange of times with a receiver: four readings, two on each clock (RFC 5905, section 8).
public struct ClockExchange: Equatable, Sendable {
    /// When the request left, on the local clock.
    public let requestSent: Int64
    /// When it arrived, on the remote clock.
    public let requestReceived: Int64
    /// When the answer left, on the remote clock.
    public let answerSent: Int64
    /// When it arrived, on the local clock.
    public let answerReceived: Int64

    public init(requestSent: Int64, requestReceived: Int64, answerSent: Int64, answerReceived: Int64) {
        (self.requestSent, self.requestReceived) = (requestSent, requestReceived)
        (self.answerSent, self.answerReceived) = (answerSent, answerReceived)
    }

    /// Remote minus local, in nanoseconds, if both ways took equally long. 0 for readings so far apart that their
    /// difference is no number: they are no readings of clocks.
    public var offset: Int64 {
        let (there, thereIsFar) = requestReceived.subtractingReportingOverflow(requestSent)
        let (back, backIsFar) = answerSent.subtractingReportingOverflow(answerReceived)
        guard !thereIsFar, !backIsFar else { return 0 }
        return there / 2 + back / 2 + (there % 2 + back % 2) / 2
    }

    /// Time spent on the network, in nanoseconds; negative if the readings contradict each other.
    public var roundTrip: Int64 {
        let (whole, wholeIsFar) = answerReceived.subtractingReportingOverflow(requestSent)
        let (remote, remoteIsFar) = answerSent.subtractingReportingOverflow(requestReceived)
        let (difference, isFar) = whole.subtractingReportingOverflow(remote)
        return wholeIsFar || remoteIsFar || isFar || whole < 0 || remote < 0 ? -1 : difference
    }
}

/// The offset to a receiver's clock, from the quickest of the last exchanges. For showing positions, where a
/// millisecond does; playing in step needs the group clock.
public struct ClockOffsetEstimator: Equatable, Sendable {
    private var exchanges: [ClockExchange] = []
    private let capacity: Int

    public init(capacity: Int = 8) { self.capacity = max(capacity, 1) }

    public mutating func add(_ exchange: ClockExchange) {
        guard exchange.roundTrip >= 0 else { return }
        if exchanges.count == capacity { exchanges.removeFirst() }
        exchanges.append(exchange)
    }

    /// Forgets everything, as when the clock's identity changed.
    public mutating func reset() { exchanges.removeAll() }

    /// Remote minus local in nanoseconds; nil before the first exchange.
    public var offset: Int64? { exchanges.min { $0.roundTrip < $1.roundTrip }?.offset }
}
