// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Testing

@testable import RouteKit

/// A player that writes down what it is told, and does it when the test says so.
@RouteActor private final class TestPlayer: PlaybackCoordinatorDelegate {
    private(set) var log: [String] = []
    /// The handlers of the commands, in order.
    private(set) var handlers: [@Sendable () -> Void] = []
    /// True: everything is done at once.
    var isQuick = false
    /// True: handlers are dropped.
    var isForgetful = false
    private(set) var lastPlay: PlaybackCoordinator.PlayCommand?
    private let (changes, change) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    private func take(_ line: String, _ handler: @escaping @Sendable () -> Void) {
        log.append(line)
        if isQuick { handler() } else if !isForgetful { handlers.append(handler) }
        change.yield()
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PlayCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        lastPlay = command
        take("play \(command.rate)", completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PauseCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        let buffers = command.shouldBufferInAnticipationOfPlayback
        take(buffers ? "pause for \(command.anticipatedPlaybackRate)" : "pause", completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.SeekCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        take("seek \(command.itemTime.seconds) by \(command.originator?.name ?? "nobody")", completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.BufferingCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) { take("buffer for \(command.anticipatedPlaybackRate)", completionHandler) }

    func playbackCoordinatorDidAbandonCommand(_ coordinator: PlaybackCoordinator) {
        log.append("abandoned")
        change.yield()
    }

    /// Waits until the log has so many lines.
    func logged(_ count: Int) async { await logged { $0.count >= count } }

    /// Waits until the log is as it should be.
    func logged(_ isRight: ([String]) -> Bool) async {
        if isRight(log) { return }
        for await _ in changes where isRight(log) { return }
    }
}

/// A player in a group whose host is scripted.
@RouteActor private struct Stage {
    let host: ScriptedHost
    let route: Route
    let session: GroupSession
    let coordinator: PlaybackCoordinator
    let player: TestPlayer

    init(host: ScriptedHost? = nil, item: String? = "song") async throws {
        let host = try host ?? ScriptedHost()
        self.host = host
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)
        route = try await controller.activate(host.receiver.receiver)
        var found: GroupSession?
        for await session in route.group.sessions() {
            found = session
            break
        }
        session = try #require(found)
        player = TestPlayer()
        coordinator = PlaybackCoordinator(named: "Desk", identifier: "desk", delegate: player)
        #expect(coordinator.coordinate(with: session))
        try await session.join()
        if let item {
            coordinator.transitionToItem(withIdentifier: item)
            await host.hears(.moved(item: item, nil))
        }
    }
}

private let seek = WireGroupCommand.Action.seek(itemTime: 5_000_000_000, anticipatedRate: nil, due: nil)

@RouteActor struct PlaybackCoordinatorTests {
    // MARK: The session

    @Test func `a session comes with its activity, is joined, and ends with its group`() async throws {
        let host = try ScriptedHost()
        host.change { $0.activity = WireGroupActivity(kind: .watch, title: "A film") }
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)
        let route = try await controller.activate(host.receiver.receiver)
        var sessions = route.group.sessions().makeAsyncIterator()
        let session = try #require(await sessions.next())
        #expect(session.state == .waiting && session.id == "group-1")
        #expect(session.activity == GroupActivity(.watch, title: "A film"))
        try await session.join()
        #expect(session.state == .joined)
        #expect(session.localParticipant?.name == "Test")
        #expect(session.group.members.map(\.kind) == [.receiver, .player])
        let updates = session.updates()
        host.change { $0.activity = nil }
        #expect(await reached(updates) { session.activity == nil })
        host.close("dissolved")
        for await _ in session.updates() {}
        #expect(session.state == .invalidated(reason: "dissolved"))
        await #expect(throws: RoutingError(.ended, family: .session, "")) { try await session.join() }
        // The next group is another session.
        host.change { $0.id = "group-2" }
        let next = try #require(await sessions.next())
        #expect(next.id == "group-2" && next.state == .waiting)
    }

    @Test func `who leaves is out, and may come again in a new session`() async throws {
        let stage = try await Stage()
        stage.session.leave()
        #expect(stage.session.state == .invalidated(reason: "left"))
        await stage.host.receiver.until { stage.host.receiver.sockets.count == 1 }
        var sessions = stage.route.group.sessions().makeAsyncIterator()
        let session = try #require(await sessions.next())
        #expect(session !== stage.session && session.state == .waiting)
        #expect(stage.coordinator.coordinate(with: session))
        try await session.join()
        #expect(stage.host.attached.map(\.participant) == ["desk", "desk"])
        #expect(stage.host.presences.last?.item == "song")
    }

    @Test func `a pass that the host does not know is refused`() async throws {
        let host = try ScriptedHost()
        host.receiver.replies["group.admit"] = { [unowned host] _ in
            .result(
                GroupAdmission(
                    group: "group-1", name: "Party",
                    pass: GroupSecret(bytes: Array(repeating: 1, count: 32))!,
                    host: GroupHost(id: "kitchen", addresses: [], port: host.receiver.port)
                ).json)
        }
        await #expect(throws: RoutingError(.groupUnavailable, family: .session, "")) {
            _ = try await Stage(host: host)
        }
        #expect(host.attached.isEmpty)
    }

    @Test func `when the host is lost the player goes on at the next, as the same participant`() async throws
    {
        let next = try ScriptedHost("bath", epoch: 2)
        let stage = try await Stage()
        stage.host.change {
            $0.members["bath"] = GroupMemberDocument(
                name: "Bath", joined: 2, addresses: ["127.0.0.1"], port: next.receiver.port)
        }
        let updates = stage.session.updates()
        #expect(await reached(updates) { stage.session.group.members.count == 3 })
        stage.host.die()
        #expect(
            await reached(updates) {
                stage.session.state == .joined && stage.session.group.hostID == "bath"
            })
        stage.coordinator.transitionToItem(withIdentifier: "later")
        await next.hears(.moved(item: "later", nil))
        #expect(next.attached.map(\.participant) == ["desk"])
        #expect(next.attached.map(\.epoch) == [1])
        #expect(next.presences.first?.item == "song")
    }

    // MARK: Commands

    @Test func `commands come one at a time, in order, and each is completed once`() async throws {
        let stage = try await Stage()
        let (host, player) = (stage.host, stage.player)
        host.command(seek, by: "kitchen")
        host.command(.pause(anticipatedRate: nil))
        await player.logged(1)
        #expect(player.log == ["seek 5.0 by kitchen"])
        #expect(host.completions == [])
        player.handlers[0]()
        player.handlers[0]()
        await player.logged(2)
        #expect(player.log == ["seek 5.0 by kitchen", "pause"])
        await host.receiver.until { host.completions.count == 1 }
        player.handlers[0]()
        player.handlers[1]()
        await host.receiver.until { host.completions.count == 2 }
        #expect(host.completions == ["1 done", "2 done"])
    }

    @Test func `a command for another item is completed and not told`() async throws {
        let stage = try await Stage()
        stage.host.command(seek, item: "other")
        stage.host.command(.pause(anticipatedRate: nil))
        await stage.player.logged(1)
        #expect(stage.player.log == ["pause"])
        stage.player.handlers[0]()
        await stage.host.receiver.until { stage.host.completions.count == 2 }
        #expect(stage.host.completions == ["1 ignored", "2 done"])
    }

    @Test func `what waits for readiness gives way to a later request`() async throws {
        let stage = try await Stage()
        let (host, player) = (stage.host, stage.player)
        host.command(.buffer(anticipatedRate: 1, due: nil))
        host.command(.pause(anticipatedRate: nil), overtakes: true)
        await player.logged(3)
        #expect(player.log == ["buffer for 1.0", "abandoned", "pause"])
        // Too late: nobody asks any more.
        player.handlers[0]()
        player.handlers[1]()
        await host.receiver.until { host.completions.count == 2 }
        #expect(host.completions == ["1 ignored", "2 done"])
    }

    @Test func `who is not ready in time takes no part until it is`() async throws {
        let stage = try await Stage()
        let (host, player) = (stage.host, stage.player)
        #expect(await reached(stage.session.updates()) { stage.session.group.isClockKnown })
        host.command(.buffer(anticipatedRate: 1, due: stage.coordinator.hostTime))
        await host.hears(.suspend(0, reason: "stallRecovery"))
        await host.receiver.until { host.completions == ["1 suspended"] }
        #expect(stage.coordinator.suspensionReasons == [.stallRecovery])
        // The player was not disturbed, and is ready at last.
        #expect(player.log == ["buffer for 1.0"])
        player.handlers[0]()
        await host.hears(.resume(0, itemTime: nil))
        #expect(host.receiver.told.contains(.ready(true)))
        // What is late for an item that is left is no stall any more.
        host.command(.buffer(anticipatedRate: 1, due: stage.coordinator.hostTime))
        await host.receiver.until { host.completions.count == 2 }
        stage.coordinator.transitionToItem(withIdentifier: "next")
        #expect(player.log == ["buffer for 1.0", "buffer for 1.0", "abandoned"])
        #expect(stage.coordinator.suspensionReasons.isEmpty)
    }

    @Test func `an item that is left takes its commands along`() async throws {
        let stage = try await Stage()
        stage.host.command(.buffer(anticipatedRate: 1, due: nil))
        await stage.player.logged(1)
        stage.coordinator.transitionToItem(withIdentifier: "next")
        #expect(stage.player.log == ["buffer for 1.0", "abandoned"])
        #expect(stage.coordinator.currentItemIdentifier == "next")
        await stage.host.receiver.until { stage.host.completions == ["1 ignored"] }
    }

    @Test func `a handler that is dropped counts as called`() async throws {
        let stage = try await Stage()
        stage.player.isForgetful = true
        stage.host.command(.pause(anticipatedRate: nil))
        await stage.host.receiver.until { stage.host.completions == ["1 done"] }
    }

    @Test func `a start comes with the clock by which it is meant`() async throws {
        let stage = try await Stage()
        stage.player.isQuick = true
        let moment = stage.coordinator.hostTime + 1_000_000_000
        stage.host.command(.play(itemTime: 7_000_000_000, clockTime: moment, rate: 1.5))
        await stage.player.logged(1)
        let command = try #require(stage.player.lastPlay)
        #expect(command.itemTime.seconds == 7 && command.hostClockTime == moment && command.rate == 1.5)
        // The host is on this machine: its clock is ours.
        let clock = try #require(stage.coordinator.clock)
        #expect(clock.identifier == "clock-of-kitchen")
        let now = PlaybackCoordinator.localTime
        #expect(abs(clock.line.remote(at: now) - now) < 5_000_000)
        #expect(
            abs(stage.coordinator.localTime(atHostTime: stage.coordinator.hostTime(atLocalTime: now)) - now)
                < 10)
    }

    // MARK: Requests and suspensions

    @Test func `what the player asks for goes to the host, and a refusal is thrown`() async throws {
        let stage = try await Stage()
        let receiver = stage.host.receiver
        try await stage.coordinator.coordinateRateChange(to: 1, options: .playImmediately)
        try await stage.coordinator.coordinateRateChange(to: 0, itemTime: MediaTime(value: 3, timescale: 1))
        try await stage.coordinator.coordinateSeek(
            to: MediaTime(value: 9, timescale: 1), options: .resumeImmediately)
        try await stage.session.setItem(
            GroupItem(identifier: "next", url: "http://a/b", title: "B"),
            proposingInitialTimingBasedOn: .init(rate: 1))
        let asks = receiver.requests("group.ask").map(\.request)
        #expect(
            asks == [
                .link(.ask(.rate(1, item: "song", itemTime: nil, immediately: true))),
                .link(.ask(.rate(0, item: "song", itemTime: 3_000_000_000, immediately: false))),
                .link(.ask(.seek(itemTime: 9_000_000_000, item: "song", resumesImmediately: true))),
                .link(
                    .ask(
                        .item(
                            WireGroupItem(
                                identifier: "next", title: "B",
                                media: QueueItemRequest(url: "http://a/b", title: "B")),
                            WireGroupProposal(itemTime: 0, rate: 1)))),
            ])
        receiver.replies["group.ask"] = { _ in .refusal(RouteError(.itemUnknown, "another one")) }
        await #expect(throws: RoutingError(.itemUnknown, family: .session, "")) {
            try await stage.coordinator.coordinateRateChange(to: 1)
        }
        stage.coordinator.reapplyCurrentItemState()
        await stage.host.hears(.reapply)
        stage.coordinator.reportStop(at: MediaTime(value: 2, timescale: 1))
        await stage.host.hears(.stopped(item: "song", itemTime: 2_000_000_000))
        stage.coordinator.reportEnd()
        await stage.host.hears(.finished(item: "song"))
    }

    @Test func `who is suspended is told nothing, and asks itself alone`() async throws {
        let stage = try await Stage()
        let (host, player, coordinator) = (stage.host, stage.player, stage.coordinator)
        host.command(.buffer(anticipatedRate: 1, due: nil))
        await player.logged(1)
        let advertisement = coordinator.beginSuspension(for: .playingInterstitial)
        let own = coordinator.beginSuspension(for: SuspensionReason(rawValue: "a phone call"))
        #expect(coordinator.suspensionReasons.map(\.rawValue) == ["playingInterstitial", "a phone call"])
        host.command(.pause(anticipatedRate: nil))
        await host.receiver.until { host.completions == ["1 suspended", "2 suspended"] }
        player.isQuick = true
        try await coordinator.coordinateSeek(to: MediaTime(value: 4, timescale: 1))
        try await coordinator.coordinateRateChange(to: 1)
        await player.logged(4)
        #expect(player.log == ["buffer for 1.0", "abandoned", "seek 4.0 by nobody", "play 1.0"])
        #expect(player.lastPlay?.itemTime.seconds == 4)
        #expect(host.receiver.requests("group.ask").isEmpty)
        // The place counts with the last that ends.
        advertisement.end(proposingNewTime: MediaTime(value: 1, timescale: 1))
        own.end(proposingNewTime: MediaTime(value: 6, timescale: 1))
        own.end()
        await host.hears(.resume(2, itemTime: 6_000_000_000))
        #expect(host.receiver.told.contains(.suspend(2, reason: "a phone call")))
        #expect(host.receiver.told.contains(.resume(1, itemTime: nil)))
        #expect(coordinator.suspensionReasons.isEmpty)
        host.command(.pause(anticipatedRate: nil))
        // Its own start may be under way still, and is then abandoned.
        await player.logged { $0.last == "pause" }
        #expect(player.log.dropFirst(4).filter { $0 != "abandoned" } == ["pause"])
    }

    @Test func `a suspension that is dropped, or ends at no time, ends`() async throws {
        let stage = try await Stage()
        _ = stage.coordinator.beginSuspension(for: .userActionRequired)
        await stage.host.hears(.resume(1, itemTime: nil))
        stage.coordinator.beginSuspension(for: .userActionRequired).end(proposingNewTime: .indefinite)
        await stage.host.hears(.resume(2, itemTime: nil))
    }

    @Test func `the place of the group is known while it plays, also to who is suspended`() async throws {
        let stage = try await Stage()
        let updates = stage.session.updates()
        #expect(await reached(updates) { stage.session.group.isClockKnown })
        let start = stage.coordinator.hostTime
        stage.host.change {
            $0.item = WireGroupItem(identifier: "song")
            $0.timelines["song"] = WireGroupTimeline(
                state: .playing, itemTime: 10_000_000_000, clockTime: start, rate: 2)
        }
        #expect(await reached(updates) { stage.session.group.timeline != nil })
        #expect(stage.coordinator.expectedItemTime(atHostTime: start + 1_000_000_000)?.seconds == 12)
        let suspension = stage.coordinator.beginSuspension(for: .userIsChangingCurrentTime)
        #expect(stage.coordinator.expectedItemTime(atHostTime: start + 2_000_000_000)?.seconds == 14)
        suspension.end()
        stage.coordinator.transitionToItem(withIdentifier: nil)
        #expect(stage.coordinator.expectedItemTime(atHostTime: start) == nil)
    }

    @Test func `policies are written for the group, and read as it has them`() async throws {
        let stage = try await Stage()
        let (host, coordinator) = (stage.host, stage.coordinator)
        host.receiver.replies["group.ask"] = { _ in .silence }
        #expect(!coordinator.pauseSnapsToMediaTimeOfOriginator)
        coordinator.pauseSnapsToMediaTimeOfOriginator = true
        coordinator.suspensionReasonsThatTriggerWaiting = [.stallRecovery]
        coordinator.setParticipantLimit(3, forWaitingOutSuspensionsWithReason: .stallRecovery)
        #expect(coordinator.pauseSnapsToMediaTimeOfOriginator)
        #expect(coordinator.participantLimit(forWaitingOutSuspensionsWithReason: .stallRecovery) == 3)
        let last = await host.receiver.waitFor("group.ask", count: 3)
        let policy = WireGroupPolicy(
            waitsFor: ["stallRecovery"], limits: ["stallRecovery": 3], pauseSnapsToOriginator: true)
        #expect(last.request == .link(.ask(.policy(policy))))
        // What is refused is as the group has it.
        let updates = coordinator.updates()
        host.receiver.answer(last, .failure(RouteError(.invalidParams, "no")))
        #expect(await reached(updates) { !coordinator.pauseSnapsToMediaTimeOfOriginator })
        host.change { $0.policy = WireGroupPolicy(limits: ["x": 7], pauseSnapsToOriginator: true) }
        #expect(await reached(updates) { coordinator.pauseSnapsToMediaTimeOfOriginator })
        #expect(
            coordinator.participantLimit(
                forWaitingOutSuspensionsWithReason: SuspensionReason(rawValue: "x")) == 7)
    }

    @Test func `others are seen with their readiness and suspensions`() async throws {
        let stage = try await Stage()
        #expect(stage.coordinator.otherParticipants.map(\.id) == ["kitchen"])
        let updates = stage.coordinator.updates()
        stage.host.change {
            $0.members["bath"] = GroupMemberDocument(
                name: "Bath", joined: 2, suspensions: ["stallRecovery"])
        }
        #expect(await reached(updates) { stage.coordinator.otherParticipants.count == 2 })
        #expect(stage.coordinator.otherParticipants.map(\.isReadyToPlay) == [true, false])
        #expect(stage.coordinator.otherParticipants[1].suspensionReasons == [.stallRecovery])
    }

    @Test func `without a group the player alone is asked`() async throws {
        let player = TestPlayer()
        player.isQuick = true
        let coordinator = PlaybackCoordinator(named: "Desk", delegate: player)
        await #expect(throws: RoutingError(.itemUnknown, family: .session, "")) {
            try await coordinator.coordinateRateChange(to: 1)
        }
        coordinator.transitionToItem(withIdentifier: "song")
        try await coordinator.coordinateRateChange(to: 1)
        try await coordinator.coordinateSeek(to: MediaTime(value: 8, timescale: 1))
        try await coordinator.coordinateRateChange(to: 0)
        await player.logged(4)
        #expect(player.log == ["play 1.0", "seek 8.0 by nobody", "play 1.0", "pause"])
        #expect(player.lastPlay?.itemTime.seconds == 8)
        // More than a player takes on is refused.
        player.isQuick = false
        await #expect(throws: RoutingError(.tooMuchAtOnce, family: .session, "")) {
            for _ in 0..<20 { try await coordinator.coordinateRateChange(to: 0) }
        }
    }
}
