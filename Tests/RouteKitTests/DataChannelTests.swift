// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import Testing

@testable import RouteKit

/// Keeps messages, and refuses those that are empty.
@RouteActor private final class Inbox: RouteDataChannelDelegate {
    private(set) var messages: [[UInt8]] = []

    func dataChannel(
        _ channel: RouteDataChannel, receive message: [UInt8], from endpoint: String
    ) async throws {
        guard !message.isEmpty else { throw RoutingError(.invalidParams, family: .session, "empty") }
        messages.append(message)
    }
}

@RouteActor struct DataChannelTests {
    private let receiver: ScriptedReceiver
    private let route: Route

    init() async throws {
        receiver = try ScriptedReceiver()
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)
        route = try await controller.activate(receiver.receiver)
    }

    @Test func `a message is sent and its acknowledgement waited for`() async throws {
        try await route.dataChannel.send([1, 2, 3], to: "org.linnet.echo")
        #expect(receiver.frames.count == 1)
        #expect(receiver.frames[0].payload == [1, 2, 3])
        #expect(receiver.frames[0].endpoint == "org.linnet.echo")
    }

    @Test func `a refused message throws the reason`() async {
        receiver.onFrame = { [receiver] frame, _ in
            let payload = Array(#"{"reason":"endpointUnknown","message":"nobody"}"#.utf8)
            receiver.send(
                DataFrame(kind: .refused, channel: 0, message: frame.message, endpoint: "", payload: payload))
        }
        let error = await #expect(throws: RoutingError.self) {
            try await route.dataChannel.send([1], to: "x")
        }
        #expect(error?.code == .init(rawValue: "endpointUnknown"))
        #expect(error?.message == "nobody")
    }

    @Test func `messages from the receiver are handed over in order and answered`() async {
        let inbox = Inbox()
        route.dataChannel.delegate = inbox
        for number in 1...3 {
            receiver.send(
                DataFrame(
                    kind: .message, channel: 0, message: UInt64(number), endpoint: "e",
                    payload: number == 2 ? [] : [UInt8(number)]))
        }
        await receiver.until { receiver.frames.count == 3 }
        #expect(inbox.messages == [[1], [3]])
        #expect(receiver.frames.map(\.message) == [1, 2, 3])
        #expect(receiver.frames.map(\.kind) == [.acknowledged, .refused, .acknowledged])
    }

    @Test func `without a delegate messages are refused`() async {
        receiver.send(DataFrame(kind: .message, channel: 0, message: 7, endpoint: "e", payload: [1]))
        await receiver.until { !receiver.frames.isEmpty }
        #expect(receiver.frames[0].kind == .refused)
        #expect(Codec.refusal(receiver.frames[0].payload).code == .noHandler)
    }

    @Test func `more messages than may be under way are refused here`() async {
        receiver.onFrame = { _, _ in }
        let channel = route.dataChannel
        for _ in 0..<RouteDataChannel.maximumUnanswered { Task { try await channel.send([1], to: "e") } }
        await receiver.until { receiver.frames.count == RouteDataChannel.maximumUnanswered }
        await #expect(throws: RoutingError(.tooMuchAtOnce, family: .connection, "")) {
            try await channel.send([1], to: "e")
        }
    }

    @Test func `a message that is too long is not sent`() async {
        await #expect(throws: RoutingError(.tooLong, family: .connection, "")) {
            try await route.dataChannel.send(
                [UInt8](repeating: 0, count: RouteDataChannel.maximumMessage + 1), to: "e")
        }
        #expect(receiver.frames.isEmpty)
    }

    @Test func `the longest message goes through in one piece`() async throws {
        let message = [UInt8](repeating: 7, count: RouteDataChannel.maximumMessage)
        try await route.dataChannel.send(message, to: "org.linnet.echo")
        #expect(receiver.frames[0].payload == message)
    }

    @Test func `a lost connection fails what is not answered`() async {
        receiver.onFrame = { [receiver] _, _ in receiver.cut() }
        await #expect(throws: RoutingError(.connectionLost, family: .connection, "")) {
            try await route.dataChannel.send([1], to: "e")
        }
    }
}
