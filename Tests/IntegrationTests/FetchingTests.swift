// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Testing

extension Receiving {
    struct FetchingTests {
        @Test @RouteActor func `request headers and user agent reach the server with every request`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var options = RouteSession.Options()
                options.headers = [
                    HeaderField(name: "Authorization", value: "Bearer 1234"),
                    HeaderField(name: "X-Test", value: "a, b; c"),
                ]
                options.userAgent = "Testing/1.0"
                let control = try await receiver.playReady("headers/position.flac", options: options)
                try await control.perform(.seek(to: .seconds(50), tolerance: .zero))
                try await control.wait("the seek") { $0.playbackPosition.position.seconds >= 50 }
                let headers = receiver.media.headers
                let requests = headers.filter { $0.lowercased().hasPrefix("host:") }.count
                #expect(requests >= 1)
                for expected in ["Authorization: Bearer 1234", "X-Test: a, b; c", "User-Agent: Testing/1.0"] {
                    #expect(headers.filter { $0 == expected }.count == requests)
                }
            }
        }

        @Test @RouteActor func `media that cannot be played end the session with a typed failure`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                let failures: [(path: String, failure: MediaFailure)] = [
                    ("nothing.flac", MediaFailure(.notFound, "", httpStatus: 404)),
                    ("status/403/position.flac", MediaFailure(.accessDenied, "", httpStatus: 403)),
                    ("status/500/position.flac", MediaFailure(.httpStatus, "", httpStatus: 500)),
                    ("status/404/hls/stream.m3u8", MediaFailure(.notFound, "", httpStatus: 404)),
                    ("text.mp3", MediaFailure(.unsupportedFormat, "")),
                ]
                for (path, failure) in failures {
                    let session = try await receiver.play(path)
                    try await session.playbackControl.wait("the failure of \(path)") { $0.end != nil }
                    #expect(session.endReason == .failed(failure), "\(path)")
                }
                // The receiver is as good as before.
                _ = try await receiver.playReady("position.flac")
            }
        }

        @Test @RouteActor func `what is no address of media is refused at once`() async throws {
            try await ReceiverUnderTest.use { receiver in
                for (url, code) in [
                    ("no address", RoutingError.Code(rawValue: "invalidURL")),
                    ("gopher://127.0.0.1/a", RoutingError.Code(rawValue: "unsupportedScheme")),
                    ("file:///etc/passwd", RoutingError.Code(rawValue: "unsupportedScheme")),
                ] {
                    let session = RouteSession(url: url)
                    receiver.route.addSession(session)
                    await #expect(throws: RoutingError(code, family: .playback, ""), "\(url)") {
                        try await session.start()
                    }
                }
                let session = RouteSession(url: "http://127.0.0.1:1/a.flac")
                receiver.route.addSession(session)
                let media = try await session.start()
                #expect(await media.ended() == .failed(MediaFailure(.network, "")))
            }
        }

        @Test @RouteActor func `a connection that is cut is taken up again`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                // A second has 176,400 bytes.
                let control = try await receiver.playReady("cut/300000/position.wav")
                let change = try await card.beginning(ofSecond: 3, from: 0)
                #expect(control.end == nil)
                try await control.wait(untilTold: 3, at: change)
                #expect(card.recording().underruns == 0)
            }
        }

        @Test @RouteActor func `a server that stalls starves what plays, and says so`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("stall/300000/position.wav")
                _ = try await card.sound(from: 0)
                try await control.wait("buffering") { $0.isBuffering && $0.playbackPosition.rate == 0 }
                #expect(control.isPlaying && control.isReady)
                let place = control.playbackPosition.position.seconds
                #expect(place > 1 && place < 1.8)
                try await receiver.route.stopPlayer()
                try await control.wait("the end") { $0.end == .stopped }
            }
        }

        @Test @RouteActor func `loading that stalls blocks no command`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let stalled = try await receiver.play("stall/1000/position.flac").playbackControl
                let asked = ContinuousClock.now
                #expect(try await stalled.perform(.setVolume(0.5)) == .accepted)
                #expect(try await stalled.perform(.setPlaying(false)) == .accepted)
                #expect(try await stalled.perform(.setPlaying(true)) == .accepted)
                // Accepted or refused, but answered: nothing is known of the media yet.
                _ = try? await stalled.perform(.seek(to: .seconds(20), tolerance: .zero))
                try await receiver.route.device.perform(.setVolume(0.9))
                try await receiver.route.stopPlayer()
                try await stalled.wait("the end") { $0.end != nil }
                #expect(stalled.end == .stopped)
                #expect(ContinuousClock.now - asked < .seconds(5))
                #expect(!stalled.isReady)
                // Another one that stalls gives way to one that plays.
                let other = try await receiver.play("stall/1000/position.mp3")
                let again = SimulatedCard.now
                _ = try await receiver.playReady("position.flac")
                let start = try await card.sound(from: again).start
                #expect(start - again < 8_000_000_000)
                #expect(await other.ended() != nil)
            }
        }

        @Test @RouteActor func `loading is given up in time`() async throws {
            try await ReceiverUnderTest.use(["--load-timeout-seconds", "1"]) { receiver in
                let session = try await receiver.play("stall/1000/position.flac")
                #expect(await session.ended() == .failed(MediaFailure(.timeout, "")))
            }
        }
    }
}
