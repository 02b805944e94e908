// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import Glibc
import MediaModel
import ReceiverTestKit
import Testing

/// The sound of `ToneClock` as a file.
private enum Tones {
    /// Nil if there is no place for it.
    static func file(rate: Int32 = 48_000, seconds: Double = 40) -> String? {
        var template = Array("/tmp/linnet-tones-XXXXXX".utf8CString)
        let file = unsafe mkstemp(&template)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let bytes = ToneClock.wav(seconds: seconds, rate: rate)
        guard unsafe bytes.withUnsafeBytes({ unsafe write(file, $0.baseAddress, $0.count) }) == bytes.count
        else { return nil }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static let usual = file()
    static let cd = file(rate: 44_100)
}

extension RendererUnderTest {
    fileprivate func ready(_ isReady: Bool = true) async throws {
        try await first { $0 == .readinessChanged(load, isReady) ? () : nil }
    }

    fileprivate func reports(_ count: Int) async throws {
        for _ in 0..<count {
            try await first { if case .syncChanged(load, _) = $0 { () } else { nil } }
        }
    }

    /// Binds the load to what begins at `seconds` of the item, `lead` from now; earlier if that is below 0.
    fileprivate func bind(_ seconds: Double, in lead: Double = 0.3, rate: Double = 1) -> PlaybackAnchor {
        let anchor = PlaybackAnchor(
            itemTime: Int64(seconds * 1e9), clockTime: AudioOutput.now() + Int64(lead * 1e9), rate: rate)
        send(.bind(load, anchor))
        return anchor
    }
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

@Suite(.timeLimit(.minutes(2))) struct `A load of a group` {
    /// A load that is bound and stands, and its card.
    private func standing(_ kind: TestCards.Kind = .usual, _ path: String? = Tones.usual) async throws
        -> (RendererUnderTest, SimulatedCard)
    {
        let card = try #require(TestCards.take(kind))
        let test = try RendererUnderTest(device: card.device)
        test.send(.setGroupClock(.identity))
        test.play("file://\(try #require(path))", playing: false)
        test.send(.bind(test.load, nil))
        try await test.ready()
        return (test, card)
    }

    @Test(arguments: [TestCards.Kind.usual, .stepping])
    func `begins when its anchor says`(kind: TestCards.Kind) async throws {
        var (test, card) = try await standing(kind)
        let anchor = test.bind(0)
        try await test.reports(2)
        test.send(.stop(test.load))
        let late = lateness(&card, of: anchor)
        #expect(late.count >= 15)
        #expect(worst(late) < 500)
        // The tone begins with the first frame; its first sample above the threshold is a few frames on.
        let first = try #require(card.recording().firstSound(from: 0))
        #expect((first - anchor.clockTime).magnitude < 500_000)
    }

    @Test func `joins in its place midway`() async throws {
        var card = try #require(TestCards.take(.fast))
        let test = try RendererUnderTest(device: card.device)
        test.send(.setGroupClock(.identity))
        test.play("file://\(try #require(Tones.usual))", playing: false)
        let anchor = test.bind(2, in: -10)
        try await test.reports(2)
        test.send(.stop(test.load))
        let late = lateness(&card, of: anchor)
        #expect(late.count >= 15)
        #expect(worst(late) < 500)
    }

    @Test func `stands, and goes on where it stood`() async throws {
        var (test, card) = try await standing()
        let anchor = test.bind(0)
        try await test.reports(1)
        test.send(.bind(test.load, nil))
        let stood = try await test.sounding(rate: 0).position.nanoseconds ?? 0
        let paused = SimulatedCard.now
        let place = Double(stood / 10_000_000) / 100
        let again = test.bind(place)
        try await test.reports(2)
        test.send(.stop(test.load))
        let before = lateness(&card, of: anchor, to: paused - 200_000_000)
        let late = lateness(&card, of: again)
        #expect(before.count >= 5 && worst(before) < 500)
        #expect(late.count >= 15 && worst(late) < 500)
        let silence = card.recording().heard(
            from: again.clockTime - 100_000_000, for: .milliseconds(95))
        #expect(silence.isSilent)
    }

    @Test func `moves to another place of its item`() async throws {
        var (test, card) = try await standing()
        _ = test.bind(0)
        try await test.reports(1)
        test.send(.bind(test.load, nil))
        test.seek(1, to: 20)
        try await test.seekDone(1)
        try await test.ready()
        let anchor = test.bind(20)
        try await test.reports(2)
        test.send(.stop(test.load))
        let late = lateness(&card, of: anchor)
        #expect(late.count >= 15 && worst(late) < 500)
    }

    @Test func `finds the place of an anchor by itself`() async throws {
        var (test, card) = try await standing()
        _ = test.bind(0)
        try await test.reports(1)
        let anchor = test.bind(25, in: -1)
        let told = SimulatedCard.now
        try await test.reports(3)
        test.send(.stop(test.load))
        let late = lateness(&card, of: anchor, from: told + 100_000_000)
        #expect(late.count >= 15)
        #expect(worst(Array(late.suffix(10))) < 500)
    }

    @Test func `of another rate than the card's is heard in its place`() async throws {
        var (test, card) = try await standing(.fast, Tones.cd)
        let anchor = test.bind(0)
        try await test.reports(2)
        test.send(.stop(test.load))
        let late = lateness(&card, of: anchor)
        #expect(late.count >= 15 && worst(late) < 500)
    }

    @Test func `changes its speed in its place`() async throws {
        var (test, card) = try await standing()
        _ = test.bind(0)
        try await test.reports(1)
        let anchor = test.bind(5, in: 0.5, rate: 1.5)
        try await test.sounding(rate: 1.5)
        let told = SimulatedCard.now
        try await test.reports(2)
        let position = try await test.first { event -> PlaybackPosition? in
            if case .positionChanged(test.load, let position) = event, position.rate != 0 {
                position
            } else {
                nil
            }
        }
        test.send(.stop(test.load))
        #expect((position.rate - 1.5).magnitude < 0.01)
        let expected = anchor.itemTime(at: position.clockTime)
        #expect(((position.position.nanoseconds ?? 0) - expected).magnitude < 20_000_000)
        #expect(!card.recording().heard(from: told + 200_000_000, for: .seconds(1)).isSilent)
    }

    @Test func `ends when its last sample was heard, and nothing follows it`() async throws {
        let (test, _) = try await standing()
        test.send(
            .prepareNext(
                test.load,
                UpcomingItem(load: LoadID(2), item: MediaItem(uri: "file://\(try #require(Tones.usual))"))))
        let anchor = test.bind(39, in: 0.5)
        try await test.ended()
        #expect(AudioOutput.now() >= anchor.clockTime + 1_000_000_000)
    }

    @Test func `plays on by itself once it is bound no more`() async throws {
        var (test, card) = try await standing()
        _ = test.bind(0)
        try await test.reports(1)
        test.send(.unbind(test.load))
        let recording = try #require(
            await card.recording(within: .seconds(20)) { recording in
                guard let last = recording.segments.last, recording.segments.count > 1 else { return false }
                return recording.frameCount > last.firstFrame + 24_000
            })
        let start = try #require(recording.segments.last).start
        #expect(!recording.heard(from: start + 100_000_000, for: .milliseconds(300)).isSilent)
        test.send(.setPlaying(test.load, false))
        try await test.sounding(rate: 0)
    }

    @Test func `that is loaded again keeps the card's clock`() async throws {
        var (test, card) = try await standing(.fast)
        _ = test.bind(0)
        try await test.reports(1)
        let next = LoadID(2)
        test.send(
            .load(next, MediaItem(uri: "file://\(try #require(Tones.usual))"), playing: false))
        let anchor = PlaybackAnchor(itemTime: 0, clockTime: AudioOutput.now() + 400_000_000, rate: 1)
        test.send(.bind(next, anchor))
        try await test.first { if case .syncChanged(next, _) = $0 { () } else { nil } }
        test.send(.stop(next))
        let late = lateness(&card, of: anchor)
        #expect(late.count > 5 && worst(late) < 500)
        // One stretch: the card was never stopped.
        #expect(card.recording().segments.count == 1)
    }
}
