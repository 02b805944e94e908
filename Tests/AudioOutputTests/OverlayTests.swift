// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

/// The samples of a channel that were heard, in order.
private func heard(_ recording: CardRecording, channel: Int) -> [Int] {
    recording.segments.flatMap { segment in
        let end = min(segment.endFrame ?? recording.frameCount, recording.frameCount)
        return (segment.firstFrame..<max(end, segment.firstFrame)).map {
            Int(recording.samples[$0 * 2 + channel])
        }
    }
}

private func sounds(_ recording: CardRecording, channel: Int) -> [Int] {
    heard(recording, channel: channel).filter { $0 != 0 }
}

/// The stream sounds on the left, the overlay on the right.
extension OutputUnderTest {
    fileprivate static let over = StreamID(100)
    /// Neither louder nor softer than the stream, which is not ducked.
    fileprivate static let beside = OverlayLevels(ducking: 0)

    /// Gives `count` frames with what `sample` says on one channel.
    fileprivate func feed(
        _ stream: StreamID, right: Bool, count: Int, rate: Int32 = 48_000, ends: Bool = true,
        from first: Int = 0, _ sample: @escaping @Sendable (Int) -> Float
    ) {
        _ = OutputThread.start(named: "feed") { [output] in
            guard output.setRate(rate, for: stream) == .written else { return }
            let step = 1e9 / Double(rate)
            var next = first
            while next < first + count {
                let part = min(960, first + count - next)
                var samples = [Float](repeating: 0, count: part * 2)
                for frame in 0..<part { samples[frame * 2 + (right ? 1 : 0)] = sample(next + frame) }
                guard
                    output.write(samples.span, position: Double(next) * step, step: step, for: stream)
                        == .written
                else { return }
                next += part
            }
            if ends { output.end(stream) }
        }
    }

    /// Gives frames that count from 1.
    fileprivate func count(
        _ stream: StreamID, right: Bool = false, _ count: Int, from first: Int = 0, ends: Bool = true
    ) {
        feed(stream, right: right, count: count, ends: ends, from: first) { Float($0 + 1) / 32_768 }
    }

    fileprivate func announce(_ count: Int, levels: OverlayLevels = beside) {
        output.openOverlay(Self.over, levels: levels)
        self.count(Self.over, right: true, count)
    }

    fileprivate func overlayBegan(_ stream: StreamID = over) async throws {
        try await first { $0 == .overlayBegan(stream) ? () : nil }
    }
    fileprivate func overlayEnded(_ stream: StreamID = over) async throws {
        try await first { $0 == .overlayEnded(stream) ? () : nil }
    }
    /// Waits until stream and overlay are over, in whichever order.
    fileprivate func bothEnded() async throws {
        var rest: [AudioOutputEvent] = [.overlayEnded(Self.over), .drained(stream)]
        try await first { event in
            rest.removeAll { $0 == event }
            return rest.isEmpty ? () : nil
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A sound over another` {
    @Test func `is heard whole, and the stream goes on frame by frame`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.count(test.stream, 32_000)
        try await test.sounding(true)
        test.announce(9_600)
        try await test.overlayEnded()
        let position = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        #expect(position.rate == 1)
        let recording = card.recording()
        let start = try #require(recording.segments.first).start
        #expect((position.position - (position.clockTime - start)).magnitude < 1_000_000)
        try await test.drained()
        let whole = card.recording()
        #expect(sounds(whole, channel: 0) == Array(1...32_000))
        #expect(sounds(whole, channel: 1) == Array(1...9_600))
        #expect(whole.segments.count == 1 && whole.underruns == 0)
    }

    @Test func `ducks the stream without a click, and gives it back`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(test.stream, right: false, count: 96_000) { _ in 0.5 }
        try await test.sounding(true)
        test.announce(24_000, levels: OverlayLevels(volume: Volume(level: 0.9), ducking: 20))
        try await test.bothEnded()
        let recording = card.recording()
        let (left, right) = (heard(recording, channel: 0), heard(recording, channel: 1))
        // The beginning of a count is lost in the noise of rounding.
        let first = try #require(right.firstIndex { $0 > 100 })
        let last = try #require(right.lastIndex { $0 > 100 })
        let whole = 16_384
        #expect((left[first - 4_800] - whole).magnitude <= 2)
        for frame in stride(from: first + 2_400, to: last - 100, by: 97) {
            #expect((left[frame] - whole / 10).magnitude <= 3)
        }
        // A quarter of a second later, with the ramp and two pieces of 20 ms.
        #expect((left[last + 12_000 + 1_920 + 1_920] - whole).magnitude <= 2)
        let sounding = left[first - 4_800..<last + 17_000]
        let step = zip(sounding, sounding.dropFirst()).map { ($0 - $1).magnitude }.max()
        // 40 ms from one to the other, and the noise.
        #expect(try #require(step) <= 12)
        // 0.9 is 6 dB below full.
        #expect((Double(right[last]) / 24_000 - 0.501).magnitude < 0.001)
    }

    @Test(arguments: [TestCards.Kind.usual, .unpausable])
    func `is heard while the stream is paused, which stays where it is`(kind: TestCards.Kind) async throws {
        var card = try #require(TestCards.take(kind))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.count(test.stream, 29_000)
        try await test.sounding(true)
        test.output.setPlaying(false, for: test.stream)
        try await test.sounding(false)
        let paused = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        test.announce(12_000)
        try await test.overlayBegan()
        let during = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        #expect(during.rate == 0 && (during.position - paused.position).magnitude < 30_000_000)
        try await test.overlayEnded()
        #expect(sounds(card.recording(), channel: 1) == Array(1...12_000))
        test.output.setPlaying(true, for: test.stream)
        try await test.drained()
        let frames = sounds(card.recording(), channel: 0)
        #expect(isWhole(frames, 1..<29_001) && frames.count < 29_000 + 2_400)
    }

    @Test func `opens the card for itself alone, and gives it up afterwards`() async throws {
        var card = try #require(TestCards.take())
        var configuration = AudioOutputConfiguration(device: card.device)
        configuration.closeDelay = .milliseconds(50)
        let test = try OutputUnderTest(configuration)
        _ = try await test.state(.closed)
        test.announce(7_000)
        _ = try await test.state(.open)
        try await test.overlayEnded()
        _ = try await test.state(.closed)
        let recording = card.recording()
        #expect(sounds(recording, channel: 1) == Array(1...7_000))
        #expect(!recording.isOpen)
    }

    @Test func `fills the time in which the stream has nothing to give`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.count(test.stream, 20_000, ends: false)
        try await test.sounding(true)
        test.announce(20_000)
        try await test.first { $0 == .starvationChanged(test.stream, true) ? () : nil }
        // Enough to go on, while the other is still heard.
        test.count(test.stream, 12_000, from: 20_000)
        try await test.first { $0 == .starvationChanged(test.stream, false) ? () : nil }
        try await test.bothEnded()
        let recording = card.recording()
        // It comes up again within its item.
        let frames = sounds(recording, channel: 0)
        #expect(frames.prefix(20_000) == Array(1...20_000)[...])
        #expect(frames.suffix(10_000) == Array(22_001...32_000)[...])
        // In one piece, whatever the stream did meanwhile.
        let over = Array(heard(recording, channel: 1).drop { $0 == 0 }.prefix(20_000))
        #expect(over.count == 20_000)
        // While the stream comes up all samples are rounded anew.
        #expect(zip(over, 1...).allSatisfy { abs(Int($0) - $1) <= 1 })
    }

    @Test func `has the pitch that it should have at the card's rate`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(test.stream, right: false, count: 60_000) { _ in 0.1 }
        try await test.sounding(true)
        test.output.openOverlay(OutputUnderTest.over, levels: .init())
        // A triangle of 441 Hz: 100 frames of 44.1 kHz.
        test.feed(OutputUnderTest.over, right: true, count: 22_050, rate: 44_100) {
            Float(($0 % 100 - 50).magnitude) / 50 - 0.5
        }
        try await test.overlayBegan()
        let start = SimulatedCard.now
        try await test.overlayEnded()
        let recording = card.recording()
        let sound = recording.heard(from: start, for: .milliseconds(400), channel: 1)
        #expect((try #require(sound.frequency) - 441).magnitude < 0.5)
        let right = heard(recording, channel: 1)
        let (first, last) = (right.firstIndex { $0 > 100 }, right.lastIndex { $0 > 100 })
        // Half a second at 48 kHz.
        #expect((try #require(last) - #require(first) - 24_000).magnitude < 150)
    }

    @Test func `goes on when a stream of another rate begins`() async throws {
        var card = try #require(TestCards.take(.versatile))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.openOverlay(OutputUnderTest.over, levels: OutputUnderTest.beside)
        test.feed(OutputUnderTest.over, right: true, count: 36_000) { _ in 0.25 }
        try await test.overlayBegan()
        test.output.open(test.stream, playing: true)
        test.feed(test.stream, right: false, count: 44_100, rate: 44_100) { _ in 0.25 }
        try await test.sounding(true)
        try await test.bothEnded()
        let recording = card.recording()
        #expect(recording.segments.map { $0.rate.rounded() } == [48_000, 44_100])
        let left = heard(recording, channel: 0).count { $0 > 8_000 }
        #expect(left == 44_100)
        // Three quarters of a second in both rates together.
        let time = recording.segments.reduce(0.0) { sum, segment in
            let end = segment.endFrame ?? recording.frameCount
            let frames = (segment.firstFrame..<end).count { recording.samples[$0 * 2 + 1] > 7_000 }
            return sum + Double(frames) / segment.rate
        }
        #expect((time - 0.75).magnitude < 0.06)
    }

    @Test func `survives a move of the stream`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.count(test.stream, 100_000, ends: false)
        try await test.sounding(true)
        test.announce(24_000)
        try await test.overlayBegan()
        test.output.beginFlush(test.stream)
        test.output.endFlush(test.stream)
        test.count(test.stream, 4_000, from: 26_000)
        try await test.bothEnded()
        let right = sounds(card.recording(), channel: 1)
        // Beside a sound that comes up there is dither.
        #expect(right.count >= 24_000 && isWhole(right, 1..<24_001), "nothing is left out")
        #expect(right.count < 24_000 + 4_800)
        #expect(sounds(card.recording(), channel: 0).suffix(2_000) == Array(28_001...30_000)[...])
    }

    @Test func `fades when it is closed, and the stream is whole again`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(test.stream, right: false, count: 72_000) { _ in 0.25 }
        try await test.sounding(true)
        test.output.openOverlay(OutputUnderTest.over, levels: OverlayLevels(ducking: 20))
        test.feed(OutputUnderTest.over, right: true, count: 200_000) { _ in 0.5 }
        try await test.overlayBegan()
        test.output.close(OutputUnderTest.over)
        try await test.bothEnded()
        let recording = card.recording()
        let (left, right) = (heard(recording, channel: 0), heard(recording, channel: 1))
        let first = try #require(right.firstIndex { $0 > 8_000 })
        let rest = right[first...]
        #expect(rest.count { $0 > 100 } < 24_000)
        let step = zip(rest, rest.dropFirst()).map { ($0 - $1).magnitude }.max()
        #expect(try #require(step) <= 16)
        #expect(left.suffix(20_000).contains { ($0 - 8_192).magnitude <= 2 })
    }

    @Test func `is over at once when it is closed without a card`() async throws {
        let card = try #require(TestCards.take())
        var configuration = AudioOutputConfiguration(device: card.device)
        configuration.retryDelays = .milliseconds(20)...(.milliseconds(40))
        let test = try OutputUnderTest(configuration)
        test.announce(100_000)
        try await test.overlayBegan()
        try card.setUnplugged(true)
        _ = try await test.state(.lost)
        test.output.close(OutputUnderTest.over)
        try await test.overlayEnded()
    }

    @Test func `that has nothing to give is over`() async throws {
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.announce(0)
        try await test.overlayEnded()
        test.output.openOverlay(StreamID(101), levels: .init())
        test.output.close(StreamID(101))
        try await test.overlayEnded(StreamID(101))
    }

    @Test func `comes twenty times in a row`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(test.stream, playing: true)
        test.feed(test.stream, right: false, count: 480_000) { _ in 0.25 }
        try await test.sounding(true)
        for number in 0..<20 {
            let over = StreamID(200 + UInt64(number))
            test.output.openOverlay(over, levels: OutputUnderTest.beside)
            test.count(over, right: true, 1_000)
            try await test.overlayEnded(over)
        }
        test.output.close(test.stream)
        let right = sounds(card.recording(), channel: 1)
        let isWhole = (0..<20).map { Array(right.dropFirst($0 * 1_000).prefix(1_000)) == Array(1...1_000) }
        #expect(right.count == 20_000 && isWhole == Array(repeating: true, count: 20))
    }
}
