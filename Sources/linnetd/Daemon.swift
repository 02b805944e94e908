// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationProcess
import AvahiAdvertiser
import GLibLoop
import MediaModel
import MemberLink
import ReceiverRuntime
import RendererProcess
import RendererWire
import Settings
import SoupListener

/// The receiver with its product adapters, from start to signal.
struct Daemon {
    private let configuration: Configuration

    private let loop: GLibLoop

    init(_ configuration: Configuration, loop: GLibLoop) {
        (self.configuration, self.loop) = (configuration, loop)
    }

    /// Returns the exit code.
    func run(isolation: isolated any Actor) async -> Int32 {
        // Neither file systems nor proxies nor desktop settings of a user concern a daemon; each would be a module and
        // a thread.
        Machine.setEnvironment("GIO_USE_VFS", "local")
        Machine.setEnvironment("GIO_USE_PROXY_RESOLVER", "dummy")
        Machine.setEnvironment("GSETTINGS_BACKEND", "memory")
        Journal.start(level: Journal.Level(named: configuration.text(.logLevel)) ?? .info)
        let log = JournalLog()
        let supervisor = Supervisor(loop: loop)
        await supervisor.begin()
        let writer = StateFile.Writer(folder: configuration.stateFolder, log: log)
        // Before the receiver is there: what it writes first may fail already.
        let faults = Inbox<Void>(on: loop, limit: 1)
        writer.watch { faults.yield(()) }
        let renderer = configuration.renderer
        let receiver = Receiver(executor: loop, configuration: configuration.receiver, log: log)
        let applications = configuration.applications
        let page = configuration.webPage
        let rateWriter = StateFile.Writer(folder: configuration.stateFolder, name: "rates.conf", log: log)
        await receiver.install {
            let rates = RateFile(writer: rateWriter, log: log)
            return ReceiverPorts(
                renderer: RendererProcess(renderer, log: log), listener: SoupListener(log: log),
                advertiser: AvahiAdvertiser(log: log), store: StateFile(writer: writer, log: log),
                clock: LoopClock(), identifiers: SystemIdentifiers.make(),
                applications: applications.map { ApplicationProcesses($0, loop: loop, log: log) },
                groups: GroupPorts(
                    clock: GroupClocks(loop: loop, memory: rates.clocks, log: log),
                    connector: HostConnector(), secrets: SystemSecrets(), cards: rates),
                accessory: configuration.accessoryPorts(log: log), page: page)
        }
        // No continuation: resuming one starts Dispatch's threads, one of which then wakes each second.
        let written = Inbox<Void>(on: loop, limit: 1)
        do {
            let port = try await receiver.start()
            let name = await receiver.status?.name ?? ""
            // Whoever is told of this receiver may rely on its identity from then on.
            written.open {
                Machine.write("linnetd: ready on port \(port) as \(name)\n", to: .output)
                ServiceManager.status("Ready on port \(port) as \(name)")
                ServiceManager.ready()
            }
            writer.whenWritten { written.yield(()) }
            faults.open { receiver.assumeIsolated { $0.storageChanged(fault: writer.fault) } }
        } catch {
            Machine.write(
                "linnetd: cannot listen on port \(configuration.text(.port)): \(reason(error))\n", to: .error)
            return 1
        }
        await supervisor.untilSignalled()
        ServiceManager.stopping()
        await receiver.shutDown()
        await writer.flush()
        await rateWriter.flush()
        return 0
    }

    private func reason(_ error: any Error) -> String { (error as? Failure)?.message ?? "\(error)" }
}

extension Configuration {
    var hostName: String { Machine.hostName.isEmpty ? "linnet" : Machine.hostName }

    var receiver: ReceiverConfiguration {
        let host = hostName.lowercased()
        var receiver = ReceiverConfiguration(
            name: text(.name).isEmpty ? hostName : text(.name), model: text(.model),
            software: Product.software,
            deviceType: text(.deviceType), port: UInt16(clamping: integer(.port)),
            hostNames: Set(words(.hostNames).map { $0.lowercased() } + [host, "\(host).local"]),
            advertises: flag(.advertise), refusesTakeover: text(.takeover) == "refuse",
            keepsPlaying: flag(.keepPlaying), allowsFiles: flag(.allowFile), volumeCap: number(.volumeCap),
            initialVolume: Volume(level: min(number(.volume), number(.volumeCap))),
            graceTime: .seconds(integer(.grace)), loadTimeout: .seconds(integer(.loadTimeout)),
            stallTimeout: .seconds(number(.stallTimeout)))
        receiver.clockPort = UInt16(clamping: integer(.clockPort))
        receiver.accessory = accessory
        receiver.letsSoundGoFirst = true
        return receiver
    }

    var renderer: RendererProcess.Configuration {
        var renderer = RendererProcess.Configuration(program: rendererProgram, device: text(.device))
        renderer.isWarm = text(.rendererMode) == "warm"
        renderer.environment = rendererEnvironment
        renderer.arguments = confinement
        let passed: [Setting] = [
            .device, .mixer, .volumeCap, .closeAfter, .buffer, .videoSink, .outage, .allowFile, .logLevel,
        ]
        renderer.settings = passed.map { RendererSetting(key: $0.name, value: text($0)) }
        if let preparedPlugins {
            renderer.settings.append(RendererSetting(key: Setting.pluginFolder.name, value: preparedPlugins))
        }
        return renderer
    }

    /// The one folder that a confined renderer writes to.
    private var scratchFolder: String { "\(stateFolder)/scratch" }

    /// How much is taken from the renderer.
    var confinement: [String] {
        guard flag(.confine) else { return [] }
        try? FileSystem.makeDirectory(scratchFolder, mode: 0o700)
        var arguments = [
            "--confine", "--scratch=\(scratchFolder)", "--memory-limit=\(integer(.memoryLimit))",
        ]
        if text(.videoSink) != "none" { arguments.append("--video") }
        if flag(.allowFile) { arguments.append("--hide=\(stateFolder)") }
        arguments.append(preparedPlugins.map { "--readable=\($0)" } ?? "--update-registry")
        arguments += words(.readable).map { "--readable=\($0)" } + words(.writable).map { "--writable=\($0)" }
        return arguments
    }

    /// The folder of this program.
    var programFolder: String {
        guard let path = Machine.programPath, let slash = path.lastIndex(of: "/") else { return "/usr/bin" }
        return String(path[..<slash])
    }

    var rendererProgram: String {
        text(.rendererProgram).isEmpty ? "\(programFolder)/linnet-renderer" : text(.rendererProgram)
    }

    /// What GStreamer knows of the prepared plugins: of those for sound alone, if no pictures are wanted.
    private var registry: String { text(.videoSink) == "none" ? "registry.bin" : "registry-video.bin" }

    /// The plugins that were prepared for the renderer, with their registry; nil if there are none.
    private var preparedPlugins: String? {
        let folder =
            text(.pluginFolder).isEmpty ? "\(programFolder)/../lib/linnet/plugins" : text(.pluginFolder)
        return FileSystem.exists("\(folder)/\(registry)") ? folder : nil
    }

    /// True if GStreamer can keep its list of plugins where it usually does, which a user of a service has not.
    private var hasCache: Bool {
        let folder = Machine.environment("XDG_CACHE_HOME") ?? "\(Machine.homeFolder)/.cache"
        return (try? FileSystem.makeDirectory("\(folder)/gstreamer-1.0")) != nil
    }

    /// What makes the renderer small and quick to start: few plugins, a registry that is read as it is, one heap, and
    /// none of GIO's modules for desktops.
    var rendererEnvironment: [String: String] {
        var variables = [
            "MALLOC_ARENA_MAX": "1", "GIO_USE_PROXY_RESOLVER": "dummy", "GIO_USE_VFS": "local",
            "GSETTINGS_BACKEND": "memory", "GST_REGISTRY_FORK": "no",
            // A crash is an exit like any other; nobody waits for a page about it.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        if let folder = preparedPlugins {
            let video = text(.videoSink) == "none" ? "" : ":\(folder)/video"
            variables["GST_PLUGIN_SYSTEM_PATH_1_0"] = "\(folder)/plugins\(video)"
            variables["GST_PLUGIN_PATH_1_0"] = ""
            variables["GST_REGISTRY_1_0"] = "\(folder)/\(registry)"
            variables["GST_REGISTRY_UPDATE"] = "no"
        } else if !hasCache {
            variables["GST_REGISTRY_1_0"] = "\(stateFolder)/registry.bin"
        }
        return variables
    }

    var stateFolder: String {
        if !text(.stateFolder).isEmpty { return text(.stateFolder) }
        if let named = Machine.environment("STATE_DIRECTORY")?.split(separator: ":").first {
            return String(named)
        }
        if Machine.isRoot { return "/var/lib/linnet" }
        if let base = Machine.environment("XDG_STATE_HOME"), base.hasPrefix("/") { return "\(base)/linnet" }
        return "\(Machine.homeFolder)/.local/state/linnet"
    }
}
