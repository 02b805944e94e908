// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import MediaModel
import ReceiverTestKit
import Testing

@Suite(.timeLimit(.minutes(1)), .serialized) struct `The renderer` {
    @Test(arguments: ["wav", "flac", "mp3", "aac", "m4a", "opus", "ogg"])
    func `plays a format, and the exact place after a seek`(format: String) async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.\(format)"))
        try await test.sounding()
        let start = SimulatedCard.now
        let first = try await listen(&card, from: start, for: .milliseconds(100))
        #expect(first.positionSecond == 0)
        test.seek(1, to: 30.9)
        try await test.seekDone(1)
        let position = try await test.sounding()
        #expect((position.position.seconds - 30.9).magnitude < 0.05)
        // The tone changes when the position is 31 s; in between both are heard. A card that ran dry right after the seek, as
        // on a busy machine, plays that later than was told first.
        var later = position
        while later.position.seconds < 31 { later = try await test.sounding() }
        let change = later.clockTime - Int64((later.position.seconds - 31) * 1e9)
        let before = try await listen(&card, from: change - 60_000_000, for: .milliseconds(50))
        let after = try await listen(&card, from: change + 40_000_000, for: .milliseconds(50))
        #expect(before.positionSecond == 30)
        #expect(after.positionSecond == 31)
    }

    // HLS and DASH are played by `FormatTests`, in the renderer's own process: adaptivedemux2 of GStreamer 1.22 now and
    // then aborts its process at a seek (downloadrequest.c, "in_use == FALSE"), which would be this one.
    @Test(arguments: ["video.mp4", "video.webm"])
    func `plays the sound of videos`(name: String) async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(try Media.http(name))
        let media = try await test.loaded()
        #expect(media.hasAudio && !media.hasVideo)
        #expect(media.timeline.capabilities.contains(.seek) && !media.timeline.isLive)
        test.seek(1, to: 5)
        try await test.seekDone(1)
        let position = try await test.sounding()
        #expect((position.position.seconds - 5).magnitude < 0.1)
        let sound = try await listen(&card, from: position.clockTime + 50_000_000, for: .milliseconds(100))
        #expect(sound.positionSecond == 5)
    }

    @Test func `keeps the pitch at another speed`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"))
        try await test.sounding()
        test.send(.setSpeed(test.load, 2))
        let position = try await test.sounding(rate: 2)
        let pitch = try await listen(
            &card, from: position.clockTime + 100_000_000, for: .milliseconds(300), channel: 1)
        let frequency = try #require(pitch.frequency)
        #expect((frequency - 1000).magnitude < 15)
        // Two seconds of the media later one second has passed.
        let later = try await listen(&card, from: position.clockTime + 1_100_000_000, for: .milliseconds(100))
        let second = try #require(later.frequency).rounded()
        let expected = position.position.seconds + 2.3
        #expect(((second - 400) / 20 - expected.rounded(.down)).magnitude < 0.6)
    }

    @Test func `begins where it is told, and stands until it shall play`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.mp3"), from: MediaTime(value: 20, timescale: 1), playing: false)
        _ = try await test.loaded()
        #expect(card.recording().segments.isEmpty)
        test.send(.setPlaying(test.load, true))
        let position = try await test.sounding()
        #expect((position.position.seconds - 20).magnitude < 0.05)
        let sound = try await listen(&card, from: position.clockTime, for: .milliseconds(100))
        #expect(sound.positionSecond == 20)
    }

    @Test func `answers each of many seeks once, and ends at the last`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"))
        try await test.sounding()
        for number in 1...20 { test.seek(UInt64(number), to: Double(number * 2)) }
        var answered: [UInt64] = []
        while answered.count < 20 {
            answered.append(
                try await test.first {
                    if case .seekFinished(_, let id, failure: nil) = $0 { id.number } else { nil }
                })
        }
        #expect(answered.sorted() == Array(1...20))
        #expect(answered.last == 20)
        // An earlier place may have been heard for a moment.
        var position = try await test.sounding()
        while position.position.seconds < 39.9 { position = try await test.sounding() }
        let sound = try await listen(&card, from: position.clockTime, for: .milliseconds(100))
        #expect(sound.positionSecond == 40)
    }

    @Test func `stops at once while a server keeps it waiting`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        _ = try await test.first { if case .started = $0 { true } else { nil } }
        test.play(try Media.http("stall/10/position.flac"))
        try await test.first { $0 == .bufferingChanged(test.load, true) ? () : nil }
        let start = AudioOutput.now()
        test.send(.setPlaying(test.load, false))
        test.seek(1, to: 10)
        test.send(.setOutputVolume(Volume(level: 0.3)))
        test.send(.stop(test.load))
        try await test.first { $0 == .stopped(test.load) ? () : nil }
        #expect(AudioOutput.now() - start < 3_000_000_000)
        // And another item plays meanwhile.
        test.send(.load(LoadID(2), MediaItem(uri: Media.file("position.wav")), playing: true))
        try await test.first {
            if case .positionChanged(LoadID(2), let position) = $0, position.rate == 1 { () } else { nil }
        }
    }

    @Test func `tells the end when the last sample was heard`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("short.wav"))
        try await test.ended()
        let now = SimulatedCard.now
        let last = try #require(card.recording().lastSound())
        #expect(now - last < 2_000_000_000 && now - last > -20_000_000)
    }

    @Test func `scans backward, and stands at the beginning`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("position.flac"), from: MediaTime(value: 6, timescale: 1))
        _ = try await test.loaded()
        test.send(.setScan(test.load, -16))
        try await test.sounding(rate: -16)
        try await test.first {
            if case .positionChanged(_, let position) = $0, position.rate == 0,
                position.position.isSameMoment(as: .zero)
            {
                ()
            } else {
                nil
            }
        }
        test.send(.setScan(test.load, nil))
        let position = try await test.sounding()
        #expect(position.position.seconds < 0.1)
    }

    @Test func `goes on where it was when the card comes back`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device) {
            $0.output.retryDelays = .milliseconds(20)...(.milliseconds(40))
        }
        test.play(Media.file("position.mp3"), from: MediaTime(value: 10, timescale: 1))
        try await test.sounding()
        try card.setUnplugged(true)
        try await test.first {
            if case .outputChanged(let status) = $0, status.state == .lost { () } else { nil }
        }
        try card.setUnplugged(false)
        let position = try await test.sounding()
        #expect((10..<14).contains(position.position.seconds))
        // Early in a second of the media, where one tone is heard.
        let whole = position.position.seconds.rounded(.up)
        let moment = position.clockTime + Int64((whole - position.position.seconds + 0.1) * 1e9)
        let sound = try await listen(&card, from: moment, for: .milliseconds(100))
        #expect(sound.positionSecond == Int(whole))
    }

    @Test func `chooses among languages`() async throws {
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.play(Media.file("languages.mkv"))
        let audio = try await test.loaded().tracks.audio
        #expect(audio.options.map(\.languageTag) == ["en", "de"])
        #expect(audio.current == audio.options.first?.identifier)
        try await test.sounding()
        test.send(.selectTrack(test.load, .audio, identifier: audio.options[1].identifier))
        try await test.first {
            if case .tracksChanged(_, let tracks) = $0, tracks.audio.current == audio.options[1].identifier {
                ()
            } else {
                nil
            }
        }
        let position = try await test.sounding()
        let sound = try await listen(&card, from: position.clockTime + 20_000_000, for: .milliseconds(100))
        #expect((try #require(sound.frequency) - 700).magnitude < 5)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `What does not play` {
    private static func failure(of uri: String) async throws -> MediaFailure {
        let test = try RendererUnderTest(device: "null")
        test.play(uri)
        return try await test.failure()
    }

    @Test func `is told by its HTTP status`() async throws {
        let missing = try await Self.failure(of: try Media.http("nothing.mp3?token=secret"))
        #expect(missing == MediaFailure(.notFound, "", httpStatus: 404))
        #expect(!missing.message.contains("secret"))
        let refused = try await Self.failure(of: try Media.http("status/403/x"))
        #expect(refused == MediaFailure(.accessDenied, "", httpStatus: 403))
        let broken = try await Self.failure(of: try Media.http("status/503/x"))
        #expect(broken == MediaFailure(.httpStatus, "", httpStatus: 503))
    }

    @Test(arguments: [
        ("nonsense", MediaFailure.Code.invalidURL), ("ftp://example.org/x", .unsupportedScheme),
        ("http://127.0.0.1:1/x?token=secret", .network),
    ])
    func `is told by its address`(uri: String, code: MediaFailure.Code) async throws {
        let failure = try await Self.failure(of: uri)
        #expect(failure.code == code)
        #expect(!failure.message.contains("secret"))
    }

    @Test func `is told when it is no media`() async throws {
        #expect(try await Self.failure(of: Media.file("text.mp3")).code == .unsupportedFormat)
    }
}
