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
    /// Watches of folders in whose place another was asked for: only folders that come there count.
    private var substitutes: Set<Int32> = []

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
        while true {
            let watch = unsafe inotify_add_watch(descriptor, path, changes | UInt32(IN_ONLYDIR))
            if watch >= 0 {
                if path == folder { substitutes.remove(watch) } else { substitutes.insert(watch) }
                return
            }
            guard path.utf8.count > 1, let slash = path.lastIndex(of: "/") else { return }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    /// True if one of the kernel's records (inotify(7)) tells something of interest.
    private func isOfInterest(_ records: [UInt8]) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        return unsafe records.withUnsafeBytes { bytes in
            var offset = 0
            while offset + header <= bytes.count {
                let event = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let isFolder = event.mask & UInt32(IN_ISDIR) != 0
                if isFolder || !substitutes.contains(event.wd) { return true }
                offset += header + Int(event.len)
            }
            return false
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var isNews = false
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            if isOfInterest(Array(buffer[..<count])) { isNews = true }
        }
        guard isNews else { return }
        telling = EventSource.after(settling) { [unowned self] in
            telling = nil
            onChange()
        }
    }
}
