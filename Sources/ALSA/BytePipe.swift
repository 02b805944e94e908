// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA
import Glibc

/// A descriptor that a thread reads raw samples from. Closed with it.
@safe package final class BytePipe: Sendable {
    /// What came of reading.
    package enum Outcome: Equatable, Sendable {
        case bytes(Int)
        /// Whoever wrote has gone.
        case end
    }

    private let descriptor: Int32

    /// Reads what `descriptor` leads to; that number stays the caller's. Nil if there is no such descriptor, or none left.
    package init?(duplicating descriptor: Int32) {
        self.descriptor = alsa_shim_duplicate(descriptor)
        if self.descriptor < 0 { return nil }
    }

    deinit { _ = close(descriptor) }

    /// Waits for bytes, for the end, for `wakeUp`, or for `timeout`.
    package func wait(or wakeUp: WakeUp, timeout: Duration?) {
        var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        _ = wakeUp.wait(and: &entries, timeout: timeout)
    }

    /// Reads what is there, without waiting, to `bytes` from `first` on.
    package func read(into bytes: inout [UInt8], from first: Int) -> Outcome {
        guard first >= 0, first < bytes.count else { return .bytes(0) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 0) > 0 else { return .bytes(0) }
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe Glibc.read(descriptor, $0.baseAddress! + first, $0.count - first)
        }
        if count > 0 { return .bytes(count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return .bytes(0) }
        return .end
    }
}
