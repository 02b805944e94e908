// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

/// What a watch tells, in order.
private final class WatchUnderTest: Sendable {
    let watch: InputWatch
    private let events: AsyncStream<InputWatch.Event>

    init() throws {
        let (events, continuation) = AsyncStream.makeStream(of: InputWatch.Event.self)
        watch = try #require(InputWatch { continuation.yield($0) })
        self.events = events
    }

    deinit { watch.shutDown() }

    func next() async throws -> InputWatch.Event {
        for await event in events { return event }
        throw CancellationError()
    }
}

@Suite(.timeLimit(.minutes(2))) struct `An input` {
    private static func watch(_ name: String) -> CaptureWatch {
        CaptureWatch(name: name, threshold: -40, holdMilliseconds: 300, attackMilliseconds: 100)
    }

    @Test func `is played, and over when it is unplugged`() async throws {
        let microphone = try #require(TestCards.takeInput())
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        let feed = try test.play(CaptureSource(kind: .device(name: microphone.device)))
        let began = SimulatedCard.now
        try await test.sounding(true)
        let heard = try #require(await card.recording(within: .seconds(30)) { $0.frameCount > 48_000 })
        #expect(heard.has(tone: 1_000, from: began))
        try microphone.setUnplugged(true)
        try await test.drained()
        feed.stop()
    }

    @Test func `that is not there, or in use, fails`() async throws {
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        let (events, input) = AsyncStream.makeStream(of: CaptureFeed.Event.self)
        var found = events.makeAsyncIterator()
        let absent = try test.play(CaptureSource(kind: .device(name: "nobody"))) { input.yield($0) }
        #expect(await found.next() == .failed(MediaFailure(.notFound, "")))
        absent.stop()
        let microphone = try #require(TestCards.takeInput())
        try microphone.setBusy(true)
        let busy = try test.play(CaptureSource(kind: .device(name: microphone.device))) { input.yield($0) }
        #expect(await found.next() == .failed(MediaFailure(.accessDenied, "")))
        busy.stop()
    }

    @Test func `is listened to, and lost, and found again`() async throws {
        let microphone = try #require(TestCards.takeInput())
        let name = microphone.device
        try microphone.setQuiet(true)
        let test = try WatchUnderTest()
        test.watch.listen(to: [Self.watch(name)])
        #expect(try await test.next() == .activity(name: name, isActive: false, reason: nil))
        try microphone.setQuiet(false)
        #expect(try await test.next() == .activity(name: name, isActive: true, reason: nil))
        try microphone.setQuiet(true)
        #expect(try await test.next() == .activity(name: name, isActive: false, reason: nil))
        try microphone.setUnplugged(true)
        #expect(try await test.next() == .activity(name: name, isActive: false, reason: "it is not there"))
        try microphone.setUnplugged(false)
        #expect(try await test.next() == .activity(name: name, isActive: false, reason: nil))
    }

    @Test func `is let go for a load, whose sound is heard then`() async throws {
        let microphone = try #require(TestCards.takeInput())
        let name = microphone.device
        let test = try WatchUnderTest()
        test.watch.listen(to: [Self.watch(name)])
        #expect(try await test.next() == .activity(name: name, isActive: false, reason: nil))
        #expect(try await test.next() == .activity(name: name, isActive: true, reason: nil))
        test.watch.yield(to: name)
        let card = try #require(TestCards.take())
        let output = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        let source = CaptureSource(kind: .device(name: name))
        let watch = test.watch
        let made = CaptureFeed(
            source, descriptor: nil, stream: output.stream, playing: true, output: output.output,
            listener: { frames, rate in watch.hear(frames, rate: rate) }, report: { _ in })
        let feed = try #require(made)
        try await output.sounding(true)
        // The load goes on with what was found before.
        try microphone.setQuiet(true)
        #expect(try await test.next() == .activity(name: name, isActive: false, reason: nil))
        feed.stop()
        output.output.close(output.stream)
    }

    @Test func `has a jack that tells when something is plugged in`() throws {
        let input = try #require(TestCards.takeInput())
        guard var jacks = JackControls(card: input.controls) else {
            Issue.record("no jack")
            return
        }
        #expect(jacks.jacks.map(\.name) == ["Headphone Jack"])
        #expect(jacks.jacks.map(\.isPlugged) == [false])
        let wake = try #require(WakeUp())
        for isPlugged in [true, false] {
            try input.setPlugged(isPlugged)
            var changed: [JackControls.Jack] = []
            for _ in 0..<100 where changed.isEmpty {
                jacks.wait(or: wake, timeout: .seconds(1))
                let found = jacks.changes()
                changed = try #require(found)
            }
            #expect(changed.map(\.isPlugged) == [isPlugged])
        }
        if JackControls(card: "nobody") != nil { Issue.record("nobody has a jack") }
    }
}

@Suite struct `Sound and silence` {
    private static let rate: Int32 = 48_000
    private var detector = ActivityDetector(
        CaptureWatch(name: "", threshold: -40, holdMilliseconds: 200, attackMilliseconds: 60))

    /// A square wave of this loudness, in decibels, around a constant.
    private func square(_ amplitude: Float, milliseconds: Int, offset: Float = 0) -> [Float] {
        (0..<milliseconds * 48).flatMap { frame -> [Float] in
            let value = (frame / 24 % 2 == 0 ? amplitude : -amplitude) + offset
            return [value, value]
        }
    }

    @Test mutating func `are told apart by the threshold`() {
        let quiet = detector.take(square(0.0099, milliseconds: 500), rate: Self.rate)
        #expect(!quiet && !detector.isActive)
        let loud = detector.take(square(0.0102, milliseconds: 500), rate: Self.rate)
        #expect(loud && detector.isActive)
    }

    @Test mutating func `take the times of attack and hold`() {
        let short = detector.take(square(0.1, milliseconds: 40), rate: Self.rate)
        let pause = detector.take(square(0, milliseconds: 20), rate: Self.rate)
        let again = detector.take(square(0.1, milliseconds: 40), rate: Self.rate)
        #expect(!short && !pause && !again)
        let enough = detector.take(square(0.1, milliseconds: 20), rate: Self.rate)
        #expect(enough)
        let soon = detector.take(square(0, milliseconds: 180), rate: Self.rate)
        #expect(!soon && detector.isActive)
        let late = detector.take(square(0, milliseconds: 20), rate: Self.rate)
        #expect(late && !detector.isActive)
    }

    @Test mutating func `are not a constant voltage`() {
        let constant = detector.take(square(0, milliseconds: 500, offset: 0.3), rate: Self.rate)
        #expect(!constant && !detector.isActive)
    }
}
