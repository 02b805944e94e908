// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RendererProcess
import Settings

/// A renderer process on a loop of its own.
actor Stage {
    private nonisolated let loop = GLibLoop(named: "stage")
    /// Neither reads nor answers, and holds nothing of the test's when that is over.
    static let sleep = "exec sleep 5 >/dev/null 2>&1"
    nonisolated let script: String
    nonisolated let log = RecordingLog()
    nonisolated let logged: Waiting<String>
    private let logInput: AsyncStream<String>.Continuation
    private var renderer: RendererProcess?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// `body` is what the program does; nil for a program that is not there.
    init(_ body: String?) throws {
        let (stream, input) = AsyncStream.makeStream(of: String.self)
        (logged, logInput) = (Waiting(stream: stream), input)
        script = "/tmp/linnet-test-\(Machine.makeUUID())"
        if let body { try FileSystem.write(Array("#!/bin/sh\n\(body)\n".utf8), to: script, mode: 0o755) }
    }

    deinit { try? FileSystem.remove(script) }

    func start(
        _ configure: @Sendable (inout RendererProcess.Configuration) -> Void = { _ in }
    ) -> Waiting<RendererEvent> {
        var configuration = RendererProcess.Configuration(program: script, device: "test")
        configure(&configuration)
        let renderer = RendererProcess(configuration, log: PassingLog(log: log, input: logInput))
        self.renderer = renderer
        let (stream, input) = AsyncStream.makeStream(of: RendererEvent.self)
        renderer.start { input.yield($0) }
        return Waiting(stream: stream)
    }

    /// A renderer of `Tests/Support/python/renderer.py`, which misbehaves as `mode` says.
    static func misbehaving(_ mode: String) throws -> Stage {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try Stage("exec python3 /\(root)/Tests/Support/python/renderer.py \(mode)")
    }

    /// The longest time in milliseconds by which a turn of the loop was late, until `end` holds.
    func lateness(until end: @escaping @Sendable () -> Bool) async throws -> Double {
        var worst = 0.0
        while !end() {
            let asked = ContinuousClock.now
            try await loop.sleep(for: .milliseconds(5), isolation: self)
            worst = max(worst, (ContinuousClock.now - asked) / .milliseconds(1) - 5)
        }
        return worst
    }

    /// Lets time pass for what tells nobody that it happened.
    func rest(_ time: Duration) async throws { try await loop.sleep(for: time, isolation: self) }

    func run(_ body: @Sendable (RendererProcess) -> Void) { if let renderer { body(renderer) } }

    func end() { renderer?.shutDown() }
}

/// Values that a test waits for, one at a time.
struct Waiting<Value: Sendable>: Sendable {
    let stream: AsyncStream<Value>
    func next() async -> Value? {
        for await value in stream { return value }
        return nil
    }
}

/// Passes messages on to a waiting test.
struct PassingLog: Log {
    let log: RecordingLog
    let input: AsyncStream<String>.Continuation
    func write(_ level: LogLevel, _ label: String, _ message: String, _ metadata: [String: String]) {
        log.write(level, label, message, metadata)
        input.yield(message)
    }
}
