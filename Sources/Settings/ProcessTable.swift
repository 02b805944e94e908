// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// What the kernel tells of other processes (proc(5)).
package enum ProcessTable {
    /// The processes that descend from `process`, without itself, parents before their children; at most `limit`.
    package static func descendants(of process: Int32, limit: Int) -> [Int32] {
        var found: [Int32] = []
        var next = 0
        var parent = process
        while found.count < limit {
            found += children(of: parent).prefix(limit - found.count)
            guard next < found.count else { break }
            parent = found[next]
            next += 1
        }
        return found
    }

    /// The processes that a process, with all its threads, has started and not lost.
    package static func children(of process: Int32) -> [Int32] {
        guard let threads = try? FileSystem.list("/proc/\(process)/task") else { return [] }
        return threads.flatMap { thread -> [Int32] in
            let path = "/proc/\(process)/task/\(thread)/children"
            guard let bytes = try? FileSystem.read(path, maximum: 65_536) else { return [] }
            return String(decoding: bytes, as: UTF8.self).split(separator: " " as Character).compactMap {
                Int32($0)
            }
        }
    }

    /// Bytes of memory that belong to the process: its own, what it shares with others by mappings, and what of it was
    /// swapped out. Not the files that it maps. 0 once it has ended.
    package static func memory(of process: Int32) -> Int {
        guard let bytes = try? FileSystem.read("/proc/\(process)/status", maximum: 65_536) else { return 0 }
        let counted = ["RssAnon:", "RssShmem:", "VmSwap:"]
        return bytes.split(separator: 10).reduce(0) { sum, line in
            guard counted.contains(where: { line.starts(with: $0.utf8) }) else { return sum }
            let digits = line.filter { (48...57).contains($0) }
            return sum + (Int(String(decoding: digits, as: UTF8.self)) ?? 0) * 1024
        }
    }

    /// Bytes on the device of `folder` that a process holds although their names are gone: files that it has open.
    package static func unnamedBytes(of process: Int32, on folder: String) -> Int {
        var place = stat()
        guard unsafe stat(folder, &place) == 0 else { return 0 }
        let descriptors = (try? FileSystem.list("/proc/\(process)/fd")) ?? []
        return descriptors.reduce(0) { sum, name in
            var status = stat()
            guard unsafe stat("/proc/\(process)/fd/\(name)", &status) == 0, status.st_dev == place.st_dev,
                status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 0
            else { return sum }
            return sum + Int(status.st_blocks) * 512
        }
    }

    /// Sends a UNIX signal; nothing happens if there is no such process.
    package static func send(signal: Int32, to process: Int32) {
        guard process > 1 else { return }
        _ = kill(process, signal)
    }

    /// The same to a group of processes.
    package static func send(signal: Int32, toGroup group: Int32) {
        guard group > 1 else { return }
        _ = kill(-group, signal)
    }
}
