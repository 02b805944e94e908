// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Synchronization

/// Jobs on their way to the loop, and the source that runs them.
///
/// The source is asked in each turn of the loop whether there are any, so what the loop's own thread adds costs no call of the kernel;
/// another thread wakes the loop for the first of those that it adds.
@safe final class JobQueue: @unchecked Sendable {
    private struct State { var jobs: [UnownedJob] = [] }
    private let state = Mutex(State())
    private let batch: Int
    // Written once by `start`, before any job can arrive.
    nonisolated(unsafe) private var source: UnsafeMutablePointer<GSource>?
    nonisolated(unsafe) private var context: OpaquePointer?
    nonisolated(unsafe) private var executor: UnownedSerialExecutor?
    // Only touched on the loop's thread.
    private var running: [UnownedJob] = []
    private var next = 0
    private var endings: [() -> Void] = []

    init(batch: Int) { self.batch = batch }

    func start(on executor: UnownedSerialExecutor, in context: OpaquePointer) {
        unsafe (self.executor, self.context) = (executor, context)
        let source = unsafe g_source_new(queueFunctions, UInt32(MemoryLayout<QueueSource>.size))!
        unsafe UnsafeMutableRawPointer(source).assumingMemoryBound(to: QueueSource.self).pointee.queue =
            unsafe Unmanaged.passUnretained(self)
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
        if wasEmpty, !isInTurn { unsafe g_main_context_wakeup(context) }
    }

    /// Calls `body` once the jobs that wait have run, a batch of them at most. On the loop's thread.
    func atEndOfTurn(_ body: @escaping () -> Void) {
        endings.append(body)
        if !isInTurn { unsafe g_main_context_wakeup(context) }
    }

    /// True for the loop's own thread while it runs something: it looks at this queue again before it waits.
    private var isInTurn: Bool {
        unsafe g_main_depth() > 0 && g_main_context_is_owner(context) != 0
    }

    /// True if there is something to run. On the loop's thread.
    fileprivate var isReady: Bool {
        next < running.count || !endings.isEmpty || state.withLock { !$0.jobs.isEmpty }
    }

    /// Runs at most one batch, of what waits and what comes meanwhile, then what was to follow it. The rest waits for the next turn
    /// of the loop.
    private func drain() -> gboolean {
        var left = batch
        while left > 0 {
            if next == running.count {
                running.removeAll(keepingCapacity: true)
                next = 0
                state.withLock { swap(&$0.jobs, &running) }
                guard !running.isEmpty else { break }
            }
            let job = running[next]
            next += 1
            left -= 1
            unsafe job.runSynchronously(on: executor!)
        }
        let last = endings
        endings = []
        for body in last { body() }
        return 1
    }
}

/// A source that knows its queue.
@unsafe private struct QueueSource {
    var source: GSource
    var queue: Unmanaged<JobQueue>?
}

private func isReady(_ source: UnsafeMutablePointer<GSource>?) -> gboolean {
    guard let source = unsafe source else { return 0 }
    let pointer = unsafe UnsafeMutableRawPointer(source).assumingMemoryBound(to: QueueSource.self)
    // The source's callback holds the queue until the source is destroyed; then it is not asked any more.
    return unsafe pointer.pointee.queue?._withUnsafeGuaranteedRef { $0.isReady } == true ? 1 : 0
}

/// The functions of the source of a queue. GLib keeps the address, so it must stay valid for the life of the process.
nonisolated(unsafe) private let queueFunctions: UnsafeMutablePointer<GSourceFuncs> = {
    let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
    unsafe functions.initialize(to: GSourceFuncs())
    unsafe functions.pointee.prepare = { source, timeout in
        unsafe timeout?.pointee = -1
        return unsafe isReady(source)
    }
    unsafe functions.pointee.check = { source in unsafe isReady(source) }
    unsafe functions.pointee.dispatch = { _, callback, data in unsafe callback!(data) }
    return unsafe functions
}()

/// The functions of a source that is woken through its ready time. GLib keeps the address, as above.
nonisolated(unsafe) let wakeFunctions: UnsafeMutablePointer<GSourceFuncs> = {
    let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
    unsafe functions.initialize(to: GSourceFuncs())
    unsafe functions.pointee.dispatch = { _, callback, data in unsafe callback!(data) }
    return unsafe functions
}()
