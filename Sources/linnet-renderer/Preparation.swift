// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GStreamerRenderer
import Settings

/// Makes the folder with which the renderer starts quickly and stays small: `plugins`, `fallback` and `video` are links to
/// the system's plugins, `warm` holds a moment of sound in each format, `registry.bin` is what GStreamer knows of
/// `plugins`, `registry-video.bin` what it knows of `plugins` and `video`.
actor Preparation {
    private nonisolated let loop: GLibLoop
    private let folder: String

    init(folder: String, loop: GLibLoop) {
        self.loop = loop
        // Links and the registry name whole paths.
        self.folder = folder.hasPrefix("/") ? folder : "\(Machine.currentFolder)/\(folder)"
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    func run() async -> Int32 {
        do {
            let files = PluginFolder.files()
            try link(files.plugins, into: "\(folder)/plugins")
            try link(files.fallback, into: "\(folder)/fallback")
            try link(files.video, into: "\(folder)/video")
            try FileSystem.makeDirectory("\(folder)/warm")
            PluginFolder.makeWarmFiles(in: "\(folder)/warm")
            for (name, folders) in [
                ("registry.bin", "\(folder)/plugins"),
                ("registry-video.bin", "\(folder)/plugins:\(folder)/video"),
            ] {
                if let exit = try await makeRegistry(name, of: folders) {
                    return fail("the registry could not be made (\(exit))")
                }
            }
            Machine.write(
                "\(folder): \(files.plugins.count) plugins, \(files.fallback.count) for rare formats, "
                    + "\(files.video.count) for pictures\n",
                to: .output)
            return 0
        } catch let failure as Failure {
            return fail(failure.message)
        } catch {
            return fail("\(error)")
        }
    }

    /// Nil if all is well, else how the process that writes it ended.
    private func makeRegistry(_ name: String, of folders: String) async throws -> ChildProcess.Exit? {
        let registry = "\(folder)/\(name)"
        if FileSystem.exists(registry) { try FileSystem.remove(registry) }
        // In a process of its own: this one has read the system's registry already.
        let program = Machine.programPath ?? "linnet-renderer"
        let exit = try await ChildProcess(
            [program, "--index=\(registry)"],
            environment: [
                "GST_PLUGIN_SYSTEM_PATH_1_0": folders, "GST_PLUGIN_PATH_1_0": "",
                "GST_REGISTRY_1_0": registry, "GST_REGISTRY_UPDATE": "yes", "GST_REGISTRY_FORK": "no",
            ]
        ).wait()
        guard exit == .status(0) else { return exit }
        // GStreamer writes it for its user alone, and the daemon's may be another.
        try FileSystem.write(try FileSystem.read(registry, maximum: 16 << 20), to: registry)
        return nil
    }

    /// Reads the plugins, which writes the registry `folder`, and names what is missing.
    static func index(folder: String) -> Int32 {
        for (element, format, package) in PluginFolder.missing() {
            Machine.write("linnet-renderer: no \(element), so no \(format); install \(package)\n", to: .error)
        }
        return FileSystem.exists(folder) ? 0 : 1
    }

    private func link(_ files: [String], into folder: String) throws(Failure) {
        try FileSystem.makeDirectory(folder)
        for name in try FileSystem.list(folder) where name.hasSuffix(".so") {
            try FileSystem.remove("\(folder)/\(name)")
        }
        for file in files {
            guard let slash = file.lastIndex(of: "/") else { continue }
            try FileSystem.link("\(folder)/\(file[file.index(after: slash)...])", to: file)
        }
    }

    private func fail(_ reason: String) -> Int32 {
        Machine.write("linnet-renderer: \(reason)\n", to: .error)
        return 1
    }
}
