// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Tells any number of listeners that something changed. A listener that is slow is told once of many changes.
struct Announcer: Sendable {
    private let listeners = Listeners()

    func stream() -> AsyncStream<Void> { listeners.stream() }
    func announce() { listeners.announce() }
    /// Ends every stream, those made later too.
    func finish() { listeners.finish() }
}

private final class Listeners: Sendable {
    private struct State {
        var next: UInt64 = 0
        var continuations: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var isFinished = false
    }
    private let state = Mutex(State())

    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number: UInt64? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.continuations[state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func announce() {
        for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.yield() }
    }

    func finish() {
        let ended = state.withLock { state in
            state.isFinished = true
            defer { state.continuations = [:] }
            return Array(state.continuations.values)
        }
        for continuation in ended { continuation.finish() }
    }

    deinit { finish() }
}
