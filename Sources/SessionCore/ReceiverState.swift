// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The choices that an administrator makes for the session core.
package struct SessionPolicy: Equatable, Sendable {
    package enum Takeover: String, Sendable, CaseIterable { case takeOver, refuse }
    /// What happens when somebody starts a session while one plays.
    package var takeover: Takeover
    /// True: a session goes on when its sender is lost for longer than the grace time.
    package var keepsPlaying: Bool
    /// The most routes, attached or in their grace time.
    package var routeLimit: Int
    /// The highest device volume that anybody can set.
    package var volumeCap: Double
    /// Schemes of URLs that may be played, in lower case.
    package var allowedSchemes: Set<String>
    package init(
        takeover: Takeover = .takeOver, keepsPlaying: Bool = true, routeLimit: Int = 32,
        volumeCap: Double = 1,
        allowedSchemes: Set<String> = ["http", "https"]
    ) {
        (self.takeover, self.keepsPlaying, self.routeLimit) = (takeover, keepsPlaying, routeLimit)
        (self.volumeCap, self.allowedSchemes) = (volumeCap, allowedSchemes)
    }
}

/// The receiver as a value: routes, sessions, who owns the one player, the device's name and volume.
///
/// It never reads a clock, draws a random number or does I/O. Its transitions are in
/// `Docs/state-machines/session.md`.
package struct ReceiverState: Equatable, Sendable {
    package internal(set) var device: Device
    package internal(set) var connections: Set<ConnectionID> = []
    package internal(set) var routes: [RouteID: Route] = [:]
    package internal(set) var sessions: [SessionID: Session] = [:]
    /// The session that owns the player.
    package internal(set) var player: SessionID?
    package internal(set) var announcements = Announcements()
    package internal(set) var applications = Applications()
    package let policy: SessionPolicy
    /// Who caused the event that was applied last.
    package internal(set) var lastOrigin = Origin.device

    /// Between `started` and the next exit. Commands go out only then.
    var rendererIsUp = false
    /// True: sessions are those of a group.
    package internal(set) var isGrouped = false
    /// Whether requests can reach the group's host.
    var isGroupReachable = false
    /// Not nil while a source has the output that is no session.
    package internal(set) var foreign: ForeignOutput?
    /// The load whose stop was not answered yet.
    var stopping: LoadID?
    /// Whether the session that plays gets on while it claims to.
    var watched: WatchedSession?
    /// Set for good at shutdown: nothing is taken on any more.
    var isShutDown = false
    var lastLoad: UInt64 = 0
    var lastSeek: UInt64 = 0
    var lastArtwork: UInt64 = 0
    /// Counts lost connections, to tell which route was left first.
    var lastLoss: UInt64 = 0

    package struct Device: Equatable, Sendable {
        package var name: String
        package var volume: Volume
        package var output: OutputStatus
        package var advertisement: AdvertisementStatus
        /// Why name and volume cannot be written down; nil if they can.
        package internal(set) var storageFault: String?
        /// The walls around the process that decodes; nil until one said so.
        package var confinement: [ConfinementLayer]?
        /// How much later than the card says its sound is heard, in nanoseconds.
        package internal(set) var outputTrim: Int64 = 0
    }

    package struct Route: Equatable, Sendable {
        package internal(set) var sender: Sender
        package internal(set) var token: ResumeToken
        /// Nil while the grace time runs.
        package internal(set) var connection: ConnectionID?
        /// Counts losses and resumptions, so that an old grace timer ends nothing.
        package internal(set) var generation: UInt64 = 0
        /// Which loss of a connection left the route alone; meaningful while `connection` is nil.
        var loss: UInt64 = 0
    }

    /// A receiver that nobody uses yet. A volume above the cap is lowered to it.
    package init(
        name: String, volume: Volume, output: OutputStatus, advertisement: AdvertisementStatus,
        outputTrim: Int64 = 0, policy: SessionPolicy
    ) {
        self.policy = policy
        device = Device(name: name, volume: volume, output: output, advertisement: advertisement)
        device.volume.level = min(volume.level, cap)
        device.outputTrim = outputTrim
    }

    /// Takes one event and says what is to be done, in order. A request is answered, refused, or given to the group to answer,
    /// exactly once, in the list that its own event returns.
    package mutating func apply(_ event: ReceiverEvent) -> [ReceiverEffect] {
        lastOrigin = origin(of: event)
        let decided = decide(event)
        let effects = decided + watchProgress(event)
        return effects + watchSeek(effects)
    }

    private mutating func decide(_ event: ReceiverEvent) -> [ReceiverEffect] {
        switch event {
        case .connectionOpened(let connection):
            connections.insert(connection)
            return []
        case .connectionLost(let connection):
            return connectionLost(connection)
        case .activationRequested(let request, let sender, let resume, let fresh, let token):
            return answering(request) { state throws(Refusal) in
                try state.activate(request, sender, resume: resume, fresh: fresh, token: token)
            }
        case .deactivationRequested(let request):
            return answering(request) { state throws(Refusal) in try state.deactivate(request) }
        case .graceExpired(let route, let generation):
            return graceExpired(route, generation: generation)
        case .startRequested(let request, let wanted, let fresh):
            return answering(request) { state throws(Refusal) in
                try state.start(request, wanted, fresh: fresh)
            }
        case .stopRequested(let request, let session):
            return answering(request) { state throws(Refusal) in try state.stop(request, session) }
        case .playbackRequested(let request, let session, let wanted):
            return answering(request) { state throws(Refusal) in
                try state.playback(request, session, wanted)
            }
        case .queueRequested(let request, let session, let wanted):
            return answering(request) { state throws(Refusal) in try state.queue(request, session, wanted) }
        case .announcementRequested(let request, let wanted, let fresh):
            return answering(request) { state throws(Refusal) in
                try state.announce(request, wanted, fresh: fresh)
            }
        case .announcementCancelRequested(let request, let id):
            return answering(request) { state throws(Refusal) in try state.cancelAnnouncement(request, id) }
        case .announcementTimedOut(let load, let limit): return announcementTimedOut(load, limit)
        case .catalogChanged, .applicationStartRequested, .routeChannelRequested, .applicationConnected,
            .helloRequested, .sessionEndRequested, .instanceConfined, .instanceExited, .instanceTimedOut,
            .instanceViolated:
            return decideApplication(event)
        case .deviceRequested(let request, let wanted):
            return answering(request) { state throws(Refusal) in try state.change(request, wanted) }
        case .groupJoined, .groupLeft, .groupReachable, .groupItemChanged, .groupAdvanced, .groupQueueChanged,
            .groupItemEnded, .groupRateChanged,
            .groupAnchored, .groupSought, .groupNoted, .groupLevelChanged:
            return decideGroup(event)
        case .outputYielded, .outputReturned, .captureRequested, .captureEnded, .sessionSwitched,
            .levelSwitched,
            .switchingNoted:
            return decideSwitching(event)
        case .advertisementChanged(let status):
            device.advertisement = status
            return []
        case .storageChanged(let fault):
            device.storageFault = fault
            return []
        case .renderer(let event):
            noteForeign(event)
            return rendered(event)
        case .loadTimedOut(let load):
            return loadTimedOut(load)
        case .stopTimedOut(let load):
            return stopTimedOut(load)
        case .progressTimedOut, .seekTimedOut:
            return []
        case .shutdownRequested:
            return shutDown()
        }
    }

    private mutating func decideApplication(_ event: ReceiverEvent) -> [ReceiverEffect] {
        switch event {
        case .catalogChanged(let catalog): applications.catalog = Applications.fitting(catalog)
        case .applicationStartRequested(let request, let wanted, let fresh, let instance):
            return answering(request) { state throws(Refusal) in
                try state.startApplication(request, wanted, fresh: fresh, instance: instance)
            }
        case .routeChannelRequested(let connection, let application, let fresh):
            return openRouteChannel(connection, application, fresh: fresh)
        case .applicationConnected(let connection, let id): return applicationConnected(connection, id)
        case .helloRequested(let request):
            return answering(request) { state throws(Refusal) in try state.hello(request) }
        case .sessionEndRequested(let request, let session, let failure):
            return answering(request) { state throws(Refusal) in
                try state.endSession(request, session, failure: failure)
            }
        case .instanceConfined(let id, let layers): applications.instances[id]?.confinement = layers
        case .instanceExited(let id, let exit): return instanceExited(id, exit)
        case .instanceTimedOut(let id, let timer, let generation):
            return instanceTimedOut(id, timer, generation: generation)
        case .instanceViolated(let id, let failure): return doom(id, failure)
        default: break
        }
        return []
    }

    /// Runs a request's body, which answers it, or refuses it.
    private mutating func answering(
        _ request: RequestID, _ body: (inout Self) throws(Refusal) -> [ReceiverEffect]
    ) -> [ReceiverEffect] {
        do throws(Refusal) {
            if isShutDown { throw Refusal(.limitReached, "The receiver is shutting down.") }
            guard connections.contains(request.connection) else {
                throw Refusal(.routeRequired, "The connection is closed.")
            }
            return try body(&self)
        } catch {
            return [.refuse(request, error)]
        }
    }

    private func origin(of event: ReceiverEvent) -> Origin {
        switch event {
        case .activationRequested(let request, let sender, _, let fresh, _):
            // A resumed route is found by its token only when it is resumed; see `activate`.
            .sender(route(of: request.connection) ?? fresh, name: sender.name)
        case .deactivationRequested(let request), .startRequested(let request, _, _),
            .stopRequested(let request, _), .playbackRequested(let request, _, _),
            .queueRequested(let request, _, _), .deviceRequested(let request, _),
            .announcementRequested(let request, _, _), .announcementCancelRequested(let request, _),
            .applicationStartRequested(let request, _, _, _), .helloRequested(let request),
            .sessionEndRequested(let request, _, _):
            if let id = route(of: request.connection), let route = routes[id] {
                .sender(id, name: route.sender.name)
            } else if let id = applications.instance(of: request.connection) {
                .application(id, name: name(of: .instance(id)))
            } else {
                .device
            }
        case .renderer(let event): Self.origin(of: event)
        case .groupJoined, .groupLeft, .groupReachable, .groupItemChanged, .groupAdvanced, .groupQueueChanged,
            .groupItemEnded, .groupRateChanged,
            .groupAnchored, .groupSought, .groupNoted, .groupLevelChanged:
            .group
        case .outputYielded, .outputReturned, .captureRequested, .captureEnded, .sessionSwitched,
            .switchingNoted:
            .switching
        case .levelSwitched: .local
        case .connectionOpened, .connectionLost, .graceExpired, .advertisementChanged, .storageChanged,
            .loadTimedOut, .stopTimedOut, .announcementTimedOut, .progressTimedOut, .seekTimedOut,
            .shutdownRequested, .catalogChanged, .routeChannelRequested, .applicationConnected,
            .instanceConfined,
            .instanceExited, .instanceTimedOut, .instanceViolated:
            .device
        }
    }

    private static func origin(of event: RendererEvent) -> Origin {
        switch event {
        case .loaded, .timelineChanged, .positionChanged, .bufferingChanged, .errorChanged, .metadataChanged,
            .artworkFound, .tracksChanged, .pictureChanged, .seekFinished, .ended, .advanced, .nextFailed,
            .failed, .announcementBegan, .announcementEnded, .announcementFailed, .readinessChanged,
            .syncChanged:
            .content
        case .outputVolumeChanged: .local
        case .started, .stopped, .outputChanged, .exited, .confined, .captureActivity, .jackChanged: .device
        }
    }

    /// The route that is active on a connection.
    func route(of connection: ConnectionID) -> RouteID? {
        routes.first { $0.value.connection == connection }?.key
    }

    /// The route that is active on a request's connection, which every write needs.
    func activeRoute(_ request: RequestID) throws(Refusal) -> RouteID {
        guard let route = route(of: request.connection) else {
            throw Refusal(.routeRequired, "No route is active on this connection.")
        }
        return route
    }

    /// A command for the renderer, if it is there to take it. What it misses is told when it is back.
    func render(_ command: RendererCommand) -> [ReceiverEffect] {
        rendererIsUp && (foreign == nil || !command.isOfSession) ? [.render(command)] : []
    }
}
