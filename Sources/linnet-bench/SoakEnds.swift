// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinnetApplication
import RouteKit
import SeededNumbers
import SystemProbe

/// One end of one channel of the soak: sends a stream, and writes down what came and what was acknowledged.
@RouteActor final class SoakEnd: SessionDataChannelDelegate {
    private let channel: SessionDataChannel
    private let file: AppendingFile
    private var numbers: SeededNumbers
    private var unanswered = 0
    private var hasSent = false
    /// The other end's latest stream, and how much of it came.
    private var incoming: (stream: UInt64, number: UInt64, count: UInt64)?
    private var waiting: CheckedContinuation<Void, Never>?
    private var isOver = false

    init(_ channel: SessionDataChannel, file: AppendingFile, seed: UInt64) {
        (self.channel, self.file) = (channel, file)
        numbers = SeededNumbers(seed: seed)
    }

    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
        guard let message = SoakMessage(message) else {
            return try file.append(SoakRecord(kind: .damaged).bytes)
        }
        try file.append(message.record(.handled).bytes)
        incoming = (message.stream, message.number, message.count)
        look()
        // A slow reader now and then.
        if numbers.next() % 2_000 == 0 { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// Sends so many messages; returns early when the session is over.
    func send(_ count: UInt64) async {
        let stream = UInt64.random(in: 1 ... .max)
        for number in 1...count {
            let (message, bytes) = SoakMessage.make(
                stream: stream, number: number, count: count, from: &numbers)
            do {
                unanswered += 1
                try await channel.post(bytes) { [self] in answered(message, $0) }
            } catch {
                unanswered -= 1
                isOver = true
                break
            }
        }
        hasSent = true
        look()
    }

    private func answered(_ message: SoakMessage, _ result: Result<Void, RoutingError>) {
        unanswered -= 1
        let isTaken = if case .success = result { true } else { false }
        do { try file.append(message.record(isTaken ? .acknowledged : .unanswered).bytes) } catch {
            printError("\(error)")
            exitProcess(3)
        }
        look()
    }

    /// Waits until everything was answered and the other end's stream has come to its end, or the session is over.
    func finished() async {
        if !isFinished { await withCheckedContinuation { waiting = $0 } }
    }

    func end() {
        isOver = true
        look()
    }

    private var isFinished: Bool {
        isOver || hasSent && unanswered == 0 && incoming.map { $0.number == $0.count } == true
    }

    private func look() {
        guard isFinished, let waiting else { return }
        self.waiting = nil
        waiting.resume()
    }
}

/// The application of the soak: in each session it sends as many messages as the URL says, and takes what comes.
@RouteActor final class SoakApplication: ApplicationDelegate {
    /// Its argument, by which its processes are known.
    nonisolated static let word = "soak"
    nonisolated static let scheme = "soak:"
    private var ends: [String: SoakEnd] = [:]
    private var file: AppendingFile?

    static func run() async {
        let delegate = SoakApplication()
        await Application.run(delegate: delegate)
    }

    func application(_ application: Application, opened session: ApplicationSession) async throws {
        let file =
            try file ?? AppendingFile("\(application.info.storage ?? "/tmp")/\(monotonicNanoseconds())")
        self.file = file
        let end = SoakEnd(session.dataChannel, file: file, seed: .random(in: 0 ... .max))
        ends[session.id] = end
        session.dataChannel.delegate = end
        let count = UInt64(session.url.dropFirst(Self.scheme.count)) ?? 1
        Task { await end.send(count) }
    }

    func application(_ application: Application, closed session: ApplicationSession, reason: String) async {
        ends.removeValue(forKey: session.id)?.end()
    }
}

/// A sender of the soak: a process that opens sessions on a route, one after the other and several at a time, until the
/// file `stop` is there. Now and then it loses its connection.
@RouteActor final class SoakSender {
    private static let sessionsAtATime = 3
    private let port: UInt16
    private let folder: String
    private let file: AppendingFile
    private var numbers: SeededNumbers

    private init(port: UInt16, folder: String, seed: UInt64) throws {
        (self.port, self.folder) = (port, folder)
        numbers = SeededNumbers(seed: seed)
        file = try AppendingFile("\(folder)/sender-\(monotonicNanoseconds())")
    }

    static func run(_ words: [String]) async {
        guard let port = UInt16(words[0]), let seed = UInt64(words[2]) else { exitProcess(2) }
        do { try await SoakSender(port: port, folder: words[1], seed: seed).run() } catch {
            printError("soak sender: \(error)")
            exitProcess(1)
        }
    }

    private var isStopped: Bool { fileSize("\(folder)/stop") > 0 }

    private func run() async throws {
        while !isStopped {
            do {
                let receiver = try await Receiver.at(Receiver.Address(host: "127.0.0.1", port: port))
                let controller = RouteController(sender: SenderIdentity(name: "soak"))
                let route = try await controller.activate(receiver)
                try await use(route)
                await controller.deactivate(route)
            } catch is ProbeFailure {
                exitProcess(3)
            } catch {
                // The receiver was killed, and comes back.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Until the route is over.
    private func use(_ route: Route) async throws {
        let dropping = Task { try await drop(route) }
        await withDiscardingTaskGroup { group in
            for _ in 0..<Self.sessionsAtATime {
                group.addTask { await self.sessions(on: route) }
            }
        }
        dropping.cancel()
    }

    private func drop(_ route: Route) async throws {
        while !isOver(route) {
            try await Task.sleep(for: .milliseconds(Int64(200 + numbers.next() % 1_800)))
            guard case .active = route.state else { continue }
            try file.append(SoakRecord(kind: .dropped).bytes)
            route.dropConnection()
        }
    }

    private func isOver(_ route: Route) -> Bool {
        if case .ended = route.state { true } else { false }
    }

    private func sessions(on route: Route) async {
        while !isStopped, !isOver(route) {
            do { try await session(on: route) } catch {
                printError("soak session: \(error)")
                try? file.append(SoakRecord(kind: .failed).bytes)
                // A receiver with as many instances as it may have takes more a little later.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private func session(on route: Route) async throws {
        let count = 1 + numbers.next() % 1_500
        let application =
            numbers.next() % 4 == 0 ? BenchApplications.soakAlone : BenchApplications.soakShared
        let session = RouteSession(url: "\(SoakApplication.scheme)\(count)", mode: .application(application))
        guard route.addSession(session) else { return }
        let media = try await session.start()
        guard let channel = media.dataChannel else {
            throw ProbeFailure("the session has no data channel", 0)
        }
        let end = SoakEnd(channel, file: file, seed: numbers.next())
        channel.delegate = end
        let ending = Task {
            _ = await media.ended()
            end.end()
        }
        await end.send(1 + numbers.next() % 1_500)
        await end.finished()
        await route.removeSession(session)
        await ending.value
    }
}
