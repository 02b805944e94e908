// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import MediaModel
import ReceiverTestKit
import Testing

extension OutputUnderTest {
    /// Gives the sound of `ToneClock` from `seconds` of the item on, for as long as it is taken, or for `length` seconds.
    func tell(from seconds: Double = 0, length: Double = 600, rate: Int32 = 48_000) {
        _ = OutputThread.start(named: "feed") { [output, stream] in
            guard output.setRate(rate, for: stream) == .written else { return }
            let first = Int((seconds * Double(rate)).rounded())
            let (end, step) = (first + Int(length * Double(rate)), 1e9 / Double(rate))
            var next = first
            while next < end {
                let part = min(Int(rate) / 50, end - next)
                let samples = ToneClock.frames(part, from: next, rate: rate)
                guard
                    output.write(samples.span, position: Double(next) * step, step: step, for: stream)
                        == .written
                else { return }
                next += part
            }
            output.end(stream)
        }
    }

    func ready(_ isReady: Bool = true) async throws {
        try await first { $0 == .readinessChanged(stream, isReady) ? () : nil }
    }

    func report() async throws -> SyncReport {
        try await first { if case .syncChanged(stream, let report) = $0 { report } else { nil } }
    }
}

/// An anchor that begins `lead` from now.
private func soon(_ itemTime: Double = 0, _ lead: Duration = .milliseconds(300), rate: Double = 1)
    -> PlaybackAnchor
{
    PlaybackAnchor(
        itemTime: Int64(itemTime * 1e9), clockTime: AudioOutput.now() + Int64(lead / .nanoseconds(1)),
        rate: rate)
}

/// By how much a card's sound is late, in microseconds.
private func lateness(
    _ card: inout SimulatedCard, of anchor: PlaybackAnchor, from start: Int64 = 0, to end: Int64 = .max
) -> [Double] {
    ToneClock.lateness(in: card.recording(), from: max(start, anchor.clockTime), to: end) {
        Double(anchor.itemTime(at: $0)) * 1e-9
    }.map(\.late)
}

private func worst(_ values: [Double]) -> Double { values.reduce(0) { max($0, $1.magnitude) } }

@Suite(.timeLimit(.minutes(1))) struct `A bound output` {
    @Test(arguments: [TestCards.Kind.usual, .fast, .stepping, .coarse])
    func `is heard when the group's time says, whatever its card's clock`(kind: TestCards.Kind) async throws {
        var card = try #require(TestCards.take(kind))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.setGroupClock(.identity)
        test.output.open(test.stream, playing: false, binding: .some(nil))
        test.tell()
        try await test.ready()
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        for _ in 0..<4 { _ = try await test.report() }
        let report = try await test.report()
        test.output.close(test.stream)
        let late = lateness(&card, of: anchor)
        print(kind, late.map { ($0 * 100).rounded() / 100 }, report)
        #expect(late.count > 40)
        #expect(worst(late) < 500)
        #expect(worst(Array(late.suffix(10))) < 50)
        #expect(card.recording().underruns == 0)
    }
}
