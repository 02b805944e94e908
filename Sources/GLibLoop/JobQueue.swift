// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Synchronization

/// Jobs on their way to the loop, and the source that runs them.
@safe final class JobQueue: @unchecked Sendable {
    private struct State { var jobs: [UnownedJob] = [] }
    private let state = Mutex(State())
    private let batch: Int
    // Written once by `start`, before any job can arrive.
    nonisolated(unsafe) private var source: UnsafeMutablePointer<GSource>?
    nonisolated(unsafe) private var executor: UnownedSerialExecutor?
    // Only touched by `drain`, on the loop's thread.
    private var running: [UnownedJob] = []
    private var next = 0

    init(batch: Int) { self.batch = batch }

    func start(on executor: UnownedSerialExecutor, in context: OpaquePointer) {
        unsafe self.executor = executor
        let source = unsafe g_source_new(wakeFunctions, UInt32(MemoryLayout<GSource>.size))!
        unsafe g_source_set_callback(
            source, { unsafe Unmanaged<JobQueue>.fromOpaque($0!).takeUnretainedValue().drain() },
            Unmanaged.passRetained(self).toOpaque(), { unsafe Unmanaged<JobQueue>.fromOpaque($0!).release() })
        unsafe g_source_attach(source, context)
        unsafe self.source = source
    }

    func stop() {
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
    }

    func append(_ job: UnownedJob) {
        let wasEmpty = state.withLock {
            $0.jobs.append(job)
            return $0.jobs.count == 1
        }
        if wasEmpty { unsafe g_source_set_ready_time(source, 0) }
    }

    /// Runs at most one batch. What is left, or arrives meanwhile, waits for the next turn of the loop.
    private func drain() -> gboolean {
        unsafe g_source_set_ready_time(source, -1)
        if next == running.count {
            running.removeAll(keepingCapacity: true)
            next = 0
            state.withLock { swap(&$0.jobs, &running) }
        }
        let end = min(next + batch, running.count)
        while next < end {
            let job = running[next]
            next += 1
            unsafe job.runSynchronously(on: executor!)
        }
        // Jobs that came while an earlier batch was unfinished saw a queue that was not empty and woke
        // nobody.
        let hasMore = next < running.count || state.withLock { !$0.jobs.isEmpty }
        if hasMore { unsafe g_source_set_ready_time(source, 0) }
        return 1
    }
}

/// The functions of the wake-up source. GLib keeps the address, so it must stay valid for the life of the
/// process.
nonisolated(unsafe) let wakeFunctions: UnsafeMutablePointer<GSourceFuncs> = {
    let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
    unsafe functions.initialize(to: GSourceFuncs())
    unsafe functions.pointee.dispatch = { _, callback, data in unsafe callback!(data) }
    return unsafe functions
}()
