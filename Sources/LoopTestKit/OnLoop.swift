// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GLibLoop
import Synchronization

/// A place on a loop's thread where a test's code runs, and where what it made is kept.
package actor OnLoop {
    package nonisolated let loop: GLibLoop
    private var kept: [AnyObject] = []

    package init(batch: Int = 256) { loop = GLibLoop(named: "test", batch: batch) }

    // What is kept belongs to the loop's thread and must be let go there.
    isolated deinit { kept.removeAll() }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    package func run<Value: Sendable>(
        _ body: @Sendable (isolated OnLoop) async throws -> Value
    ) async rethrows -> Value {
        try await body(self)
    }

    package func keep(_ object: AnyObject) { kept.append(object) }

    package func dropAll() { kept.removeAll() }
}

/// Values on their way from callbacks to a waiting test.
package struct Mailbox<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream() }

    package func put(_ value: Value) { continuation.yield(value) }

    /// The next value. One reader at a time.
    package func next() async -> Value? {
        for await value in stream { return value }
        return nil
    }

    /// The first value that fits; the others before it are dropped.
    package func first(where fits: @Sendable (Value) -> Bool) async -> Value? {
        for await value in stream where fits(value) { return value }
        return nil
    }
}

/// What several threads have noted.
package final class Notes<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    package init() {}
    package var all: [Value] { values.withLock { $0 } }

    package func add(_ value: Value) { values.withLock { $0.append(value) } }
}
