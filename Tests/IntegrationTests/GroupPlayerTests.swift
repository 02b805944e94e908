// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import RouteWire
import Settings
import SystemProbe
import Testing

/// A player without sound that is always ready, and knows where it is told to be.
@RouteActor private final class SilentPlayer: PlaybackCoordinatorDelegate {
    private(set) var log: [String] = []
    private(set) var lastPlay: PlaybackCoordinator.PlayCommand?
    private(set) var lastSeek: PlaybackCoordinator.SeekCommand?
    private let (changes, change) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    private func take(_ line: String, _ handler: () -> Void) {
        log.append(line)
        handler()
        change.yield()
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PlayCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        lastPlay = command
        take("play", completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PauseCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) { take("pause", completionHandler) }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.SeekCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        lastSeek = command
        take("seek", completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.BufferingCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) { take("buffer", completionHandler) }

    /// It is on whatever the group plays.
    func playbackCoordinatorDidChange(_ coordinator: PlaybackCoordinator) {
        change.yield()
        guard let session = coordinator.session, session.state == .joined,
            session.group.item != coordinator.currentItemIdentifier
        else { return }
        coordinator.transitionToItem(withIdentifier: session.group.item)
    }

    func wait(_ what: String, until holds: @escaping @RouteActor (SilentPlayer) -> Bool) async throws {
        guard await eventually(changes, within: .seconds(30), { [self] in holds(self) }) else {
            throw TestFailure("not in time: \(what); the player was told \(log)")
        }
    }
}

extension GroupPair {
    /// The group as a session, by way of the member that is no host.
    func session() async throws -> GroupSession {
        for await session in member.route.group.sessions() { return session }
        throw TestFailure("the route is over")
    }
}

/// `group-player` on a card of its own.
@RouteActor private final class SamplePlayer {
    let process: ChildProcess
    let card: SimulatedCard
    private let output: String

    init(folder: String, on receiver: ReceiverUnderTest, settings: String = "") throws {
        card = SimulatedCard(folder: "\(folder)/card")
        output = "\(folder)/group-player.out"
        try FileSystem.makeDirectory(card.folder)
        let configuration = try SimulatedCard.configure(folder: card.folder, settings: settings)
        process = try Programs.start(
            [
                try Programs.path("group-player"), "--on", "127.0.0.1:\(receiver.port)", "--device", "sim0",
                "--name", "Sample",
            ], environment: ["ALSA_CONFIG_PATH": configuration], output: output,
            errors: "\(folder)/group-player.log")
    }

    var lines: [String] { readLines(output) }

    func says(_ words: String, times: Int = 1) async throws {
        let isSaid = await Programs.poll(within: .seconds(30)) {
            lines.count { $0.hasPrefix(words) } >= times
        }
        guard isSaid else {
            throw TestFailure("the player did not say '\(words)': \(readText(output))")
        }
    }
}

/// Writes two minutes of noise, the same on both sides, with little just below half the rate, and returns the file's name. It is the
/// same four seconds again and again, which is further than anybody looks for an offset.
private func makeNoise(in folder: String) throws -> String {
    let (rate, seconds, rounds) = (48_000, 4, 30)
    let size = UInt32(rate * seconds * rounds * 4)
    func number(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
    var noise: [UInt8] = []
    var state: UInt32 = 2_463_534_242
    var (last, before): (Int32, Int32) = (0, 0)
    for _ in 0..<rate * seconds {
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        let white = Int32(bitPattern: state) >> 19
        let sample = white + 2 * last + before
        (before, last) = (last, white)
        let (low, high) = (UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8))
        noise += [low, high, low, high]
    }
    var bytes = Array("RIFF".utf8) + number(36 + size, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
    bytes += number(1, 2) + number(2, 2) + number(UInt32(rate), 4) + number(UInt32(rate) * 4, 4)
    bytes += number(4, 2) + number(16, 2) + Array("data".utf8) + number(size, 4)
    for _ in 0..<rounds { bytes += noise }
    try FileSystem.write(bytes, to: "\(folder)/noise.wav")
    return "noise.wav"
}

extension Receiving {
    struct GroupPlayerTests {
        @Test @RouteActor
        func `a player of one's own is told where the group is, and has it pause, seek and play`()
            async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                let player = SilentPlayer()
                let coordinator = PlaybackCoordinator(named: "Desk", delegate: player)
                let session = try await pair.session()
                coordinator.coordinate(with: session)
                try await session.join()
                try await pair.hostSender.wait("the player is a member") {
                    $0?.members[coordinator.identifier]?.kind == .player
                }
                try await pair.play()
                try await player.wait("a start") { $0.lastPlay != nil }
                // What is heard when is what the player was told.
                let (one, other) = (pair.host.card, pair.member.card)
                for recorded in [
                    try await one.heard(second: 2, from: 0), try await other.heard(second: 2, from: 0),
                ] {
                    let time = coordinator.hostTime(atLocalTime: recorded)
                    let told = try #require(player.lastPlay).anchor.itemTime(at: time)
                    let expected = try #require(coordinator.expectedItemTime(atHostTime: time)?.nanoseconds)
                    #expect(abs(told - 2_000_000_000) < 40_000_000)
                    #expect(abs(expected - told) < 1_000_000)
                }

                try await coordinator.coordinateRateChange(to: 0)
                try await player.wait("a pause") { $0.log.last == "pause" }
                let paused = SimulatedCard.now
                try await pair.memberSender.wait("the group stands") {
                    $0?.timelines.values.first?.state == .paused
                }
                try await coordinator.coordinateSeek(to: .seconds(6))
                try await player.wait("a seek") { $0.lastSeek?.itemTime.seconds == 6 }
                try await coordinator.coordinateRateChange(to: 1)
                try await player.wait("another start") { $0.lastPlay?.itemTime.seconds == 6 }
                let first = try await one.heard(second: 7, from: paused)
                let second = try await other.heard(second: 7, from: paused)
                #expect(abs(first - second) < 40_000_000)
                let told = try #require(player.lastPlay).anchor
                    .itemTime(at: coordinator.hostTime(atLocalTime: first))
                #expect(abs(told - 7_000_000_000) < 40_000_000)

                // An advertisement here: the others wait for its end.
                let advertisement = coordinator.beginSuspension(for: .playingInterstitial)
                try await pair.hostSender.wait("the group waits") {
                    $0?.timelines.values.first?.state == .waiting
                        && $0?.members[coordinator.identifier]?.suspensions == ["playingInterstitial"]
                }
                advertisement.end()
                try await pair.hostSender.wait("the group goes on") {
                    $0?.timelines.values.first?.state == .playing
                }

                try await session.end()
                for await _ in session.updates() {}
                #expect(session.state == .invalidated(reason: "dissolved"))
                try await pair.memberSender.wait("the group is over") {
                    $0 == nil || $0?.view?.phase == .invalidated
                }
            }
        }

        @Test @RouteActor func `when the host is killed a player goes on with the next`() async throws {
            try await GroupPair.use { pair in
                try await pair.join()
                let player = SilentPlayer()
                let coordinator = PlaybackCoordinator(named: "Desk", delegate: player)
                let session = try await pair.session()
                coordinator.coordinate(with: session)
                try await session.join()
                try await pair.play()
                let card = pair.member.card
                let before = try await card.heard(second: 1, from: 0)
                try await player.wait("a start") { $0.lastPlay != nil }
                let old = try #require(coordinator.clock).identifier
                pair.host.daemon.kill()
                try await player.wait("a start by the next host's clock") { _ in
                    session.state == .joined && session.group.hostID != pair.created.hostID
                        && coordinator.clock?.identifier != old
                        && coordinator.expectedItemTime(atHostTime: 0) != nil
                }
                let heard = try await card.heard(second: 5, from: before)
                let time = coordinator.hostTime(atLocalTime: heard)
                let expected = try #require(coordinator.expectedItemTime(atHostTime: time)?.nanoseconds)
                #expect(abs(expected - 5_000_000_000) < 40_000_000)
                // What it asks for is done by the member that is the host now.
                try await coordinator.coordinateSeek(to: .seconds(7))
                try await player.wait("a seek") { $0.lastSeek?.itemTime.seconds == 7 }
                _ = try await card.heard(second: 8, from: heard)
            }
        }

        @Test @RouteActor func `the sample player is heard in step with a receiver`() async throws {
            try await ReceiverUnderTest.use(["--clock-port", "0"]) { receiver in
                let folder = try Programs.makeFolder()
                defer { Programs.remove(folder) }
                let media = try await MediaServer(folder: folder, serving: folder)
                defer { media.process.kill() }
                let noise = try makeNoise(in: folder)
                _ = try await receiver.route.group.create(named: "Both")
                let player = try SamplePlayer(folder: folder, on: receiver, settings: "ppm 50")
                defer { player.process.kill() }
                try await player.says("joined")
                let session = RouteSession(url: media.url(noise))
                receiver.route.addSession(session)
                let control = try await session.start().playbackControl
                try await player.says("play")
                let pair = HeardPair(receiver.card, player.card)
                try await pair.isInStep(from: SimulatedCard.now + 1_000_000_000)

                try await control.perform(.setPlaying(false))
                try await player.says("pause")
                try await control.perform(.setPlaying(true))
                try await player.says("play", times: 2)
                try await pair.isInStep(from: SimulatedCard.now + 1_000_000_000)

                try await control.perform(.seek(to: .seconds(60), tolerance: .zero))
                try await player.says("seek 60.0")
                try await player.says("play", times: 3)
                try await pair.isInStep(from: SimulatedCard.now + 1_000_000_000)

                player.process.signal(ChildProcess.terminating)
                try await player.says("over: left")
            }
        }

        @Test @RouteActor func `when the host is killed the sample player stays in step with the next`()
            async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                let folder = try Programs.makeFolder()
                defer { Programs.remove(folder) }
                let media = try await MediaServer(folder: folder, serving: folder)
                defer { media.process.kill() }
                let noise = try makeNoise(in: folder)
                let player = try SamplePlayer(folder: folder, on: pair.member, settings: "ppm -30")
                defer { player.process.kill() }
                try await player.says("joined")
                try await pair.memberSender.ask(.start(SessionStart(url: media.url(noise))))
                try await player.says("play")
                let cards = HeardPair(pair.member.card, player.card)
                try await cards.isInStep(from: SimulatedCard.now + 500_000_000)
                pair.host.daemon.kill()
                try await pair.memberSender.wait("the member is the host, and the player there") {
                    $0?.view?.isHost == true && $0?.members.values.contains { $0.kind == .player } == true
                }
                try await player.says("play", times: 2)
                try await cards.isInStep(from: SimulatedCard.now + 1_000_000_000)
            }
        }
    }
}

/// What two cards play of the same noise. Looking at recordings takes long, and the receivers' senders and players live on the
/// library's actor: so it is done elsewhere.
private struct HeardPair: Sendable {
    let one: SimulatedCard
    let other: SimulatedCard
    init(_ one: SimulatedCard, _ other: SimulatedCard) { (self.one, self.other) = (one, other) }

    /// Waits until the second is heard with the first, at some moment after `time`. A busy machine may hold up either of them now and
    /// then, after which they find each other again.
    @concurrent func isInStep(from time: Int64) async throws {
        var (one, other) = (one, other)
        var found: [Int] = []
        var from = time
        let end = SimulatedCard.now + 60_000_000_000
        repeat {
            let start = try await one.sound(from: from, for: .milliseconds(800)).start
            _ = try await other.sound(from: from, for: .milliseconds(800))
            var meter = OffsetMeter(one.recording(), other.recording())
            if let offset = meter.offset(at: start + 400_000_000) {
                // It is a few microseconds; what anybody could hear is ten times this.
                if abs(offset) < 1_000_000 { return }
                found.append(Int(offset / 1_000))
            }
            from = SimulatedCard.now
        } while SimulatedCard.now < end
        throw TestFailure("they are not in step; they were apart by \(found) us")
    }
}

extension SimulatedCard {
    /// When a second of the test media begins to be heard, found out elsewhere than on the library's actor.
    @concurrent fileprivate func heard(second: Int, from time: Int64) async throws -> Int64 {
        var card = self
        return try await card.beginning(ofSecond: second, from: time)
    }
}
