// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import MediaModel
import ReceiverTestKit
import Testing

private let second = LoadID(2)

extension RendererUnderTest {
    fileprivate func follow(_ uri: String, from start: MediaTime = .zero, as next: LoadID = second) {
        send(.prepareNext(load, UpcomingItem(load: next, item: MediaItem(uri: uri, startPosition: start))))
    }

    /// Waits until the next item is heard; what was reported of it before is a fault.
    @discardableResult
    fileprivate func advanced(to next: LoadID = second) async throws -> Int64 {
        try await first { event in
            if case .loaded(next, _) = event { Issue.record("loaded before its turn") }
            return event == .advanced(load, to: next) ? SimulatedCard.now : nil
        }
    }

    fileprivate func ended(_ next: LoadID) async throws {
        try await first { $0 == .ended(next) ? () : nil }
    }

    /// Waits until a load is heard from this position on.
    fileprivate func position(of next: LoadID = second, from least: Double = 0) async throws
        -> PlaybackPosition
    {
        try await first {
            if case .positionChanged(next, let position) = $0, position.rate != 0,
                position.position.seconds >= least
            {
                position
            } else {
                nil
            }
        }
    }
}

extension RendererUnderTest {
    /// Begins two files, the second of which is being read before the first is heard: that is too short for a busy machine.
    fileprivate func play(_ first: String, andThen second: String) async throws {
        play(Media.file(first), playing: false)
        follow(Media.file(second))
        _ = try await loaded()
        try #require(await Media.isBeingRead(second))
        send(.setPlaying(load, true))
    }
}

extension CardRecording {
    /// Both channels of all that was heard, without the silence before and behind.
    fileprivate var sound: [Int16] {
        var heard: [Int16] = []
        for segment in segments {
            let end = min(segment.endFrame ?? frameCount, frameCount)
            heard += samples[segment.firstFrame * 2..<max(end, segment.firstFrame) * 2]
        }
        return heard
    }
}

/// The samples of a WAV file that `wavenc` made.
private func samples(of name: String) throws -> [Int16] {
    let bytes = try #require(Media.bytes(name))
    return stride(from: 44, to: bytes.count - 1, by: 2).map {
        Int16(truncatingIfNeeded: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
}

/// Expects the sound of the first item, and then that of the second. So little may be too short to open the next file
/// meanwhile; then there is silence, and nothing else.
private func expectBoth(
    _ first: ArraySlice<Int16>, isWithin: Bool = false, in sound: [Int16]
) throws {
    // What begins within its item comes up, and has dither until the end of a portion.
    let faded = isWithin ? 2 * 1_920 : 0
    #expect(Array(sound.prefix(first.count).dropFirst(faded)) == Array(first.dropFirst(faded)))
    let rest = sound.dropFirst(first.count).drop { $0 == 0 }
    let next = try samples(of: "joint/second.wav").drop { $0 == 0 }
    #expect(Array(rest.prefix(next.count)) == Array(next))
}

@Suite(.timeLimit(.minutes(1)), .serialized) struct `The next item` {
    @Test(arguments: [("wav", "wav"), ("flac", "flac"), ("wav", "flac")])
    func `follows without a gap: the sound is that of the file that was cut`(_ one: String, _ other: String)
        async throws
    {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        try await test.play("joint/first.\(one)", andThen: "joint/second.\(other)")
        try await test.advanced()
        try await test.ended(second)
        let whole = try samples(of: "joint/whole.wav")
        let recording = card.recording()
        #expect(recording.underruns == 0 && recording.segments.count == 1)
        let sound = recording.sound
        // Silence plays the last frames out.
        #expect(Array(sound.prefix(whole.count)) == whole)
        #expect(sound.dropFirst(whole.count).allSatisfy { $0 == 0 })
    }

    @Test func `is told of when its first frame is heard, and its facts with it`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        try await test.play("joint/first.flac", andThen: "joint/second.flac")
        let told = try await test.advanced()
        let media = try await test.first { event in
            if case .loaded(second, let media) = event { media } else { nil }
        }
        let position = try await test.position()
        #expect((media.timeline.range.duration.seconds - 38_263 / 48_000.0).magnitude < 0.001)
        let recording = card.recording()
        let segment = try #require(recording.segments.first)
        let moment = segment.start + Int64(57_737 / segment.rate * 1e9)
        #expect((0..<700_000_000).contains(told - moment), "\(told - moment) ns late")
        let real = Double(position.clockTime - moment) / 1e9
        #expect((position.position.seconds - real).magnitude < 0.005)
    }

    @Test(arguments: ["", "-lavc"])
    func `follows without a gap in MP3 files whose tag says what the encoder added`(tag: String) async throws
    {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        try await test.play("joint/first\(tag).mp3", andThen: "joint/second\(tag).mp3")
        try await test.advanced()
        try await test.ended(second)
        let sound = card.recording().sound
        let end = try #require(sound.lastIndex { $0 != 0 })
        #expect((96_000 - 2...96_000).contains(end / 2 + 1), "\(end / 2 + 1) frames")
        // The noise is that of the whole file, in its place, before and behind the joint.
        let whole = try samples(of: "joint/whole.wav")
        for first in [20_000, 57_737 + 10_000] {
            func likeness(_ shift: Int) -> Double {
                var (product, one, other) = (0.0, 0.0, 0.0)
                for frame in first..<first + 20_000 {
                    let (a, b) = (Double(sound[(frame + shift) * 2 + 1]), Double(whole[frame * 2 + 1]))
                    (product, one, other) = (product + a * b, one + a * a, other + b * b)
                }
                return product / (one * other).squareRoot()
            }
            let likenesses = (-3...3).map(likeness)
            #expect(likenesses[3] == likenesses.max() && likenesses[3] > 0.9, "\(likenesses)")
        }
    }

    @Test func `of another rate is heard whole, after the device was set`() async throws {
        var card = try #require(TestCards.take(.versatile))
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("joint/second.wav"))
        // What is made ready before the device was seen is made for 48 kHz, which every device has.
        try await test.first { event in
            if case .outputChanged(let status) = event, status.state == .open { () } else { nil }
        }
        test.follow(Media.file("joint/other.wav"))
        try await test.advanced()
        try await test.ended(second)
        let recording = card.recording()
        try #require(recording.segments.map { $0.rate.rounded() } == [48_000, 44_100])
        let gap = recording.segments[1].start - recording.segments[0].start - Int64(38_263 / 48_000.0 * 1e9)
        #expect(gap < 400_000_000, "\(gap) ns")
    }

    @Test func `that cannot be played does not disturb the current one`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("joint/second.wav"))
        test.follow(Media.file("text.mp3"))
        let failure = try await test.first { event in
            if case .nextFailed(test.load, second, let failure) = event { failure } else { nil }
        }
        #expect(failure.code == .unsupportedFormat)
        try await test.ended()
        let sound = card.recording().sound
        let whole = try samples(of: "joint/second.wav")
        #expect(Array(sound.prefix(whole.count)) == whole)
    }

    @Test func `is given up by a seek, and made ready anew`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("joint/first.flac"))
        test.follow(Media.file("joint/second.flac"))
        _ = try await test.position(of: test.load, from: 0.3)
        test.seek(1, to: 0.9)
        try await test.seekDone(1)
        try await test.advanced()
        try await test.ended(second)
        // The end of the first and all of the second are as in the whole file.
        let whole = try samples(of: "joint/whole.wav")
        let sound = card.recording().sound
        let tail = whole.suffix(38_263 * 2 + 20_000)
        let end = try #require(sound.lastIndex { $0 != 0 })
        let last = try #require(tail.lastIndex { $0 != 0 })
        let heard = sound[...end].suffix(tail.count - (whole.count - 1 - last))
        #expect(Array(heard) == Array(tail[...last]))
    }

    @Test func `is begun in its turn at another speed, which it keeps`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("joint/whole.wav"))
        try await test.sounding()
        test.send(.setSpeed(test.load, 2))
        test.follow(Media.file("joint/first.flac"))
        try await test.advanced()
        #expect(try await test.position().rate == 2)
    }

    @Test func `is begun in its turn at a place far inside`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("short.wav"))
        test.follow(Media.file("position.flac"), from: MediaTime(value: 30, timescale: 1))
        try await test.advanced()
        #expect(try await test.position().position.seconds >= 30)
    }

    @Test func `goes on paused when pause comes at the joint, and can be sought in`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("short.flac"))
        test.follow(Media.file("position.flac"))
        try await test.advanced()
        // Too late for the load that is over, so it is told to the new one.
        test.send(.setPlaying(test.load, false))
        test.send(.setPlaying(second, false))
        test.send(.seek(second, SeekID(9), to: MediaTime(value: 20, timescale: 1), tolerance: .zero))
        let failure = try await test.first { event -> MediaFailure?? in
            if case .seekFinished(second, SeekID(9), let failure) = event { .some(failure) } else { nil }
        }
        #expect(failure == nil)
        test.send(.setPlaying(second, true))
        let position = try await test.position(from: 20)
        let sound = try await listen(&card, from: position.clockTime + 50_000_000, for: .milliseconds(100))
        #expect(sound.positionSecond == 20)
    }

    @Test func `is given up by a seek also when its frames wait behind those of the current one`()
        async throws
    {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        // So short that all of it and much of the next one fit the output.
        test.play(Media.file("joint/blip.wav"), playing: false)
        test.follow(Media.file("joint/second.wav"))
        _ = try await test.loaded()
        test.seek(1, to: 0.1)
        try await test.seekDone(1)
        test.send(.setPlaying(test.load, true))
        try await test.advanced()
        try await test.ended(second)
        try expectBoth(
            try samples(of: "joint/whole.wav")[9_600..<19_200], isWithin: true, in: card.recording().sound)
    }

    @Test func `is begun with the first one when both have waited`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("joint/blip.wav"), playing: false)
        test.follow(Media.file("joint/second.wav"))
        _ = try await test.loaded()
        test.send(.setPlaying(test.load, true))
        try await test.advanced()
        try await test.ended(second)
        try expectBoth(try samples(of: "joint/whole.wav")[..<19_200], in: card.recording().sound)
    }

    @Test func `is given up with a stop, and with another load`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("joint/whole.wav"))
        test.follow(Media.file("joint/second.wav"))
        try await test.sounding()
        test.send(.stop(test.load))
        try await test.first { $0 == .stopped(test.load) ? () : nil }
        test.send(.load(LoadID(3), MediaItem(uri: Media.file("short.wav")), playing: true))
        try await test.first { event in
            if case .advanced = event { Issue.record("went on to what was given up") }
            return event == .ended(LoadID(3)) ? () : nil
        }
    }

    @Test func `can change until the end, and be nothing`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("joint/whole.wav"))
        test.follow(Media.file("joint/first.wav"))
        try await test.sounding()
        test.follow(Media.file("short.wav"), as: LoadID(5))
        try await test.advanced(to: LoadID(5))
        test.send(
            .prepareNext(
                LoadID(5), UpcomingItem(load: LoadID(6), item: MediaItem(uri: Media.file("short.wav")))))
        test.send(.prepareNext(LoadID(5), nil))
        try await test.ended(LoadID(5))
    }
}
