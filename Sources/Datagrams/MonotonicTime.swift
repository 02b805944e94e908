// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The clock that what is sent and received is stamped with.
package enum MonotonicTime {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    package static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Holds the calling thread back for as many nanoseconds, at most a second.
    package static func rest(_ nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        var time = timespec(tv_sec: 0, tv_nsec: Int(min(nanoseconds, 999_999_999)))
        _ = unsafe nanosleep(&time, nil)
    }
}
