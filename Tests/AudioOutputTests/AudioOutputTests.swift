// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

/// An output that plays to a simulated card, with its events in order.
struct OutputUnderTest {
    let output: AudioOutput
    private let events: AsyncStream<AudioOutputEvent>
    let stream = StreamID(1)

    init(_ configuration: AudioOutputConfiguration) throws {
        let (events, continuation) = AsyncStream.makeStream(
            of: AudioOutputEvent.self, bufferingPolicy: .bufferingOldest(1000))
        output = try #require(AudioOutput(configuration: configuration) { continuation.yield($0) })
        self.events = events
    }

    /// Waits for an event; those before it are passed over.
    func first<Value>(_ pick: (AudioOutputEvent) -> Value?) async throws -> Value {
        for await event in events { if let value = pick(event) { return value } }
        throw CancellationError()
    }

    func state(_ state: OutputStatus.State) async throws -> OutputStatus {
        try await first {
            if case .statusChanged(let status) = $0, status.state == state { status } else { nil }
        }
    }

    func sounding(_ isSounding: Bool) async throws {
        try await first { $0 == .soundingChanged(stream, isSounding) ? () : nil }
    }

    /// Gives `count` frames of which the left sample tells the number, from `first` on, on a thread of its own:
    /// frame n is `n % 30000 + 1`.
    func feed(
        _ count: Int, from first: Int = 0, rate: Int32 = 48_000, ends: Bool = true, to other: StreamID? = nil
    ) {
        let stream = other ?? stream
        _ = OutputThread.start(named: "feed") { [output] in
            guard output.setRate(rate, for: stream) == .written else { return }
            var next = first
            while next < first + count {
                let part = min(4000, first + count - next)
                var samples = [Float](repeating: 0, count: part * 2)
                for frame in 0..<part { samples[frame * 2] = Float((next + frame) % 30_000 + 1) / 32_768 }
                let step = 1e9 / Double(rate)
                guard
                    output.write(samples.span, position: Double(next) * step, step: step, for: stream)
                        == .written
                else { return }
                next += part
            }
            if ends { output.end(stream) }
        }
    }
}

/// The numbers of the frames that were heard, in order, without silence.
func heardFrames(_ recording: CardRecording) -> [Int] {
    var frames: [Int] = []
    for segment in recording.segments {
        for frame in segment.firstFrame..<min(segment.endFrame ?? recording.frameCount, recording.frameCount)
        {
            let value = Int(recording.samples[frame * recording.channels])
            if value > 0 { frames.append(value - 1) }
        }
    }
    return frames
}

/// True if each frame was heard in full, but for those of one fade.
func isWhole(_ frames: [Int], _ expected: Range<Int>) -> Bool {
    let missing = Set(expected).subtracting(frames)
    guard let first = missing.min(), let last = missing.max() else { return true }
    // Dither lasts until the end of a portion of 20 ms.
    return last - first < 2_000
}

private func isGapless(_ frames: [Int]) -> Bool {
    zip(frames, frames.dropFirst()).allSatisfy { $1 == ($0 + 1) % 30_000 }
}

@Suite(.timeLimit(.minutes(1))) struct `The output` {
    @Test func `plays every frame once, and tells the end when the last was heard`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        #expect(try await test.state(.closed).device == card.device)
        test.output.open(test.stream, playing: true)
        test.feed(20_000)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let end = SimulatedCard.now
        let recording = card.recording()
        let frames = heardFrames(recording)
        #expect(frames.count == 20_000 && isGapless(frames))
        let last = try #require(recording.lastSound(threshold: 0))
        #expect(end >= last)
        #expect(recording.underruns == 0)
    }

    @Test(arguments: [TestCards.Kind.usual, .unpausable])
    func `goes on after a pause with the next frame`(kind: TestCards.Kind) async throws {
        var card = try #require(TestCards.take(kind))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(29_000)
        try await test.sounding(true)
        test.output.setPlaying(false, for: test.stream)
        try await test.sounding(false)
        let paused = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        #expect(paused.rate == 0)
        test.output.setPlaying(true, for: test.stream)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let frames = heardFrames(card.recording())
        // What died away comes up again.
        #expect(isWhole(frames, 0..<29_000) && frames.count < 29_000 + 1_440)
    }

    @Test func `knows what is heard`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(29_000)
        try await test.sounding(true)
        let heard = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        #expect(heard.rate == 1)
        let recording = try #require(await card.recording(within: .seconds(30)) { $0.frameCount > 4000 })
        let start = try #require(recording.segments.first).start
        // Frame 0 was heard at `start`, so the position is the time since then.
        #expect((heard.position - (heard.clockTime - start)).magnitude < 200_000)
        test.output.close(test.stream)
    }

    @Test func `forgets what was flushed`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(200_000, ends: false)
        try await test.sounding(true)
        test.output.beginFlush(test.stream)
        try await test.sounding(false)
        test.output.endFlush(test.stream)
        let flushed = SimulatedCard.now
        test.feed(2_000, from: 20_000)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let recording = card.recording()
        let after = recording.heard(from: flushed, for: .milliseconds(300)).samples.filter { $0 > 0 }
        // It comes up, since it begins within its item.
        #expect(after.count == 2_000 && after.suffix(50).map { Int($0) } == Array(21_951...22_000))
    }

    @Test func `goes on where it was when the card comes back`() async throws {
        var card = try #require(TestCards.take())
        var configuration = AudioOutputConfiguration(device: card.device)
        configuration.retryDelays = .milliseconds(20)...(.milliseconds(40))
        let test = try OutputUnderTest(configuration)
        test.output.open(test.stream, playing: true)
        test.feed(29_000)
        try await test.sounding(true)
        try card.setUnplugged(true)
        let lost = try await test.state(.lost)
        #expect(lost.device == card.device && lost.reason != nil)
        let held = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        #expect(held.rate == 0)
        try card.setUnplugged(false)
        _ = try await test.state(.open)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let frames = heardFrames(card.recording())
        #expect(Set(frames).count == 29_000, "nothing is left out")
        // What the card played after the last reading is played again.
        #expect(frames.count < 29_000 + 4_800)
    }

    @Test func `waits for a card that somebody else holds`() async throws {
        let card = try #require(TestCards.take())
        try card.setBusy(true)
        var configuration = AudioOutputConfiguration(device: card.device)
        configuration.retryDelays = .milliseconds(20)...(.milliseconds(40))
        let test = try OutputUnderTest(configuration)
        _ = try await test.state(.busy)
        test.output.open(test.stream, playing: true)
        test.feed(4_000)
        try card.setBusy(false)
        _ = try await test.state(.open)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
    }

    @Test(arguments: [50, 400]) func `the card has queued what was configured`(milliseconds: Int) async throws
    {
        var card = try #require(TestCards.take())
        let configuration = AudioOutputConfiguration(
            device: card.device, buffer: .milliseconds(milliseconds))
        let test = try OutputUnderTest(configuration)
        test.output.open(test.stream, playing: true)
        test.feed(30_000)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let recording = card.recording()
        let sizes = recording.events.compactMap {
            if case .configured(_, _, _, let buffer, let period) = $0 { [buffer, period] } else { nil }
        }
        #expect(sizes == [[48 * milliseconds, min(2_400, 16 * milliseconds)]])
        #expect(recording.underruns == 0)
    }

    @Test func `gives the card up a little after the stop`() async throws {
        let card = try #require(TestCards.take())
        var configuration = AudioOutputConfiguration(device: card.device)
        configuration.closeDelay = .milliseconds(50)
        let test = try OutputUnderTest(configuration)
        _ = try await test.state(.closed)
        test.output.open(test.stream, playing: true)
        test.feed(20_000)
        _ = try await test.state(.open)
        try await test.sounding(true)
        test.output.close(test.stream)
        _ = try await test.state(.closed)
    }

    @Test func `says when frames are missing, and goes on when there are some`() async throws {
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(5_000, ends: false)
        try await test.first { $0 == .starvationChanged(test.stream, true) ? () : nil }
        test.feed(15_000, from: 5_000)
        try await test.first { $0 == .starvationChanged(test.stream, false) ? () : nil }
        try await test.first { $0 == .drained(test.stream) ? () : nil }
    }

    @Test func `is paced by the clock where there is no card`() async throws {
        let test = try OutputUnderTest(AudioOutputConfiguration(device: "null"))
        _ = try await test.state(.null)
        test.output.open(test.stream, playing: true)
        let start = AudioOutput.now()
        test.feed(24_000)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let elapsed = Double(AudioOutput.now() - start) / 1e9
        #expect(elapsed > 0.49 && elapsed < 10)
    }

    @Test func `multiplies samples where there is no mixer`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device, maximumLevel: 0.8))
        // 30 dB below full; the cap does not touch it.
        test.output.setVolume(Volume(level: 0.5))
        test.output.open(test.stream, playing: true)
        test.feed(29_000)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let recording = card.recording()
        let peak = recording.samples.map { Int($0) }.max() ?? 0
        #expect((900...935).contains(peak), "29 000 / 31.6")
    }

    @Test func `is never louder than its cap`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device, maximumLevel: 0.5))
        test.output.setVolume(.full)
        test.output.open(test.stream, playing: true)
        test.feed(29_000)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        #expect((card.recording().samples.max() ?? 0) < 940)
    }

    @Test func `takes nothing more of a stream that was ended at once, until it is moved`() async throws {
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(9_600, ends: false)
        try await test.sounding(true)
        test.output.finish(test.stream)
        // A decoder that was between two pieces.
        let frames = [Float](repeating: 0, count: 960)
        let step = 1e9 / 48_000
        #expect(test.output.write(frames.span, position: 1e9, step: step, for: test.stream) == .flushing)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        test.output.beginFlush(test.stream)
        test.output.endFlush(test.stream)
        #expect(test.output.write(frames.span, position: 0, step: step, for: test.stream) == .written)
    }

    @Test func `plays the rates that the card plays itself`() async throws {
        var card = try #require(TestCards.take(.versatile))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        _ = try await test.state(.closed)
        #expect(test.output.supportedRates == [44_100, 48_000])
        test.output.open(test.stream, playing: true)
        test.feed(10_000, rate: 44_100)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        #expect(card.recording().segments.first?.rate == 44_100)
    }
}
