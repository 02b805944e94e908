// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit

/// Plays one URL on the first receiver that is found, and tells what becomes of it.
@RouteActor final class Jukebox: RouteControllerObserver {
    private let controller = RouteController(sender: SenderIdentity(name: "Jukebox"))

    func play(_ url: String) async throws {
        controller.addObserver(self)
        let browser = ReceiverBrowser()
        for await event in browser.events() {
            guard case .found(let receiver) = event else { continue }
            try await play(url, on: receiver)
            return
        }
    }

    func play(_ url: String, on receiver: Receiver) async throws {
        let route = try await controller.activate(receiver)
        let session = RouteSession(url: url)
        session.options.startPosition = MediaTime(value: 30, timescale: 1)
        route.addSession(session)

        let media = try await session.start()
        let control = media.playbackControl
        control.playbackSpeed = 1.25  // shows at once; the receiver is asked
        route.device.volume = 0.4
        var encore = QueueItem(url: "https://example.org/encore.flac")
        encore.title = "Encore"
        do {
            try await control.queue.insert([encore], at: .next)
            try await control.perform(.seek(to: MediaTime(value: 60, timescale: 1), tolerance: .zero))
        } catch let refusal as RoutingError {
            print("no: \(refusal.message)")
        }
        for await _ in control.updates() {
            print(control.metadata.title ?? url, control.position(), control.isPlaying)
        }
        print("over:", media.endReason as Any)
        await controller.deactivate(route)
    }

    /// True: this object sees to the route.
    func routeController(_ controller: RouteController, handle event: RouteEvent) async -> Bool {
        print(event.route.displayName, event.reason)
        return true
    }
}
