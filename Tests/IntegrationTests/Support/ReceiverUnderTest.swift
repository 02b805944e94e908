// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe

/// The whole product on a simulated card: `linnetd` with its renderer, a media server, and a sender.
/// Everything it started is gone when `use` returns, whatever the test did.
@RouteActor final class ReceiverUnderTest {
    /// Holds configuration, state, recording and logs.
    let folder: String
    let card: SimulatedCard
    let media: MediaServer
    private(set) var daemon: ChildProcess
    private(set) var port: UInt16 = 0
    private(set) var route: Route
    let controller: RouteController
    private let settings: [String]
    private let environment: [String: String]
    private var controllers: [RouteController] = []
    private var children: [ChildProcess] = []

    private let setUp: String?

    /// Runs `body` with a receiver. `settings` are more options of `linnetd`; `prepare` is called before it starts. `inside`
    /// is given the folder and makes a line for the shell, which is done in a mount namespace of the receiver's own.
    static func use(
        _ settings: [String] = [], environment: [String: String] = [:],
        mixer: SimulatedCard.MixerKind? = nil, inside: ((String) -> String)? = nil,
        prepare: (SimulatedCard) throws -> Void = { _ in },
        _ body: @RouteActor (ReceiverUnderTest) async throws -> Void
    ) async throws {
        let folder = try Programs.makeFolder()
        defer { Programs.remove(folder) }
        // Of all that, a confined renderer reaches the card alone.
        let card = SimulatedCard(folder: "\(folder)/card")
        try FileSystem.makeDirectory(card.folder)
        _ = try SimulatedCard.configure(folder: card.folder, mixer: mixer)
        try prepare(card)
        let media = try await MediaServer(folder: folder)
        defer { media.process.kill() }
        let setUp = inside?(folder)
        let (daemon, port) = try await start(folder, settings, environment, setUp)
        let receiver: ReceiverUnderTest
        do {
            receiver = try await ReceiverUnderTest(
                folder, card, media, daemon, port, settings, environment, setUp)
        } catch {
            daemon.kill()
            throw error
        }
        do {
            try await body(receiver)
        } catch {
            await receiver.shutDown()
            throw TestFailure("\(error)\nlog of linnetd:\n\(readText("\(folder)/linnetd.log"))")
        }
        await receiver.shutDown()
    }

    private init(
        _ folder: String, _ card: SimulatedCard, _ media: MediaServer, _ daemon: ChildProcess, _ port: UInt16,
        _ settings: [String], _ environment: [String: String], _ setUp: String?
    ) async throws {
        (self.folder, self.card, self.media, self.daemon, self.port) = (folder, card, media, daemon, port)
        (self.settings, self.environment, self.setUp) = (settings, environment, setUp)
        controller = RouteController(sender: SenderIdentity(name: "First sender"))
        route = try await controller.activate(try await Self.receiver(port))
    }

    private static func start(
        _ folder: String, _ settings: [String], _ environment: [String: String], _ setUp: String?
    ) async throws -> (ChildProcess, UInt16) {
        let output = "\(folder)/linnetd.out"
        let command =
            [
                try Programs.path("linnetd"), "--config-dir", folder, "--state-dir", "\(folder)/state",
                "--port", "0", "--name", "Receiver under test", "--device", "sim0", "--advertise", "false",
                "--volume", "1", "--log-level", "debug", "--renderer-writable", "\(folder)/card",
                "--renderer-readable", "\(Programs.build)/support",
            ] + settings
        let process = try Programs.start(
            setUp.map { MountNamespace.command($0, then: command) } ?? command,
            environment: environment.merging(["ALSA_CONFIG_PATH": "\(folder)/card/asound.conf"]) { $1 },
            output: output,
            errors: "\(folder)/linnetd.log")
        let isReady = await Programs.poll(within: .seconds(30)) {
            readText(output).contains("\n") || !process.isRunning
        }
        let words = readText(output).split(separator: " ")
        guard isReady, let place = words.firstIndex(of: "port"), place + 1 < words.count,
            let port = UInt16(words[place + 1])
        else {
            process.kill()
            throw TestFailure("linnetd did not get ready:\n\(readText("\(folder)/linnetd.log"))")
        }
        return (process, port)
    }

    private static func receiver(_ port: UInt16) async throws -> Receiver {
        try await Receiver.at(Receiver.Address(host: "127.0.0.1", port: port))
    }

    private func shutDown() async {
        for child in children { child.kill() }
        for controller in controllers + [controller] {
            for route in controller.routes { await controller.leave(route) }
        }
        daemon.signal(ChildProcess.terminating)
        _ = await Programs.poll(within: .seconds(20)) { [daemon] in !daemon.isRunning }
        daemon.kill()
    }

    // MARK: Senders

    /// A route of another sender, with a name of its own.
    func anotherSender(_ name: String) async throws -> Route {
        let controller = RouteController(sender: SenderIdentity(name: name))
        controllers.append(controller)
        return try await controller.activate(try await identity())
    }

    /// Who answers at the port.
    func identity() async throws -> Receiver { try await Self.receiver(port) }

    /// A watcher without a route.
    func observer() async throws -> ReceiverConnection { try await .open(try await identity()) }

    /// Runs one of the product's programs until the test ends.
    func run(_ program: String, _ arguments: [String]) throws -> ChildProcess {
        let child = try Programs.start(
            [try Programs.path(program)] + arguments, output: "\(folder)/\(program).out")
        children.append(child)
        return child
    }

    /// Starts what the media server has under `path`.
    func play(
        _ path: String, on route: Route? = nil, options: RouteSession.Options = .init()
    ) async throws -> MediaSession {
        let session = RouteSession(url: media.url(path), options: options)
        guard (route ?? self.route).addSession(session) else {
            throw TestFailure("the route took no session")
        }
        return try await session.start()
    }

    /// Starts `path` and waits until it can be played.
    func playReady(_ path: String, options: RouteSession.Options = .init()) async throws -> PlaybackControl {
        let control = try await play(path, options: options).playbackControl
        try await control.wait("\(path) ready") { $0.isReady }
        return control
    }

    /// The state folder, as the receiver sees it.
    var stateFolder: String { MountNamespace.path("\(folder)/state", seenBy: daemon.pid) }

    /// Waits until the log has a line with these words: it may come later than what it tells of.
    func logs(_ words: String) async -> Bool {
        await Programs.poll(within: .seconds(30)) { readText("\(folder)/linnetd.log").contains(words) }
    }

    // MARK: Processes

    /// The renderer process of the daemon; nil while there is none.
    var renderer: Int32? {
        ProcessTable.family(of: daemon.pid).first {
            readText("/proc/\($0)/comm").hasPrefix("linnet-renderer")
        }
    }

    /// Kills the daemon alone, as a crash would, and starts it again on the same state. The old route is given up.
    func killAndStartAgain() async throws {
        await controller.leave(route)
        daemon.signal(ChildProcess.killing)
        _ = await Programs.poll(within: .seconds(20)) { [daemon] in !daemon.isRunning }
        (daemon, port) = try await Self.start(folder, settings, environment, setUp)
        route = try await controller.activate(try await identity())
    }

    /// GET over HTTP: the head and the body.
    func fetch(_ url: String, headers: String = "") throws -> (head: String, body: [UInt8]) {
        let path = url.split(separator: "/").dropFirst(2).joined(separator: "/")
        let socket = try StreamSocket(host: "127.0.0.1", port: port)
        try socket.write(
            "GET /\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(headers)Connection: close\r\n\r\n")
        var answer: [UInt8] = []
        while let bytes = socket.read(milliseconds: 3_000), !bytes.isEmpty { answer += bytes }
        let end = Array("\r\n\r\n".utf8)
        for place in answer.indices.dropLast(3) where Array(answer[place..<place + 4]) == end {
            return (String(decoding: answer[..<place], as: UTF8.self), Array(answer[(place + 4)...]))
        }
        throw TestFailure("no answer to GET \(url)")
    }
}

/// What a test could not go on without.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// `quickhttpd` over the test media.
@RouteActor final class MediaServer {
    let process: ChildProcess
    private let port: Int
    private let output: String

    /// Serves the test media, or another folder. What it prints is kept in `folder`.
    init(folder: String, serving other: String? = nil) async throws {
        let output = "\(folder)/quickhttpd.out"
        let (program, media) = ("\(Programs.build)/support/quickhttpd", other ?? "\(Programs.build)/media")
        guard FileSystem.isExecutable(program), other != nil || FileSystem.exists("\(media)/stamp") else {
            throw TestFailure("there are no test media or no quickhttpd: run make test")
        }
        let process = try Programs.start([program, "-v", "0", media], output: output)
        _ = await Programs.poll(within: .seconds(30)) { readText(output).contains("\n") }
        guard let port = readLines(output).first?.split(separator: " ").last.flatMap({ Int($0) }) else {
            process.kill()
            throw TestFailure("quickhttpd does not start: \(readText(output))")
        }
        self.process = process
        (self.port, self.output) = (port, output)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The request headers that were printed for paths below `/headers/`.
    var headers: [String] {
        readLines(output).filter { $0.hasPrefix("header: ") }.map { String($0.dropFirst(8)) }
    }
    /// The requests so far.
    var requests: [String] { readLines(output).filter { $0.contains(" GET ") } }
}
