// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import GLibLoop
import LoopTestKit
import Settings
import Testing

/// A private bus with a service on it that is not ours, and a connection of ours.
actor BusStage {
    nonisolated let loop = GLibLoop(named: "stage")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    static let missing: String? = ["/usr/bin/dbus-daemon", "/usr/bin/python3"].first {
        !FileSystem.isExecutable($0)
    }
    private static let script =
        String(#filePath.prefix { _ in true }.dropLast("DBusTests/BusStage.swift".count))
        + "Support/python/bus-service.py"

    private(set) var daemon: PrivateBus?
    private(set) var bus: Bus?
    private var service: TalkingProgram?
    private var connecting: Connecting?
    let senders = Count()
    private var kept: [AnyObject] = []

    isolated deinit { letGo() }

    func letGo() {
        kept = []
        (bus, service, daemon, connecting) = (nil, nil, nil, nil)
    }

    func keep(_ object: AnyObject) { kept.append(object) }

    func start() async throws {
        let daemon = try await PrivateBus.start()
        self.daemon = daemon
        try await startService()
        if let failure = await connect(to: daemon.address) { throw failure }
    }

    /// Connects anew; nil, or why it did not come about.
    func connect(to address: String, within patience: Duration = .seconds(30)) async -> Failure? {
        let result = await withCheckedContinuation { continuation in
            connecting = Connecting(to: address, within: patience) {
                continuation.resume(returning: Staying(value: $0))
            }
        }.value
        guard case .success(let connected) = result else { return result.failure }
        bus = connected
        return nil
    }

    func startService() async throws {
        let service = try TalkingProgram(["/usr/bin/python3", Self.script, try #require(daemon).address])
        self.service = service
        #expect(await service.lines.first { $0 == "ready" } != nil)
    }

    /// The next line of the service that fits.
    func line(_ fits: @Sendable (String) -> Bool) async -> String? { await service?.lines.first(where: fits) }

    func tell(_ line: String) { service?.say(line) }

    func killService() async throws {
        service?.send(signal: 9)
        try await service?.ended()
        service = nil
    }

    func killBus() { daemon?.kill() }

    /// Calls a method of the service; the values of the answer.
    func call(
        _ method: String, _ arguments: Value..., timeout: Duration = .seconds(30)
    ) async -> Result<[Value], CallFailure> {
        await calling {
            $0.call("org.linnet.test", "/", "org.linnet.test", method, arguments, timeout: timeout, reply: $1)
        }.map { $0.value.elements ?? [] }
    }

    /// The first value of the answer, or the name of the error.
    func value(of method: String, _ argument: Value) async -> Result<Value?, CallFailure> {
        await call(method, argument).map(\.first)
    }
}

/// A value that does not leave the stage's thread.
struct Staying<Value>: @unchecked Sendable { let value: Value }

extension Result {
    var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
