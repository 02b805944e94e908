// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Testing

extension Receiving {
    /// What `make check-streams` shows at length.
    struct AdaptiveTests {
        private static let streams = ["hls/stream.m3u8", "dash/stream.mpd"]

        @Test(arguments: streams) @RouteActor
        func `headers reach the server with every request of an adaptive stream`(_ path: String) async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var options = RouteSession.Options()
                options.headers = [HeaderField(name: "Authorization", value: "Bearer 1234")]
                options.userAgent = "Testing/1.0"
                let control = try await receiver.playReady("headers/\(path)", options: options)
                try await control.perform(.seek(to: .seconds(20), tolerance: .zero))
                try await control.wait("the seek") { $0.playbackPosition.position.seconds >= 20 }
                let headers = receiver.media.headers
                let requests = headers.filter { $0.lowercased().hasPrefix("host:") }.count
                #expect(requests > 3)
                for expected in ["Authorization: Bearer 1234", "User-Agent: Testing/1.0"] {
                    #expect(headers.filter { $0 == expected }.count == requests)
                }
            }
        }

        /// GStreamer 1.22 ended the process in about one of fifty such moves.
        @Test(arguments: streams) @RouteActor
        func `moves that follow one another leave the renderer alive`(_ path: String) async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady(path)
                let renderer = try #require(receiver.renderer)
                for number in 0..<60 {
                    let place = Double(number * 7 % 27) + 0.5
                    let outcome = try await control.perform(.seek(to: .seconds(place), tolerance: .zero))
                    #expect(outcome == .accepted)
                    try await control.wait("the seek to \(place)") {
                        !$0.isBuffering && abs($0.playbackPosition.position.seconds - place) < 0.5
                    }
                }
                let asked = SimulatedCard.now
                try await control.perform(.seek(to: .seconds(20.5), tolerance: .zero))
                _ = try await card.beginning(ofSecond: 21, from: asked)
                #expect(receiver.renderer == renderer)
                #expect(control.end == nil)
            }
        }
    }
}
