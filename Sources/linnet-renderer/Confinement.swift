// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamerRenderer
import MediaModel
import Sandbox
import Settings

/// What the renderer gives up before it hears of any media: everything that playing does not need.
///
/// Done by the process itself, before its first thread: that costs no start of another program, needs no
/// privilege, and works within a service manager's own bounds. Docs/decisions/0009 compares the ways.
struct Confinement {
    static let options: [CommandLine.Option] = [
        .init("confine", nil, .flag, "give up what playing does not need (linnetd asks for it)"),
        .init("video", nil, .flag, "with --confine: keep the graphics devices"),
        .init("scratch", nil, .string, "with --confine: the folder that may be written", argument: "FOLDER"),
        .init("readable", nil, .list, "with --confine: further paths that are read", argument: "PATH"),
        .init("writable", nil, .list, "with --confine: further paths that are written", argument: "PATH"),
        .init(
            "hide", nil, .string, "with --confine: all files are read but those of this folder",
            argument: "FOLDER"),
        .init("update-registry", nil, .flag, "with --confine: renew the list of plugins before"),
        .init("memory-limit", nil, .integer, "with --confine: most memory in MiB", argument: "NUMBER"),
    ]

    /// The priority that the output's thread asks for.
    private static let realTimePriority: Int32 = 40
    private static let openFiles: UInt64 = 1024
    private static let fileSize: UInt64 = 1 << 30
    /// Before any other process of the receiver, after those that the system itself offers first.
    private static let outOfMemoryScore = 500

    private let line: CommandLine
    init(_ line: CommandLine) { self.line = line }

    /// Gives it all up and says which layers hold.
    func apply() -> [ConfinementLayer] {
        guard line.flags.contains("confine") else {
            return ConfinementLayer.Kind.allCases.filter { $0 != .group }.map {
                ConfinementLayer($0, reason: "switched off")
            }
        }
        if line.flags.contains("update-registry") { updateRegistry() }
        // Answers for missing segments are served here; no other port is listened on.
        GStreamerRenderer.takePort()
        // Uncompressed pictures are large.
        let pictures: UInt64 = line.flags.contains("video") ? 1024 : 0
        let memory = (UInt64(clamping: line.integers["memory-limit"] ?? 1024) + pictures) << 20
        let score = OwnProcess.offer(toOutOfMemoryKiller: Self.outOfMemoryScore)
        let limits = OwnProcess.limit(memory: memory, files: Self.openFiles, fileSize: Self.fileSize)
        let privileges = OwnProcess.giveUpPrivileges(realTimePriority: Self.realTimePriority)
        let files = OwnProcess.threads == 1 ? rules.enforce() : .init(reason: "threads run already")
        let calls = OwnProcess.filterCalls()
        return [
            ConfinementLayer(.privileges, reason: privileges),
            ConfinementLayer(.limits, reason: limits ?? score),
            ConfinementLayer(.files, reason: files.files ? nil : files.reason),
            ConfinementLayer(.listening, reason: files.listening ? nil : files.reason),
            ConfinementLayer(.signals, reason: files.signals ? nil : files.reason),
            ConfinementLayer(.calls, reason: calls),
        ]
    }

    /// Reads the registry of plugins, and writes it if it is old, while that is still possible. Plugins that were looked
    /// at for that have left threads behind, which no wall would bind: the program begins anew, and only reads.
    private func updateRegistry() {
        PluginFolder.readRegistry()
        guard OwnProcess.threads > 1, Machine.environment("GST_REGISTRY_UPDATE") != "no" else { return }
        Machine.setEnvironment("GST_REGISTRY_UPDATE", "no")
        Machine.beginAnew()
    }

    private var rules: FileRules {
        var rules = FileRules()
        // Libraries, plugins and data of the system; its configuration, which may be replaced file by file (such as
        // resolv.conf), so that single files would not do; and what the kernel says of processors and cards.
        for path in ["/usr", "/lib", "/lib64", "/etc", "/proc", "/sys/devices/system"] {
            rules.allow(.read, path)
        }
        rules.allow(.read, resolverFolder)
        for path in named { rules.allow(.read, path) }
        for path in ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"] {
            rules.allow(.device, path)
        }
        if FileSystem.exists("/dev/snd") {
            rules.allow(.device, "/dev/snd")
        } else if !Machine.isRoot {
            // The folder comes with the first card, which may be plugged in later.
            rules.allow(.device, "/dev")
        }
        if line.flags.contains("video") { allowGraphics(&rules) }
        if let folder = line.strings["hide"] {
            rules.allowReading(except: [folder, "/dev", "/proc", "/sys", "/run"])
        }
        if let folder = line.strings["scratch"] {
            rules.allow(.write, folder)
            Machine.setEnvironment("TMPDIR", folder)
            Machine.setEnvironment("XDG_CACHE_HOME", folder)
        }
        for path in line.lists["readable"] ?? [] { rules.allow(.read, path) }
        for path in line.lists["writable"] ?? [] { rules.allow(.write, path) }
        return rules
    }

    /// Where the list of name servers really is: a link leads to a folder whose files come and go.
    private var resolverFolder: String {
        guard let target = FileSystem.target(ofLink: "/etc/resolv.conf") else { return "/etc" }
        let path = target.hasPrefix("/") ? target : "/etc/\(target)"
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/etc"
        return FileSystem.exists(folder) ? folder : "/run"
    }

    /// What the environment names, and the sound settings of a user.
    private var named: [String] {
        var paths: [String] = []
        for name in [
            "LD_LIBRARY_PATH", "GST_PLUGIN_PATH_1_0", "GST_PLUGIN_SYSTEM_PATH_1_0", "GST_REGISTRY_1_0",
            "ALSA_CONFIG_PATH", "ALSA_CONFIG_DIR", "ALSA_PLUGIN_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
        ] {
            paths += (Machine.environment(name) ?? "").split(separator: ":").map(String.init)
        }
        if let folder = Machine.programPath.flatMap({ path in path.lastIndex(of: "/").map { path[..<$0] } }) {
            paths += [String(folder), "\(folder)/../lib/linnet"]
        }
        let home = Machine.homeFolder
        return (paths + ["\(home)/.asoundrc", "\(home)/.config/alsa"]).filter { $0.hasPrefix("/") }
    }

    private func allowGraphics(_ rules: inout FileRules) {
        let prefixes = ["dri", "video", "media", "nvidia", "dma_heap", "mali", "vchiq", "vcsm"]
        for name in (try? FileSystem.list("/dev")) ?? [] where prefixes.contains(where: name.hasPrefix) {
            rules.allow(.device, "/dev/\(name)")
        }
        for path in ["/sys", "/run/udev", "/var/cache/fontconfig"] { rules.allow(.read, path) }
        if let file = Machine.environment("XAUTHORITY") { rules.allow(.read, file) }
        // Where a screen's server listens is its own affair.
        rules.limitsLocalSockets = false
    }
}
