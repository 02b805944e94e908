// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CSandbox
import Glibc

/// Which files a process may still reach, by Landlock. All others are refused once the rules are enforced, whatever
/// their permissions say. Descriptors that are open already stay of use.
package struct FileRules {
    /// What may be done below a path.
    package enum Access: Sendable {
        /// Files are read and folders listed. No program is started from anywhere.
        case read
        /// Also written, made, renamed and removed.
        case write
        /// Devices are opened both ways and controlled.
        case device
    }

    private var rules: [(path: String, access: Access)] = []
    /// False where whom else the process reaches by local sockets without a file is not known, as with a screen.
    package var limitsLocalSockets = true

    package init() {}

    /// A path that is not there when the rules are enforced is left out.
    package mutating func allow(_ access: Access, _ path: String) { rules.append((path, access)) }

    /// Everything that is there now may be read, but for these folders and what they are in.
    package mutating func allowReading(except hidden: [String]) {
        let hidden = hidden.map(resolved)
        allowReading(below: "", except: hidden)
    }

    private mutating func allowReading(below folder: String, except hidden: [String]) {
        guard let handle = unsafe opendir(folder + "/") else { return }
        defer { unsafe closedir(handle) }
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let path = "\(folder)/\(name)"
            let kind = unsafe entry.pointee.d_type
            // A link is only a way to something that has a rule of its own, or none.
            if name == "." || name == ".." || kind == UInt8(DT_LNK) { continue }
            if hidden.contains(path) { continue }
            if hidden.contains(where: { $0.hasPrefix(path + "/") }) {
                allowReading(below: path, except: hidden)
            } else {
                allow(.read, path)
            }
        }
    }

    /// What of the rules holds from now on.
    package struct Outcome: Equatable, Sendable {
        /// Files are reached by the rules alone.
        package var files = false
        /// No port is listened on by TCP.
        package var listening = false
        /// Neither signals nor local sockets without a file lead to processes outside.
        package var signals = false
        /// Why not, where something is false.
        package var reason = ""

        /// Nothing holds.
        package init(reason: String) { self.reason = reason }

        init(files: Bool, listening: Bool, signals: Bool, reason: String) {
            (self.files, self.listening, self.signals, self.reason) = (files, listening, signals, reason)
        }
    }

    /// Binds this thread and those that it starts from now on, for good.
    package func enforce() -> Outcome {
        let version = sandbox_shim_landlock_version()
        guard version > 0 else {
            return Outcome(reason: errno == EOPNOTSUPP ? "Landlock is switched off" : "no Landlock")
        }
        let rights = Rights(version: version)
        var attributes = sandbox_shim_ruleset()
        attributes.files = rights.all
        // TCP: bind, but not connect.
        attributes.network = version >= 4 ? 1 : 0
        // Abstract sockets are 1, signals 2.
        attributes.scope = version >= 6 ? (limitsLocalSockets ? 3 : 2) : 0
        let size = version >= 6 ? 24 : version >= 4 ? 16 : 8
        let ruleset = unsafe sandbox_shim_ruleset(&attributes, size)
        guard ruleset >= 0 else { return Outcome(reason: failure("Landlock")) }
        defer { close(ruleset) }
        for (path, access) in rules {
            let file = unsafe sandbox_shim_open_path(path)
            guard file >= 0 else { continue }
            defer { close(file) }
            var status = stat()
            guard unsafe fstat(file, &status) == 0 else { continue }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let wanted = rights.of(access) & (isFolder ? rights.all : rights.ofFiles)
            _ = sandbox_shim_allow(ruleset, file, wanted)
        }
        guard sandbox_shim_enforce(ruleset) == 0 else { return Outcome(reason: failure("Landlock")) }
        let old = "this kernel's Landlock (\(version)) cannot"
        return Outcome(
            files: true, listening: version >= 4, signals: version >= 6, reason: version >= 6 ? "" : old)
    }

    /// The bits of `LANDLOCK_ACCESS_FS_…` that a version of Landlock knows.
    private struct Rights {
        let all: UInt64
        let ofFiles: UInt64

        init(version: Int32) {
            // EXECUTE … MAKE_SYM; then REFER, TRUNCATE, IOCTL_DEV.
            let count = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13
            all = 1 << count - 1
            // EXECUTE, WRITE_FILE, READ_FILE, TRUNCATE, IOCTL_DEV.
            ofFiles = all & (1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15)
        }

        func of(_ access: Access) -> UInt64 {
            let read: UInt64 = 1 << 2 | 1 << 3
            switch access {
            case .read: return read & all
            // Not EXECUTE, MAKE_CHAR, MAKE_BLOCK, IOCTL_DEV.
            case .write: return all & ~(1 | 1 << 6 | 1 << 11 | 1 << 15)
            case .device: return all & (read | 1 << 1 | 1 << 15)
            }
        }
    }
}

/// The reason of a call that has just failed.
func failure(_ call: String) -> String { unsafe "\(call): \(String(cString: strerror(errno)))" }

/// The path without links; as it is where there is nothing.
private func resolved(_ path: String) -> String {
    guard let text = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
}
