// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The clock that what is sent and received is stamped with.
package enum MonotonicTime {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    package static func now() -> Int64 { read(CLOCK_MONOTONIC) }

    /// Nanoseconds of `CLOCK_REALTIME`, which may be set at any moment.
    static func set() -> Int64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Gives the calling thread a real-time priority, below that of an output of sound (40) and the kernel's interrupt threads
    /// (50). False where the system does not allow it, which only makes the thread late on a busy machine.
    @discardableResult
    package static func hurry() -> Bool {
        var priority = sched_param(sched_priority: 35)
        return unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0
    }

    /// Holds the calling thread back for as many nanoseconds, at most a second.
    package static func rest(_ nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        var time = timespec(tv_sec: 0, tv_nsec: Int(min(nanoseconds, 999_999_999)))
        _ = unsafe nanosleep(&time, nil)
    }
}
