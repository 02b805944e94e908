// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Testing

@testable import RouteKit

@RouteActor struct RouteAnnouncementTests {
    private static let url = "http://door.example/bell.wav"

    /// A receiver that takes everything on, under the name `a`.
    private func receiver() throws -> ScriptedReceiver {
        let receiver = try ScriptedReceiver()
        receiver.replies["announcement.play"] = { _ in .result(Outcome.value("a").json) }
        return receiver
    }

    private func route(
        _ receiver: ScriptedReceiver, timing: LinkTiming = patientTiming
    ) async throws -> (RouteController, Route) {
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: timing)
        return (controller, try await controller.activate(receiver.receiver))
    }

    private func document(_ phase: String) -> AnnouncementsDocument {
        AnnouncementsDocument(
            queue: [
                AnnouncementDocument(
                    id: "a", route: "route-1", sender: "Test", name: "bell.wav", phase: phase)
            ])
    }

    private func end(
        _ receiver: ScriptedReceiver, _ reason: String, by: String? = nil, _ error: MediaFailure? = nil
    ) {
        receiver.tell(
            Notification.announcementEnded(announcement: "a", reason: reason, by: by, error: error))
    }

    @Test func `is asked for with what was given, and follows the receiver to its end`() async throws {
        let receiver = try receiver()
        let (_, route) = try await route(receiver)
        var options = RouteAnnouncement.Options()
        (options.volume, options.ducking) = (0.5, 12)
        let announcement = try await route.announce(url: Self.url, options: options)
        let wanted = AnnouncementRequest(url: Self.url, volume: 0.5, ducking: 12)
        #expect(receiver.requests("announcement.play").first?.request == .announce(wanted))
        #expect(announcement.id == "a" && announcement.phase == .waiting)
        let updates = announcement.updates()
        receiver.change { $0.announcements = document("playing") }
        #expect(await reached(updates) { announcement.phase == .playing })
        #expect(route.announcements.map(\.name) == ["bell.wav"])
        end(receiver, "finished")
        #expect(await announcement.ended() == .finished)
        #expect(announcement.phase == nil)
        try await announcement.cancel()
        #expect(receiver.requests("announcement.cancel").isEmpty, "it is over")
    }

    @Test func `tells why it failed, and who cancelled it`() async throws {
        let receiver = try receiver()
        let (_, route) = try await route(receiver)
        let failure = MediaFailure(.notFound, "gone", httpStatus: 404)
        let first = try await route.announce(url: Self.url)
        end(receiver, "failed", failure)
        #expect(await first.ended() == .failed(failure))
        let second = try await route.announce(url: Self.url)
        try await second.cancel()
        #expect(receiver.requests("announcement.cancel").first?.request == .cancelAnnouncement("a"))
        end(receiver, "cancelled", by: "Ben")
        #expect(await second.ended() == .cancelled(by: "Ben"))
        let third = try await route.announce(url: Self.url)
        end(receiver, "what only a later receiver knows")
        #expect(await third.ended() == .lost)
    }

    @Test func `a refusal is thrown`() async throws {
        let receiver = try receiver()
        receiver.replies["announcement.play"] = { _ in .refusal(RouteError(.limitReached, "eight wait")) }
        let (_, route) = try await route(receiver)
        let error = await #expect(throws: RoutingError.self) { try await route.announce(url: Self.url) }
        #expect(error?.code == .limitReached)
        receiver.replies["announcement.play"] = { _ in .result(Outcome.accepted.json) }
        await #expect(throws: RoutingError.self) { try await route.announce(url: Self.url) }
    }

    @Test func `an end that nobody told is found out when the connection is back`() async throws {
        let receiver = try receiver()
        let (_, route) = try await route(receiver, timing: quickTiming)
        let announcement = try await route.announce(url: Self.url)
        let failure = MediaFailure(.network, "unreachable")
        receiver.state.announcements = AnnouncementsDocument(
            last: EndedAnnouncementDocument(
                id: "a", sender: "Test", name: "bell.wav", reason: "failed", error: failure))
        receiver.cut()
        #expect(await announcement.ended() == .failed(failure))
        let other = try await route.announce(url: Self.url)
        receiver.state.announcements = .init()
        receiver.cut()
        #expect(await other.ended() == .lost)
    }

    @Test func `ends with its route`() async throws {
        let receiver = try receiver()
        let (controller, route) = try await route(receiver)
        let announcement = try await route.announce(url: Self.url)
        await controller.deactivate(route)
        #expect(await announcement.ended() == .routeEnded)
    }
}
