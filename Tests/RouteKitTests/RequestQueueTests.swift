// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import Testing

@testable import RouteKit

@RouteActor struct RequestQueueTests {
    private final class Sent {
        var texts: [String] = []
    }
    private let sent = Sent()

    /// Nothing runs out of time by itself, however busy the machine is.
    private func queue(timeout: Duration = .seconds(86_400), isOpen: Bool = true) -> RequestQueue {
        let queue = RequestQueue(timeout: timeout)
        guard isOpen else { return queue }
        queue.connected { [sent] in sent.texts.append($0) }
        queue.open()
        return queue
    }

    private func outcome(of request: RouteRequest, in queue: RequestQueue) -> Task<JSONValue, any Error> {
        Task { @RouteActor in try await queue.send(request) }
    }

    @Test func `a request without an answer times out, and the late answer is dropped`() async {
        let queue = queue(timeout: .milliseconds(1))
        await #expect(throws: RoutingError(.timeout, family: .connection, "")) {
            try await queue.send(.ping)
        }
        queue.answered(1, .success(.null))
        queue.answered(77, .success(.null))
        #expect(sent.texts.count == 1)
    }

    @Test func `a request that waits for a connection times out, too, and is not sent later`() async {
        let queue = queue(timeout: .milliseconds(1), isOpen: false)
        await #expect(throws: RoutingError(.timeout, family: .connection, "")) {
            try await queue.send(.ping)
        }
        queue.connected { [sent] in sent.texts.append($0) }
        queue.open()
        #expect(sent.texts.isEmpty)
    }

    @Test func `requests made without a connection are sent in order when it is there`() {
        let queue = queue(isOpen: false)
        for name in ["a", "b"] { queue.send(.rename(name)) { _ in } }
        queue.connected { [sent] in sent.texts.append($0) }
        queue.send(.subscribe, urgent: true) { _ in }
        #expect(sent.texts.count == 1)
        queue.open()
        #expect(sent.texts.count == 3)
        #expect(sent.texts[0].contains("state.subscribe"))
        #expect(sent.texts[1].contains(#""a""#))
        queue.close(.badAnswer)
    }

    @Test func `more than may wait is refused`() async {
        let queue = queue(isOpen: false)
        for _ in 0..<RequestQueue.waitingLimit { queue.send(.ping) { _ in } }
        await #expect(throws: RoutingError(.tooMuchAtOnce, family: .connection, "")) {
            try await queue.send(.ping)
        }
        queue.close(.badAnswer)
    }

    @Test func `a request longer than a receiver takes is not sent`() async {
        let queue = queue()
        await #expect(throws: RoutingError(.tooLong, family: .connection, "")) {
            try await queue.send(.rename(String(repeating: "x", count: WireLimits.textFrame)))
        }
        #expect(sent.texts.isEmpty)
    }

    @Test func `closing fails everything once`() async {
        let queue = queue()
        let one = outcome(of: .ping, in: queue)
        while sent.texts.isEmpty { await Task.yield() }
        queue.close(.badAnswer)
        queue.close(.badAnswer)
        await #expect(throws: RoutingError.badAnswer) { try await one.value }
        await #expect(throws: RoutingError.badAnswer) { try await queue.send(.ping) }
    }
}
