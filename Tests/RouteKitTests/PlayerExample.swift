// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit

/// What a renderer of one's own has to be able to do.
@RouteActor protocol DeskRenderer {
    func load(_ url: String?)
    /// Is heard at `place` when the machine's monotonic clock shows `time`, and on at `rate`; also if that has passed.
    func play(from place: MediaTime, at time: Int64, rate: Double)
    /// Stands, at `place` if one is given, and says where.
    func stand(at place: MediaTime?) -> MediaTime
    /// Calls `body` once it could begin at once.
    func whenReady(_ body: @escaping @Sendable () -> Void)
}

/// Has the renderer take part in the groups of a receiver.
@RouteActor final class Desk: PlaybackCoordinatorDelegate {
    private let renderer: any DeskRenderer
    private lazy var coordinator = PlaybackCoordinator(named: "Desk", delegate: self)

    init(_ renderer: any DeskRenderer) { self.renderer = renderer }

    func takePart(in groups: GroupControl) async throws {
        for await session in groups.sessions() {
            coordinator.coordinate(with: session)
            try await session.join()
            for await _ in session.updates() {}  // until it is over
        }
    }

    func playbackCoordinatorDidChange(_ coordinator: PlaybackCoordinator) {
        guard let session = coordinator.session, session.state == .joined,
            session.group.item != coordinator.currentItemIdentifier
        else { return }
        renderer.load(session.group.itemURL)
        coordinator.transitionToItem(withIdentifier: session.group.item)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PlayCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        renderer.play(
            from: command.itemTime, at: coordinator.localTime(atHostTime: command.hostClockTime),
            rate: command.rate)
        completionHandler()
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PauseCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        coordinator.reportStop(at: renderer.stand(at: nil))
        finish(command.shouldBufferInAnticipationOfPlayback, completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.SeekCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        _ = renderer.stand(at: command.itemTime)
        finish(command.shouldBufferInAnticipationOfPlayback, completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.BufferingCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) { renderer.whenReady(completionHandler) }

    private func finish(_ isReadinessWanted: Bool, _ completionHandler: @escaping @Sendable () -> Void) {
        if isReadinessWanted { renderer.whenReady(completionHandler) } else { completionHandler() }
    }
}
