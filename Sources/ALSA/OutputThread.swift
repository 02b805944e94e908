// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

/// A thread for work that must be in time.
package enum OutputThread {
    /// Runs `body` on a new thread, at real-time priority where the system allows that.
    ///
    /// False if there is no thread to be had.
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, body))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { data in
                let thread = unsafe Unmanaged<ThreadBody>.fromOpaque(data!).takeRetainedValue()
                thread.enter()
                thread.body()
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            unsafe box.release()
            return false
        }
        _ = pthread_detach(thread)
        return true
    }
}

private final class ThreadBody {
    private let name: String
    let body: @Sendable () -> Void

    init(name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

    func enter() {
        // The kernel keeps 15 bytes.
        unsafe alsa_shim_name_thread(name)
        // Above ordinary work, below the kernel's interrupt threads (50).
        var priority = sched_param(sched_priority: 40)
        _ = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority)
    }
}
