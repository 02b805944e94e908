// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import Settings

/// The walls around a program, as a command line of bubblewrap.
struct Confinement {
    /// Where a program finds what it is given.
    static let folder = "/application"
    static let storage = "/storage"
    static let python = "/python"
    /// The numbers of its descriptors.
    static let socket = 3
    static let filter = 4
    static let status = 5

    /// Bounds the number of processes inside, where no others of the same user are counted.
    static let limiter = "/usr/bin/prlimit"

    var permissions: Set<ApplicationManifest.Permission> = []
    var limits = ApplicationManifest.Limits()
    /// Folders of this host; nil: it gets none.
    var folder: String?
    var storage: String?
    var python: String?
    /// Folders below `/usr` that are nobody's business.
    var hidden: [String] = []
    var environment: [String: String] = [:]

    /// The command line that runs `command` inside.
    func arguments(bubblewrap: String, _ command: [String]) -> [String] {
        var line = [
            bubblewrap, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup-try",
            "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "linnet", "--clearenv",
        ]
        if !permissions.contains(.network) { line.append("--unshare-net") }
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            line += ["--setenv", name, value]
        }
        line += system + memory
        for file in files { line += ["--ro-bind-try", file, file] }
        for folder in hidden where folder.hasPrefix("/usr/") && FileSystem.isDirectory(folder) {
            line += ["--tmpfs", folder, "--remount-ro", folder]
        }
        if let folder { line += ["--ro-bind", folder, Self.folder] }
        if let python { line += ["--ro-bind", python, Self.python] }
        if let storage { line += ["--bind", storage, Self.storage] }
        line += ["--remount-ro", "/", "--chdir", folder == nil ? "/" : Self.folder]
        line += ["--seccomp", "\(Self.filter)", "--json-status-fd", "\(Self.status)", "--"]
        // Bubblewrap has a process inside, too.
        return line + [Self.limiter, "--nproc=\(limits.processes + 1)", "--"] + command
    }

    /// Programs and libraries.
    private var system: [String] {
        var line = ["--ro-bind", "/usr", "/usr"]
        for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] {
            if let target = FileSystem.target(ofLink: "/\(name)") {
                line += ["--symlink", target, "/\(name)"]
            } else if FileSystem.isDirectory("/\(name)") {
                line += ["--ro-bind", "/\(name)", "/\(name)"]
            }
        }
        return line
    }

    /// What is private: files in memory, each at most an eighth of what the program may have of it.
    private var memory: [String] {
        let size = "\(limits.memory / 8)"
        return [
            "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm",
            "--remount-ro", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/tmp",
        ]
    }

    /// What of `/etc` a program needs to find libraries and the time, and with the network names and certificates.
    private var files: [String] {
        let all = ["/etc/ld.so.cache", "/etc/localtime"]
        guard permissions.contains(.network) else { return all }
        return all + [
            "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
            "/etc/services", "/etc/protocols", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
            "/etc/ca-certificates",
        ]
    }
}
