// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer
import Synchronization

/// Does what may take long, one thing after the other, on a thread that is not the loop's.
///
/// All workers share a bounded set of threads, which are kept for some seconds. A worker whose work never ends
/// keeps its thread: that is what `busy` counts.
package final class SerialWorker: Sendable {
    /// Threads at most, for all workers together.
    package static let threadLimit = 12

    private struct State {
        var work: [@Sendable () -> Void] = []
        var isRunning = false
    }
    private let state = Mutex(State())

    package init() {}

    /// Does `body` after everything that was asked for before.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        let starts = state.withLock {
            let starts = !$0.isRunning
            $0.work.append(body)
            $0.isRunning = true
            return starts
        }
        if starts { ThreadPool.shared.run { [self] in drain() } }
    }

    /// True while something that was asked for is not done.
    package var isAtWork: Bool { state.withLock { $0.isRunning } }

    private func drain() {
        while true {
            let next: (@Sendable () -> Void)? = state.withLock {
                guard !$0.work.isEmpty else {
                    $0.isRunning = false
                    return nil
                }
                return $0.work.removeFirst()
            }
            guard let next else { return }
            next()
        }
    }

    /// Workers that are at work now.
    package static var busy: Int { ThreadPool.shared.busy.load(ordering: .relaxed) }
}

@safe private final class ThreadPool: @unchecked Sendable {
    // g_thread_pool_push is documented as callable from any thread.
    static let shared = ThreadPool()
    private let pool: UnsafeMutablePointer<GThreadPool>
    let busy = Atomic<Int>(0)

    private init() {
        unsafe pool = g_thread_pool_new(
            { data, _ in unsafe Unmanaged<Work>.fromOpaque(data!).takeRetainedValue().body() }, nil,
            Int32(SerialWorker.threadLimit), 0, nil)
    }

    func run(_ body: @escaping @Sendable () -> Void) {
        busy.add(1, ordering: .relaxed)
        let work = Work { [self] in
            body()
            busy.subtract(1, ordering: .relaxed)
        }
        unsafe g_thread_pool_push(pool, Unmanaged.passRetained(work).toOpaque(), nil)
    }
}

private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
