// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import MediaModel
import ReceiverTestKit
import Testing

extension RendererUnderTest {
    fileprivate func announce(
        _ number: UInt64, _ uri: String, volume: Double = 1, ducking: Double = 20
    ) {
        send(
            .announce(
                LoadID(number),
                Announcement(item: MediaItem(uri: uri), volume: Volume(level: volume), ducking: ducking)))
    }

    @discardableResult
    fileprivate func announcementBegan(_ number: UInt64) async throws -> Int64 {
        try await first { event in
            if case .announcementFailed(LoadID(number), let failure) = event { throw failure }
            return event == .announcementBegan(LoadID(number)) ? SimulatedCard.now : nil
        }
    }

    fileprivate func announcementEnded(_ number: UInt64) async throws {
        try await first { event in
            if case .announcementFailed(LoadID(number), let failure) = event { throw failure }
            return event == .announcementEnded(LoadID(number)) ? () : nil
        }
    }

    fileprivate func announcementFailure(_ number: UInt64) async throws -> MediaFailure {
        try await first {
            if case .announcementFailed(LoadID(number), let failure) = $0 { failure } else { nil }
        }
    }

    private func first<Value>(_ pick: (RendererEvent) throws -> Value?) async throws -> Value {
        var failure: (any Error)?
        let value: Value? = try await first { event -> Value?? in
            do { return try pick(event).map { .some($0) } } catch {
                failure = error
                return .some(nil)
            }
        }
        if let failure { throw failure }
        return try #require(value)
    }

    /// Where the load is, by what was reported later than `time`.
    fileprivate func position(after time: Int64) async throws -> PlaybackPosition {
        try await first {
            if case .positionChanged(load, let position) = $0, position.clockTime > time {
                position
            } else {
                nil
            }
        }
    }
}

extension CardRecording {
    /// Both channels of all that was heard.
    fileprivate var sound: [Int16] {
        segments.flatMap { segment in
            let end = min(segment.endFrame ?? frameCount, frameCount)
            return samples[segment.firstFrame * 2..<max(end, segment.firstFrame) * 2]
        }
    }
}

/// The samples of a WAV file that `wavenc` made.
private func samples(of name: String) throws -> [Int16] {
    let bytes = try #require(Media.bytes(name))
    return stride(from: 44, to: bytes.count - 1, by: 2).map {
        Int16(truncatingIfNeeded: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
}

@Suite(.timeLimit(.minutes(1)), .serialized) struct `An announcement` {
    private let bell = Media.file("joint/blip.wav")

    @Test func `is heard alone from its first sample to its last`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.announce(7, Media.file("joint/second.wav"))
        try await test.announcementBegan(7)
        try await test.announcementEnded(7)
        let whole = try samples(of: "joint/second.wav")
        let sound = card.recording().sound
        #expect(Array(sound.prefix(whole.count)) == whole)
        #expect(sound.dropFirst(whole.count).allSatisfy { $0 == 0 })
    }

    @Test func `ducks what plays, which goes on as if there had been nothing`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"))
        let begin = try await test.sounding()
        let origin = begin.clockTime - (try #require(begin.position.nanoseconds))
        // It is silent itself, so that the other alone is heard.
        test.announce(7, Media.file("joint/second.wav"), volume: 0)
        let began = try await test.announcementBegan(7)
        let loud = try await listen(&card, from: origin + 50_000_000, for: .milliseconds(50), channel: 1)
        let soft = try await listen(&card, from: began + 100_000_000, for: .milliseconds(100), channel: 1)
        let ratio = Double(soft.peak) / Double(loud.peak)
        #expect((ratio - 0.1).magnitude < 0.01, "\(ratio)")
        #expect((try #require(soft.frequency) - 1000).magnitude < 2)
        try await test.announcementEnded(7)
        let end = SimulatedCard.now
        let after = try await test.position(after: end)
        #expect(after.rate == 1)
        #expect((after.clockTime - origin - (try #require(after.position.nanoseconds))).magnitude < 2_000_000)
        let whole = try await listen(&card, from: end + 400_000_000, for: .milliseconds(50), channel: 1)
        #expect((whole.peak - loud.peak).magnitude < 20)
        // The tone tells the second that is heard.
        let second = (SimulatedCard.now - origin) / 1_000_000_000 + 1
        let sound = try await listen(
            &card, from: origin + second * 1_000_000_000 + 100_000_000, for: .milliseconds(100))
        #expect(sound.positionSecond == Int(second))
        let recording = card.recording()
        #expect(recording.segments.count == 1 && recording.underruns == 0)
    }

    @Test func `is heard over a pause, which stays one`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"))
        try await test.sounding()
        test.send(.setPlaying(test.load, false))
        let paused = try await test.sounding(rate: 0)
        test.announce(7, Media.file("joint/second.wav"))
        let began = try await test.announcementBegan(7)
        let sound = try await listen(&card, from: began + 100_000_000, for: .milliseconds(200))
        #expect((try #require(sound.frequency) - 441).magnitude < 1)
        try await test.announcementEnded(7)
        test.send(.setPlaying(test.load, true))
        let resumed = try await test.sounding()
        let gone = resumed.position.seconds - paused.position.seconds
        #expect((0..<0.1).contains(gone), "\(gone) s")
    }

    @Test func `comes twenty times in a row`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"))
        try await test.sounding()
        for number in 100..<120 as Range<UInt64> {
            test.announce(number, bell)
            try await test.announcementBegan(number)
            try await test.announcementEnded(number)
        }
        let now = SimulatedCard.now
        #expect(try await test.position(after: now).rate == 1)
    }

    @Test(arguments: [
        ("text.mp3", MediaFailure.Code.unsupportedFormat), ("none.wav", .notFound),
        ("silent.mp4", .unsupportedFormat),
    ])
    func `that cannot be played says why, and disturbs nothing`(name: String, code: MediaFailure.Code)
        async throws
    {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"))
        try await test.sounding()
        test.announce(7, Media.file(name))
        #expect(try await test.announcementFailure(7).code == code)
        // The next one is not held up.
        test.announce(8, bell)
        try await test.announcementEnded(8)
        let now = SimulatedCard.now
        #expect(try await test.position(after: now).rate == 1)
    }

    @Test func `is refused where its address is none that is played`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device) { $0.schemes = ["http"] }
        test.announce(7, bell)
        #expect(try await test.announcementFailure(7).code == .unsupportedScheme)
        test.announce(8, "bell")
        #expect(try await test.announcementFailure(8).code == .invalidURL)
    }

    @Test func `is over when it is cancelled, or another takes its place`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.announce(7, Media.file("position.wav"))
        try await test.announcementBegan(7)
        test.announce(8, Media.file("position.mp3"))
        try await test.announcementEnded(7)
        try await test.announcementBegan(8)
        test.send(.cancelAnnouncement(LoadID(8)))
        try await test.announcementEnded(8)
        let end = SimulatedCard.now
        let sound = try await listen(&card, from: end + 400_000_000, for: .milliseconds(100))
        #expect(sound.isSilent)
    }

    @Test func `goes on when the load is stopped, and when another begins`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"))
        try await test.sounding()
        test.announce(7, Media.file("joint/whole.wav"), ducking: 60)
        try await test.announcementBegan(7)
        test.send(.stop(test.load))
        try await test.first { $0 == .stopped(test.load) ? () : nil }
        let stopped = SimulatedCard.now
        let alone = try await listen(&card, from: stopped + 100_000_000, for: .milliseconds(150))
        #expect((try #require(alone.frequency) - 441).magnitude < 1)
        test.play(Media.file("position.flac"))
        try await test.announcementEnded(7)
        _ = try await test.position(after: SimulatedCard.now + 500_000_000)
    }
}
