// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Testing

@testable import RouteKit

@RouteActor struct RouteTests {
    private let receiver: ScriptedReceiver
    private let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)

    init() throws { receiver = try ScriptedReceiver() }

    private func start(_ route: Route) async throws -> MediaSession {
        let session = RouteSession(url: "http://example.org/a.flac")
        #expect(route.addSession(session))
        return try await session.start()
    }

    @Test func `a receiver is known by its address alone`() async throws {
        let found = try await Receiver.at(receiver.address)
        #expect(found.id == receiver.state.device.id)
        #expect(found.displayName == "Kitchen")
        #expect(found.addresses == [receiver.address])
    }

    @Test func `activation carries the sender and mirrors the state`() async throws {
        let route = try await controller.activate(receiver.receiver)
        #expect(route.id == "route-1")
        #expect(route.device.volume == 0.5)
        #expect(route.displayName == "Kitchen")
        #expect(route.localAddress == "127.0.0.1")
        guard case .activate(let activation) = receiver.requests("route.activate")[0].request else {
            Issue.record("no activation")
            return
        }
        #expect(activation.sender.name == "Test")
        #expect(activation.resume == nil)
    }

    @Test func `a refused activation throws the receiver's reason`() async {
        receiver.replies["route.activate"] = { _ in .refusal(RouteError(.limitReached, "full")) }
        let error = await #expect(throws: RoutingError.self) {
            try await controller.activate(receiver.receiver)
        }
        #expect(error?.code == .limitReached)
        #expect(error?.message == "full")
        #expect(error?.isRefusal == true)
        #expect(controller.routes.isEmpty)
    }

    @Test func `a port where nobody listens throws at once`() async throws {
        let address = receiver.address
        let closed = Receiver(id: "x", displayName: "x", addresses: [.init(host: address.host, port: 1)])
        let error = await #expect(throws: RoutingError.self) { try await controller.activate(closed) }
        #expect(error?.code == .connectionFailed)
    }

    @Test func `the second address is tried when the first does not answer`() async throws {
        var both = receiver.receiver
        both.addresses.insert(.init(host: "127.0.0.1", port: 1), at: 0)
        let route = try await controller.activate(both)
        #expect(route.state == .active)
    }

    @Test func `a session is used once and by one route`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let session = RouteSession(url: "http://example.org/a")
        await #expect(throws: RoutingError(.notAttached, family: .session, "")) { try await session.start() }
        #expect(route.addSession(session))
        #expect(!route.addSession(session))
        _ = try await session.start()
        await #expect(throws: RoutingError(.alreadyStarted, family: .session, "")) {
            try await session.start()
        }
    }

    @Test func `the options of a session reach the receiver`() async throws {
        let route = try await controller.activate(receiver.receiver)
        var options = RouteSession.Options()
        options.headers = [HeaderField(name: "X-A", value: "b")]
        options.startPosition = MediaTime(value: 3, timescale: 2)
        options.isPlaying = false
        options.title = "Song"
        let session = RouteSession(url: "http://example.org/a", options: options)
        route.addSession(session)
        let media = try await session.start()
        #expect(media.playbackControl.metadata.title == "Song")
        #expect(media.dataChannel == nil)
        guard case .start(let start) = receiver.requests("session.start")[0].request else { return }
        #expect(start.headers == options.headers)
        #expect(start.startPosition == options.startPosition)
        #expect(!start.isPlaying)
    }

    @Test func `a write on the control reaches the receiver and its push is mirrored`() async throws {
        let media = try await start(controller.activate(receiver.receiver))
        let control = media.playbackControl
        control.isPlaying = false
        let asked = await receiver.waitFor("playback.setPlaying")
        #expect(asked.request == .setPlaying(session: ScriptedReceiver.session, false))
        let updates = control.updates()
        receiver.change { $0.sessions[ScriptedReceiver.session]?.isBuffering = true }
        #expect(await reached(updates) { control.isBuffering })
    }

    @Test func `a refused command throws, and one that is clamped says so`() async throws {
        let control = try await start(controller.activate(receiver.receiver)).playbackControl
        receiver.replies["playback.seek"] = { _ in .refusal(RouteError(.linearPlayback, "an advertisement")) }
        await #expect(throws: RoutingError(.linearPlayback, family: .playback, "")) {
            try await control.perform(.seek(to: .zero, tolerance: .zero))
        }
        #expect(control.lastRefusal?.error.code == .linearPlayback)
        let end = MediaTime(value: 100, timescale: 1)
        receiver.replies["playback.seek"] = { _ in .result(Outcome.clamped(end.json).json) }
        let outcome = try await control.perform(.seek(to: .positiveInfinity, tolerance: .zero))
        #expect(outcome == .clampedTime(end))
    }

    @Test func `answers in any order find their requests`() async throws {
        let route = try await controller.activate(receiver.receiver)
        receiver.replies["device.setVolume"] = { _ in .silence }
        async let first = route.device.perform(.setVolume(0.1))
        let one = await receiver.waitFor("device.setVolume", count: 1)
        async let second = route.device.perform(.setVolume(0.2))
        let two = await receiver.waitFor("device.setVolume", count: 2)
        receiver.answer(two, .success(Outcome.clamped(0.25).json))
        #expect(try await second == .clampedNumber(0.25))
        receiver.answer(one, .success(Outcome.accepted.json))
        #expect(try await first == .accepted)
        #expect(route.device.volume == 0.25)
    }

    @Test func `more requests than a receiver takes wait for their turn`() async throws {
        let route = try await controller.activate(receiver.receiver)
        await receiver.until { receiver.requests("clock.ping").count >= 4 }
        receiver.replies["device.changeVolume"] = { _ in .silence }
        for _ in 0..<40 { Task { try await route.device.perform(.changeVolume(steps: 1)) } }
        let last = await receiver.waitFor("device.changeVolume", count: RequestQueue.inFlightLimit)
        // A request sent now would overtake nothing: it waits behind those that wait already.
        receiver.answer(last, .success(Outcome.accepted.json))
        _ = await receiver.waitFor("device.changeVolume", count: RequestQueue.inFlightLimit + 1)
        #expect(receiver.requests("device.changeVolume").count == RequestQueue.inFlightLimit + 1)
    }

    @Test func `a gap in the versions fetches the whole state`() async throws {
        let route = try await controller.activate(receiver.receiver)
        receiver.change(isTold: false) { $0.device.name = "Living room" }
        let updates = route.updates()
        receiver.change { $0.device.volume.level = 0.7 }
        #expect(await reached(updates) { route.device.volume == 0.7 })
        #expect(route.device.name == "Living room")
        #expect(receiver.requests("state.get").count == 1)
    }

    @Test func `a change of volume names its origin`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let updates = route.updates()
        receiver.change(by: .local) { $0.device.volume.level = 0.9 }
        #expect(await reached(updates) { route.device.volume == 0.9 })
        #expect(route.device.volumeOrigin == .local)
    }

    @Test(arguments: [
        ("finished", SessionEnd.finished), ("stopped", .stopped), ("preempted", .preempted(by: "Phone")),
        ("shutdown", .shutdown), ("failed", .failed(MediaFailure(.httpStatus, "", httpStatus: 404))),
    ])
    func `the end of a session says why`(reason: String, expected: SessionEnd) async throws {
        let route = try await controller.activate(receiver.receiver)
        let media = try await start(route)
        receiver.tell(
            Notification.sessionEnded(
                session: ScriptedReceiver.session, reason: reason, by: "Phone",
                error: reason == "failed" ? MediaFailure(.httpStatus, "gone", httpStatus: 404) : nil))
        #expect(await media.ended() == expected)
        #expect(route.sessions.isEmpty)
    }

    @Test func `a session that fails before its start is answered is over when it starts`() async throws {
        let route = try await controller.activate(receiver.receiver)
        receiver.replies["session.start"] = { [receiver] _ in
            receiver.tell(
                Notification.sessionEnded(
                    session: "brief", reason: "failed", by: nil, error: MediaFailure(.notFound, "no")))
            return .result(StateResult(session: "brief", version: 1, state: receiver.state.json).json)
        }
        let media = try await start(route)
        #expect(await media.ended() == .failed(MediaFailure(.notFound, "")))
        #expect(route.sessions.isEmpty)
    }

    @Test func `a session stopped while it starts is ended as soon as it has a name`() async throws {
        let route = try await controller.activate(receiver.receiver)
        receiver.replies["session.start"] = { _ in .silence }
        let session = RouteSession(url: "http://example.org/a")
        route.addSession(session)
        let starting = Task { @RouteActor in try await session.start() }
        let asked = await receiver.waitFor("session.start")
        await session.stop()
        receiver.answer(asked, .success(receiver.usual(asked.request)))
        _ = try await starting.value
        #expect(await receiver.waitFor("session.stop").request == .stop(session: ScriptedReceiver.session))
        #expect(session.state == .ended)
    }

    @Test func `a route that nobody holds closes its connection`() async throws {
        var own: RouteController? = RouteController(
            sender: SenderIdentity(name: "Brief"), timing: patientTiming)
        _ = try await own?.activate(receiver.receiver)
        await receiver.until { receiver.requests("clock.ping").count >= 4 }
        own = nil
        await receiver.until { receiver.sockets.isEmpty }
        #expect(receiver.requests("route.deactivate").isEmpty)
    }

    @Test func `removing a session stops it`() async throws {
        let route = try await controller.activate(receiver.receiver)
        let session = RouteSession(url: "http://example.org/a")
        route.addSession(session)
        _ = try await session.start()
        await route.removeSession(session)
        #expect(receiver.requests("session.stop").count == 1)
        await route.removeSession(session)
        #expect(receiver.requests("session.stop").count == 1)
    }
}
