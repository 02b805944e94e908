// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads when the kernel took a message in, and tells it by the monotonic clock.
///
/// The kernel's stamps are of the clock that people and time servers set. The two clocks run at the same rate, so their difference is
/// read with each message; where it has changed since the last one, the clock was set, and that message has no stamp.
struct ArrivalStamps {
    /// `SO_TIMESTAMPNS`, of the option and of what comes of it, as all machines of 64 bits have it.
    static let option: Int32 = 35

    /// Room for what the kernel says beside a message: a header of 16 bytes and two numbers of 8.
    typealias Room = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    /// What the difference may have changed by if it has not: it is read to some ten nanoseconds.
    private static let slack: Int64 = 10_000
    /// No message waits in the kernel for longer and is still of use.
    private static let oldest: Int64 = 1_000_000_000
    /// Two readings of the monotonic clock this near to each other have nothing between them but a reading of the other.
    private static let near: Int64 = 1_000

    /// By how much the clock that is set is ahead, as it was at the last message.
    private var difference: Int64?

    /// The stamp in nanoseconds of the clock that is set; nil if there is none.
    static func stamp(in room: Room, size: Int) -> Int64? {
        guard size >= 32 else { return nil }
        return unsafe withUnsafeBytes(of: room) { bytes in
            let length = unsafe bytes.loadUnaligned(as: UInt64.self)
            let level = unsafe bytes.loadUnaligned(fromByteOffset: 8, as: Int32.self)
            let kind = unsafe bytes.loadUnaligned(fromByteOffset: 12, as: Int32.self)
            guard length == 32, level == SOL_SOCKET, kind == option else { return nil }
            let seconds = unsafe bytes.loadUnaligned(fromByteOffset: 16, as: Int64.self)
            let rest = unsafe bytes.loadUnaligned(fromByteOffset: 24, as: Int64.self)
            let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let (sum, isFarther) = whole.addingReportingOverflow(rest)
            return isFar || isFarther ? nil : sum
        }
    }

    /// When what has this stamp arrived, by the monotonic clock: now, if the stamp is none or cannot be right.
    mutating func time(of stamp: Int64?) -> Int64 {
        guard let stamp else { return MonotonicTime.now() }
        let reading = Self.read()
        return time(of: stamp, now: reading.now, difference: reading.difference)
    }

    /// The same with what the clocks showed; no difference: it could not be read.
    mutating func time(of stamp: Int64, now: Int64, difference: Int64?) -> Int64 {
        guard let difference else { return now }
        let before = self.difference
        self.difference = difference
        let (change, isFar) = difference.subtractingReportingOverflow(before ?? difference)
        let (time, isFarther) = stamp.subtractingReportingOverflow(difference)
        guard !isFar, !isFarther, change.magnitude <= Self.slack else { return now }
        let age = now.subtractingReportingOverflow(time)
        guard !age.overflow, age.partialValue <= Self.oldest else { return now }
        return min(time, now)
    }

    private static func read() -> (now: Int64, difference: Int64?) {
        var now = MonotonicTime.now()
        // A thread that is interrupted between two readings tries again.
        for _ in 0..<4 {
            let before = now
            let set = MonotonicTime.set()
            now = MonotonicTime.now()
            if now - before <= near { return (now, set - (before + (now - before) / 2)) }
        }
        return (now, nil)
    }
}
