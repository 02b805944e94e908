// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

struct DataChannelTests {
    /// A receiver and a sender with a route.
    private func connected() throws -> Line {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        return Line(receiver, sender.client)
    }

    private func reason(_ frame: DataFrame?) throws -> String? {
        let frame = try #require(frame)
        #expect(frame.kind == .refused)
        return try JSONText.decode(String(decoding: frame.payload, as: UTF8.self), limit: 4_096)["reason"]?
            .textValue
    }

    @Test func `an echo is acknowledged and comes back as a message`() throws {
        let line = try connected()
        try line.say(7, payload: Array("hello".utf8))
        let frames = try line.frames()
        #expect(frames.contains(DataFrame(kind: .acknowledged, message: 7)))
        #expect(
            frames.contains(
                DataFrame(
                    kind: .message, message: 1, endpoint: "org.linnet.echo", payload: Array("hello".utf8))))
        #expect(frames.count == 2)
    }

    @Test func `an unknown endpoint, another channel and a connection without a route are refused`() throws {
        let line = try connected()
        try line.say(1, endpoint: "org.example.none")
        #expect(try reason(line.frames().first) == "endpointUnknown")
        try line.say(2, channel: 9)
        let refused = try #require(try line.frames().first)
        #expect(refused.channel == 9)
        #expect(try reason(refused) == "channelUnknown")
        let stranger = Line(line.receiver, line.receiver.listener.connect())
        try stranger.say(1)
        #expect(try reason(stranger.frames().first) == "routeRequired")
    }

    @Test func `at most sixteen messages of the receiver are unanswered`() throws {
        let line = try connected()
        for message in 1...16 { try line.say(UInt64(message)) }
        let first = try line.frames()
        #expect(first.count { $0.kind == .message } == 16)
        try line.say(17)
        #expect(try reason(line.frames().first) == "tooManyMessages")
        // Answering one makes room for one.
        try line.acknowledge(3)
        try line.acknowledge(3)
        try line.say(18)
        try line.say(19)
        let later = try line.frames()
        #expect(later.count { $0.kind == .acknowledged } == 1)
        #expect(later.count { $0.kind == .refused } == 1)
    }

    @Test func `a sender that does not read its answers cannot send more than a window`() throws {
        let line = try connected()
        line.client.stopReading()
        for message in 1...20 { try line.say(UInt64(message), endpoint: "org.linnet.echo", payload: []) }
        #expect(try line.frames().count { $0.kind == .acknowledged } == 16)
        line.client.resumeReading()
        for message in 1...16 {
            try line.acknowledge(UInt64(message))
        }
        try line.say(21)
        #expect(try line.frames().contains(DataFrame(kind: .acknowledged, message: 21)))
    }

    @Test func `what waits for a sender that does not read is bounded`() throws {
        let line = try connected()
        line.client.stopReading()
        let payload = [UInt8](repeating: 9, count: DataFrame.payloadLimit)
        for message in 1...16 { try line.say(UInt64(message), payload: payload) }
        #expect(line.client.pendingBytes < 3 * DataFrame.limit)
        #expect(try line.frames().contains { $0.kind == .refused })
        #expect(line.client.closing == nil)
    }

    @Test(arguments: [
        [], [1, 1], [UInt8](repeating: 0, count: 16), [2, 1] + [UInt8](repeating: 1, count: 14),
    ])
    func `what is no frame closes the connection`(bytes: [UInt8]) throws {
        let line = try connected()
        line.client.say(binary: bytes)
        #expect(line.client.closing?.code == 1002)
        line.receiver.settle()
        #expect(line.receiver.shell.state.routes.values.first?.connection == nil)
    }

    @Test func `the window begins anew with a new route`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let line = Line(receiver, sender.client)
        for message in 1...16 { try line.say(UInt64(message)) }
        try sender.ask(.deactivate)
        try sender.activate()
        _ = try line.frames()
        try line.say(17)
        #expect(try line.frames().contains(DataFrame(kind: .acknowledged, message: 17)))
    }
}

/// A connection with the receiver that it leads to, which lives as long.
private final class Line {
    let receiver: TestReceiver
    let client: FakeClient
    init(_ receiver: TestReceiver, _ client: FakeClient) { (self.receiver, self.client) = (receiver, client) }

    func say(
        _ message: UInt64, channel: UInt32 = 0, endpoint: String = "org.linnet.echo",
        payload: [UInt8] = [1, 2]
    ) throws {
        let frame = DataFrame(
            kind: .message, channel: channel, message: message, endpoint: endpoint, payload: payload)
        client.say(binary: try #require(frame.bytes))
    }

    func acknowledge(_ message: UInt64) throws {
        client.say(binary: try #require(DataFrame(kind: .acknowledged, message: message).bytes))
    }

    func frames() throws -> [DataFrame] { try client.takeBinaries().map { try DataFrame(decoding: $0) } }
}
