// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import SystemProbe
import Testing

extension RouteAnnouncement {
    /// Waits until it is heard.
    fileprivate func playing() async throws {
        let changes = updates()
        if phase == .playing { return }
        for await _ in changes where phase == .playing { return }
        throw TestFailure("it was not heard: \(String(describing: end))")
    }
}

extension Receiving {
    struct AnnouncementTests {
        @Test @RouteActor func `another sender's is heard over what plays, which goes on in its place`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                let first = try await card.beginning(ofSecond: 1, from: 0)
                let door = try await receiver.anotherSender("Door")
                var options = RouteAnnouncement.Options()
                (options.volume, options.ducking) = (0.9, 15)
                let bell = try await door.announce(
                    url: receiver.media.url("joint/whole.wav"), options: options)
                let speech = try await door.announce(url: receiver.media.url("joint/blip.wav"))
                #expect(speech.phase == .waiting)
                try await bell.playing()
                #expect(await bell.ended() == .finished)
                #expect(await speech.ended() == .finished)
                #expect(control.end == nil && control.isPlaying && control.error == nil)
                #expect(control.volume == 1 && receiver.route.device.volume == 1)
                let next = Int((SimulatedCard.now - first) / 1_000_000_000) + 3
                let later = try await card.beginning(ofSecond: next, from: SimulatedCard.now)
                // As many seconds later as the seconds are apart, as if there had been nothing.
                #expect((later - first - Int64(next - 1) * 1_000_000_000).magnitude < 20_000_000)
                #expect(card.recording().underruns == 0)
            }
        }

        @Test @RouteActor func `its failure is told to its sender, and nothing else happens`() async throws {
            try await ReceiverUnderTest.use { receiver in
                let control = try await receiver.playReady("position.flac")
                let gone = try await receiver.route.announce(url: receiver.media.url("none.wav"))
                guard case .failed(let failure) = await gone.ended() else {
                    Issue.record("ended with \(String(describing: gone.end))")
                    return
                }
                #expect(failure.code == .notFound && failure.httpStatus == 404)
                #expect(control.end == nil && control.isPlaying && control.error == nil)
                await #expect(throws: RoutingError.self) {
                    try await receiver.route.announce(url: "file:///etc/passwd")
                }
            }
        }

        @Test @RouteActor func `a crash ends it, and what plays is back at its place`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: 0)
                // More often than an item may crash by itself.
                for _ in 0..<2 {
                    let bell = try await receiver.route.announce(url: receiver.media.url("position.mp3"))
                    let waiting = try await receiver.route.announce(
                        url: receiver.media.url("joint/blip.wav"))
                    try await bell.playing()
                    let killed = SimulatedCard.now
                    guard let renderer = receiver.renderer else { throw TestFailure("no renderer") }
                    _ = try ChildProcess(["kill", "-11", "\(renderer)"]).wait(milliseconds: 20_000)
                    guard case .failed(let failure) = await bell.ended() else {
                        throw TestFailure("ended with \(String(describing: bell.end))")
                    }
                    #expect(failure.code == .rendererCrashed)
                    let back = try await card.soundAfterDeath(at: killed)
                    #expect(back - killed < 8_000_000_000)
                    #expect(await waiting.ended() == .finished)
                    try await control.wait("no trouble") { $0.error == nil && !$0.isBuffering }
                }
                #expect(control.end == nil && control.isPlaying)
            }
        }

        @Test @RouteActor func `anybody may cancel, and one that is cancelled is heard no more`() async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let bell = try await receiver.route.announce(url: receiver.media.url("position.mp3"))
                let waiting = try await receiver.route.announce(url: receiver.media.url("joint/blip.wav"))
                try await bell.playing()
                let other = try await receiver.anotherSender("Other")
                try await other.cancelAnnouncements()
                #expect(await bell.ended() == .cancelled(by: "Other"))
                #expect(await waiting.ended() == .cancelled(by: "Other"))
                let end = SimulatedCard.now
                let recording = await card.recording(within: .seconds(30)) { _ in
                    SimulatedCard.now > end + 700_000_000
                }
                let sound = try #require(recording).heard(
                    from: end + 500_000_000, for: .milliseconds(150), channel: 1)
                #expect(sound.isSilent)
            }
        }
    }
}
