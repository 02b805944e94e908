// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import Glibc
import MediaModel
import ReceiverTestKit
import Testing

extension OutputUnderTest {
    /// Gives the sound of `ToneClock` from `seconds` of the item on, for as long as it is taken, or for `length` seconds.
    func tell(from seconds: Double = 0, length: Double = 600, rate: Int32 = 48_000, ends: Bool = true) {
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
            if ends { output.end(stream) }
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

@Suite(.timeLimit(.minutes(2))) struct `A bound output` {
    /// An output whose stream is bound and stands, ready to begin.
    private func standing(_ kind: TestCards.Kind, rate: Int32 = 48_000) async throws
        -> (OutputUnderTest, SimulatedCard)
    {
        let card = try #require(TestCards.take(kind))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.setGroupClock(.identity)
        test.output.open(test.stream, playing: false, binding: .some(nil))
        test.tell(rate: rate)
        try await test.ready()
        return (test, card)
    }

    @Test(arguments: [TestCards.Kind.fast, .stepping, .coarse])
    func `is heard with another one, whatever their cards' clocks`(kind: TestCards.Kind) async throws {
        var (one, card) = try await standing(.usual)
        var (other, otherCard) = try await standing(kind)
        let anchor = soon()
        one.output.bind(one.stream, to: anchor)
        other.output.bind(other.stream, to: anchor)
        for _ in 0..<4 { _ = try await one.report() }
        let report = try await other.report()
        one.output.close(one.stream)
        other.output.close(other.stream)
        let late = lateness(&card, of: anchor)
        let otherLate = lateness(&otherCard, of: anchor)
        #expect(late.count > 30 && otherLate.count > 30)
        #expect(worst(late) < 500 && worst(otherLate) < 500)
        let apart = zip(late, otherLate).map { $1 - $0 }
        // A position that moves in steps of 5 ms takes longer to be known.
        #expect(worst(Array(apart.dropFirst(20))) < (kind == .coarse ? 250 : 50), "\(apart)")
        #expect(report.resyncs == 0 && report.underruns == 0)
    }

    @Test func `begins with the first frame of its item, at its moment`() async throws {
        var (test, card) = try await standing(.fast)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        _ = try await test.report()
        test.output.close(test.stream)
        // Nothing is heard before but what a filter lets ring, and all of the first millisecond is.
        let recording = card.recording()
        let before = recording.heard(from: anchor.clockTime - 250_000_000, for: .milliseconds(249))
        #expect(before.isSilent)
        let first = try #require(recording.firstSound(from: 0, threshold: 1000))
        // The tone of half the full loudness has come to 1000 after 10 microseconds.
        #expect((first - anchor.clockTime).magnitude < 100_000)
    }

    @Test func `plays what its card plays, at high rates, too`() async throws {
        var (test, card) = try await standing(.high, rate: 96_000)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        for _ in 0..<2 { _ = try await test.report() }
        test.output.close(test.stream)
        let late = lateness(&card, of: anchor)
        #expect(late.count > 10 && worst(late) < 500)
    }

    @Test func `tells that it starves, and falls in again in its place`() async throws {
        var card = try #require(TestCards.take(.fast))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.setGroupClock(.identity)
        test.output.open(test.stream, playing: false, binding: .some(nil))
        let gap = 1.0
        test.tell(length: gap, ends: false)
        try await test.ready()
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        try await test.first { $0 == .starvationChanged(test.stream, true) ? () : nil }
        test.tell(from: gap)
        try await test.first { $0 == .starvationChanged(test.stream, false) ? () : nil }
        for _ in 0..<2 { _ = try await test.report() }
        test.output.close(test.stream)
        let late = lateness(&card, of: anchor)
        #expect(late.count > 15 && worst(Array(late.suffix(8))) < 500, "\(late)")
        #expect(card.recording().underruns == 0)
    }

    /// Why a card runs dry.
    enum Dryness: Sendable, CaseIterable {
        case byItself
        /// This process was stopped for longer than what the card had queued.
        case processStopped
    }

    @Test(arguments: Dryness.allCases)
    func `is in its place after the card ran dry`(reason: Dryness) async throws {
        var (test, card) = try await standing(.fast)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        _ = try await test.report()
        switch reason {
        case .byItself: try card.runDry()
        case .processStopped:
            let process = getpid()
            let shell = unsafe popen("kill -STOP \(process); sleep 0.3; kill -CONT \(process)", "r")
            let wait = try unsafe #require(shell)
            _ = unsafe pclose(wait)
        }
        try await test.sounding(false)
        try await test.sounding(true)
        let again = SimulatedCard.now
        var report = SyncReport()
        for _ in 0..<2 { report = try await test.report() }
        test.output.close(test.stream)
        let late = lateness(&card, of: anchor, from: again)
        #expect(report.underruns == 1)
        #expect(late.count > 8 && worst(late) < 500, "\(late)")
    }

    @Test func `follows a small trim by reading faster, without a jump`() async throws {
        var (test, card) = try await standing(.usual)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        _ = try await test.report()
        test.output.setOutputTrim(600_000)
        var report = SyncReport()
        for _ in 0..<4 { report = try await test.report() }
        test.output.close(test.stream)
        let late = lateness(&card, of: anchor)
        #expect(report.resyncs == 0)
        #expect(late.count > 30 && (late[late.count - 1] + 600).magnitude < 100, "\(late)")
    }

    @Test(arguments: [40, -40])
    func `jumps by a large trim`(milliseconds: Int) async throws {
        var (test, card) = try await standing(.usual)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        _ = try await test.report()
        let told = SimulatedCard.now
        test.output.setOutputTrim(Int64(milliseconds) * 1_000_000)
        var report = SyncReport()
        for _ in 0..<2 { report = try await test.report() }
        test.output.close(test.stream)
        let late = lateness(&card, of: anchor, from: told + 200_000_000)
        #expect(report.resyncs == 1)
        #expect(
            late.count > 8 && late.allSatisfy { ($0 + Double(milliseconds) * 1000).magnitude < 500 },
            "\(late)")
    }

    @Test func `is not moved by another clock with an anchor of its own`() async throws {
        var (test, card) = try await standing(.usual)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        _ = try await test.report()
        // The clock of the next host shows another time of day.
        let offset: Int64 = 3_600_000_000_000
        test.output.setGroupClock(ClockLine(local: 0, remote: offset, skew: 0))
        var moved = anchor
        moved.clockTime += offset
        test.output.bind(test.stream, to: moved)
        var report = SyncReport()
        for _ in 0..<2 { report = try await test.report() }
        test.output.close(test.stream)
        let late = lateness(&card, of: anchor)
        #expect(report.resyncs == 0)
        #expect(late.count > 20 && worst(late) < 500, "\(late)")
    }

    @Test func `lets another sound lie over it, and stays in its place`() async throws {
        var (test, card) = try await standing(.fast)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        _ = try await test.report()
        let over = StreamID(100)
        test.output.openOverlay(over, levels: OverlayLevels(ducking: 0))
        _ = OutputThread.start(named: "feed") { [output = test.output] in
            guard output.setRate(48_000, for: over) == .written else { return }
            let samples = [Float](repeating: 0.25, count: 2 * 14_400)
            _ = output.write(samples.span, position: 0, step: 1e9 / 48_000, for: over)
            output.end(over)
        }
        try await test.first { $0 == .overlayBegan(over) ? () : nil }
        let began = SimulatedCard.now
        try await test.first { $0 == .overlayEnded(over) ? () : nil }
        let ended = SimulatedCard.now
        _ = try await test.report()
        test.output.close(test.stream)
        let heard = card.recording().heard(from: began, for: .milliseconds(100))
        let mean = heard.samples.reduce(0) { $0 + Int($1) } / max(heard.samples.count, 1)
        #expect((6_000...10_000).contains(mean))
        #expect(ended - began > 200_000_000)
        let late = lateness(&card, of: anchor)
        #expect(late.count > 10 && worst(late) < 500, "\(late)")
        #expect(card.recording().underruns == 0)
    }

    @Test func `tells the end when the last frame was heard, and before it not that it starves`() async throws
    {
        var card = try #require(TestCards.take(.usual))
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        test.output.setGroupClock(.identity)
        test.output.open(test.stream, playing: false, binding: .some(nil))
        test.tell(length: 1)
        try await test.ready()
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        let isEnd = try await test.first {
            $0 == .drained(test.stream) ? true : $0 == .readinessChanged(test.stream, false) ? false : nil
        }
        let end = SimulatedCard.now
        #expect(isEnd && end >= anchor.clockTime + 1_000_000_000)
        let last = try #require(card.recording().lastSound())
        #expect((last - anchor.clockTime - 1_000_000_000).magnitude < 1_000_000)
    }

    @Test func `goes on by itself once it is bound no more`() async throws {
        var (test, card) = try await standing(.usual)
        let anchor = soon()
        test.output.bind(test.stream, to: anchor)
        _ = try await test.report()
        test.output.setPlaying(true, for: test.stream)
        test.output.unbind(test.stream)
        let recording = try #require(
            await card.recording(within: .seconds(20)) { recording in
                guard let last = recording.segments.last, recording.segments.count > 1 else { return false }
                return recording.frameCount > last.firstFrame + 9_600
            })
        let heard = try #require(test.output.heard(of: test.stream, at: AudioOutput.now()))
        #expect(heard.rate == 1)
        // The card was set up anew meanwhile: the item goes on from where it was heard, that much later.
        let start = try #require(recording.segments.last).start
        let late = ToneClock.lateness(in: recording, from: start, to: .max) {
            Double(anchor.itemTime(at: $0)) * 1e-9
        }
        #expect(late.count > 0 && late.allSatisfy { (-1_000...49_000).contains($0.late) })
        test.output.close(test.stream)
    }

    @Test func `tells that its place is elsewhere`() async throws {
        let (test, _) = try await standing(.usual)
        let anchor = soon(100, .seconds(-1))
        test.output.bind(test.stream, to: anchor)
        let wanted = try await test.first {
            if case .strayed(test.stream, let wanted, _) = $0 { wanted } else { nil }
        }
        #expect(wanted >= anchor.itemTime)
        test.output.close(test.stream)
    }
}
