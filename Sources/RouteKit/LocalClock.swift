// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The sender's monotonic clock in nanoseconds since the library was first used.
enum LocalClock {
    private static let origin = ContinuousClock.now

    static var now: Int64 { nanoseconds(at: .now) }

    static func nanoseconds(at instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = origin.duration(to: instant).components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return whole &+ attoseconds / 1_000_000_000
    }
}
