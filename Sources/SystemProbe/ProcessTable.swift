// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The memory of a set of processes.
package struct MemoryUse: Equatable, Sendable {
    /// Resident sets added up: a page that two processes share counts twice.
    package var resident = 0.0
    /// Physical pages mapped by any of the processes, each once.
    package var unique = 0.0
    /// Anonymous pages: what the machine cannot drop.
    package var anonymous = 0.0
    /// Proportional set sizes added up.
    package var proportional = 0.0
}

/// CPU time and context switches of a set of processes, for rates between two readings.
package struct LoadReading: Equatable, Sendable {
    package let ticks: Int
    /// By thread, since threads come and go between two readings.
    package let switches: [String: Int]
    package let time: Int64

    /// Percent of one core and context switches a second since `earlier`.
    package func rates(since earlier: LoadReading) -> (cpuPercent: Double, switchesPerSecond: Double) {
        let seconds = max(Double(time - earlier.time) / 1e9, 1e-9)
        // USER_HZ is 100 on Linux.
        let switched = switches.reduce(0) { $0 + $1.value - (earlier.switches[$1.key] ?? 0) }
        return (Double(ticks - earlier.ticks) / seconds, Double(switched) / seconds)
    }
}

/// Counters of `/proc`.
package enum ProcessTable {
    /// `pid` and every process below it.
    package static func family(of pid: Int32) -> [Int32] {
        var result = [pid]
        for task in entries("/proc/\(pid)/task") {
            for child in readText("/proc/\(pid)/task/\(task)/children").split(separator: " ") {
                if let child = Int32(child) { result += family(of: child) }
            }
        }
        return result
    }

    /// Threads and open descriptors of one process.
    package static func counts(of pid: Int32) -> (threads: Int, descriptors: Int) {
        (entries("/proc/\(pid)/task").count, entries("/proc/\(pid)/fd").count)
    }

    /// Memory in MB (2^20 bytes). `unique` needs root; it is 0 without.
    package static func memory(of pids: [Int32]) -> MemoryUse {
        var use = MemoryUse()
        var frames: Set<UInt64> = []
        for pid in pids {
            for line in readLines("/proc/\(pid)/smaps_rollup") {
                let words = line.split(separator: " ")
                guard words.count >= 2, let kilobytes = Double(words[1]) else { continue }
                switch words[0] {
                case "Rss:": use.resident += kilobytes / 1_024
                case "Pss:": use.proportional += kilobytes / 1_024
                case "Anonymous:": use.anonymous += kilobytes / 1_024
                default: break
                }
            }
            addFrames(of: pid, to: &frames)
        }
        use.unique = Double(frames.count) * 4_096 / 1_048_576
        return use
    }

    private static func addFrames(of pid: Int32, to frames: inout Set<UInt64>) {
        let file = unsafe open("/proc/\(pid)/pagemap", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        for line in readLines("/proc/\(pid)/maps") where !line.contains("[v") {
            let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard bounds.count == 2, bounds[1] > bounds[0] else { continue }
            var left = Int((bounds[1] - bounds[0]) / 4_096)
            var offset = off_t(bounds[0] / 4_096 * 8)
            var entries = [UInt64](repeating: 0, count: min(left, 65_536))
            while left > 0 {
                let wanted = min(left, entries.count)
                let count = unsafe pread(file, &entries, wanted * 8, offset) / 8
                guard count > 0 else { break }
                for entry in entries[..<count] where entry >> 63 == 1 {
                    let frame = entry & (1 << 55 - 1)
                    if frame != 0 { frames.insert(frame) }
                }
                left -= count
                offset += off_t(count * 8)
            }
        }
    }

    package static func load(of pids: [Int32]) -> LoadReading {
        var ticks = 0
        var switches: [String: Int] = [:]
        for pid in pids {
            let fields = readText("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
            if fields.count > 13 { ticks += (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) }
            for task in entries("/proc/\(pid)/task") {
                for line in readLines("/proc/\(pid)/task/\(task)/status") where line.contains("ctxt_switches")
                {
                    switches[task, default: 0] +=
                        line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last.flatMap { Int($0) } ?? 0
                }
            }
        }
        return LoadReading(ticks: ticks, switches: switches, time: monotonicNanoseconds())
    }

    /// The names in a folder, without `.` and `..`.
    package static func entries(_ folder: String) -> [String] {
        guard let handle = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
