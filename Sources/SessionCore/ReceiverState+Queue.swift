// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

extension Session {
    /// What the renderer was told to have follow.
    struct Next: Equatable, Sendable {
        let load: LoadID
        let item: QueueItemID
    }

    /// Behind this, `previous` begins the item again.
    package static let restartAfter = MediaTime(value: 3, timescale: 1)

    /// Becomes that of another item, of which nothing is known yet.
    mutating func begin(_ entry: QueueEntry, load: LoadID) {
        guard queue.go(to: entry.id) else { return }
        (self.load, item) = (load, entry.given.item)
        (isLoaded, isBuffering) = (false, phase == .active)
        mode = .normal
        position = PlaybackPosition(
            position: item.startPosition, clockTime: position.clockTime, rate: 0)
        timeline = .unknown
        givenSegments = Segment.ordered(entry.given.segments)
        segments = Segment.contiguous(givenSegments, over: timeline.range)
        (tracks, hasAudio, hasVideo) = (Tracks(), false, false)
        (givenMetadata, metadata) = (entry.given.metadata, entry.given.metadata)
        mediaMetadata = Metadata()
        (artwork, artworkIsStale, error) = ([], false, nil)
        (waiting, anchor) = (nil, nil)
        (seek, pendingSeek, chosenTracks, next) = (nil, nil, [:], nil)
        (toldSpeed, crashes) = (1, 0)
    }
}

extension ReceiverState {
    mutating func queue(
        _ request: RequestID, _ id: SessionID?, _ wanted: QueueRequest
    ) throws(Refusal) -> [ReceiverEffect] {
        let id = try media(request, id)
        guard var session = sessions[id] else {
            throw Refusal(.sessionUnknown, "There is no such session, or no longer.")
        }
        if case .insert(let items, _) = wanted {
            for item in items { try item.validate(schemes: policy.allowedSchemes) }
        }
        if session.isGrouped {
            guard isGroupReachable else { throw Refusal(.groupUnavailable, "The group's host is away.") }
            // The group's queue is changed by its host, which answers.
            return [.coordinate(id, .queue(request, wanted))]
        }
        let (answer, step) = try session.queue.apply(wanted)
        sessions[id] = session
        let effects =
            switch step {
            case .none: [ReceiverEffect]()
            case .go(let item): go(id, to: item)
            case .back: try previous(id, session)
            case .end(let reason): end(id, reason)
            }
        return effects + tellNext(id) + [.answer(request, answer)]
    }

    /// Begins the item again, or goes to the one before it.
    private mutating func previous(_ id: SessionID, _ session: Session) throws(Refusal) -> [ReceiverEffect] {
        var session = session
        let isWithin = !session.timeline.isLive && Session.restartAfter < session.position.position
        if !isWithin, let earlier = session.queue.predecessor { return go(id, to: earlier) }
        guard session.isLoaded, let start = session.timeline.place(for: .negativeInfinity) else {
            return go(id, to: session.queue.current)
        }
        let (commands, _) = try session.seek(to: start, tolerance: .zero, next: &lastSeek)
        sessions[id] = session
        return commands.flatMap { render($0) }
    }

    /// Loads another item of a session, or the current one afresh.
    mutating func go(_ id: SessionID, to item: QueueItemID) -> [ReceiverEffect] {
        guard var session = sessions[id], let entry = session.queue[item] else { return [] }
        let pictures: [ReceiverEffect] = session.artwork.isEmpty ? [] : [.dropArtwork(id)]
        session.begin(entry, load: nextLoad())
        sessions[id] = session
        // The new load gives up the old one, so that nothing waits for a stop.
        return pictures + launch(session) + [.armLoadTimer(session.load)]
    }

    /// Tells the renderer what follows the current item, if that changed. Told once the current item is loaded, since a
    /// renderer may begin to fetch the next one at once.
    mutating func tellNext(_ id: SessionID) -> [ReceiverEffect] {
        guard rendererIsUp, var session = sessions[id], session.isLoaded, !session.isGrouped else {
            return []
        }
        let wanted = session.queue.isHopeless ? nil : session.queue.successor(explicitly: false)
        guard wanted != session.next?.item else { return [] }
        var upcoming: UpcomingItem?
        if let wanted, let entry = session.queue[wanted] {
            upcoming = UpcomingItem(load: nextLoad(), item: entry.given.item)
        }
        session.next = upcoming.flatMap { upcoming in
            wanted.map { Session.Next(load: upcoming.load, item: $0) }
        }
        sessions[id] = session
        return render(.prepareNext(session.load, upcoming))
    }

    // MARK: What the renderer reports

    /// The renderer went on to the next item by itself.
    mutating func advanced(_ load: LoadID, to next: LoadID) -> [ReceiverEffect] {
        guard let id = session(playing: load), var session = sessions[id] else { return [] }
        guard let known = session.next, known.load == next, let entry = session.queue[known.item] else {
            // It is one that was to follow a moment ago. In a group nothing takes its place at once.
            guard session.isGrouped else { return itemEnded(id) }
            stopping = next
            return render(.stop(next)) + [.armStopTimer(next)] + itemEnded(id)
        }
        let pictures: [ReceiverEffect] = session.artwork.isEmpty ? [] : [.dropArtwork(id)]
        session.begin(entry, load: next)
        // What was told to the load before may have come too late for it: it is told once more, the speed when it is loaded.
        session.toldSpeed = 0
        // It is heard already, or the renderer says that it is waited for.
        session.isBuffering = false
        sessions[id] = session
        return pictures + render(.setPlaying(next, session.isPlaying))
            + render(.setMediaVolume(next, session.volume)) + [.armLoadTimer(next)]
    }

    /// The item that was to follow cannot be played; the current one goes on.
    mutating func nextFailed(_ load: LoadID, _ next: LoadID, _ failure: MediaFailure) -> [ReceiverEffect] {
        guard let id = session(playing: load), var session = sessions[id], let known = session.next,
            known.load == next
        else { return [] }
        session.next = nil
        // An item that is to follow itself is found out when it is begun again.
        if known.item != session.queue.current {
            session.queue.fail(known.item, failure)
            sessions[id] = session
            return tellNext(id)
        }
        sessions[id] = session
        return []
    }

    /// The current item was played to its end.
    mutating func itemEnded(_ id: SessionID) -> [ReceiverEffect] {
        guard let queue = sessions[id]?.queue else { return [] }
        if sessions[id]?.isGrouped == true { return setAside(id, .ended) }
        if !queue.isHopeless, let next = queue.successor(explicitly: false) { return go(id, to: next) }
        // What would have followed could not be played.
        return end(id, queue.lastFailure.map { .failed($0) } ?? .finished, stopsRenderer: false)
    }

    /// The current item cannot be played, or no further: the next one's turn, unless there is none or it has gone on for too
    /// long.
    mutating func itemFailed(
        _ id: SessionID, _ failure: MediaFailure, stopsRenderer: Bool = false
    ) -> [ReceiverEffect] {
        guard var session = sessions[id] else { return [] }
        if session.isGrouped {
            // The others may play it. Where something follows, this receiver waits for that.
            guard session.queue.successor(explicitly: true) != nil else {
                return end(id, .failed(failure), stopsRenderer: stopsRenderer)
            }
            let isStopped = stopsRenderer && rendererIsUp && foreign == nil
            if isStopped { stopping = session.load }
            let stop: [ReceiverEffect] =
                isStopped ? [.render(.stop(session.load)), .armStopTimer(session.load)] : []
            return stop + setAside(id, .failed(failure))
        }
        session.queue.fail(session.queue.current, failure)
        guard !session.queue.isHopeless, let next = session.queue.successor(explicitly: true) else {
            return end(id, .failed(failure), stopsRenderer: stopsRenderer)
        }
        sessions[id] = session
        return go(id, to: next)
    }
}
