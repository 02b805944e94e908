// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

/// Senders that ask for joined frames, beside those that do not.
struct JoinedFramesTests {
    private let receiver: TestReceiver
    private let ada: TestSender

    init() throws {
        receiver = try TestReceiver.running(applications: [try .echo()])
        ada = TestSender(receiver)
    }

    /// Whether it was granted.
    private func activate(asking: Bool = true) throws -> Bool {
        let result = try ada.ask(
            .activate(
                Activation(
                    sender: SenderInfo(identifier: "sender-1", name: "Ada"),
                    capabilities: asking ? ["urlPlayback", JoinedFrames.capability] : ["urlPlayback"])))
        return try ActivationResult(json: result).capabilities == [JoinedFrames.capability]
    }

    private func opened() throws -> (TestApplication, channel: UInt32) {
        let session = try ada.open("org.example.echo")
        let application = try TestApplication.running(receiver)
        try ada.read()
        return (application, try ada.channel(session))
    }

    private func messages(
        _ numbers: ClosedRange<UInt64>, _ channel: UInt32, _ kind: DataFrame.Kind = .message
    ) -> [[UInt8]] {
        numbers.map {
            DataFrame.bytes(kind, channel: channel, message: $0, payload: kind == .message ? [7] : [])
        }
    }

    @Test func `joined messages reach the application one by one, and their answers leave joined`() throws {
        #expect(try activate())
        let (application, channel) = try opened()
        ada.client.say(binary: JoinedFrames.join(messages(1...16, channel)))
        #expect(try application.client.frames().map(\.message) == Array(1...16))
        // The application hands over what it read at once.
        receiver.shell.together {
            for frame in messages(1...16, channel, .acknowledged) + messages(1...3, channel) {
                application.client.say(binary: frame)
            }
        }
        let came = ada.client.takeBinaries()
        #expect(came.count == 1)
        let frames = try JoinedFrames.split(try #require(came.first)).map { try DataFrame(decoding: $0) }
        #expect(frames.map(\.message) == Array(1...16) + Array(1...3))
        #expect(frames.map(\.kind).suffix(4) == [.acknowledged, .message, .message, .message])
    }

    @Test func `what is joined is bounded, and a long message goes alone in its place`() throws {
        #expect(try activate())
        let (application, channel) = try opened()
        let long = [UInt8](repeating: 1, count: JoinedFrames.frameLimit)
        receiver.shell.together {
            for number in 1...16 as ClosedRange<UInt64> {
                let payload = number == 5 ? long : [UInt8](repeating: 2, count: 3_000)
                application.client.say(
                    binary: DataFrame.bytes(
                        .message, channel: channel, message: number, payload: payload[...]))
            }
        }
        let came = ada.client.takeBinaries()
        #expect(came.count < 5 && came.allSatisfy { $0.count <= JoinedFrames.bytesLimit })
        let frames = try came.flatMap { JoinedFrames.isJoined($0) ? try JoinedFrames.split($0) : [$0] }
        #expect(try frames.map { try DataFrame(decoding: $0).message } == Array(1...16))
    }

    @Test func `a text does not overtake frames that came to be before it`() throws {
        #expect(try activate())
        let (application, channel) = try opened()
        var before: [[UInt8]] = []
        receiver.shell.together {
            for frame in messages(1...2, channel) { application.client.say(binary: frame) }
            #expect(ada.client.binaries.isEmpty)
            ada.client.say(RouteRequest.ping.text(id: 99))
            before = ada.client.takeBinaries()
        }
        #expect(before.count == 1)
        #expect(ada.client.takeBinaries().isEmpty)
    }

    @Test func `who did not ask is sent frame by frame, and may not join`() throws {
        #expect(try !activate(asking: false))
        let (application, channel) = try opened()
        receiver.shell.together {
            for frame in messages(1...3, channel) { application.client.say(binary: frame) }
        }
        #expect(try ada.client.frames().map(\.message) == [1, 2, 3])
        ada.client.say(binary: JoinedFrames.join(messages(1...2, channel)))
        #expect(ada.client.closing?.code == 1002)
        #expect(try application.client.frames().isEmpty)
    }

    @Test func `joined frames that are broken end the connection, after those that were whole`() throws {
        #expect(try activate())
        let (application, channel) = try opened()
        var broken = messages(1...3, channel)
        broken[2][1] = 9
        ada.client.say(binary: JoinedFrames.join(broken))
        #expect(try application.client.frames().map(\.message) == [1, 2])
        #expect(ada.client.closing?.code == 1002)
        let ben = TestSender(receiver)
        try ben.ask(
            .activate(
                Activation(
                    sender: SenderInfo(identifier: "sender-2", name: "Ben"),
                    capabilities: [JoinedFrames.capability])))
        // Joined frames are no frame to be joined.
        ben.client.say(binary: JoinedFrames.join([JoinedFrames.join(messages(1...1, 0))]))
        #expect(ben.client.closing?.code == 1002)
    }

    @Test func `answers that are not read end the connection, joined or not`() throws {
        #expect(try activate())
        ada.client.stopReading()
        let frame = DataFrame.bytes(.message, channel: 77, message: 1)
        var said = 0
        while ada.client.closing == nil, said < 1_000 {
            ada.client.say(binary: JoinedFrames.join(Array(repeating: frame, count: 64)))
            said += 1
            // 256 KiB of answers, and what joining adds to the short ones.
            #expect(ada.client.pendingBytes <= 320 << 10)
        }
        #expect(ada.client.closing?.code == 1008)
    }

    @Test func `a message for which only what is gathered leaves no room is not left waiting`() throws {
        #expect(try activate())
        let (application, channel) = try opened()
        let largest = [UInt8](repeating: 1, count: 1 << 20)
        receiver.shell.together {
            application.client.say(binary: messages(1...1, channel)[0])
            application.client.say(
                binary: DataFrame.bytes(.message, channel: channel, message: 2, payload: largest[...]))
        }
        #expect(try ada.client.frames().map(\.message) == [1, 2])
    }
}
