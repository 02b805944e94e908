// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import Settings

/// Control groups for instances, below that of this process, where the service manager has delegated it: the kernel then
/// counts memory and processes of each instance together.
struct ControlGroups {
    /// Nil if there are none, with the reason.
    private let folder: String?
    let reason: String?

    /// Looks whether there are any, and moves this process and its children out of the way: the kernel wants processes in
    /// the leaves only.
    init() {
        do throws(Missing) {
            folder = try Self.prepare()
            reason = nil
        } catch {
            folder = nil
            reason = error.reason
        }
    }

    private struct Missing: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    private static let wanted = ["memory", "pids"]

    private static func prepare() throws(Missing) -> String {
        let lines = words("/proc/self/cgroup", separator: 10)
        guard let line = lines.first(where: { $0.hasPrefix("0::/") }), line.count > 4 else {
            throw Missing("this process has no control group of its own")
        }
        let folder = "/sys/fs/cgroup\(line.dropFirst(3))"
        let controllers = words("\(folder)/cgroup.controllers", separator: 32)
        guard wanted.allSatisfy(controllers.contains) else {
            throw Missing("the control group does not bound memory and processes")
        }
        // A group that is shared with others is not ours to arrange.
        let own = Machine.processIdentifier
        let family = Set([own] + ProcessTable.descendants(of: own, limit: 64))
        let members = words("\(folder)/cgroup.procs", separator: 10).compactMap { Int32($0) }
        guard members.allSatisfy(family.contains) else {
            throw Missing("the control group has other processes")
        }
        do {
            let leaf = "\(folder)/daemon"
            try FileSystem.makeDirectory(leaf)
            for member in members { try FileSystem.put("\(member)", into: "\(leaf)/cgroup.procs") }
            try FileSystem.put("+memory +pids", into: "\(folder)/cgroup.subtree_control")
        } catch {
            throw Missing("the control group is not delegated: \(error.message)")
        }
        return folder
    }

    private static func words(_ path: String, separator: UInt8) -> [String] {
        let bytes = (try? FileSystem.read(path, maximum: 65_536)) ?? []
        return bytes.split(whereSeparator: { $0 == separator || $0 == 10 }).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// A group with these bounds; nil if there can be none.
    func make(_ name: String, limits: ApplicationManifest.Limits) -> String? {
        guard let folder else { return nil }
        let path = "\(folder)/\(name)"
        do {
            try FileSystem.makeDirectory(path)
            try FileSystem.put("\(limits.memory)", into: "\(path)/memory.max")
            // Bubblewrap has two processes of its own.
            try FileSystem.put("\(limits.processes + 2)", into: "\(path)/pids.max")
        } catch {
            remove(path)
            return nil
        }
        // Not every kernel has these.
        try? FileSystem.put("0", into: "\(path)/memory.swap.max")
        try? FileSystem.put("1", into: "\(path)/memory.oom.group")
        return path
    }

    /// True if the kernel ended processes of the group because of its memory.
    func ranOut(_ path: String) -> Bool {
        let lines = Self.words("\(path)/memory.events", separator: 10)
        return lines.contains { $0.hasPrefix("oom_kill ") && $0 != "oom_kill 0" }
    }

    /// The group must be empty.
    func remove(_ path: String) { try? FileSystem.removeDirectory(path) }
}
