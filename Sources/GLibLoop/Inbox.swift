// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Synchronization

/// Values on their way from any thread to one reader on a loop, in the order in which they were put in.
///
/// An `AsyncStream` does the same, but each of its values passes through Dispatch's threads, which costs two
/// hand-overs. A value that is put in on the loop's own thread is read at once.
@safe package final class Inbox<Value: Sendable>: @unchecked Sendable {
    private let state = Mutex<[Value]>([])
    private let limit: Int
    // GLib documents contexts and `g_source_set_ready_time` as usable from any thread; both are set once.
    private let context: OpaquePointer
    private let source: UnsafeMutablePointer<GSource>
    // Only touched on the loop's thread.
    private var reader: ((Value) -> Void)?
    private var isReading = false

    /// At most `limit` values wait; when so many do, new ones are dropped.
    package init(on loop: GLibLoop, limit: Int) {
        self.limit = limit
        unsafe context = g_main_context_ref(loop.context)
        unsafe source = g_source_new(wakeFunctions, UInt32(MemoryLayout<GSource>.size))!
        let body = SourceBody { [weak self] in
            self?.read()
            return true
        }
        unsafe g_source_set_callback(
            source,
            { unsafe Unmanaged<SourceBody>.fromOpaque($0!).takeUnretainedValue().body() ? 1 : 0 },
            Unmanaged.passRetained(body).toOpaque(),
            { unsafe Unmanaged<SourceBody>.fromOpaque($0!).release() })
        unsafe g_source_attach(source, context)
    }

    deinit {
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
        unsafe g_main_context_unref(context)
    }

    /// Begins to read, on the loop, with what has come before.
    package func open(_ reader: @escaping (Value) -> Void) {
        precondition(isOnLoop, "not on the loop's thread")
        self.reader = reader
        read()
    }

    /// Reads no more; what waits and what comes is dropped. On the loop.
    package func close() {
        precondition(isOnLoop, "not on the loop's thread")
        reader = { _ in }
    }

    package func yield(_ value: Value) {
        let wasEmpty = state.withLock { values -> Bool? in
            guard values.count < limit else { return nil }
            values.append(value)
            return values.count == 1
        }
        guard let wasEmpty else { return }
        if isOnLoop, !isReading, reader != nil {
            read()
        } else if wasEmpty {
            unsafe g_source_set_ready_time(source, 0)
        }
    }

    private var isOnLoop: Bool { unsafe g_main_context_is_owner(context) != 0 }

    /// Reads what waits now. What comes meanwhile waits for the next turn of the loop.
    private func read() {
        unsafe g_source_set_ready_time(source, -1)
        guard reader != nil, !isReading else { return }
        isReading = true
        let values = state.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for value in values { reader?(value) }
        isReading = false
    }
}
