// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import MediaModel
import RendererProcess
import Synchronization
import Testing

/// The daemon's end against renderers that break every rule there is.
@Suite(.timeLimit(.minutes(1))) struct MisbehaviourTests {
    private static let started = RendererEvent.started(OutputStatus(state: .closed, device: "test"))

    /// The reason for which a renderer of this kind is ended, after a load.
    private func reason(
        _ mode: String, _ configure: @Sendable (inout RendererProcess.Configuration) -> Void = { _ in }
    ) async throws -> String {
        let stage = try Stage.misbehaving(mode)
        let events = await stage.start(configure)
        var reason: String?
        while reason == nil, let event = await events.next() {
            reason = event.exitReason
            if event == Self.started {
                await stage.run { $0.send(.load(LoadID(1), MediaItem(uri: "http://a/b"), playing: true)) }
            }
        }
        await stage.end()
        return try #require(reason)
    }

    @Test(
        arguments: [
            ("wrong-version", "it speaks version 6, not 5"),
            ("wrong-frame-version", "version 9 of the frames"),
            ("no-hello", "it did not say hello"), ("half-frame", "exit status 0"),
            ("endless-frame", "signal 9"), ("junk", "signal 9"),
            ("command", "it sent a message that only the daemon sends"), ("flood", "it says far too much"),
            ("flood-of-pictures", "it says far too much"),
        ])
    func `a renderer that breaks the rules is ended`(_ mode: String, _ words: String) async throws {
        // Those that only write take no commands either, which on a busy machine would be found out first.
        let reason = try await reason(mode) { $0.commandLimit = .seconds(50) }
        #expect(reason.contains(words), "\(reason)")
    }

    @Test(arguments: ["mute", "deaf"])
    func `a renderer that does not take a command is ended in its time`(_ mode: String) async throws {
        let began = ContinuousClock.now
        let reason = try await reason(mode) {
            ($0.pingInterval, $0.commandLimit) = (.seconds(30), .milliseconds(200))
        }
        #expect(reason == "it does not take its commands, signal 9")
        #expect(ContinuousClock.now - began < .seconds(25))
    }

    @Test func `a renderer that takes its commands stays`() async throws {
        let stage = try Stage.misbehaving("obedient")
        let events = await stage.start {
            ($0.pingInterval, $0.commandLimit) = (.seconds(30), .seconds(10))
        }
        #expect(await events.next() == Self.started)
        for number in 1...20 as ClosedRange<UInt64> {
            await stage.run { $0.send(.load(LoadID(number), MediaItem(uri: "http://a/b"), playing: true)) }
            await stage.run { $0.send(.stop(LoadID(number))) }
            #expect(await events.next() == .stopped(LoadID(number)))
        }
        await stage.end()
    }

    @Test func `a descriptor goes to the renderer, and does not stay here`() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { _ = close(reader) }
        let stage = try Stage.misbehaving("handed")
        let events = await stage.start()
        #expect(await events.next() == Self.started)
        await stage.run { $0.hand(over: writer, token: 5) }
        while let event = await events.next(), event.exitReason == nil {}
        // The end comes only if nobody has the other one any more.
        var bytes = [UInt8](repeating: 0, count: 64)
        var heard: [UInt8] = []
        while true {
            let count = unsafe read(reader, &bytes, bytes.count)
            guard count > 0 else { break }
            heard += bytes[..<count]
        }
        #expect(String(decoding: heard, as: UTF8.self) == "handed")
        await stage.end()
    }

    @Test func `a descriptor for a renderer that is not there is closed`() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { _ = close(reader) }
        let stage = try Stage(nil)
        let events = await stage.start()
        while let event = await events.next(), event.exitReason == nil {}
        await stage.run { $0.hand(over: writer, token: 5) }
        var byte: UInt8 = 0
        #expect(unsafe read(reader, &byte, 1) == 0)
        await stage.end()
    }

    @Test func `a flood does not hold up the loop`() async throws {
        let stage = try Stage.misbehaving("flood")
        let events = await stage.start()
        let isOver = Mutex(false)
        async let worst = stage.lateness { isOver.withLock(\.self) }
        while let event = await events.next(), event.exitReason == nil {}
        isOver.withLock { $0 = true }
        // Far below what a sender would notice, far above what a busy machine does by itself.
        #expect(try await worst < 2_000)
        await stage.end()
    }

    @Test func `too many messages or bytes in a second are too much, as many in two are not`() {
        let seen: [(messages: Int, bytes: Int, now: Int64)] = [
            (FloodGuard.messageLimit, 1, 0), (1, 1, 999_999_999), (FloodGuard.messageLimit, 1, 1_000_000_000),
            (0, FloodGuard.byteLimit, 1_500_000_000), (0, FloodGuard.byteLimit, 2_000_000_000),
        ]
        var guardian = FloodGuard()
        let admitted = seen.map { guardian.admits(messages: $0.messages, bytes: $0.bytes, now: $0.now) }
        #expect(admitted == [true, false, true, false, true])
    }

    @Test func `one ping at a time covers all commands that were sent before it`() {
        var deadline = CommandDeadline()
        #expect(deadline.commanded() == nil, "before the start nothing is looked for")
        guard case .ping(let first)? = deadline.started() else {
            Issue.record("no ping")
            return
        }
        #expect(deadline.commanded() == nil)
        #expect(deadline.commanded() == nil)
        #expect(deadline.answered(7) == nil, "the answer to another ping")
        #expect(deadline.answered(first) == .ping(first + 1))
        #expect(deadline.answered(first) == nil, "an answer that comes twice")
        #expect(deadline.answered(first + 1) == .rest)
        #expect(deadline.answered(first + 1) == nil)
        #expect(deadline.commanded() == .ping(first + 2))
    }
}
