// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

/// The largest step from one sample of what was heard to the next, silence before and after each stretch included; in the
/// stretches from one on.
private func largestStep(_ recording: CardRecording, from first: Int = 0) -> Int {
    var largest = 0
    for segment in recording.segments.dropFirst(first) {
        let end = min(segment.endFrame ?? recording.frameCount, recording.frameCount)
        var before = 0
        for frame in segment.firstFrame..<max(end, segment.firstFrame) {
            let sample = Int(recording.samples[frame * recording.channels])
            largest = max(largest, abs(sample - before))
            before = sample
        }
        // A card that runs on has not been heard to its end.
        if segment.endFrame != nil { largest = max(largest, abs(before)) }
    }
    return largest
}

/// The largest step of the tone of `ToneClock` on the left, half the full loudness at 1000 Hz, with what rounding adds.
private let toneStep = 2_145 + 4

@Suite(.timeLimit(.minutes(2))) struct `Sound that is taken away, or begins within its item,` {
    /// An output in whose stream the tone is heard from `seconds` on.
    private func sounding(_ kind: TestCards.Kind = .usual, from seconds: Double = 0) async throws
        -> (OutputUnderTest, SimulatedCard)
    {
        let card = try #require(TestCards.take(kind))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.tell(from: seconds)
        try await test.sounding(true)
        return (test, card)
    }

    /// Waits until the card does not run, and checks that nothing clicked. A card that ran dry did.
    private func expectNoClick(_ card: inout SimulatedCard) async throws {
        let recording = try #require(await card.recording(within: .seconds(30)) { !$0.isRunning })
        guard recording.underruns == 0 else { return }
        #expect(largestStep(recording) <= toneStep)
    }

    @Test(arguments: [TestCards.Kind.usual, .unpausable])
    func `dies away when its stream is closed`(kind: TestCards.Kind) async throws {
        var (test, card) = try await sounding(kind)
        test.output.close(test.stream)
        try await test.sounding(false)
        try await expectNoClick(&card)
        // Over 20 ms, and not at once.
        let recording = card.recording()
        guard recording.underruns == 0 else { return }
        let last = try #require(recording.lastSound(threshold: 1_000))
        let heard = recording.heard(from: last - 8_000_000, for: .milliseconds(2))
        #expect(heard.peak > 1_000 && heard.peak < 12_000)
    }

    @Test func `dies away for another stream, which comes up where it is within its item`() async throws {
        var (test, card) = try await sounding()
        let next = StreamID(2)
        test.output.open(next, playing: true)
        _ = OutputThread.start(named: "feed") { [output = test.output] in
            guard output.setRate(48_000, for: next) == .written else { return }
            let samples = ToneClock.frames(24_000, from: 48_012, rate: 48_000)
            _ = output.write(samples.span, position: 1e9, step: 1e9 / 48_000, for: next)
        }
        try await test.first { $0 == .soundingChanged(next, true) ? () : nil }
        test.output.close(next)
        try await test.first { $0 == .soundingChanged(next, false) ? () : nil }
        try await expectNoClick(&card)
    }

    @Test(arguments: [TestCards.Kind.usual, .unpausable])
    func `dies away with a pause, and comes up after it`(kind: TestCards.Kind) async throws {
        var (test, card) = try await sounding(kind)
        for _ in 0..<2 {
            test.output.setPlaying(false, for: test.stream)
            try await test.sounding(false)
            test.output.setPlaying(true, for: test.stream)
            try await test.sounding(true)
        }
        test.output.close(test.stream)
        try await test.sounding(false)
        try await expectNoClick(&card)
    }

    /// What is moved is heard in its new place at once: nothing waits until it has died away.
    @Test func `is cut by a move, and comes up after it`() async throws {
        var (test, card) = try await sounding()
        test.output.beginFlush(test.stream)
        test.output.endFlush(test.stream)
        test.tell(from: 10.000_25)
        try await test.sounding(false)
        try await test.sounding(true)
        test.output.close(test.stream)
        try await test.sounding(false)
        let recording = try #require(await card.recording(within: .seconds(30)) { !$0.isRunning })
        #expect(recording.segments.count == 2)
        guard recording.underruns == 0 else { return }
        #expect(largestStep(recording, from: 1) <= toneStep)
    }

    @Test func `dies away for a live stream, and that for it`() async throws {
        ignoreBrokenPipes()
        var (test, card) = try await sounding()
        let phone = try PhoneUnderTest()
        let live = StreamID(2)
        let made = CaptureFeed(
            phone.source, descriptor: phone.reader, stream: live, playing: true, output: test.output,
            report: { _ in })
        let feed = try #require(made)
        phone.closeReader()
        try await test.first { $0 == .soundingChanged(live, true) ? () : nil }
        try await Task.sleep(for: .milliseconds(100))
        feed.stop()
        let again = StreamID(3)
        test.output.open(again, playing: true)
        _ = OutputThread.start(named: "feed") { [output = test.output] in
            guard output.setRate(48_000, for: again) == .written else { return }
            let samples = ToneClock.frames(24_000, from: 48_012, rate: 48_000)
            _ = output.write(samples.span, position: 1e9, step: 1e9 / 48_000, for: again)
        }
        try await test.first { $0 == .soundingChanged(again, true) ? () : nil }
        test.output.close(again)
        try await test.first { $0 == .soundingChanged(again, false) ? () : nil }
        try await expectNoClick(&card)
        phone.change { $0.isOver = true }
    }

    @Test func `begins at once where it is its item's beginning`() async throws {
        var (test, card) = try await sounding()
        // More than the card has queued.
        let recording = try #require(await card.recording(within: .seconds(30)) { $0.frameCount > 12_000 })
        test.output.close(test.stream)
        let first = try #require(recording.segments.first?.firstFrame)
        let expected = ToneClock.frames(480, from: 0, rate: 48_000)
        for frame in 0..<480 {
            let heard = Double(recording.samples[(first + frame) * 2])
            #expect((heard - Double(expected[frame * 2]) * 32_768).magnitude < 3)
        }
    }
}
