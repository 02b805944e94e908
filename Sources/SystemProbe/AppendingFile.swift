// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that only grows. What was appended is in the kernel's hands, so it stays when the process is killed.
package final class AppendingFile: Sendable {
    private let descriptor: Int32

    /// Opens a file, which is made if it is not there.
    package init(_ path: String) throws(ProbeFailure) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw ProbeFailure("opening \(path)", errno) }
    }

    deinit { close(descriptor) }

    /// Appends bytes, all or with an error.
    package func append(_ bytes: [UInt8]) throws(ProbeFailure) {
        let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw ProbeFailure("appending", count < 0 ? errno : 0) }
    }
}

/// The size of a file in bytes; 0 if there is none.
package func fileSize(_ path: String) -> Int {
    var information = stat()
    return unsafe stat(path, &information) == 0 ? Int(information.st_size) : 0
}

/// Sends a signal to any process.
package func signalProcess(_ pid: Int32, _ number: Int32) { _ = Glibc.kill(pid, number) }

/// True while a process of this number is there and has not ended.
package func isProcessAlive(_ pid: Int32) -> Bool {
    guard let stat = readText("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ").first
    else { return false }
    return stat != "Z" && stat != "X"
}
