// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

/// Holds threads back until another opens it for all of them.
@safe package final class Gate: @unchecked Sendable {
    // GLib documents its mutexes and conditions as usable from any thread; `openings` is guarded by the mutex.
    private let mutex: UnsafeMutablePointer<GMutex>
    private let condition: UnsafeMutablePointer<GCond>
    private var openings: UInt64 = 0

    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe g_mutex_init(mutex)
        unsafe g_cond_init(condition)
    }

    deinit {
        unsafe g_mutex_clear(mutex)
        unsafe g_cond_clear(condition)
        unsafe mutex.deallocate()
        unsafe condition.deallocate()
    }

    package func open() {
        unsafe g_mutex_lock(mutex)
        openings += 1
        unsafe g_cond_broadcast(condition)
        unsafe g_mutex_unlock(mutex)
    }

    /// To be taken before the decision to wait: an opening since then is not missed.
    package var ticket: UInt64 {
        unsafe g_mutex_lock(mutex)
        defer { unsafe g_mutex_unlock(mutex) }
        return openings
    }

    /// Waits until the gate is opened after `ticket` was taken, or for `timeout`; false after the latter.
    @discardableResult
    package func pass(_ ticket: UInt64, timeout: Duration) -> Bool {
        let end = g_get_monotonic_time() + gint64(timeout / .microseconds(1))
        unsafe g_mutex_lock(mutex)
        while openings == ticket, unsafe g_cond_wait_until(condition, mutex, end) != 0 {}
        defer { unsafe g_mutex_unlock(mutex) }
        return openings != ticket
    }
}
