// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Settings
import Soup
import SystemProbe

/// The loop of the plain WebSockets that the receiver is compared with.
@globalActor actor PlainActor {
    static let shared = PlainActor()
    private nonisolated let loop = GLibLoop(named: "plain")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
}

/// A WebSocket server by libsoup that sends every message back: the peer of the `data` bench.
@PlainActor final class PlainEchoServer {
    private let server = Server()
    private var sockets: [ObjectIdentifier: WebSocket] = [:]

    /// Serves at a free port, which is printed, until the process is ended.
    static func run() async {
        let echo = PlainEchoServer()
        do { Machine.write("\(try echo.listen())\n", to: .output) } catch { return printError("\(error)") }
        try? await Task.sleep(for: .seconds(3_600))
    }

    private func listen() throws -> UInt16 {
        var limits = WebSocket.Limits()
        limits.message = 1 << 21
        limits.queue = 64 << 20
        server.handleWebSocket("/echo", limits: limits) { [unowned self] socket, _ in
            sockets[ObjectIdentifier(socket)] = socket
            socket.onMessage = { [unowned socket] in socket.send($0) }
            socket.onClosed = { [unowned self, unowned socket] _, _ in
                sockets[ObjectIdentifier(socket)] = nil
            }
        }
        return try server.listen(port: 0, loopbackOnly: true)
    }
}

/// The client of a plain echo.
@PlainActor final class PlainEcho {
    private static let client = HTTPClient()
    private let socket: WebSocket
    private var returned = 0
    private var isClosed = false
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    private init(_ socket: WebSocket) { self.socket = socket }

    static func connect(_ url: String) async throws -> PlainEcho {
        var limits = WebSocket.Limits()
        limits.message = 1 << 21
        limits.queue = 64 << 20
        let socket = try await client.connect(url, limits: limits, timeout: .seconds(5)) { _ in }
        let echo = PlainEcho(socket)
        socket.onMessage = { [weak echo] _ in echo?.came() }
        socket.onClosed = { [weak echo] _, _ in echo?.close() }
        return echo
    }

    private func came() {
        returned += 1
        guard let waiting, returned >= waiting.count else { return }
        self.waiting = nil
        waiting.continuation.resume()
    }

    private func close() {
        isClosed = true
        waiting?.continuation.resume()
        waiting = nil
    }

    private func wait(for count: Int) async throws {
        if returned < count, !isClosed { await withCheckedContinuation { waiting = (count, $0) } }
        if isClosed { throw ProbeFailure("it closed the connection", 0) }
    }

    /// Milliseconds of each of so many round trips, one after the other.
    func latencies(_ tries: Int, size: Int) async throws -> Samples {
        let message = [UInt8](repeating: 7, count: size)
        var samples = Samples()
        for _ in 0..<tries {
            let start = monotonicNanoseconds()
            socket.send(.binary(message))
            try await wait(for: returned + 1)
            samples.add(Double(monotonicNanoseconds() - start) / 1e6)
        }
        return samples
    }

    /// Messages a second, so many of them under way.
    func rate(_ count: Int, size: Int, window: Int) async throws -> Double {
        let message = [UInt8](repeating: 7, count: size)
        let (start, before) = (monotonicNanoseconds(), returned)
        for number in 0..<count {
            if number >= window { try await wait(for: before + number - window + 1) }
            socket.send(.binary(message))
        }
        try await wait(for: before + count)
        return Double(count) * 1e9 / Double(monotonicNanoseconds() - start)
    }
}
