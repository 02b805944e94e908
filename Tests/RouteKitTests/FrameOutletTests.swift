// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteWire
import Soup
import Testing

@testable import RouteKit

/// Notes what is sent.
@RouteActor private final class NotedTransport: LinkTransport {
    enum Sent: Equatable {
        case text(String)
        case alone(UInt64)
        case together([UInt64], areJoined: Bool)
    }

    var onMessage: ((WebSocket.Message) -> Void)?
    var onClosed: ((UInt16, String?) -> Void)?
    let isOpen = true
    let localAddress: String? = nil
    private(set) var sent: [Sent] = []

    private func number(_ bytes: [UInt8]) -> UInt64 { (try? DataFrame(decoding: bytes))?.message ?? 0 }

    func send(_ message: WebSocket.Message) {
        switch message {
        case .text(let text): sent.append(.text(text))
        case .binary(let bytes): sent.append(.alone(number(bytes)))
        }
    }

    func send(frames: [[UInt8]], areJoined: Bool) {
        sent.append(.together(frames.map(number), areJoined: areJoined))
    }

    func letReaderRun() {}
    func close(code: UInt16, reason: String) {}
    func abort() {}
}

@RouteActor struct FrameOutletTests {
    private let transport = NotedTransport()
    private let outlet: FrameOutlet

    init() { outlet = FrameOutlet(transport) }

    private func send(_ number: UInt64, size: Int = 3) {
        outlet.send(
            DataFrame(
                kind: .message, channel: 1, message: number, payload: [UInt8](repeating: 1, count: size)))
    }

    /// Lets the turn end.
    private func turn() async {
        await withCheckedContinuation { done in RouteActor.shared.loop.atEndOfTurn { done.resume() } }
    }

    @Test func `what is sent in one turn leaves together at its end`() async {
        for number in 1...3 as ClosedRange<UInt64> { send(number) }
        #expect(transport.sent.isEmpty)
        await turn()
        #expect(transport.sent == [.together([1, 2, 3], areJoined: false)])
        outlet.joinsFrames = true
        send(4)
        await turn()
        #expect(transport.sent.last == .together([4], areJoined: true))
    }

    @Test func `texts and long messages keep their place among the frames`() async {
        send(1)
        outlet.send(text: "a")
        send(2)
        send(3, size: JoinedFrames.frameLimit)
        send(4)
        await turn()
        #expect(
            transport.sent == [
                .together([1], areJoined: false), .text("a"), .together([2], areJoined: false), .alone(3),
                .together([4], areJoined: false),
            ])
    }

    @Test func `no more is gathered than may be joined`() async {
        for number in 1...100 as ClosedRange<UInt64> { send(number) }
        #expect(transport.sent == [.together(Array(1...64), areJoined: false)])
        for number in 101...120 as ClosedRange<UInt64> { send(number, size: 4_000) }
        await turn()
        for case .together(let numbers, _) in transport.sent { #expect(numbers.count <= 64) }
        #expect(transport.sent.count > 3)
    }
}
