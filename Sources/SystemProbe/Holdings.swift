// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What one process holds of the machine, for seeing whether it grows.
package struct Holdings: Equatable, Sendable {
    package var threads = 0
    package var descriptors = 0
    /// Anonymous pages in kB: what the process has written itself, its heaps above all.
    package var anonymous = 0
    /// Its share of all its pages in kB.
    package var proportional = 0
    package var children = 0
    /// Children that have ended and were not waited for.
    package var zombies = 0
}

extension ProcessTable {
    /// This process.
    package static var own: Int32 { getpid() }

    /// Bytes of a file; 0 if there is none.
    package static func size(of path: String) -> Int {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// What `pid` holds now; nil if there is no such process.
    package static func holdings(of pid: Int32) -> Holdings? {
        let counts = counts(of: pid)
        guard counts.threads > 0 else { return nil }
        var holdings = Holdings(threads: counts.threads, descriptors: counts.descriptors)
        for line in readLines("/proc/\(pid)/smaps_rollup") {
            let words = line.split(separator: " ")
            guard words.count >= 2, let kilobytes = Int(words[1]) else { continue }
            if words[0] == "Anonymous:" { holdings.anonymous = kilobytes }
            if words[0] == "Pss:" { holdings.proportional = kilobytes }
        }
        for child in family(of: pid).dropFirst() {
            holdings.children += 1
            let state = readText("/proc/\(child)/stat").split(separator: ")").last?.split(separator: " ")
                .first
            if state == "Z" { holdings.zombies += 1 }
        }
        return holdings
    }

    /// How many TCP sockets of `pid` are in each state, by the kernel's names.
    package static func sockets(of pid: Int32) -> [String: Int] {
        let names = [
            "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE",
            "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING",
        ]
        let own = Set(entries("/proc/\(pid)/fd").compactMap { linkTarget("/proc/\(pid)/fd/\($0)") })
        var result: [String: Int] = [:]
        for table in ["tcp", "tcp6"] {
            for line in readLines("/proc/\(pid)/net/\(table)").dropFirst() {
                let fields = line.split(separator: " ")
                guard fields.count > 9, own.contains("socket:[\(fields[9])]"),
                    let state = Int(fields[3], radix: 16), names.indices.contains(state - 1)
                else { continue }
                result[names[state - 1], default: 0] += 1
            }
        }
        return result
    }

    private static func linkTarget(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe readlink(path, $0.assumingMemoryBound(to: CChar.self).baseAddress!, $0.count)
        }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
