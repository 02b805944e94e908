// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

/// A thread for one piece of work that may wait, such as for a disk. It ends with the work and keeps nothing after it,
/// which threads of a pool do.
package enum BackgroundThread {
    /// Starts the thread, which waits for `delay` first. The process ends, as GLib has it, if the system has no threads
    /// left.
    package static func run(
        named name: String, after delay: Duration = .zero, _ body: @escaping @Sendable () -> Void
    ) {
        let thread = unsafe g_thread_new(
            name,
            { data in
                let work = unsafe Unmanaged<Work>.fromOpaque(data!).takeRetainedValue()
                if work.delay > 0 { g_usleep(work.delay) }
                work.body()
                return nil
            }, Unmanaged.passRetained(Work(body, after: gulong(delay / .microseconds(1)))).toOpaque())
        unsafe g_thread_unref(thread)
    }

    private final class Work {
        let body: @Sendable () -> Void
        /// Microseconds.
        let delay: gulong
        init(_ body: @escaping @Sendable () -> Void, after delay: gulong) {
            (self.body, self.delay) = (body, delay)
        }
    }
}
