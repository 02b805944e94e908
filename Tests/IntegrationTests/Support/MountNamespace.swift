// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// Programs that see other file systems than the rest of the machine.
enum MountNamespace {
    /// True if this process may make one.
    static let isAllowed: Bool = {
        guard let child = try? ChildProcess(["unshare", "-rm", "true"]) else { return false }
        return child.wait(milliseconds: 5_000) == 0
    }()

    /// A command that does `setUp`, a line for the shell, in a mount namespace of its own and then runs `command` there.
    static func command(_ setUp: String, then command: [String]) -> [String] {
        ["unshare", "-rm", "sh", "-ec", "\(setUp)\nexec \"$@\"", "sh"] + command
    }

    /// A path as the process `pid` sees it.
    static func path(_ path: String, seenBy pid: Int32) -> String { "/proc/\(pid)/root\(path)" }

    /// Runs a line for the shell in the namespace of the process `pid`.
    static func run(_ line: String, inThatOf pid: Int32) throws {
        let child = try ChildProcess(["nsenter", "-t", "\(pid)", "-U", "-m", "sh", "-ec", line])
        guard child.wait(milliseconds: 5_000) == 0 else { throw TestFailure("failed: \(line)") }
    }
}
