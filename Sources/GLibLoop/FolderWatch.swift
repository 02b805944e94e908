// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// Tells that something in some folders has changed: a name that came, went or was written. It takes no thread, and tells
/// changes that come together once. It lives on the thread that made it. Not `Sendable`.
package final class FolderWatch {
    private let descriptor: Int32
    private let settling: Duration
    private var reading: EventSource?
    private var telling: EventSource?
    private let onChange: () -> Void

    /// Watches nothing yet. A change is told once nothing else has changed for `settling`. Nil if the kernel has no
    /// watch left.
    package init?(settling: Duration, onChange: @escaping () -> Void) {
        descriptor = inotify_init1(O_CLOEXEC | O_NONBLOCK)
        (self.settling, self.onChange) = (settling, onChange)
        guard descriptor >= 0 else { return nil }
        reading = EventSource.descriptor(descriptor, .readable) { [unowned self] in receive() }
    }

    deinit {
        reading?.destroy()
        if descriptor >= 0 { _ = close(descriptor) }
    }

    /// Watches a folder, or what comes in the place of one that is not there: the nearest folder above it.
    package func add(_ folder: String) {
        let changes = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB)
        var path = folder
        while unsafe inotify_add_watch(descriptor, path, changes | UInt32(IN_ONLYDIR)) < 0, path.count > 1 {
            let slash = path.lastIndex(of: "/") ?? path.startIndex
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
        telling = EventSource.after(settling) { [unowned self] in
            telling = nil
            onChange()
        }
    }
}
