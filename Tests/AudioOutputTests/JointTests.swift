// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

/// The samples of the left channel that were heard, in order, without silence.
private func heard(_ recording: CardRecording) -> [Int] {
    recording.segments.flatMap { segment in
        let end = min(segment.endFrame ?? recording.frameCount, recording.frameCount)
        return (segment.firstFrame..<max(end, segment.firstFrame)).map { Int(recording.samples[$0 * 2]) }
    }.filter { $0 != 0 }
}

extension OutputUnderTest {
    /// Gives `count` frames of which the left sample is `first` and one more each time, and ends the stream.
    fileprivate func feed(
        _ stream: StreamID, _ count: Int, from first: Int, rate: Int32 = 48_000,
        onTurn: @escaping @Sendable () -> Void = {}
    ) {
        _ = OutputThread.start(named: "feed") { [output] in
            guard output.setRate(rate, for: stream) == .written else { return }
            onTurn()
            var samples = [Float](repeating: 0, count: count * 2)
            for frame in 0..<count { samples[frame * 2] = Float(first + frame) / 32_768 }
            let step = 1e9 / Double(rate)
            guard output.write(samples.span, position: 0, step: step, for: stream) == .written else { return }
            output.end(stream)
        }
    }

    fileprivate func advanced() async throws -> Int64 {
        try await first { $0 == .advanced(StreamID(1), to: StreamID(2)) ? SimulatedCard.now : nil }
    }

    fileprivate func drained(_ stream: UInt64) async throws {
        try await first { $0 == .drained(StreamID(stream)) ? () : nil }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `Two streams` {
    private let first = StreamID(1)
    private let second = StreamID(2)

    @Test func `of one rate meet without a frame between them, and the second is told of when it is heard`()
        async throws
    {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(first, playing: true)
        test.output.follow(second, after: first)
        test.feed(second, 8_000, from: 15_001)
        test.feed(first, 15_000, from: 1)
        let told = try await test.advanced()
        #expect(test.output.heard(of: first, at: AudioOutput.now()) == nil)
        let position = try #require(test.output.heard(of: second, at: AudioOutput.now()))
        #expect((0..<100_000_000).contains(position.position))
        try await test.drained(2)
        let recording = card.recording()
        #expect(heard(recording) == Array(1...23_000))
        #expect(recording.segments.count == 1)
        let segment = try #require(recording.segments.first)
        let moment = segment.start + Int64(15_000 / segment.rate * 1e9)
        #expect((0..<150_000_000).contains(told - moment), "\(told - moment) ns late")
    }

    @Test func `of two rates are heard one after the other, each at its own`() async throws {
        var card = try #require(TestCards.take(.versatile))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(first, playing: true)
        test.output.follow(second, after: first)
        test.feed(second, 8_000, from: 15_001, rate: 44_100)
        test.feed(first, 15_000, from: 1)
        _ = try await test.advanced()
        try await test.drained(2)
        let recording = card.recording()
        #expect(heard(recording).count == 23_000)
        #expect(recording.segments.map { $0.rate.rounded() } == [48_000, 44_100])
    }

    @Test func `meet also when the second is late`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(first, playing: true)
        test.output.follow(second, after: first)
        test.feed(first, 5_000, from: 1)
        _ = try await test.advanced()
        test.feed(second, 5_000, from: 5_001)
        try await test.drained(2)
        #expect(heard(card.recording()) == Array(1...10_000))
    }

    @Test func `part when the second is taken back, also behind the joint`() async throws {
        var card = try #require(TestCards.take())
        let configuration = AudioOutputConfiguration(device: card.device, buffer: .milliseconds(400))
        let test = try OutputUnderTest(configuration)
        test.output.open(first, playing: true)
        test.output.follow(second, after: first)
        test.feed(first, 16_000, from: 1)
        test.feed(second, 19_000, from: -20_000)
        try await test.sounding(true)
        // All of the first and some of the second are with the card by now, and the first is heard for a third of a second.
        test.output.close(second)
        try await test.drained(1)
        let frames = heard(card.recording())
        // The card is filled again, at most with what was heard since it was last asked.
        #expect(frames.last == 16_000 && !frames.contains { $0 < 0 })
        #expect(isWhole(frames, 1..<16_001))
    }

    @Test func `part at a flush of the first, which goes on alone`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(first, playing: false)
        test.output.follow(second, after: first)
        // What has not joined yet still follows.
        let (joined, joint) = AsyncStream.makeStream(of: Void.self)
        test.feed(first, 20_000, from: 1)
        test.feed(second, 19_000, from: -20_000) { joint.finish() }
        for await _ in joined {}
        test.output.setPlaying(true, for: first)
        try await test.sounding(true)
        test.output.beginFlush(first)
        test.output.endFlush(first)
        test.feed(first, 1_000, from: 31_001)
        try await test.drained(1)
        let frames = heard(card.recording())
        #expect(frames.suffix(20) == Array(31_981...32_000)[...])
        #expect(!frames.contains { $0 < 0 })
    }

    @Test func `meet across a pause`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(first, playing: true)
        test.output.follow(second, after: first)
        test.feed(first, 23_000, from: 1)
        test.feed(second, 9_000, from: 23_001)
        try await test.sounding(true)
        test.output.setPlaying(false, for: first)
        try await test.sounding(false)
        test.output.setPlaying(true, for: first)
        try await test.drained(2)
        #expect(isWhole(heard(card.recording()), 1..<32_001))
    }

    @Test func `of which the second has nothing to give are over with the first`() async throws {
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(first, playing: true)
        test.output.follow(second, after: first)
        test.output.end(second)
        test.feed(first, 5_000, from: 1)
        _ = try await test.advanced()
        try await test.drained(2)
        #expect(heard(card.recording()) == Array(1...5_000))
    }
}
