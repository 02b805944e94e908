// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Synchronization

/// A one-shot timer that may be fired early from any thread.
final class WakeTimer: Sendable {
    private struct State {
        var source: SharedSource?
        var isDue = false
    }
    private let state = Mutex(State())

    func arm(after delay: Duration, in context: OpaquePointer, _ body: @escaping () -> Void) {
        let source = unsafe SharedSource(
            adopting: g_source_new(wakeFunctions, UInt32(MemoryLayout<GSource>.size))!)
        let thunk = unsafe Unmanaged.passRetained(
            SourceBody {
                body()
                return false
            }
        ).toOpaque()
        unsafe g_source_set_callback(
            source.pointer,
            { unsafe Unmanaged<SourceBody>.fromOpaque($0!).takeUnretainedValue().body() ? 1 : 0 },
            thunk, { unsafe Unmanaged<SourceBody>.fromOpaque($0!).release() })
        let (seconds, attoseconds) = delay.components
        let due = g_get_monotonic_time() + gint64(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        let isDue = state.withLock {
            $0.source = source
            return $0.isDue
        }
        unsafe g_source_set_ready_time(source.pointer, isDue ? 0 : due)
        unsafe g_source_attach(source.pointer, context)
    }

    func fireNow() {
        let source = state.withLock {
            $0.isDue = true
            return $0.source
        }
        if let source { unsafe g_source_set_ready_time(source.pointer, 0) }
    }
}

/// A reference to a source. GLib documents `g_source_set_ready_time` and `g_source_unref` as usable from any
/// thread.
@safe private final class SharedSource: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GSource>
    init(adopting pointer: UnsafeMutablePointer<GSource>) { unsafe self.pointer = unsafe pointer }
    deinit { unsafe g_source_unref(pointer) }
}
