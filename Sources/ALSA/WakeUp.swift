// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

/// Reads the clock that every time of the receiver is given in.
package enum MonotonicClock {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    package static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Lets this thread rest for so long.
    package static func rest(nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        _ = unsafe ppoll(nil, 0, &time, nil)
    }
}

/// Wakes one thread that waits in `poll`. Signals that nobody waited for are kept as one.
@safe package final class WakeUp: Sendable {
    fileprivate let descriptor: Int32

    /// Nil if the process has no descriptor left.
    package init?() {
        descriptor = alsa_shim_eventfd()
        if descriptor < 0 { return nil }
    }

    deinit { _ = close(descriptor) }

    package func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Forgets signals that came so far.
    package func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, 8)
    }

    /// Waits for a signal, at most `timeout`; nil is for ever. Takes the signal.
    package func wait(timeout: Duration?) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, Self.milliseconds(timeout))
        if entry.revents != 0 { clear() }
    }

    /// Waits for a signal, at most so many nanoseconds, not rounded. Takes the signal.
    package func wait(nanoseconds: Int64) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var time = timespec(
            tv_sec: Int(max(0, nanoseconds) / 1_000_000_000),
            tv_nsec: Int(max(0, nanoseconds) % 1_000_000_000))
        _ = unsafe ppoll(&entry, 1, &time, nil)
        if entry.revents != 0 { clear() }
    }

    /// Waits for this signal or for a change at `descriptors`. True if the signal came.
    func wait(and others: inout [pollfd], timeout: Duration?) -> Bool {
        others.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        _ = unsafe poll(&others, nfds_t(others.count), Self.milliseconds(timeout))
        let own = others.removeLast()
        if own.revents != 0 { clear() }
        return own.revents != 0
    }

    /// Rounded up, so that nobody wakes just before the moment waited for.
    private static func milliseconds(_ timeout: Duration?) -> Int32 {
        guard let timeout else { return -1 }
        let (seconds, attoseconds) = timeout.components
        if seconds < 0 { return 0 }
        if seconds > 3600 { return 3_600_000 }
        return Int32(seconds * 1000) + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
