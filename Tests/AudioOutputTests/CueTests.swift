// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A cue` {
    private let stream = StreamID(1)
    private static let step = 1e9 / 48_000

    private func write(_ count: Int, from place: Double, to test: OutputUnderTest) -> WriteOutcome {
        let samples = [Float](repeating: 0.1, count: count * 2)
        return test.output.write(samples.span, position: place, step: Self.step, for: stream)
    }

    @Test func `is reported when the frame behind it is heard, not when it is set`() async throws {
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(stream, playing: true)
        let (output, stream) = (test.output, stream)
        let isStarted = OutputThread.start(named: "feed") {
            guard output.setRate(48_000, for: stream) == .written else { return }
            let samples = [Float](repeating: 0.1, count: 12_000 * 2)
            for number in 0..<4 {
                let place = Double(number) * 250_000_000
                _ = output.write(samples.span, position: place, step: Self.step, for: stream)
                _ = output.cue(number, in: stream)
            }
            output.end(stream)
        }
        #expect(isStarted)
        for number in 0..<3 {
            let heard = try await test.first { event -> Int64? in
                guard event == .cueReached(stream, number) else { return nil }
                return output.heard(of: stream, at: AudioOutput.now())?.position
            }
            let expected = Int64(number + 1) * 250_000_000
            #expect((expected - 1_000_000...expected + 100_000_000).contains(heard))
        }
        // The last one stands behind everything.
        try await test.first { $0 == .cueReached(stream, 3) ? () : nil }
    }

    @Test func `is reported when what stands before it is forgotten`() async throws {
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.open(stream, playing: false)
        #expect(test.output.setRate(48_000, for: stream) == .written)
        #expect(write(4_800, from: 0, to: test) == .written)
        #expect(test.output.cue(1, in: stream))
        test.output.beginFlush(stream)
        try await test.first { $0 == .cueReached(stream, 1) ? () : nil }
    }

    @Test func `of a stream whose turn has not come, or one too many, is refused`() throws {
        let test = try OutputUnderTest(AudioOutputConfiguration(device: "null"))
        test.output.open(stream, playing: false)
        test.output.follow(StreamID(2), after: stream)
        #expect(!test.output.cue(1, in: StreamID(2)))
        #expect(test.output.setRate(48_000, for: stream) == .written)
        #expect(write(4_800, from: 0, to: test) == .written)
        #expect((0..<100).filter { test.output.cue($0, in: stream) }.count == 32)
    }
}
