// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Testing

@testable import RouteKit

/// Counts messages.
@RouteActor private final class Taker: SessionDataChannelDelegate {
    private(set) var count = 0
    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws { count += 1 }
}

@RouteActor struct ReconnectionTests {
    private let receiver: ScriptedReceiver
    private let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)

    init() throws { receiver = try ScriptedReceiver() }

    private func startedSession(on route: Route) async throws -> MediaSession {
        let session = RouteSession(url: "http://example.org/a")
        route.addSession(session)
        return try await session.start()
    }

    @Test func `a lost connection is made anew and the route resumed with its token`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let media = try await startedSession(on: route)
        receiver.state.device.volume.level = 0.1
        receiver.cut()
        let second = await receiver.waitFor("route.activate", count: 2)
        guard case .activate(let activation) = second.request else { return }
        #expect(activation.resume == "token-1")
        #expect(await reached(route.updates()) { route.state == .active && route.device.volume == 0.1 })
        #expect(media.endReason == nil)
        // Commands go over the new connection.
        #expect(try await media.playbackControl.perform(.setPlaying(false)) == .accepted)
    }

    @Test func `a message that comes again with the answer that resumes the route is acknowledged again`()
        async throws
    {
        let route = try await controller.activate(receiver.receiver)
        let taker = Taker()
        route.link.channel(number: 7).delegate = taker
        let message = DataFrame(kind: .message, channel: 7, message: 1, payload: [1])
        receiver.send(message)
        await receiver.until { receiver.frames.count == 1 }
        receiver.replies["route.activate"] = { _ in .silence }
        receiver.cut()
        let second = await receiver.waitFor("route.activate", count: 2)
        receiver.answer(second, .success(receiver.usual(second.request)))
        receiver.send(message)
        await receiver.until { receiver.frames.count == 2 }
        #expect(receiver.frames.allSatisfy { $0.kind == .acknowledged && $0.message == 1 })
        #expect(taker.count == 1)
    }

    @Test func `a session that is missing after a resume has ended unheard`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let media = try await startedSession(on: route)
        (receiver.state.sessions, receiver.state.player) = ([:], nil)
        receiver.cut()
        #expect(await media.ended() == .lost)
    }

    @Test func `a request under way when the connection is lost fails, and is not sent again`() async throws {
        let route = try await controller.activate(receiver.receiver)
        receiver.replies["device.changeVolume"] = { _ in .silence }
        let change = Task { try await route.device.perform(.changeVolume(steps: 1)) }
        _ = await receiver.waitFor("device.changeVolume")
        receiver.cut()
        await #expect(throws: RoutingError(.connectionLost, family: .connection, "")) {
            try await change.value
        }
        _ = await receiver.waitFor("route.activate", count: 2)
        #expect(try await route.device.perform(.setMuted(true)) == .accepted)
        #expect(receiver.requests("device.changeVolume").count == 1)
    }

    @Test func `a route that the receiver has forgotten ends with its sessions`() async throws {
        let watcher = Watcher()
        controller.addObserver(watcher)
        let route = try await controller.activate(receiver.receiver)
        let media = try await startedSession(on: route)
        receiver.replies["route.activate"] = { _ in .refusal(RouteError(.routeUnknown, "expired")) }
        receiver.cut()
        #expect(await media.ended() == .lost)
        #expect(route.state == .ended(.graceExpired))
        #expect(controller.routes.isEmpty)
        await watcher.wait(for: 2)
        #expect(watcher.reasons == [.activate, .deactivate])
    }

    @Test func `a route taken over by another connection is not fought for`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let updates = route.updates()
        receiver.close(code: 4000)
        #expect(await reached(updates) { route.state == .ended(.resumedElsewhere) })
        #expect(receiver.requests("route.activate").count == 1)
    }

    @Test func `a receiver that goes away in good order ends the route`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let updates = route.updates()
        receiver.tell(Notification.routeEnded(route: "route-1", reason: "shutdown", message: "bye"))
        #expect(await reached(updates) { route.state == .ended(.shutdown) })
        await #expect(throws: RoutingError(.ended, family: .session, "")) {
            try await route.device.perform(.toggleMute)
        }
    }

    @Test func `the end of another route changes nothing`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let updates = route.updates()
        receiver.tell(Notification.routeEnded(route: "route-2", reason: "shutdown", message: ""))
        receiver.change { $0.device.name = "Hall" }
        #expect(await reached(updates) { route.device.name == "Hall" })
        #expect(route.state == .active)
    }

    @Test func `a receiver that answers no clock reading is connected to anew`() async throws {
        let quick = RouteController(sender: SenderIdentity(name: "Test"), timing: quickTiming)
        receiver.replies["clock.ping"] = { [receiver] _ in
            receiver.requests("route.activate").count == 1
                ? .silence : .result(receiver.usual(.ping))
        }
        let route = try await quick.activate(receiver.receiver)
        _ = await receiver.waitFor("route.activate", count: 2)
        #expect(await reached(route.updates()) { route.state == .active })
    }

    @Test func `an observer without a route comes back, too`() async throws {
        let connection = try await ReceiverConnection.open(receiver.receiver, timing: patientTiming)
        let updates = connection.updates()
        receiver.cut()
        receiver.state.device.name = "Hall"
        #expect(await reached(updates) { connection.isConnected && connection.device.name == "Hall" })
        #expect(receiver.requests("state.subscribe").count == 2)
        connection.close()
        await receiver.until { receiver.sockets.isEmpty }
    }

    @Test func `waits between attempts double up to the longest and are a little random`() {
        let timing = LinkTiming(firstRetry: .milliseconds(100), longestRetry: .seconds(5))
        #expect(timing.retryDelay(0, jitter: 0) == .milliseconds(100))
        #expect(timing.retryDelay(3, jitter: 0) == .milliseconds(800))
        #expect(timing.retryDelay(60, jitter: 0) == .seconds(5))
        #expect(timing.retryDelay(60, jitter: 0.2) == .seconds(4))
    }
}

/// Takes every route on and remembers the events.
@RouteActor final class Watcher: RouteControllerObserver {
    private(set) var reasons: [RouteEvent.Reason] = []
    var takesOn = true
    private let announcer = Announcer()

    func routeController(_ controller: RouteController, handle event: RouteEvent) async -> Bool {
        reasons.append(event.reason)
        announcer.announce()
        return takesOn
    }

    func wait(for count: Int) async { _ = await reached(announcer.stream()) { reasons.count >= count } }
}

@RouteActor struct ObserverTests {
    private let receiver: ScriptedReceiver
    private let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)

    init() throws { receiver = try ScriptedReceiver() }

    @Test func `an observer is added once`() {
        let watcher = Watcher()
        #expect(controller.addObserver(watcher))
        #expect(!controller.addObserver(watcher))
        controller.removeObserver(watcher)
        #expect(controller.addObserver(watcher))
    }

    @Test func `a route that no observer takes on is deactivated again`() async {
        let watcher = Watcher()
        watcher.takesOn = false
        controller.addObserver(watcher)
        await #expect(throws: RoutingError(.notHandled, family: .session, "")) {
            try await controller.activate(receiver.receiver)
        }
        #expect(receiver.requests("route.deactivate").count == 1)
        #expect(controller.routes.isEmpty)
    }

    @Test func `deactivating tells the receiver and the observers once`() async throws {
        let watcher = Watcher()
        controller.addObserver(watcher)
        let route = try await controller.activate(receiver.receiver)
        await controller.deactivate(route)
        await controller.deactivate(route)
        await watcher.wait(for: 2)
        #expect(receiver.requests("route.deactivate").count == 1)
        #expect(watcher.reasons == [.activate, .deactivate])
        #expect(route.state == .ended(.deactivated))
    }

    @Test func `leaving a route does not end it at the receiver`() async throws {
        let route = try await controller.activate(receiver.receiver)
        await controller.leave(route)
        await receiver.until { receiver.sockets.isEmpty }
        #expect(receiver.requests("route.deactivate").isEmpty)
        #expect(route.state == .ended(.left))
    }
}
