// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// Something the loop watches for: a time, a signal or a descriptor. Made, used and released on the loop's thread; it
/// ends with `destroy()` or with its last reference. Not `Sendable`.
@safe package final class EventSource {
    /// What a descriptor is watched for. Errors and hang-ups are reported either way.
    package enum Readiness: Sendable {
        case readable
        case writable
    }

    private var source: UnsafeMutablePointer<GSource>?

    private init(_ source: UnsafeMutablePointer<GSource>) {
        precondition(
            unsafe g_main_context_is_owner(g_main_context_get_thread_default()) != 0,
            "not on a loop's thread")
        unsafe self.source = unsafe source
    }

    deinit { destroy() }

    /// Calls `body` again and again. Time that the loop was busy is not made up for.
    package static func repeating(every interval: Duration, _ body: @escaping () -> Void) -> EventSource {
        let source = unsafe EventSource(g_timeout_source_new(milliseconds(of: interval)))
        source.start {
            body()
            return true
        }
        return source
    }

    /// Calls `body` once.
    package static func after(_ delay: Duration, _ body: @escaping () -> Void) -> EventSource {
        let source = unsafe EventSource(g_timeout_source_new(milliseconds(of: delay)))
        source.start {
            body()
            return false
        }
        return source
    }

    /// Calls `body` once, with nothing to keep until then and no way to prevent it.
    package static func once(after delay: Duration, _ body: @escaping () -> Void) {
        let source = unsafe EventSource(g_timeout_source_new(milliseconds(of: delay)))
        source.start {
            body()
            return false
        }
        // The loop holds it until it was due.
        unsafe g_source_unref(source.source)
        unsafe source.source = nil
    }

    /// Calls `body` on the loop for each UNIX signal `number` (HUP, INT, TERM, USR1, USR2 or WINCH), which then no
    /// longer has its default effect.
    package static func signal(_ number: Int32, _ body: @escaping () -> Void) -> EventSource {
        let source = unsafe EventSource(g_unix_signal_source_new(number))
        source.start {
            body()
            return true
        }
        return source
    }

    /// Calls `body` while the descriptor is ready, until destroyed. The descriptor must outlive the watch.
    package static func descriptor(
        _ descriptor: Int32, _ readiness: Readiness, _ body: @escaping () -> Void
    ) -> EventSource {
        let wanted =
            switch readiness {
            case .readable: G_IO_IN
            case .writable: G_IO_OUT
            }
        let conditions = GIOCondition(rawValue: wanted.rawValue | G_IO_ERR.rawValue | G_IO_HUP.rawValue)
        let source = unsafe EventSource(g_unix_fd_source_new(descriptor, conditions))
        // A descriptor's source calls back with the descriptor and the condition first.
        let callback: GUnixFDSourceFunc = { _, _, data in
            unsafe Unmanaged<SourceBody>.fromOpaque(data!).takeUnretainedValue().body() ? 1 : 0
        }
        unsafe source.start(calling: unsafeBitCast(callback, to: GSourceFunc.self)) {
            body()
            return true
        }
        return source
    }

    /// Ends the watch. Allowed from inside its own callback.
    package func destroy() {
        guard let source = unsafe source else { return }
        unsafe self.source = nil
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
    }

    private func start(_ body: @escaping () -> Bool) {
        unsafe start(
            calling: { unsafe Unmanaged<SourceBody>.fromOpaque($0!).takeUnretainedValue().body() ? 1 : 0 },
            body)
    }

    private func start(calling function: GSourceFunc, _ body: @escaping () -> Bool) {
        // GLib holds the box while it calls it, so destroying the source in its own callback is safe.
        unsafe g_source_set_callback(
            source, function, Unmanaged.passRetained(SourceBody(body)).toOpaque(),
            { unsafe Unmanaged<SourceBody>.fromOpaque($0!).release() })
        unsafe g_source_attach(source, g_main_context_get_thread_default())
    }
}

/// A closure behind a source's user-data pointer; the answer says whether the source goes on.
final class SourceBody {
    let body: () -> Bool
    init(_ body: @escaping () -> Bool) { self.body = body }
}

/// Whole milliseconds, rounded up, so that nothing comes early.
private func milliseconds(of duration: Duration) -> UInt32 {
    let (seconds, attoseconds) = duration.components
    let rounded = (max(attoseconds, 0) + 999_999_999_999_999) / 1_000_000_000_000_000
    return UInt32(clamping: min(max(seconds, 0), 1_000_000) * 1000 + rounded)
}

/// The clock that all of the receiver's times are readings of.
package enum MonotonicClock {
    /// Nanoseconds of `CLOCK_MONOTONIC`, which is the clock of GStreamer and of ALSA's timestamps, too.
    package static var nanoseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
