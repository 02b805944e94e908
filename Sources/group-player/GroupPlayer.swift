// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit

/// A player of its own that takes part in a group: it loads the group's item, and does what the coordinator tells it.
@RouteActor final class GroupPlayer: PlaybackCoordinatorDelegate {
    private let pump: SamplePump
    private let log: (String) -> Void
    private(set) lazy var coordinator = PlaybackCoordinator(named: name, delegate: self)
    private let name: String
    private var session: GroupSession?
    private var source: SampleSource?
    private var statuses: Task<Void, Never>?
    /// What is heard, and the clock by which it is meant.
    private var anchor: PlaybackAnchor?
    private var clock: PlaybackCoordinator.Clock?
    /// Where it stands while it does.
    private var place: Int64 = 0
    private var rate = 1.0
    /// A command that is done when its place could be heard.
    private var waiting: (place: Int64, completion: @Sendable () -> Void)?
    private var stall: PlaybackSuspension?

    /// A start is prepared so much ahead of where the group is, which is what it takes to fill the window.
    private static let lead: Int64 = 400_000_000

    init(named name: String, pump: SamplePump, log: @escaping (String) -> Void) {
        (self.name, self.pump, self.log) = (name, pump, log)
    }

    /// Takes part until the session is over, and says why it is.
    func play(_ session: GroupSession) async throws -> String {
        self.session = session
        coordinator.coordinate(with: session)
        let updates = session.updates()
        try await session.join()
        log("joined \(session.group.name)")
        followItem()
        for await _ in updates {}
        load(nil)
        if case .invalidated(let reason) = session.state { return reason }
        return "left"
    }

    func leave() { session?.leave() }

    func report(_ sync: SyncReport) {
        log(
            "error \(sync.error) ns, largest \(sync.largestError) ns, \(sync.resyncs) resyncs, card \(sync.cardDrift) ppm"
        )
        coordinator.report(sync)
    }

    // MARK: The item

    func playbackCoordinatorDidChange(_ coordinator: PlaybackCoordinator) { followItem() }

    /// Goes over to what the group plays.
    private func followItem() {
        guard let session, session.state == .joined, session.group.item != coordinator.currentItemIdentifier
        else { return }
        load(session.group.itemURL)
        log("item \(session.group.item ?? "none")")
        coordinator.transitionToItem(withIdentifier: session.group.item)
    }

    private func load(_ address: String?) {
        source?.close()
        statuses?.cancel()
        (source, anchor, waiting, place, rate) = (nil, nil, nil, 0, 1)
        stall?.end()
        stall = nil
        if let address {
            let (stream, status) = AsyncStream.makeStream(
                of: SampleStatus.self, bufferingPolicy: .bufferingNewest(16))
            source = SampleSource(address) { status.yield($0) }
            if source == nil { status.yield(.failed("GStreamer's elements are not installed")) }
            statuses = Task { for await status in stream { changed(status) } }
        }
        tell()
    }

    private func tell() {
        pump.play(Synchroniser.Wish(line: clock?.line, anchor: anchor), of: source?.window)
        if anchor == nil { source?.window.want(Double(place)) }
    }

    // MARK: Samples

    private func changed(_ status: SampleStatus) {
        log("\(status)")
        switch status {
        case .enqueued:
            completeIfReady()
            if waiting == nil, let stall {
                self.stall = nil
                stall.end()
            }
        case .suspended:
            if stall == nil { stall = coordinator.beginSuspension(for: .stallRecovery) }
            (anchor, place) = (nil, groupPlace)
            prepare()
        case .finished: coordinator.reportEnd()
        case .failed:
            if stall == nil { stall = coordinator.beginSuspension(for: .coordinatedPlaybackNotPossible) }
        }
    }

    /// When the window is filled, on the group's clock.
    private var soon: Int64 { coordinator.hostTime(atLocalTime: PlaybackCoordinator.localTime + Self.lead) }

    /// Where the group will be then.
    private var groupPlace: Int64 {
        let time = coordinator.expectedItemTime(atHostTime: soon)
        return time?.nanoseconds ?? place
    }

    /// Has the place decoded.
    private func prepare() {
        if let source, !source.window.isNear(Double(place)) { source.seek(to: place, rate: rate) }
        tell()
    }

    private func move(to place: Int64, rate: Double) {
        (self.place, self.rate) = (place, rate)
        source?.seek(to: place, rate: rate)
        tell()
    }

    private func completeIfReady() {
        guard let (place, completion) = waiting, source?.window.isReady(for: Double(place)) != false else {
            return
        }
        waiting = nil
        completion()
    }

    private func wait(for place: Int64, _ completion: @escaping @Sendable () -> Void) {
        waiting = (place, completion)
        source?.window.want(Double(place))
        completeIfReady()
    }

    // MARK: Commands

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PlayCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        guard isCurrent(command) else { return completionHandler() }
        log("play \(command.rate) at \(command.itemTime.seconds)")
        let isFaster = rate != command.rate
        rate = command.rate
        place = max(0, command.anchor.itemTime(at: max(soon, command.hostClockTime)))
        if isFaster || source?.window.isNear(Double(place)) != true { source?.seek(to: place, rate: rate) }
        anchor = command.anchor
        tell()
        wait(for: place, completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PauseCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        guard isCurrent(command) else { return completionHandler() }
        log("pause")
        if let anchor { place = max(0, anchor.itemTime(at: coordinator.hostTime)) }
        anchor = nil
        prepare()
        coordinator.reportStop(at: MediaTime(nanoseconds: place))
        guard command.shouldBufferInAnticipationOfPlayback else { return completionHandler() }
        wait(for: place, completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.SeekCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        guard isCurrent(command) else { return completionHandler() }
        log("seek \(command.itemTime.seconds)")
        anchor = nil
        let isPrepared = command.shouldBufferInAnticipationOfPlayback
        move(to: command.itemTime.nanoseconds ?? 0, rate: isPrepared ? command.anticipatedPlaybackRate : rate)
        guard isPrepared else { return completionHandler() }
        wait(for: place, completionHandler)
    }

    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.BufferingCommand,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        guard isCurrent(command) else { return completionHandler() }
        log("buffer")
        if rate != command.anticipatedPlaybackRate {
            move(to: place, rate: command.anticipatedPlaybackRate)
        } else {
            prepare()
        }
        wait(for: place, completionHandler)
    }

    private func isCurrent(_ command: any PlaybackCoordinatorCommand) -> Bool {
        command.expectedCurrentItemIdentifier == coordinator.currentItemIdentifier
    }

    func playbackCoordinatorDidAbandonCommand(_ coordinator: PlaybackCoordinator) { waiting = nil }

    /// What is heard goes over to another clock without a step.
    func playbackCoordinator(_ coordinator: PlaybackCoordinator, didRead clock: PlaybackCoordinator.Clock) {
        if let old = self.clock, old.identifier != clock.identifier, let anchor {
            let now = PlaybackCoordinator.localTime
            self.anchor = PlaybackAnchor(
                itemTime: anchor.itemTime(at: old.line.remote(at: now)),
                clockTime: clock.line.remote(at: now),
                rate: anchor.rate)
        }
        self.clock = clock
        tell()
    }
}
