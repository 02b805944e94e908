// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import MediaModel
import ReceiverTestKit
import RouteKit
import SystemProbe
import Testing

extension Receiving {
    struct SwitchingTests {
        @Test @RouteActor func `two senders and a turntable take turns, and each knows whether it is heard`()
            async throws
        {
            try await ReceiverUnderTest.use(
                Turntable.settings, prepare: { try Turntable(at: $0).connect() }
            ) { receiver in
                let turntable = Turntable(at: receiver.card)
                let first = try await receiver.playReady("position.flac")
                try await receiver.hears("network")
                try turntable.lower()
                try await receiver.hears("lineIn")
                try await first.wait("not heard") { !$0.isHeard && !$0.isPlaying }
                let other = try await receiver.anotherSender("Second sender")
                let second = try await receiver.play("position.flac", on: other).playbackControl
                try await receiver.hears("network")
                try await second.wait("heard") { $0.isReady && $0.isHeard && $0.isPlaying }
                #expect(first.end != nil)
                try await other.stopPlayer()
                // It has played on all the time.
                try await receiver.hears("lineIn")
                let bell = try await other.announce(url: receiver.media.url("joint/blip.wav"))
                #expect(await bell.ended() == .finished)
                // The end of an announcement is told before what it leads to.
                let isExplained = await Programs.poll(within: .seconds(40)) {
                    let reasons = receiver.route.sources.state?.decisions.map(\.reason) ?? []
                    return reasons.contains("cameBack") && reasons.contains("announced")
                        && reasons.contains("announcementOver")
                }
                #expect(isExplained, "\(String(describing: receiver.route.sources.state?.decisions))")
                try await receiver.hears("lineIn")
                try turntable.lift()
                try await receiver.hears(nil)
            }
        }

        @Test @RouteActor func `a turntable is heard again after the renderer and the daemon were killed`()
            async throws
        {
            try await ReceiverUnderTest.use(
                Turntable.settings, prepare: { try Turntable(at: $0).connect() }
            ) { receiver in
                var card = receiver.card
                try Turntable(at: receiver.card).lower()
                try await receiver.hears("lineIn")
                var killed = SimulatedCard.now
                #expect(
                    await card.recording(within: .seconds(40)) { $0.firstSound(from: killed) != nil } != nil)
                killed = SimulatedCard.now
                kill(try #require(receiver.renderer), SIGKILL)
                let later = killed + 500_000_000
                #expect(
                    await card.recording(within: .seconds(40)) { $0.firstSound(from: later) != nil } != nil)
                try await receiver.hears("lineIn")
                try await receiver.killAndStartAgain()
                try await receiver.hears("lineIn")
            }
        }
    }
}
