// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel

extension ReceiverState {
    mutating func start(
        _ request: RequestID, _ wanted: SessionRequest, fresh: SessionID
    ) throws(Refusal) -> [ReceiverEffect] {
        let asker = try asker(request, needing: .player)
        for item in [wanted.first] + wanted.following { try item.validate(schemes: policy.allowedSchemes) }
        let queue = try PlayQueue([wanted.first] + wanted.following, repeats: wanted.repeats)
        if policy.takeover == .refuse, let player, let owner = sessions[player]?.owner, owner != asker {
            throw Refusal(.sessionBusy, "Another sender is playing.")
        }
        if case .instance(let id) = asker, !isRunning(id) {
            throw Refusal(.notPermitted, "The application is ending.")
        }
        if isGrouped {
            guard isGroupReachable else { throw Refusal(.groupUnavailable, "The group's host is away.") }
        }
        let name = name(of: asker)
        // The new load gives up the old one, so that nothing waits for a stop.
        let ended = player.map { end($0, .preempted(by: name), stopsRenderer: false) } ?? []
        var session = Session(wanted, queue: queue, owner: asker, load: nextLoad())
        session.isGrouped = isGrouped
        session.isHeard = foreign == nil
        if case .instance(let id) = asker { applications.instances[id]?.media = fresh }
        sessions[fresh] = session
        player = fresh
        let grouped: [ReceiverEffect] = isGrouped ? [.coordinate(fresh, .start(wanted))] : []
        return launch(session)
            + [.armLoadTimer(session.load), .answer(request, .started(fresh))] + ended + grouped
    }

    mutating func stop(_ request: RequestID, _ id: SessionID?) throws(Refusal) -> [ReceiverEffect] {
        let asker = try asker(request, needing: .player)
        // No list is kept of those that ended: an identifier is never used again, so whatever it named is over.
        var wanted = id ?? player
        if case .instance(let instance) = asker {
            let own = applications.instances[instance]?.media
            wanted = id ?? own
            if let id, id != own, sessions[id] != nil || applications.sessions[id] != nil {
                throw Refusal(.notPermitted, "The session is not the application's.")
            }
        }
        guard let id = wanted else { return [.answer(request, .accepted)] }
        if applications.sessions[id] != nil {
            return endApplicationSession(id, .stopped) + [.answer(request, .accepted)]
        }
        guard sessions[id] != nil else { return [.answer(request, .accepted)] }
        return end(id, .stopped) + [.answer(request, .accepted)]
    }

    /// Ends a session and frees the player.
    mutating func end(
        _ id: SessionID, _ reason: EndReason, stopsRenderer: Bool = true
    ) -> [ReceiverEffect] {
        guard let session = sessions.removeValue(forKey: id) else { return [] }
        var effects: [ReceiverEffect] = []
        if player == id {
            player = nil
            // What is not heard is not at the renderer.
            if stopsRenderer && rendererIsUp && foreign == nil && session.waiting == nil {
                stopping = session.load
                effects += [.render(.stop(session.load)), .armStopTimer(session.load)]
            }
        }
        effects.append(.announceEnd(id, reason))
        if let instance = session.application {
            // The next one may have begun already.
            if applications.instances[instance]?.media == id { applications.instances[instance]?.media = nil }
            effects.append(.tell(instance, .mediaEnded(id, reason)))
        }
        if !session.artwork.isEmpty { effects.append(.dropArtwork(id)) }
        return effects
    }

    /// The session that owns the player, if this is its newest load. All others are superseded.
    func session(playing load: LoadID) -> SessionID? {
        guard let player, let session = sessions[player], session.load == load, session.waiting == nil else {
            return nil
        }
        return player
    }

    mutating func nextLoad() -> LoadID {
        lastLoad &+= 1
        return LoadID(lastLoad)
    }

    /// Hands the item to the renderer, with all that it can take before it is loaded.
    ///
    /// While another source has the output nothing follows: it is done when that is over.
    func launch(_ session: Session) -> [ReceiverEffect] {
        guard foreign == nil, session.waiting == nil else { return [] }
        var effects = render(
            .load(session.load, session.item, playing: session.isPlaying && !session.isGrouped))
        if session.isGrouped { effects += render(.bind(session.load, session.anchor)) }
        if session.volume != .full { effects += render(.setMediaVolume(session.load, session.volume)) }
        return effects
    }

    /// Makes the session ready for a load by the next renderer, at the place where it was.
    mutating func prepareReload(_ id: SessionID) -> [ReceiverEffect] {
        guard var session = sessions[id], session.waiting == nil else { return [] }
        if session.phase == .active {
            let target = session.pendingSeek ?? session.seek?.target
            let place = target?.time ?? session.position.position
            // A live stream goes on at its edge: the window has moved on.
            session.item.startPosition =
                session.timeline.isLive ? .zero : session.timeline.range.clamp(place, isLive: false)
            session.pendingSeek = nil
            session.isBuffering = true
        }
        session.load = nextLoad()
        session.isLoaded = false
        (session.seek, session.next) = (nil, nil)
        session.toldSpeed = 1
        session.artworkIsStale = true
        if session.mode == .scanning { session.mode = .normal }
        session.position = PlaybackPosition(
            position: session.position.position, clockTime: session.position.clockTime, rate: 0)
        sessions[id] = session
        return [.armLoadTimer(session.load)]
    }

    mutating func loadTimedOut(_ load: LoadID) -> [ReceiverEffect] {
        guard foreign == nil, let id = session(playing: load), sessions[id]?.isLoaded == false else {
            return []
        }
        let failure =
            rendererIsUp
            ? MediaFailure(.timeout, "The media did not load in time.")
            : MediaFailure(.rendererUnavailable, "The renderer did not start in time.")
        return itemFailed(id, failure, stopsRenderer: true)
    }

    mutating func stopTimedOut(_ load: LoadID) -> [ReceiverEffect] {
        guard stopping == load else { return [] }
        stopping = nil
        rendererIsUp = false
        // A session that came in the meantime is loaded again; the crash is not its own.
        let effects = player.map { foreign == nil ? prepareReload($0) : [] } ?? []
        foreign?.load = nil
        return [.restartRenderer] + announcementLost(wasForced: true) + effects
    }
}
