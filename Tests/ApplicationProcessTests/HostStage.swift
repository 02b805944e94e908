// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ApplicationProcess
import GLibLoop
import LoopTestKit
import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import SessionCore
import Settings
import Testing

/// A host of applications on a loop of its own, with folders that are there for one test.
actor HostStage {
    private nonisolated let loop = GLibLoop(named: "host")
    nonisolated let root = "/tmp/linnet-applications-\(Machine.makeUUID())"
    nonisolated let log = TestLog()
    private nonisolated let events: AsyncStream<ApplicationHostEvent>
    private let input: AsyncStream<ApplicationHostEvent>.Continuation
    private var host: ApplicationProcesses?
    private let service = Service()
    private var launcher: TalkingProgram?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated var system: String { "\(root)/system" }
    nonisolated var local: String { "\(root)/local" }
    nonisolated var storage: String { "\(root)/storage" }

    init() throws {
        (events, input) = AsyncStream.makeStream()
        for folder in [system, local] { try FileSystem.makeDirectory(folder) }
    }

    isolated deinit {
        host?.shutDown()
        Self.remove(root)
    }

    private static func remove(_ path: String) {
        guard FileSystem.entry(path)?.kind == .folder else { return (try? FileSystem.remove(path)) ?? () }
        for name in (try? FileSystem.list(path)) ?? [] { remove("\(path)/\(name)") }
        try? FileSystem.removeDirectory(path)
    }

    private static let helpers =
        "/\(#filePath.split(separator: "/").dropLast().joined(separator: "/"))/Applications"

    // MARK: Installing

    /// An application that obeys, `Applications/obey.py`, or whose program is `script`.
    nonisolated func install(
        _ id: String = "org.example.obey", _ members: String = "", script: String? = nil,
        in folder: String? = nil
    ) throws {
        let place = "\(folder ?? system)/\(id)"
        // A host looks at what is there, whole or not.
        let path = "\(folder ?? system)/.\(id)"
        try FileSystem.makeDirectory(path)
        let standard = #""id":"\#(id)","name":"Test","version":"1","protocol":[1]"#
        let program = members.contains("\"page\"") ? "" : #","executable":"main""#
        let manifest = "{\(standard)\(program)\(members.isEmpty ? "" : ",")\(members)}"
        let body =
            try script.map { Array($0.utf8) }
            ?? FileSystem.read("\(Self.helpers)/obey.py", maximum: 65_536)
        try FileSystem.write(body, to: "\(path)/main", mode: 0o755)
        try FileSystem.write(Array(manifest.utf8), to: "\(path)/application.json")
        try FileSystem.rename(path, to: place)
    }

    // MARK: The host

    func start(_ configure: @Sendable (inout ApplicationProcesses.Configuration) -> Void = { _ in }) {
        var configuration = ApplicationProcesses.Configuration(
            folders: [system, local], storageFolder: storage)
        configuration.isRoot = Machine.isRoot
        configure(&configuration)
        let host = ApplicationProcesses(configuration, loop: loop, log: log)
        self.host = host
        let input = input
        host.start(service: service) { input.yield($0) }
    }

    /// Starts a host whose applications are started by a service in a process of its own, or by another `command`, and waits
    /// for its catalog.
    func startWithService(
        command: [String]? = nil,
        _ configure: @Sendable (inout ApplicationProcesses.Configuration) -> Void = { _ in }
    ) async throws {
        let path = "\(root)/launcher"
        let program = try #require(Machine.programPath)
        let daemon = "/\(program.split(separator: "/").dropLast().joined(separator: "/"))/linnetd"
        let usual = [
            daemon, "--launch-application", "--config-dir=\(root)", "--applications-system-folder=\(system)",
            "--applications-local-folder=\(local)", "--applications-storage-folder=\(storage)",
        ]
        let service = try TalkingProgram(
            ["/usr/bin/python3", "\(Self.helpers)/accept.py", path] + (command ?? usual))
        launcher = service
        _ = await service.lines.first { $0 == "listening" }
        start {
            $0.launcher = path
            configure(&$0)
        }
        _ = await catalog()
    }

    /// The process that the service has for the next instance.
    func launcherProcess() async throws -> Int32 {
        let line = await launcher?.lines.first { $0.hasPrefix("started ") } ?? ""
        return try #require(Int32(line.dropFirst("started ".count)))
    }

    /// The status with which the service's next process ends.
    func launcherStatus() async -> String? {
        await launcher?.lines.first { $0.hasPrefix("ended ") }.map { String($0.dropFirst("ended ".count)) }
    }

    func shutDown() { host?.shutDown() }

    /// `page` is the address at which its page is served.
    func launch(_ instance: String, _ id: String = "org.example.obey", page: String? = nil) {
        service.page = page
        host?.launch(InstanceID(instance), ApplicationID(id)!)
    }

    func terminate(_ instance: String) { host?.terminate(InstanceID(instance)) }
    func kill(_ instance: String, limit: String? = nil) { host?.kill(InstanceID(instance), limit: limit) }
    func storage(of instance: String) -> String? { host?.storage(of: InstanceID(instance)) }
    var script: Page? { host?.script }
    func file(_ path: String, of id: String) -> Page? { host?.file(path, of: ApplicationID(id)!) }

    /// Starts a host with one application and launches it.
    func running(_ instance: String = "one", _ members: String = "", script: String? = nil) async throws {
        try install("org.example.obey", members, script: script)
        start()
        _ = await catalog()
        launch(instance)
    }

    // MARK: What it reports

    func next() async -> ApplicationHostEvent? {
        for await event in events { return event }
        return nil
    }

    func catalog() async -> [ApplicationManifest] {
        while let event = await next() { if case .catalogChanged(let manifests) = event { return manifests } }
        return []
    }

    func exit(of instance: String) async -> ApplicationExit? {
        while let event = await next() {
            if case .exited(InstanceID(instance), let exit) = event { return exit }
        }
        return nil
    }

    func layers(of instance: String) async -> [ConfinementLayer] {
        while let event = await next() {
            if case .confined(InstanceID(instance), let layers) = event { return layers }
        }
        return []
    }

    // MARK: Talking

    /// Has an instance do something and returns its answer; nil when it ended.
    func ask(_ instance: String, _ order: String) async -> String? {
        await service.client(of: instance)?.send(text: order)
        return await answer(of: instance)
    }

    /// Has an instance do something, which must give this answer.
    func expect(
        _ instance: String, _ order: String, _ answer: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let given = await ask(instance, order)
        #expect(given == answer, "\(order)", sourceLocation: sourceLocation)
    }

    /// The next answer; nil when it ended.
    func answer(of instance: String) async -> String? { await service.answer(of: instance) }

    func tell(_ instance: String, _ order: String) async {
        await service.client(of: instance)?.send(text: order)
    }
    func send(_ instance: String, _ bytes: [UInt8]) async {
        await service.client(of: instance)?.send(binary: bytes)
    }
    func closeSocket(_ instance: String) async {
        await service.client(of: instance)?.close(code: 1000, reason: "")
    }
    func lastBinary() -> [UInt8] { service.lastBinary }
    func waitUntilFlooded(_ count: Int, from instance: String) async {
        while service.count(of: instance) < count { await service.changed() }
    }

    /// Returns once none of these processes uses memory; what was not a child of ours is reaped by somebody else.
    func waitUntilGone(_ processes: [Int32]) async throws {
        while processes.contains(where: { ProcessTable.memory(of: $0) > 0 }) {
            try await loop.sleep(for: .milliseconds(10), isolation: self)
        }
    }

    /// The processes of this test's instances, as the kernel has them.
    nonisolated func processes() -> [Int32] {
        ProcessTable.descendants(of: Machine.processIdentifier, limit: 4096)
    }
}

/// Keeps lines, and lets a test wait for one.
final class TestLog: Log {
    private let log = RecordingLog()
    private let mailbox = Mailbox<String>()

    var messages: [String] { log.lines.map(\.message) }

    func write(_ level: LogLevel, _ label: String, _ message: String, _ metadata: [String: String]) {
        log.write(level, label, message, metadata)
        mailbox.put(message)
    }

    /// Waits for a further line.
    func waitFor(_ message: String) async { _ = await mailbox.first { $0 == message } }
}

/// What the host calls, on its loop.
private final class Service: ApplicationService {
    private var clients: [String: any Client] = [:]
    private var answers: [String: [String?]] = [:]
    private var counts: [String: Int] = [:]
    private var waiter: (() -> Void)?
    private(set) var lastBinary: [UInt8] = []
    var page: String?

    private func name(of client: any Client) -> String { clients.first { $0.value === client }?.key ?? "" }
    private func wake() {
        let body = waiter
        waiter = nil
        body?()
    }

    func changed() async {
        await withCheckedContinuation { continuation in waiter = { continuation.resume() } }
    }

    func client(of instance: String) async -> (any Client)? {
        while clients[instance] == nil { await changed() }
        return clients[instance]
    }

    func answer(of instance: String) async -> String? {
        while answers[instance]?.isEmpty != false { await changed() }
        // The end stays.
        guard let next = answers[instance]?.first, next != nil else { return nil }
        return answers[instance]?.removeFirst()
    }

    func count(of instance: String) -> Int { counts[instance] ?? 0 }

    func clientOpened(_ client: any Client, of instance: InstanceID) {
        clients[instance.text] = client
        wake()
    }

    func clientReceived(text: String, from client: any Client) {
        let name = name(of: client)
        counts[name, default: 0] += 1
        // A flood is counted only.
        if !text.hasPrefix("flood") { answers[name, default: []].append(text) }
        wake()
    }

    func clientReceived(binary: [UInt8], from client: any Client) {
        let name = name(of: client)
        lastBinary = binary
        counts[name, default: 0] += 1
        answers[name, default: []].append("\(binary.count) bytes")
        wake()
    }

    func clientDrained(_ client: any Client) {}
    func clientClosed(_ client: any Client) {
        let name = name(of: client)
        answers[name, default: []].append(nil)
        wake()
    }
    func page(at path: String) -> Page? { nil }
    func address(of instance: InstanceID) -> String? { page }
    func clientOpened(_ client: any Client, token: String) {}
    func clientOpened(_ client: any Client) {}
}
