// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Testing

/// A file of the test media and what is true of it.
struct Sample: Sendable, CustomTestStringConvertible {
    let path: String
    let seconds: Double
    var title: String?
    /// The length that is told may differ so much from the true one: by the padding of the encoder, or by a guess.
    var tolerance = 0.1

    var testDescription: String { path }

    static let all = [
        Sample(path: "position.wav", seconds: 60),
        Sample(path: "position.flac", seconds: 60),
        Sample(path: "position.mp3", seconds: 60, title: "Position MP3"),
        Sample(path: "position.aac", seconds: 60, tolerance: 2),
        Sample(path: "position.m4a", seconds: 60, title: "Position M4A"),
        Sample(path: "position.opus", seconds: 60, title: "Position Opus", tolerance: 0.3),
        Sample(path: "position.ogg", seconds: 60, title: "Position Vorbis", tolerance: 0.3),
        Sample(path: "video.mp4", seconds: 10),
        Sample(path: "video.webm", seconds: 10),
        Sample(path: "hls/stream.m3u8", seconds: 30, tolerance: 0.5),
        Sample(path: "hls/audio.m3u8", seconds: 30, tolerance: 0.5),
        Sample(path: "dash/stream.mpd", seconds: 30),
    ]
}

extension Receiving {
    struct FormatTests {
        @Test(arguments: Sample.all) @RouteActor
        func `a format plays, is sought and stops, and what is heard is what is told`(_ sample: Sample)
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let asked = SimulatedCard.now
                let control = try await receiver.playReady(sample.path)
                let first = try await card.sound(from: asked)
                #expect(first.recording.second(at: first.start + 50_000_000) == 0)
                let pitch = try #require(
                    first.recording.heard(from: first.start + 50_000_000, for: .milliseconds(100), channel: 1)
                        .frequency)
                #expect(abs(pitch - 1000) < 5)
                try await control.wait("the length, after a guess where the format does not tell it") {
                    abs($0.timeRange.duration.seconds - sample.seconds) < sample.tolerance
                }
                #expect(control.hasAudio)
                // Pictures are not shown without a sink for them.
                #expect(!control.hasVideo)
                if let title = sample.title {
                    try await control.wait("the title") { $0.metadata.title == title }
                    #expect(control.metadata.subtitle == "Linnet Tests")
                }
                #expect(control.supportedSeekCapabilities.contains(.seek))

                let target = sample.seconds > 20 ? 20 : 6
                let sought = SimulatedCard.now
                let outcome = try await control.perform(
                    .seek(to: .seconds(Double(target) + 0.6), tolerance: .zero))
                #expect(outcome == .accepted)
                let change = try await card.beginning(ofSecond: target + 1, from: sought)
                try await control.wait(untilTold: Double(target + 1), at: change)

                try await receiver.route.stopPlayer()
                try await control.wait("the end") { $0.end != nil }
                #expect(control.end == .stopped)
                let stopped = SimulatedCard.now
                let recording = await card.recording(within: .seconds(30)) { !$0.isRunning }
                #expect(try #require(recording).firstSound(from: stopped + 200_000_000) == nil)
            }
        }

        @Test @RouteActor func `what is played to its end has been heard to its end`() async throws {
            try await ReceiverUnderTest.use { receiver in
                for path in ["short.wav", "short.flac"] {
                    var card = receiver.card
                    let asked = SimulatedCard.now
                    let session = try await receiver.play(path)
                    #expect(await session.ended() == .finished)
                    let recording = card.recording()
                    let segments = recording.segments.filter { $0.start >= asked }
                    // By frames: a card that runs dry on a busy machine takes longer over the same sound.
                    let heard = segments.flatMap { segment in
                        let end = min(segment.endFrame ?? recording.frameCount, recording.frameCount)
                        return recording.samples[segment.firstFrame * 2..<max(end, segment.firstFrame) * 2]
                    }
                    let first = try #require(heard.firstIndex { $0.magnitude > 100 })
                    let last = try #require(heard.lastIndex { $0.magnitude > 100 })
                    let rate = try #require(segments.first).rate
                    #expect(abs(Double(last - first) / 2 / rate - 1) < 0.01)
                    #expect(try #require(recording.lastSound()) < SimulatedCard.now)
                }
            }
        }

        @Test @RouteActor func `a start position is the first that is heard`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                var options = RouteSession.Options()
                options.startPosition = .seconds(33.5)
                let asked = SimulatedCard.now
                let control = try await receiver.playReady("position.flac", options: options)
                let first = try await card.sound(from: asked)
                #expect(first.recording.second(at: first.start + 20_000_000) == 33)
                let change = try await card.beginning(ofSecond: 34, from: asked)
                #expect(abs(Double(change - first.start) * 1e-9 - 0.5) < 0.05)
                try await control.wait(untilTold: 34, at: change)
            }
        }

        @Test @RouteActor func `tags and cover of the media are told and served`() async throws {
            try await ReceiverUnderTest.use { receiver in
                let file = try MediaFileServer(
                    file: "\(Programs.build)/sample/first-light.flac",
                    reachedAt: try #require(receiver.route.localAddress))
                let session = RouteSession(url: file.url)
                receiver.route.addSession(session)
                let control = try await session.start().playbackControl
                try await control.wait("tags and cover") { $0.metadata.title != nil && !$0.artwork.isEmpty }
                #expect(control.metadata.title == "First Light")
                #expect(control.metadata.subtitle == "Linnet")
                #expect(control.metadata.album == "Songs of the Build")
                let cover = try #require(control.artwork.first)
                let size = try #require(cover.size)
                let answer = try receiver.fetch(cover.url)
                #expect(answer.head.hasPrefix("HTTP/1.1 200"))
                #expect(answer.head.lowercased().contains("content-type: \(cover.type)"))
                #expect(cover.type == "image/png")
                try #require(answer.body.count > 24)
                // Width and height stand in a PNG at byte 16, big endian.
                func number(_ place: Int) -> Int32 {
                    answer.body[place..<place + 4].reduce(0) { $0 << 8 | Int32($1) }
                }
                #expect(PixelSize(width: number(16), height: number(20)) == size)
                // Who has it is not sent it again.
                let tag = try #require(
                    answer.head.split(separator: "ETag: ").dropFirst().first?.prefix { !$0.isNewline })
                for known in [String(tag), "\"other\", W/\(tag)", "*"] {
                    let again = try receiver.fetch(cover.url, headers: "If-None-Match: \(known)\r\n")
                    #expect(again.head.hasPrefix("HTTP/1.1 304") && again.body.isEmpty)
                }
                let other = try receiver.fetch(cover.url, headers: "If-None-Match: \"other\"\r\n")
                #expect(other.head.hasPrefix("HTTP/1.1 200") && other.body == answer.body)
            }
        }

        @Test @RouteActor func `another language is heard when it is chosen`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("languages.mkv")
                try await control.wait("the languages") {
                    $0.audioOptions.map(\.languageTag) == ["en", "de"]
                        && $0.legibleOptions.map(\.languageTag) == ["en", "de"]
                }
                #expect(control.currentAudioOption?.languageTag == "en")
                #expect(Set(control.audioOptions.map(\.identifier)).count == 2)
                func heard(_ frequency: Double) async throws -> Bool {
                    await card.recording(within: .seconds(30)) {
                        let sound = $0.heard(from: SimulatedCard.now - 120_000_000, for: .milliseconds(100))
                        return sound.frequency.map { abs($0 - frequency) < 5 } ?? false
                    } != nil
                }
                #expect(try await heard(500))
                let german = try #require(control.audioOptions.last)
                #expect(
                    try await control.perform(.selectTrack(.audio, identifier: german.identifier))
                        == .accepted)
                #expect(try await heard(700))
                try await control.wait("the choice") { $0.currentAudioOption?.languageTag == "de" }
                let outcome = try await control.perform(.seek(to: .seconds(6), tolerance: .zero))
                #expect(outcome == .accepted)
                try await control.wait("a position after the seek") {
                    $0.playbackPosition.position.seconds >= 6
                }
                await #expect(throws: RoutingError(.init(rawValue: "trackUnknown"), family: .playback, "")) {
                    try await control.perform(.selectTrack(.audio, identifier: "no such track"))
                }
            }
        }
    }
}
