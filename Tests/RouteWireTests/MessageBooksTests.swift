// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import Testing

/// Books that can be used inside an expectation.
private final class Books {
    var window = MessageWindow()
    var reception = MessageReception()
    func send(_ size: Int) -> UInt64? { window.send(size) }
    func answered(_ id: UInt64) -> Bool { window.answered(id) }
    func receive(_ id: UInt64) -> MessageReception.Verdict { reception.receive(id, 1) }
    func answer(_ id: UInt64, _ answer: MessageReception.Answer = .acknowledged) -> Bool {
        reception.answer(id, answer)
    }
}

struct MessageBooksTests {
    private let books = Books()

    @Test func `a window takes sixteen messages and one more for each answer`() {
        #expect((1...16).map { _ in books.send(1) } == (1...16).map { UInt64($0) })
        #expect(books.send(1) == nil)
        #expect(books.answered(7))
        #expect(!books.answered(7))
        #expect(books.send(1) == 17)
    }

    @Test func `a window takes two MiB, and any one message`() {
        #expect(books.send(3 << 20) == 1)
        #expect(books.send(0) == nil)
        #expect(books.answered(1))
        #expect(books.send(1 << 20) == 2)
        #expect(books.send(1 << 20) == 3)
        #expect(books.send(1) == nil)
        #expect(books.window.unansweredBytes == 2 << 20)
    }

    @Test func `a message that comes again is handed over once and answered again`() {
        #expect(books.receive(1) == .deliver)
        #expect(books.receive(1) == .pending)
        #expect(books.answer(1))
        #expect(books.receive(1) == .answer(.acknowledged))
        #expect(!books.answer(1))
    }

    @Test func `what is too old to be remembered is not handed over`() {
        for id in UInt64(1)...65 {
            #expect(books.receive(id) == .deliver)
            #expect(books.answer(id, .refused([9])))
        }
        #expect(books.receive(1) == .outOfOrder)
        #expect(books.receive(2) == .answer(.refused([9])))
        #expect(books.receive(66) == .deliver)
    }

    @Test func `after a message that was not taken none is taken until it comes again`() {
        #expect(books.receive(5) == .deliver)
        #expect(books.receive(7) == .outOfOrder)
        #expect(books.receive(6) == .deliver)
        #expect(books.receive(7) == .deliver)
    }

    @Test func `more than the window is not taken, and may come again`() {
        for id in UInt64(1)...16 { #expect(books.receive(id) == .deliver) }
        #expect(books.receive(17) == .tooMany)
        #expect(books.answer(3))
        #expect(books.receive(17) == .deliver)
        #expect(books.reception.unanswered.count == 16)
        #expect(books.reception.unansweredBytes == 16)
    }
}

struct SocketMessageTests {
    private func read(_ bytes: [UInt8], pieces: Int) throws -> [SocketMessage] {
        var (reader, found) = (SocketMessageReader(), [SocketMessage]())
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            reader.push(Array(bytes[start..<min(start + pieces, bytes.count)]))
            while let message = try reader.next() { found.append(message) }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 1 << 20])
    func `messages come out as they went in, in pieces of any size`(_ pieces: Int) throws {
        let messages: [SocketMessage] = [
            .text("{}"), .binary([1]), .text("ä€"), .binary(Array(repeating: 7, count: 100_000)),
            .binary([0, 0, 0]),
        ]
        #expect(try read(messages.flatMap { $0.frame ?? [] }, pieces: pieces) == messages)
    }

    @Test(
        arguments: [
            [0, 0, 0, 0, 1], [0, 0, 0, 1, 1], [0, 0x10, 0, 0x93, 2], [255, 255, 255, 255, 1],
            [0, 0, 0, 2, 3, 0],
            [0, 0, 0, 2, 1, 0xff],
        ] as [[UInt8]])
    func `what is no message is a failure that stays`(_ bytes: [UInt8]) {
        var reader = SocketMessageReader()
        reader.push(bytes)
        #expect(throws: SocketMessage.Failure.self) { try reader.next() }
        reader.push([0, 0, 0, 2, 1, 0x61])
        #expect(throws: SocketMessage.Failure.self) { try reader.next() }
    }

    @Test func `an empty message and one over the limit have no form`() {
        #expect(SocketMessage.text("").frame == nil)
        #expect(SocketMessage.binary(Array(repeating: 0, count: SocketMessage.limit)).frame == nil)
        #expect(SocketMessage.binary(Array(repeating: 0, count: DataFrame.limit)).frame != nil)
    }
}
