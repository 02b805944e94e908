// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// A request to the queue of the session that plays. Those that come at the same time take effect in the order in which they
/// come; each names items, so that none hits another item than was meant.
package enum QueueRequest: Equatable, Sendable {
    case insert([QueueItem], QueuePlace)
    case remove([QueueItemID])
    case move(QueueItemID, QueuePlace)
    case jump(QueueItemID)
    /// Nothing happens if another item than `from` is current by now.
    case next(from: QueueItemID?)
    case previous(from: QueueItemID?)
    case setRepeat(RepeatMode)
    /// Takes out all but the current item.
    case clear
}

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
        if session.isGrouped, wanted != .clear, wanted != .setRepeat(.off) {
            throw Refusal(.unsupported, "A group plays one item at a time.")
        }
        var answer = Answer.accepted
        var effects: [ReceiverEffect] = []
        switch wanted {
        case .insert(let items, let place):
            for item in items { try item.validate(schemes: policy.allowedSchemes) }
            answer = .inserted(try session.queue.insert(items, at: place))
            sessions[id] = session
        case .remove(let items):
            let removal = session.queue.remove(Set(items))
            sessions[id] = session
            switch removal {
            case .kept: break
            case .replaced(let heir): effects = go(id, to: heir)
            case .over: effects = end(id, .stopped)
            }
        case .move(let item, let place):
            try session.queue.move(item, to: place)
            sessions[id] = session
        case .jump(let item):
            guard session.queue[item] != nil else {
                throw Refusal(.itemUnknown, "There is no such item in the queue, or no longer.")
            }
            effects = go(id, to: item)
        case .next(let from):
            guard from == nil || from == session.queue.current else { break }
            effects = session.queue.successor(explicitly: true).map { go(id, to: $0) } ?? end(id, .finished)
        case .previous(let from):
            guard from == nil || from == session.queue.current else { break }
            effects = try previous(id, session)
        case .setRepeat(let mode):
            session.queue.repeats = mode
            sessions[id] = session
        case .clear:
            session.queue.clear()
            sessions[id] = session
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
            // It is one that was to follow a moment ago.
            return itemEnded(id)
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
        if sessions[id]?.isGrouped == true { return end(id, .finished, stopsRenderer: false) }
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
        session.queue.fail(session.queue.current, failure)
        guard !session.queue.isHopeless, let next = session.queue.successor(explicitly: true) else {
            return end(id, .failed(failure), stopsRenderer: stopsRenderer)
        }
        sessions[id] = session
        return go(id, to: next)
    }
}
