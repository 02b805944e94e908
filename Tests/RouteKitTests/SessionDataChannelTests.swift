// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import Testing

@testable import RouteKit

/// Keeps messages; those that begin with 255 it refuses, those that begin with 254 wait for `release`.
@RouteActor private final class Keeper: SessionDataChannelDelegate {
    private(set) var messages: [[UInt8]] = []
    private var held: CheckedContinuation<Void, Never>?
    var isHolding: Bool { held != nil }

    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
        messages.append(message)
        if message.first == 255 { throw RoutingError(.init(rawValue: "no"), family: .session, "not this") }
        if message.first == 254 { await withCheckedContinuation { held = $0 } }
    }

    func release() {
        held?.resume()
        held = nil
    }
}

@RouteActor struct SessionDataChannelTests {
    private let channel: SessionDataChannel
    private let wire = Wire()
    private let keeper = Keeper()

    /// What the channel has sent, and the pauses that it makes.
    @RouteActor private final class Wire {
        var frames: [DataFrame] = []
        var pauses: [CheckedContinuation<Void, Never>] = []
        var ids: [UInt64] { frames.map(\.message) }
        func take(_ frame: DataFrame) { frames.append(frame) }
        func pause() async { await withCheckedContinuation { pauses.append($0) } }
        func endPauses() {
            for pause in pauses { pause.resume() }
            pauses = []
        }
    }

    init() {
        channel = SessionDataChannel(number: 7) { [wire] _ in await wire.pause() }
        channel.delegate = keeper
        channel.connected(wire.take)
    }

    private func settle(until condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    private func take(_ kind: DataFrame.Kind, _ id: UInt64, _ payload: [UInt8] = []) {
        channel.received(DataFrame(kind: kind, channel: 7, message: id, payload: payload))
    }

    private func refuse(_ id: UInt64, _ reason: String) {
        take(.refused, id, Codec.refusal(reason: reason, message: ""))
    }

    @Test func `a message waits for the other end's answer`() async throws {
        let sent = Task { try await channel.send([1, 2]) }
        await settle { wire.frames.count == 1 }
        #expect(wire.frames == [DataFrame(kind: .message, channel: 7, message: 1, payload: [1, 2])])
        take(.acknowledged, 1)
        try await sent.value
        let refused = Task { try await channel.send([3]) }
        await settle { wire.frames.count == 2 }
        refuse(2, "full")
        await #expect(throws: RoutingError(.init(rawValue: "full"), family: .session, "")) {
            try await refused.value
        }
        #expect(channel.unanswered == 0)
    }

    @Test func `who sends more than the window waits, in order`() async {
        for number in UInt8(1)...20 {
            Task { try await channel.post([number]) }
            await Task.yield()
        }
        await settle { wire.frames.count == 16 }
        for _ in 0..<10 { await Task.yield() }
        #expect(wire.frames.count == 16)
        take(.acknowledged, 5)
        take(.acknowledged, 1)
        await settle { wire.frames.count == 18 }
        #expect(wire.frames.map { UInt64($0.payload[0]) } == wire.ids)
    }

    @Test func `who waits and is cancelled leaves, and the next one is sent`() async throws {
        for number in UInt8(1)...16 { try await channel.post([number]) }
        let impatient = Task { try await channel.send([100]) }
        await Task.yield()
        let patient = Task { try await channel.post([17]) }
        await Task.yield()
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        take(.acknowledged, 1)
        try await patient.value
        #expect(wire.frames.last?.payload == [17])
    }

    @Test(arguments: ["busy", "tooManyMessages", "outOfOrder"])
    func `what was not taken goes again, in order`(_ reason: String) async throws {
        for number in UInt8(1)...3 { try await channel.post([number]) }
        refuse(3, reason)
        refuse(2, reason)
        await settle { wire.pauses.count == 1 }
        wire.endPauses()
        await settle { wire.frames.count == 5 }
        #expect(wire.ids == [1, 2, 3, 2, 3])
        #expect(channel.unanswered == 3)
    }

    @Test func `what was not answered goes again when the connection is back`() async throws {
        let first = Task { try await channel.send([1]) }
        await settle { wire.frames.count == 1 }
        try await channel.post([2])
        take(.acknowledged, 1)
        try await first.value
        channel.disconnected()
        try await channel.post([3])
        #expect(wire.ids == [1, 2])
        channel.connected(wire.take)
        #expect(wire.ids == [1, 2, 2, 3])
    }

    @Test func `messages are handed over one at a time and answered in order`() async {
        take(.message, 1, [1])
        take(.message, 2, [255])
        take(.message, 3, [3])
        await settle { wire.frames.count == 3 }
        #expect(keeper.messages == [[1], [255], [3]])
        #expect(wire.frames.map(\.kind) == [.acknowledged, .refused, .acknowledged])
        #expect(Codec.refusal(wire.frames[1].payload).code == .init(rawValue: "no"))
    }

    @Test func `a message that comes again after a lost connection is not handed over again`() async {
        take(.message, 1, [1])
        await settle { wire.frames.count == 1 }
        take(.message, 2, [254])
        await settle { keeper.isHolding }
        channel.disconnected()
        channel.connected(wire.take)
        take(.message, 1, [1])
        take(.message, 2, [254])
        #expect(wire.ids == [1, 1])
        keeper.release()
        await settle { wire.frames.count == 3 }
        #expect(wire.frames.last == DataFrame(kind: .acknowledged, channel: 7, message: 2))
        #expect(keeper.messages == [[1], [254]])
    }

    @Test func `an answer that is ready while the connection is lost is told when asked again`() async {
        take(.message, 1, [254])
        await settle { keeper.isHolding }
        channel.disconnected()
        keeper.release()
        for _ in 0..<10 { await Task.yield() }
        #expect(wire.frames.isEmpty)
        channel.connected(wire.take)
        take(.message, 1, [254])
        #expect(wire.frames == [DataFrame(kind: .acknowledged, channel: 7, message: 1)])
    }

    /// An acknowledgement was lost with the connection, and the message came again together with the answer that resumed the
    /// route. Not acknowledged again, it held a place in the other end's window for ever.
    @Test func `what comes on a connection before it has the route is answered, and nothing is sent`()
        async throws
    {
        take(.message, 1, [1])
        await settle { wire.frames.count == 1 }
        channel.disconnected()
        channel.opened(wire.take)
        try await channel.post([2])
        take(.message, 1, [1])
        #expect(wire.frames.map(\.kind) == [.acknowledged, .acknowledged])
        channel.connected(wire.take)
        #expect(wire.frames.map(\.kind) == [.acknowledged, .acknowledged, .message])
        #expect(keeper.messages == [[1]])
    }

    @Test func `the end of the session fails what is under way and what waits`() async throws {
        for number in UInt8(1)...15 { try await channel.post([number]) }
        let underWay = Task { try await channel.send([16]) }
        await settle { wire.frames.count == 16 }
        let waiting = Task { try await channel.send([17]) }
        await Task.yield()
        channel.close(RoutingError(.ended, family: .session, "over"))
        for task in [underWay, waiting] {
            await #expect(throws: RoutingError(.ended, family: .session, "over")) { try await task.value }
        }
        await #expect(throws: RoutingError(.ended, family: .session, "over")) { try await channel.send([1]) }
        #expect(wire.frames.count == 16)
    }

    @Test func `a flood is refused beyond the window`() async {
        take(.message, 1, [254])
        await settle { keeper.isHolding }
        for id in UInt64(2)...20 { take(.message, id, [1]) }
        #expect(wire.ids == [17, 18, 19, 20])
        #expect(Codec.refusal(wire.frames[0].payload).code.rawValue == "tooManyMessages")
        #expect(Codec.refusal(wire.frames[1].payload).code.rawValue == "outOfOrder")
        keeper.release()
        await settle { keeper.messages.count == 16 }
    }

    @Test func `a message that is too long is not sent`() async {
        await #expect(throws: RoutingError(.tooLong, family: .session, "")) {
            try await channel.send(Array(repeating: 0, count: SessionDataChannel.maximumMessage + 1))
        }
        #expect(wire.frames.isEmpty)
    }
}
