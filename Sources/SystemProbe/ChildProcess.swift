// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A reading of CLOCK_MONOTONIC in nanoseconds.
package func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Blocks the calling thread. For measuring set-ups only; tests wait on events.
package func pause(milliseconds: Int) {
    guard milliseconds > 0 else { return }
    usleep(UInt32(milliseconds) * 1_000)
}

/// What the C library refused to do.
package struct ProbeFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package let call: String
    package let status: Int32
    package init(_ call: String, _ status: Int32) { (self.call, self.status) = (call, status) }
    package var description: String {
        status == 0 ? call : unsafe "\(call): \(String(cString: strerror(status)))"
    }
}

/// A child process. It is killed and reaped when the object goes.
package final class ChildProcess {
    /// Signals, for users that do not import the C library.
    package static let terminating = SIGTERM
    package static let killing = SIGKILL
    package static let stopping = SIGSTOP
    package static let continuing = SIGCONT

    package let pid: Int32
    private var status: Int32?

    /// Starts `arguments[0]`, found on PATH, with `environment` added to this process's. Output goes to the file
    /// `output` (made new), or nowhere.
    package init(
        _ arguments: [String], environment: [String: String] = [:], output: String? = nil,
        errors: String? = nil
    ) throws(ProbeFailure) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output ?? "/dev/null", flags, 0o644)
        if let errors {
            unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, flags, 0o644)
        } else {
            unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A group of its own, so that `kill` reaches what the child starts.
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        unsafe posix_spawnattr_setpgroup(&attributes, 0)

        var variables = currentEnvironment()
        variables.merge(environment) { _, new in new }
        var words = unsafe arguments.map { unsafe strdup($0) }
        unsafe words.append(nil)
        var settings = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") }
        unsafe settings.append(nil)
        defer {
            unsafe words.forEach { unsafe free($0) }
            unsafe settings.forEach { unsafe free($0) }
        }
        var child: pid_t = 0
        let result = unsafe posix_spawnp(&child, arguments[0], &actions, &attributes, words, settings)
        guard result == 0 else { throw ProbeFailure("starting \(arguments[0])", result) }
        pid = child
    }

    deinit { if isRunning { kill(SIGKILL) } }

    /// True until the process has ended; reaps it when it has.
    package var isRunning: Bool {
        if status != nil { return false }
        var value: Int32 = 0
        if unsafe waitpid(pid, &value, WNOHANG) == pid { status = value }
        return status == nil
    }

    /// Sends a signal to the process alone.
    package func signal(_ number: Int32) { if isRunning { _ = Glibc.kill(pid, number) } }

    /// Sends a signal to the process and all it started, and reaps it.
    package func kill(_ number: Int32 = SIGKILL) {
        guard isRunning else { return }
        _ = Glibc.kill(-pid, number)
        if number == SIGKILL {
            var value: Int32 = 0
            if unsafe waitpid(pid, &value, 0) == pid { status = value }
        }
    }

    /// Asks the process to end and waits; kills it after `milliseconds`. Returns the exit code, or 128 and the signal.
    @discardableResult
    package func end(within milliseconds: Int = 3_000) -> Int32 {
        signal(SIGTERM)
        return wait(milliseconds: milliseconds)
            ?? {
                kill(); return 128 + SIGKILL
            }()
    }

    /// Waits for the end of the process; nil if it still runs after `milliseconds`.
    package func wait(milliseconds: Int) -> Int32? {
        let limit = monotonicNanoseconds() + Int64(milliseconds) * 1_000_000
        while isRunning {
            guard monotonicNanoseconds() < limit else { return nil }
            pause(milliseconds: 2)
        }
        guard let status else { return nil }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }
}

/// The environment of this process.
package func currentEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    for line in readLines("/proc/self/environ", separator: 0) {
        guard let equals = line.firstIndex(of: "=") else { continue }
        result[String(line[..<equals])] = String(line[line.index(after: equals)...])
    }
    return result
}

/// The bytes of a file from a place on, at most `limit`; nil if it cannot be read.
package func readBytes(_ path: String, from start: Int = 0, limit: Int = 64 << 20) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard start == 0 || lseek(file, off_t(start), SEEK_SET) >= 0 else { return nil }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < limit {
        let count = unsafe read(file, &chunk, chunk.count)
        guard count > 0 else { return count == 0 ? bytes : nil }
        bytes += chunk[..<count]
    }
    return bytes
}

/// The text of a file; empty if it cannot be read.
package func readText(_ path: String) -> String {
    String(decoding: readBytes(path) ?? [], as: UTF8.self)
}

/// The lines of a file; none if it cannot be read.
package func readLines(_ path: String, separator: UInt8 = 10) -> [String] {
    (readBytes(path) ?? []).split(separator: separator).map { String(decoding: $0, as: UTF8.self) }
}

/// Writes a file whole.
package func writeText(_ text: String, to path: String) throws(ProbeFailure) {
    try writeBytes(Array(text.utf8), to: path)
}

/// Writes a file whole.
package func writeBytes(_ contents: [UInt8], to path: String) throws(ProbeFailure) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw ProbeFailure("opening \(path)", errno) }
    defer { close(file) }
    var bytes = contents[...]
    while !bytes.isEmpty {
        let count = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        guard count > 0 else { throw ProbeFailure("writing \(path)", errno) }
        bytes = bytes.dropFirst(count)
    }
}

/// The full path of a program on PATH.
package func findProgram(_ name: String) -> String? {
    if name.contains("/") { return unsafe access(name, X_OK) == 0 ? name : nil }
    for folder in (currentEnvironment()["PATH"] ?? "/usr/bin:/bin").split(separator: ":") {
        let path = "\(folder)/\(name)"
        if unsafe access(path, X_OK) == 0 { return path }
    }
    return nil
}

/// `path` from the root of the file system.
package func absolutePath(_ path: String) -> String {
    guard let text = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
}

/// The folder of a program that was called as `name`.
package func absoluteFolder(of name: String) -> String {
    let path = absolutePath(findProgram(name) ?? name)
    return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
}

/// Writes a line to the standard error output.
package func printError(_ message: String) {
    let bytes = Array((message + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}

/// Ends this program.
package func exitProcess(_ code: Int32) -> Never { exit(code) }
