// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

// A session of a group: what is heard of it when is said by the group, and what senders ask of it is passed on to the group.

extension ReceiverState {
    mutating func decideGroup(_ event: ReceiverEvent) -> [ReceiverEffect] {
        switch event {
        case .groupJoined:
            isGrouped = true
            guard let id = player, var session = sessions[id] else { return [] }
            session.isGrouped = true
            session.anchor = nil
            let commands = session.endScan()
            session.mode = .normal
            session.next = nil
            sessions[id] = session
            return commands.flatMap { render($0) } + render(.prepareNext(session.load, nil))
        case .groupLeft(let keepsPlaying): return leaveGroup(keepsPlaying: keepsPlaying)
        case .groupReachable(let isReachable): isGroupReachable = isReachable
        case .groupItemChanged(let queue, let fresh, let name):
            return startGroupItem(queue, fresh: fresh, by: name)
        case .groupAdvanced(let id, let queue): return goOn(id, queue)
        case .groupQueueChanged(let id, let queue):
            guard let session = sessions[id], session.isGrouped, session.queue.current == queue.current else {
                return []
            }
            sessions[id]?.queue = queue
        case .groupItemEnded(let id): return end(id, sessions[id]?.waiting?.end ?? .stopped)
        case .groupRateChanged(let id, let rate):
            sessions[id]?.isPlaying = rate > 0
            if rate > 0 { sessions[id]?.speed = rate }
        case .groupAnchored(let id, let anchor):
            guard var session = sessions[id], session.isGrouped, session.waiting == nil else { return [] }
            session.anchor = anchor
            sessions[id] = session
            return render(.bind(session.load, anchor))
        case .groupSought(let id, let time):
            guard var session = sessions[id], session.isGrouped, session.waiting == nil else { return [] }
            session.anchor = nil
            session.pendingSeek = Session.Target(time: time, tolerance: .zero)
            let commands = [.bind(session.load, nil)] + session.sendSeek(next: &lastSeek)
            sessions[id] = session
            return commands.flatMap { render($0) }
        case .groupLevelChanged(let level): return setLevel(level)
        default: break
        }
        return []
    }

    private mutating func startGroupItem(
        _ queue: PlayQueue, fresh: SessionID, by name: String
    ) -> [ReceiverEffect] {
        guard isGrouped, !isShutDown, let given = queue[queue.current]?.given,
            (try? given.validate(schemes: policy.allowedSchemes)) != nil
        else { return [] }
        let ended = player.map { end($0, .preempted(by: name), stopsRenderer: false) } ?? []
        let wanted = SessionRequest(
            item: given.item, isPlaying: false, metadata: given.metadata, segments: given.segments)
        var session = Session(wanted, queue: queue, owner: nil, load: nextLoad())
        session.isGrouped = true
        session.isHeard = foreign == nil
        sessions[fresh] = session
        player = fresh
        return launch(session) + [.armLoadTimer(session.load)] + ended
    }

    /// The group's next item, which is the session's.
    private mutating func goOn(_ id: SessionID, _ queue: PlayQueue) -> [ReceiverEffect] {
        guard let session = sessions[id], session.isGrouped, let given = queue[queue.current]?.given else {
            return []
        }
        do throws(Refusal) { try given.validate(schemes: policy.allowedSchemes) } catch {
            let code: MediaFailure.Code = error.code == .unsupportedScheme ? .unsupportedScheme : .invalidURL
            return end(id, .failed(MediaFailure(code, error.message)))
        }
        sessions[id]?.queue = queue
        return go(id, to: queue.current)
    }

    /// The item is over here. What follows is the group's to say.
    mutating func setAside(_ id: SessionID, _ waiting: Session.Waiting) -> [ReceiverEffect] {
        guard var session = sessions[id] else { return [] }
        session.waiting = waiting
        (session.isLoaded, session.isBuffering, session.anchor) = (false, false, nil)
        (session.crashes, session.played) = (0, 0)
        (session.seek, session.pendingSeek, session.next) = (nil, nil, nil)
        session.position = PlaybackPosition(
            position: session.position.position, clockTime: session.position.clockTime, rate: 0)
        guard case .failed(let failure) = waiting else {
            sessions[id] = session
            return [.coordinate(id, .ended)]
        }
        session.error = failure
        sessions[id] = session
        return [.coordinate(id, .failed(failure))]
    }

    private mutating func leaveGroup(keepsPlaying: Bool) -> [ReceiverEffect] {
        isGrouped = false
        isGroupReachable = false
        guard let id = player, var session = sessions[id], session.isGrouped else { return [] }
        guard keepsPlaying else { return end(id, session.waiting?.end ?? .stopped) }
        session.isGrouped = false
        if let waiting = session.waiting {
            session.waiting = nil
            sessions[id] = session
            switch waiting {
            case .ended: return itemEnded(id)
            case .failed(let failure): return itemFailed(id, failure)
            }
        }
        session.isPlaying = session.anchor != nil
        // The renderer goes on at the rate that it has.
        session.toldSpeed = session.anchor?.rate ?? session.toldSpeed
        session.anchor = nil
        sessions[id] = session
        return render(.setPlaying(session.load, session.isPlaying)) + render(.unbind(session.load))
            + tellNext(id)
    }

    /// What the group is asked for in place of the session, and the answer; nil: the request is the session's own.
    func coordinated(
        _ wanted: PlaybackRequest, _ session: Session
    ) throws(Refusal) -> (request: CoordinatedRequest?, answer: Answer)? {
        let asked: (request: CoordinatedRequest?, answer: Answer)
        switch wanted {
        case .setPlaying(let isPlaying): asked = (.setPlaying(isPlaying), .accepted)
        case .setMode(.normal, _): return (nil, .accepted)
        case .setMode: throw Refusal(.unsupported, "A group is neither scanned nor scrubbed.")
        case .setSpeed(let speed):
            guard !speed.isNaN else { throw Refusal(.invalidParams, "The speed is no number.") }
            let inLimits = min(max(speed, 0.25), 4)
            asked = (.setSpeed(inLimits), inLimits == speed ? .accepted : .clampedNumber(inLimits))
        case .seek(let time, _):
            guard time != .indefinite, time != .invalid else {
                throw Refusal(.invalidParams, "The position is no time.")
            }
            guard session.isLoaded, !session.timeline.isUnknown else {
                asked = (.seek(time), .accepted)
                break
            }
            guard let place = session.timeline.place(for: time) else {
                throw Refusal(.notSeekable, "The media cannot be moved on.")
            }
            asked = (.seek(place), place.isSameMoment(as: time) ? .accepted : .clampedTime(place))
        case .selectTrack, .setVolume, .setMuted, .setMetadata: return nil
        }
        guard isGroupReachable else { throw Refusal(.groupUnavailable, "The group's host is away.") }
        return asked
    }
}
