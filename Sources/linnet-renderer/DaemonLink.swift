// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamerRenderer
import MediaModel
import RendererWire
import Settings

/// The renderer's end of the socket to the daemon: commands in, events out, pings answered from the loop. The process
/// ends with the socket.
actor DaemonLink {
    /// By agreement with the daemon.
    private static let descriptor: Int32 = 3
    /// Some pictures and what goes with them. A daemon that leaves so much unread is not there any more.
    private static let capacity = 4 * FrameDecoder.bodyLimit
    /// Beyond this the position waits for the daemon to catch up.
    private static let congestion = 65_536
    /// A pipeline that does not end by then is left to the kernel.
    private static let patience = Duration.milliseconds(500)

    private nonisolated let loop: GLibLoop
    private var socket: ByteLink?
    private var decoder = FrameDecoder()
    /// Descriptors whose message is not read yet. It follows at once.
    private var passed: [SharedDescriptor] = []
    private static let passedLimit = 8
    private var isGreeted = false
    private var renderer: GStreamerRenderer?
    /// The newest position that was not sent.
    private var position: RendererEvent?
    private var sources: [EventSource] = []
    private var end: CheckedContinuation<Int32, Never>?
    /// The exit code, once it is decided.
    private var outcome: Int32?
    private var isOver = false

    private init(loop: GLibLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// True if somebody has handed down a socket.
    static var isThere: Bool { Machine.isSocket(descriptor) }

    /// Serves the daemon until it goes. Returns the exit code.
    static func run(on loop: GLibLoop, confinement: [ConfinementLayer]) async -> Int32 {
        Machine.dieWithParent()
        let link = DaemonLink(loop: loop)
        await link.begin(confinement)
        return await link.untilEnd()
    }

    private func begin(_ confinement: [ConfinementLayer]) {
        // The daemon ends this process; a terminal's or service manager's signal to both must not come before it.
        for number in [Int32(2), 15] { sources.append(EventSource.signal(number) {}) }
        let socket = ByteLink(Descriptor(adopting: Self.descriptor), capacity: Self.capacity)
        socket.onReceive = { [weak self] bytes in self?.assumeIsolated { $0.receive(bytes) } }
        socket.onDescriptor = { [weak self] one in self?.assumeIsolated { $0.keep(one) } }
        socket.onDrained = { [weak self] in self?.assumeIsolated { $0.drained() } }
        socket.onClosed = { [weak self] in self?.assumeIsolated { $0.finish(0) } }
        self.socket = socket
        send(.hello(version: RendererMessage.version))
        send(.event(.confined(confinement)))
    }

    private func untilEnd() async -> Int32 {
        if isOver, let outcome { return outcome }
        return await withCheckedContinuation { end = $0 }
    }

    // MARK: From the daemon

    private func keep(_ descriptor: SharedDescriptor) {
        if passed.count < Self.passedLimit { passed.append(descriptor) }
    }

    private func receive(_ bytes: [UInt8]) {
        decoder.push(bytes)
        do {
            while let message = try decoder.next() { try take(message) }
        } catch {
            Journal.log(.error, "renderer.link", "the daemon cannot be understood", ["reason": "\(error)"])
            finish(65)
        }
    }

    private func take(_ message: RendererMessage) throws(FrameFailure) {
        switch message {
        case .hello(let version):
            guard version == RendererMessage.version else {
                throw FrameFailure("it speaks version \(version), not \(RendererMessage.version)")
            }
            isGreeted = true
        case .configure(let settings):
            guard isGreeted, renderer == nil else { throw FrameFailure("the settings come at a wrong time") }
            configure(settings)
        case .command(let command):
            guard let renderer else { throw FrameFailure("a command came before the settings") }
            renderer.send(command)
        case .handOver(let token):
            guard let renderer, !passed.isEmpty else { throw FrameFailure("no descriptor was handed over") }
            renderer.hand(over: passed.removeFirst(), token: token)
        case .ping(let number): send(.pong(number))
        case .event, .pong: throw FrameFailure("it sent a message that only a renderer sends")
        }
    }

    private func configure(_ settings: [RendererSetting]) {
        let values = Dictionary(settings.map { ($0.key, $0.value) }) { _, last in last }
        Journal.start(level: values["log.level"].flatMap { Journal.Level(named: $0) } ?? .info)
        let made = GStreamerRenderer(loop: loop, configuration: RendererConfiguration(values)) {
            [weak self] event in
            self?.assumeIsolated { $0.report(event) }
        }
        guard let made else {
            Journal.log(.error, "renderer", "the system has no threads or descriptors left")
            return finish(1)
        }
        renderer = made
        Task {
            await made.run()
            self.over()
        }
    }

    // MARK: To the daemon

    private func report(_ event: RendererEvent) {
        if case .positionChanged = event {
            if let socket, socket.queued > Self.congestion { return position = event }
            // An older one that waits is of no use any more.
            position = nil
        }
        send(.event(event))
    }

    private func drained() {
        guard let position else { return }
        self.position = nil
        send(.event(position))
    }

    private func send(_ message: RendererMessage) {
        guard let socket, socket.isOpen else { return }
        guard let frame = message.frame else {
            return Journal.log(
                .warning, "renderer.link", "an event is too long for the daemon and was dropped")
        }
        if !socket.send(frame) {
            Journal.log(.error, "renderer.link", "the daemon does not read")
            finish(1)
        }
    }

    // MARK: The end

    private func finish(_ code: Int32) {
        guard outcome == nil else { return }
        outcome = code
        guard let renderer else { return over() }
        // The card is given up in order if that works at once.
        sources.append(EventSource.after(Self.patience) { Machine.exit(code) })
        renderer.shutDown()
    }

    private func over() {
        let code = outcome ?? 1
        (outcome, isOver) = (code, true)
        end?.resume(returning: code)
        end = nil
    }
}

extension RendererConfiguration {
    /// The daemon's settings by name. One that is not there, or unknown, leaves the usual value.
    init(_ values: [String: String]) {
        self.init()
        output.device = values["output.device"] ?? output.device
        output.maximumLevel = values["output.volume-cap"].flatMap(Double.init) ?? 1
        output.buffer =
            values["output.buffer-milliseconds"].flatMap(Int.init).map { .milliseconds($0) } ?? output.buffer
        output.closeDelay =
            values["output.close-after-seconds"].flatMap(Int.init).map { .seconds($0) } ?? .seconds(5)
        switch values["output.mixer"] ?? "auto" {
        case "auto": output.mixer = .automatic
        case "none": output.mixer = .software
        case let name: output.mixer = .control(name)
        }
        video = values["video.sink"].flatMap(VideoSink.init) ?? .none
        userAgent = Product.software
        if let limit = values["sessions.outage-seconds"].flatMap(Int.init) { outageLimit = .seconds(limit) }
        if values["sessions.allow-file"] == "yes" { schemes.insert("file") }
        if let folder = values["renderer.plugin-folder"] {
            fallbackPlugins = "\(folder)/fallback"
            warmFiles = "\(folder)/warm"
        }
    }
}
