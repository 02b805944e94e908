// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteKit
import Settings

/// A daemon without sound that has applications, and senders of it. All of it is gone when `use` returns.
@RouteActor final class ApplicationStage {
    let folder: ScratchFolder
    let daemon: ProgramRun
    let port: UInt16
    private var controllers: [RouteController] = []

    nonisolated static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    private init(_ folder: ScratchFolder, _ daemon: ProgramRun, _ port: UInt16) {
        (self.folder, self.daemon, self.port) = (folder, daemon, port)
    }

    /// `prepare` puts applications into the folder that it is given.
    static func use(
        _ settings: [String] = [], prepare: (String) async throws -> Void,
        _ body: (ApplicationStage) async throws -> Void
    ) async throws {
        let folder = try ScratchFolder()
        for name in ["system", "local", "state"] { try FileSystem.makeDirectory("\(folder.path)/\(name)") }
        try await prepare("\(folder.path)/system")
        let daemon = try await ProgramRun.start(
            "linnetd",
            [
                "--config-dir=\(folder.path)", "--state-dir=\(folder.path)/state", "--port=0", "--name=Test",
                "--device=null", "--advertise=no", "--applications-system-folder=\(folder.path)/system",
                "--applications-local-folder=\(folder.path)/local",
            ] + settings)
        guard let line = await daemon.line(with: "linnetd: ready on port "),
            let port = UInt16(line.split(separator: " ")[4])
        else { throw TestFailure("linnetd did not get ready") }
        let stage = ApplicationStage(folder, daemon, port)
        do {
            try await body(stage)
        } catch {
            await stage.shutDown()
            throw error
        }
        await stage.shutDown()
    }

    private func shutDown() async {
        for controller in controllers {
            for route in controller.routes { await controller.leave(route) }
        }
        await daemon.send(signal: 15)
        _ = await daemon.exit()
    }

    var address: String { "127.0.0.1:\(port)" }

    func sender(_ name: String) async throws -> Route {
        let controller = RouteController(sender: SenderIdentity(name: name))
        controllers.append(controller)
        return try await controller.activate(try await Receiver.at(.init(host: "127.0.0.1", port: port)))
    }

    /// The processes of applications that are called so.
    func processes(named name: String) async -> [Int32] {
        guard let process = await daemon.process else { return [] }
        return ProcessTable.descendants(of: process, limit: 64).filter {
            FileSystem.firstLine("/proc/\($0)/comm") == name
        }
    }

    // MARK: Applications

    /// The samples, as they are installed.
    nonisolated static func makeSamples(in folder: String) async throws {
        let (lines, exit) = try await ProgramRun.output(
            of: "/bin/bash", ["\(root)/scripts/make-applications.sh", "\(root)/.build/debug", folder])
        guard exit == .status(0) else { throw TestFailure(lines.joined(separator: "\n")) }
    }

    /// An application of one program.
    nonisolated static func make(
        _ id: String, _ members: String = #""instance":"perSession""#, script: String, in folder: String
    ) throws {
        let manifest =
            #"{"id":"\#(id)","name":"T","version":"1","protocol":[1],"executable":"main",\#(members)}"#
        try FileSystem.makeDirectory("\(folder)/\(id)")
        try FileSystem.write(Array(manifest.utf8), to: "\(folder)/\(id)/application.json")
        try FileSystem.write(Array(script.utf8), to: "\(folder)/\(id)/main", mode: 0o755)
    }
}

extension Route {
    /// Starts an application by the URL that it claims.
    func open(_ url: String) async throws -> MediaSession {
        let session = RouteSession(url: url, mode: .application(""))
        guard addSession(session) else { throw TestFailure("the route took no session") }
        return try await session.start()
    }
}

/// What comes on a data channel.
@RouteActor final class Mailbox: SessionDataChannelDelegate {
    private(set) var messages: [[UInt8]] = []
    /// Not reading: what comes waits, and is not acknowledged.
    var isReading = true {
        didSet { if isReading { tell() } }
    }
    /// Refuses what it says true to.
    var refuses: ([UInt8]) -> Bool = { _ in false }
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation
    private var readers: [CheckedContinuation<Void, Never>] = []

    init(_ session: MediaSession) throws {
        (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        guard let channel = session.dataChannel else { throw TestFailure("there is no data channel") }
        channel.delegate = self
    }

    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
        while !isReading { await withCheckedContinuation { readers.append($0) } }
        if refuses(message) {
            throw RoutingError(.init(rawValue: "unwanted"), family: .session, "no, thanks")
        }
        messages.append(message)
        change.yield()
    }

    private func tell() {
        let waiting = readers
        readers = []
        for reader in waiting { reader.resume() }
    }

    var texts: [String] { messages.map { String(decoding: $0, as: UTF8.self) } }

    func wait(
        _ what: String, within limit: Duration = .seconds(30),
        until holds: @escaping @RouteActor (Mailbox) -> Bool
    ) async throws {
        guard await eventually(changes, within: limit, { [self] in holds(self) }) else {
            throw TestFailure(
                "not within \(limit): \(what); \(messages.count) messages, at last \(texts.suffix(5))")
        }
    }
}
