// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import SystemProbe
import Testing

extension Receiving {
    struct SenderTests {
        @Test @RouteActor func `a second sender takes over, and the first is told who and why`() async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let second = try await receiver.anotherSender("Second sender")
                let observer = try await receiver.observer()
                let first = try await receiver.play("position.flac")
                _ = try await card.sound(from: 0)
                var options = RouteSession.Options()
                options.startPosition = .seconds(40)
                let asked = SimulatedCard.now
                let other = try await receiver.play("position.mp3", on: second, options: options)
                #expect(await first.ended() == .preempted(by: "Second sender"))
                let change = try await card.beginning(ofSecond: 41, from: asked)
                try await other.playbackControl.wait(untilTold: 41, at: change)
                // Nothing of the first is heard among the other.
                #expect(card.recording().second(at: change + 50_000_000) == 41)
                #expect(receiver.route.player?.sessionID == other.playbackControl.sessionID)
                _ = await eventually(observer.updates()) {
                    observer.player?.sessionID == other.playbackControl.sessionID
                }
                #expect(observer.player?.route == second.id)
                observer.close()
            }
        }

        @Test @RouteActor func `with the policy refuse the second sender is refused`() async throws {
            try await ReceiverUnderTest.use(["--takeover", "refuse"]) { receiver in
                let second = try await receiver.anotherSender("Second sender")
                let first = try await receiver.playReady("position.flac")
                await #expect(throws: RoutingError(.sessionBusy, family: .session, "")) {
                    try await receiver.play("position.mp3", on: second)
                }
                #expect(first.end == nil)
                try await receiver.route.stopPlayer()
                try await first.wait("the end") { $0.end == .stopped }
                let other = try await receiver.play("position.mp3", on: second).playbackControl
                try await other.wait("ready") { $0.isReady }
            }
        }

        @Test @RouteActor func `a sender controls the session of another, and all see who did`() async throws
        {
            try await ReceiverUnderTest.use { receiver in
                let second = try await receiver.anotherSender("Second sender")
                let observer = try await receiver.observer()
                let control = try await receiver.playReady("position.flac")
                try await second.wait("the session") { $0.player != nil }
                let theirs = try #require(second.player)
                #expect(theirs.sessionID == control.sessionID)
                try await control.wait("a running position") { $0.playbackPosition.rate == 1 }
                #expect(try await theirs.perform(.setVolume(0.5)) == .accepted)
                try await control.wait("the volume") { $0.volume == 0.5 }
                let expected = ChangeOrigin.sender(route: second.id, name: "Second sender")
                #expect(await eventually(observer.updates()) { observer.player?.volume == 0.5 })
                #expect(observer.lastOrigin == expected)
                try await second.device.perform(.setVolume(0.25))
                try await receiver.route.wait("the device's volume") { $0.device.volume == 0.25 }
                #expect(receiver.route.device.volumeOrigin == expected)
                observer.close()
            }
        }

        @Test @RouteActor func `what plays goes on when its sender is killed`() async throws {
            try await ReceiverUnderTest.use(["--grace-seconds", "3"]) { receiver in
                var card = receiver.card
                let sender = try receiver.run(
                    "linnet",
                    ["play", receiver.media.url("position.flac"), "--on", "127.0.0.1:\(receiver.port)"])
                try await receiver.route.wait("the session of the program") { $0.player?.isReady == true }
                let control = try #require(receiver.route.player)
                let owner = try #require(control.route)
                _ = try await card.beginning(ofSecond: 1, from: 0)
                sender.kill()
                try await receiver.route.wait("the route to be detached") { route in
                    route.senders.contains { $0.id == owner && !$0.isAttached }
                }
                // After the grace time the session has no route, and plays.
                try await control.wait("the session without a route") { $0.route == nil }
                try await receiver.route.wait("the route to be over") { route in
                    !route.senders.contains { $0.id == owner }
                }
                #expect(control.end == nil)
                let change = try await card.beginning(ofSecond: 3, from: 0)
                try await control.wait(untilTold: 3, at: change)
            }
        }

        @Test @RouteActor func `without keep-playing a session ends with the grace time of its sender`()
            async throws
        {
            try await ReceiverUnderTest.use(["--grace-seconds", "0", "--keep-playing", "no"]) { receiver in
                var card = receiver.card
                let sender = try receiver.run(
                    "linnet",
                    ["play", receiver.media.url("position.flac"), "--on", "127.0.0.1:\(receiver.port)"])
                try await receiver.route.wait("the session of the program") { $0.player?.isReady == true }
                let control = try #require(receiver.route.player)
                _ = try await card.sound(from: 0)
                sender.kill()
                try await control.wait("the end") { $0.end != nil }
                #expect(control.end == .routeEnded)
                #expect(await card.recording(within: .seconds(30)) { !$0.isRunning } != nil)
            }
        }

        @Test @RouteActor func `a sender that lost its connection resumes its route and session`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                let id = receiver.route.id
                _ = try await card.sound(from: 0)
                receiver.route.dropConnection()
                try await receiver.route.wait("the connection to be lost") { $0.state == .reconnecting }
                try await receiver.route.wait("the connection to be back") { $0.state == .active }
                #expect(receiver.route.id == id)
                #expect(control.end == nil)
                #expect(try await control.perform(.seek(to: .seconds(20.5), tolerance: .zero)) == .accepted)
                let change = try await card.beginning(ofSecond: 21, from: 0)
                try await control.wait(untilTold: 21, at: change)
            }
        }
    }
}
