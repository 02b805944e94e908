// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import RouteWire
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
                var (one, other) = (pair.host.card, pair.member.card)
                for recorded in [
                    try await one.beginning(ofSecond: 2, from: 0),
                    try await other.beginning(ofSecond: 2, from: 0),
                ] {
                    let time = coordinator.hostTime(atLocalTime: recorded)
                    let told = try #require(player.lastPlay).anchor.itemTime(at: time)
                    let expected = try #require(coordinator.expectedItemTime(atHostTime: time)?.nanoseconds)
                    #expect(abs(told - 2_000_000_000) < 15_000_000)
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
                let first = try await one.beginning(ofSecond: 7, from: paused)
                let second = try await other.beginning(ofSecond: 7, from: paused)
                #expect(abs(first - second) < 15_000_000)
                let told = try #require(player.lastPlay).anchor
                    .itemTime(at: coordinator.hostTime(atLocalTime: first))
                #expect(abs(told - 7_000_000_000) < 15_000_000)

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
                var card = pair.member.card
                let before = try await card.beginning(ofSecond: 1, from: 0)
                try await player.wait("a start") { $0.lastPlay != nil }
                let old = try #require(coordinator.clock).identifier
                pair.host.daemon.kill()
                try await player.wait("a start by the next host's clock") { _ in
                    session.state == .joined && session.group.hostID != pair.created.hostID
                        && coordinator.clock?.identifier != old
                        && coordinator.expectedItemTime(atHostTime: 0) != nil
                }
                let heard = try await card.beginning(ofSecond: 5, from: before)
                let time = coordinator.hostTime(atLocalTime: heard)
                let expected = try #require(coordinator.expectedItemTime(atHostTime: time)?.nanoseconds)
                #expect(abs(expected - 5_000_000_000) < 15_000_000)
                // What it asks for is done by the member that is the host now.
                try await coordinator.coordinateSeek(to: .seconds(7))
                try await player.wait("a seek") { $0.lastSeek?.itemTime.seconds == 7 }
                _ = try await card.beginning(ofSecond: 8, from: heard)
            }
        }
    }
}
