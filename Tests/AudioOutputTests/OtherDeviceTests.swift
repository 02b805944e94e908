// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `An output that is moved to another device` {
    /// Frames of which the left sample tells the number.
    private static let count = 29_000

    /// True if every frame was heard at one of both, but for those of a fade, and none much too often.
    private func isWhole(_ first: CardRecording, _ second: CardRecording) -> Bool {
        let frames = heardFrames(first) + heardFrames(second)
        return AudioOutputTests.isWhole(frames, 0..<Self.count) && frames.count < Self.count + 1_440
    }

    @Test func `goes on there in its place`() async throws {
        var usual = try #require(TestCards.take())
        var other = try #require(TestCards.take(.unpausable))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: usual.device))
        test.output.open(test.stream, playing: true)
        test.feed(Self.count)
        try await test.sounding(true)
        test.output.setDevice(other.device)
        #expect(try await test.state(.open).device == other.device)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        let (first, second) = (usual.recording(), other.recording())
        #expect(isWhole(first, second))
        // Nothing is heard at both, and the one is free for others.
        let begin = try #require(second.firstSound(from: 0))
        #expect(try #require(first.lastSound()) < begin)
        #expect(!first.isOpen && first.segments.count == 1)
    }

    @Test func `comes back, and knows what is heard`() async throws {
        let usual = try #require(TestCards.take())
        let other = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: usual.device))
        test.output.open(test.stream, playing: true)
        test.feed(10 * Self.count)
        try await test.sounding(true)
        let begun = AudioOutput.now()
        for device in [other.device, nil] {
            test.output.setDevice(device)
            #expect(try await test.state(.open).device == device ?? usual.device)
            try await test.sounding(true)
        }
        let heard = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        #expect(heard.position > 0 && heard.position < heard.clockTime - begun + 500_000_000)
        test.output.close(test.stream)
    }

    @Test func `stays paused, and goes on at the other device`() async throws {
        var usual = try #require(TestCards.take())
        var other = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: usual.device))
        test.output.open(test.stream, playing: true)
        test.feed(Self.count)
        try await test.sounding(true)
        test.output.setPlaying(false, for: test.stream)
        try await test.sounding(false)
        let paused = test.output.heard(of: test.stream, at: AudioOutput.now())?.position
        test.output.setDevice(other.device)
        #expect(try await test.state(.open).device == other.device)
        #expect(test.output.heard(of: test.stream, at: AudioOutput.now())?.position == paused)
        #expect(other.recording().segments.isEmpty)
        test.output.setPlaying(true, for: test.stream)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        #expect(isWhole(usual.recording(), other.recording()))
    }

    @Test func `is silent while that device is away, and goes on once it is there`() async throws {
        let usual = try #require(TestCards.take())
        var other = try #require(TestCards.take())
        try other.setUnplugged(true)
        let test = try OutputUnderTest(
            AudioOutputConfiguration(
                device: usual.device, retryDelays: .milliseconds(20)...(.milliseconds(100))))
        test.output.open(test.stream, playing: true)
        test.feed(Self.count)
        try await test.sounding(true)
        test.output.setDevice(other.device)
        #expect(try await test.state(.lost).device == other.device)
        try other.setUnplugged(false)
        try await test.sounding(true)
        try await test.first { $0 == .drained(test.stream) ? () : nil }
        #expect(other.recording().firstSound(from: 0) != nil)
    }

    @Test func `is only looked at while nothing plays`() async throws {
        let usual = try #require(TestCards.take())
        var other = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: usual.device))
        _ = try await test.state(.closed)
        test.output.setDevice(other.device)
        #expect(try await test.state(.closed).device == other.device)
        let recording = other.recording()
        #expect(!recording.isOpen && recording.segments.isEmpty)
    }

    @Test func `does not play a rate that the device has not`() async throws {
        let usual = try #require(TestCards.take())
        var other = try #require(TestCards.take(.high))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: usual.device))
        test.output.open(test.stream, playing: true)
        test.feed(Self.count)
        try await test.sounding(true)
        test.output.setDevice(other.device)
        #expect(try await test.state(.open).device == other.device)
        #expect(test.output.rate(of: test.stream) == 48_000 && test.output.supportedRates == [96_000])
        // Whoever decodes gives up the stream, and begins another one.
        let next = StreamID(2)
        test.output.open(next, playing: true)
        test.feed(9_600, rate: 96_000, to: next)
        try await test.first { $0 == .drained(next) ? () : nil }
        #expect(other.recording().firstSound(from: 0) != nil)
    }
}
