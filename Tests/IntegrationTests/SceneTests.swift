// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import MediaModel
import ReceiverTestKit
import RouteKit
import RouteWire
import Testing

/// What the right channel of `position.flac` plays all the time.
private let sessionHertz = 1_000.0

extension CardRecording {
    /// True if a tone alone is heard for 0.2 s, all the time.
    fileprivate func isTone(_ hertz: Double, at time: Int64, channel: Int) -> Bool {
        (0..<4).allSatisfy { part in
            let sound = heard(
                from: time + Int64(part) * 50_000_000, for: .milliseconds(50), channel: channel)
            return sound.peak > 1_000 && ((sound.frequency ?? 0) - hertz).magnitude < hertz / 50
        }
    }
}

extension SimulatedCard {
    /// Waits until a tone alone is heard for 0.2 s after `time`, and says when that was.
    @discardableResult
    fileprivate mutating func hears(
        _ hertz: Double, after time: Int64 = now, channel: Int = 1, within limit: Duration = .seconds(40)
    ) async throws -> Int64 {
        var at = time
        let recording = await recording(within: limit) { recording in
            while at + 250_000_000 < Self.now {
                if recording.isTone(hertz, at: at, channel: channel) { return true }
                at += 20_000_000
            }
            return false
        }
        guard recording != nil else {
            let last = self.recording().heard(
                from: Self.now - 300_000_000, for: .milliseconds(200), channel: channel)
            throw TestFailure(
                "\(hertz) Hz is not heard within \(limit); now: peak \(last.peak), "
                    + "\(String(describing: last.frequency)) Hz")
        }
        return at
    }
}

extension Receiving {
    @Suite(
        .enabled(
            if: PhoneStage.missing == nil, "NOT RUN: needs dbus-daemon, python3, python3-dbus, python3-gi"))
    struct SceneTests {
        @Test @RouteActor
        func `of two senders, a phone, a turntable and a bell those are heard that should be, and come back`()
            async throws
        {
            let stage = try await PhoneStage()
            let phone = 700.0
            try await ReceiverUnderTest.use(
                ["--bluetooth", "yes", "--confirm-pairing", "no"] + Turntable.settings,
                environment: stage.environment, prepare: { try Turntable(at: $0).connect() }
            ) { receiver in
                var card = receiver.card
                let turntable = Turntable(at: receiver.card)
                _ = await stage.bluez.lines.first { $0 == "default-agent" }

                let first = try await receiver.playReady("position.flac")
                try await card.hears(sessionHertz)

                await stage.play(hertz: Int(phone))
                try await card.hears(phone)
                try await first.wait("the first session is not heard") { !$0.isHeard && !$0.isPlaying }

                let other = try await receiver.anotherSender("Second sender")
                var options = RouteSession.Options()
                options.startPosition = .seconds(20)
                let second = try await receiver.play("position.flac", on: other, options: options)
                    .playbackControl
                let begun = try await card.hears(sessionHertz)
                _ = await stage.bluez.lines.first { $0 == "player \(PhoneStage.device) Pause" }
                stage.bluealsa.say("stop \(PhoneStage.address)")
                // The one that is heard is the second one's.
                let its = card.recording().second(at: begun) ?? 0
                #expect((20...22).contains(its))

                var loud = RouteAnnouncement.Options()
                (loud.volume, loud.ducking) = (1, 20)
                let rung = SimulatedCard.now
                let bell = try await other.announce(
                    url: receiver.media.url("joint/whole.wav"), options: loud)
                try await card.hears(441, after: rung, channel: 0)
                #expect(await bell.ended() == .finished)
                try await second.wait("the second session is heard") { $0.isHeard && $0.isPlaying }
                try await card.hears(sessionHertz)

                try turntable.lower()
                try await card.hears(Turntable.hertz)
                try await second.wait("the second session is not heard") { !$0.isHeard && !$0.isPlaying }
                let place = second.playbackPosition.position.seconds

                let lifted = SimulatedCard.now
                try turntable.lift()
                let back = try await card.hears(sessionHertz, after: lifted)
                try await second.wait("the second session is heard again") { $0.isHeard && $0.isPlaying }
                let resumed = card.recording().second(at: back) ?? 0
                #expect((Int(place)...Int(place) + 1).contains(resumed), "\(resumed) after \(place)")

                let stopped = SimulatedCard.now
                try await other.stopPlayer()
                _ = await stage.bluez.lines.first { $0 == "player \(PhoneStage.device) Play" }
                stage.bluealsa.say("feed \(PhoneStage.address) \(Int(phone))")
                try await card.hears(phone, after: stopped)
                stage.bluealsa.say("gone \(PhoneStage.address)")
                stage.bluez.say("leave \(PhoneStage.address)")
                try await receiver.hears(nil)
                #expect(await card.recording(within: .seconds(30)) { !$0.isRunning } != nil)
            }
        }

        @Test @RouteActor
        func `a member of a group whose turntable plays is missed, and falls in again in place`() async throws
        {
            try await GroupPair.use(
                member: Turntable.settings, prepare: { try Turntable(at: $0).connect() }
            ) { pair in
                try await pair.join()
                try await pair.play()
                var (one, other) = (pair.host.card, pair.member.card)
                let turntable = Turntable(at: pair.member.card)
                let start = try await one.beginning(ofSecond: 1, from: 0)
                try await other.hears(sessionHertz)

                try turntable.lower()
                try await other.hears(Turntable.hertz)
                try await pair.hostSender.wait("the member is suspended") { group in
                    group?.members.values.map(\.suspensions).sorted { $0.count < $1.count }
                        == [[], ["audioSessionInterrupted"]]
                }
                try await one.hears(sessionHertz)

                let lifted = SimulatedCard.now
                try turntable.lift()
                let back = try await other.hears(sessionHertz, after: lifted)
                try await pair.hostSender.wait("nobody is suspended") { group in
                    group?.members.count == 2
                        && group?.members.values.allSatisfy(\.suspensions.isEmpty) == true
                }
                let next = Int((back - start) / 1_000_000_000) + 3
                let here = try await one.beginning(ofSecond: next, from: back)
                let there = try await other.beginning(ofSecond: next, from: back)
                #expect((here - there).magnitude < 15_000_000)
                // As many seconds later as the seconds are apart: the host never waited.
                #expect((here - start - Int64(next - 1) * 1_000_000_000).magnitude < 60_000_000)
            }
        }
    }
}
