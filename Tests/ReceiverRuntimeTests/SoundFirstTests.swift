// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import Testing

/// A receiver that leaves the machine to the renderer while that brings what is to be heard.
struct SoundFirstTests {
    private let receiver: TestReceiver
    private let sender: TestSender
    private let load: LoadID

    init() throws {
        var configuration = ReceiverConfiguration(name: "Test", software: "t")
        configuration.letsSoundGoFirst = true
        receiver = try .running(configuration: configuration)
        sender = TestSender(receiver)
        try sender.activate()
        _ = sender.say(.start(SessionStart(url: "http://media.example/a.flac", isPlaying: true)))
        receiver.settle()
        receiver.clock.advance(by: .milliseconds(10))
        try sender.read()
        sender.changes = []
        load = try #require(receiver.renderer.currentLoad)
        receiver.renderer.forgetCommands()
    }

    @discardableResult private func seek(to seconds: Int64) -> Int64 {
        sender.say(
            .seek(session: nil, position: MediaTime(value: seconds, timescale: 1), tolerance: .zero))
    }

    /// What was answered since the last look, in order.
    private func answered() throws -> [Int64] {
        try sender.client.takeTexts().flatMap { try ServerMessage.decode($0) }.compactMap {
            if case .response(let id, _) = $0 { id } else { nil }
        }
    }

    @Test func `the renderer has a move at once, its sender the answer a moment later`()
        throws
    {
        seek(to: 60)
        #expect(receiver.renderer.commands.count == 1)
        receiver.settle()
        receiver.renderer.report(
            .positionChanged(
                load,
                PlaybackPosition(
                    position: MediaTime(value: 60, timescale: 1), clockTime: receiver.clock.now, rate: 1)))
        #expect(sender.client.takeTexts().isEmpty)
        receiver.clock.advance(by: .milliseconds(2))
        receiver.settle()
        let texts = sender.client.takeTexts()
        guard case .response = try ServerMessage.decode(texts.first ?? "").first else {
            Issue.record("the answer does not come first")
            return
        }
        #expect(texts.count > 1)
    }

    @Test func `answers leave in the order of what they answer`() throws {
        let asked = [seek(to: 60), sender.say(.getState)]
        #expect(try answered() == asked)
    }

    @Test func `after moves in a burst a sender knows what others see`() throws {
        seek(to: 60)
        seek(to: 70)
        seek(to: 80)
        receiver.settle()
        receiver.clock.advance(by: .milliseconds(2))
        try sender.read()
        #expect(try snapshot(receiver) == sender.state)
    }

    @Test func `what is not heard is told at once, also after what is`() throws {
        seek(to: 60)
        #expect(try sender.ask(.setDeviceVolume(0.25))["outcome"] == "accepted")
        #expect(try snapshot(receiver) == sender.state)
        #expect(try sender.ask(.setPlaying(session: nil, false))["outcome"] == "accepted")
    }

    @Test func `an end in between leaves nothing untold`() throws {
        seek(to: 60)
        var isOver = false
        receiver.shell.shutDown { isOver = true }
        try sender.read()
        #expect(!sender.ended.isEmpty)
        receiver.settle()
        receiver.clock.advance(by: .seconds(3))
        #expect(isOver)
    }
}
