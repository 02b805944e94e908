// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CSandbox
import Glibc

/// What a process can take from itself. Each step returns why the kernel refused it; nil means that it holds.
package enum OwnProcess {
    /// How many threads there are. Steps that bind one thread are taken while this is 1.
    package static var threads: Int {
        guard let folder = unsafe opendir("/proc/self/task") else { return 1 }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            // Neither `.` nor `..`.
            if unsafe entry.pointee.d_name.0 != 46 { count += 1 }
        }
        return count
    }

    /// No program that is started has more rights than this process, which keeps no capability; where it can have the
    /// priority by no limit, it keeps the capability for that alone.
    package static func giveUpPrivileges(realTimePriority: Int32) -> String? {
        let hasLimit = sandbox_shim_keep_realtime(realTimePriority) == 0
        guard sandbox_shim_forbid_new_privileges() == 0 else { return failure("no new privileges") }
        guard sandbox_shim_drop_capabilities(hasLimit ? 0 : 1) == 0 else {
            return failure("dropping capabilities")
        }
        return nil
    }

    /// Bounds in bytes for memory and for the size of a file, and the number of open files. No core is dumped: it
    /// would be a copy of what somebody listens to.
    package static func limit(memory: UInt64, files: UInt64, fileSize: UInt64) -> String? {
        sandbox_shim_ignore_file_size()
        let results = [
            sandbox_shim_limit_core(0), sandbox_shim_limit_files(files),
            sandbox_shim_limit_file_size(fileSize),
        ]
        guard results.allSatisfy({ $0 == 0 }) else { return failure("setting limits") }
        // A program made with a sanitizer maps more than any limit before it does anything.
        guard memoryInUse < memory / 2 else { return "too much memory is in use for a limit" }
        return sandbox_shim_limit_data(memory) == 0 ? nil : failure("limiting memory")
    }

    /// What counts against the limit of memory, in bytes.
    private static var memoryInUse: UInt64 {
        guard let file = unsafe fopen("/proc/self/statm", "re") else { return 0 }
        defer { _ = unsafe fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe fread($0.baseAddress!, 1, $0.count, file) }
        let fields = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: " ")
        return fields.count > 5 ? (UInt64(fields[5]) ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE))) : 0
    }

    /// When the machine has no memory left, this process is ended before those with a lower number.
    package static func offer(toOutOfMemoryKiller score: Int) -> String? {
        let file = unsafe open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return failure("oom_score_adj") }
        defer { close(file) }
        let text = Array("\(score)".utf8)
        let written = unsafe text.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        return written == text.count ? nil : failure("oom_score_adj")
    }

    /// Refuses the system calls that a player has no use for: other programs and their memory, processes, mounts,
    /// namespaces, raw sockets, the machine's own affairs. Threads stay possible.
    package static func filterCalls() -> String? {
        sandbox_shim_filter_calls() == 0 ? nil : failure("seccomp")
    }
}
