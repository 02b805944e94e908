// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// The watch of one item of a session; another one begins with a new watch.
struct WatchedSession: Equatable, Sendable {
    let session: SessionID
    let item: QueueItemID
    var watch = ProgressWatch()
}

extension ReceiverState {
    /// Lets the watch of the session that plays see an event that was applied, and does what it wants.
    mutating func watchProgress(_ event: ReceiverEvent) -> [ReceiverEffect] {
        guard let id = player, let session = sessions[id] else { return [] }
        let item = session.queue.current
        if watched?.session != id || watched?.item != item {
            watched = WatchedSession(session: id, item: item)
        }
        var effects: [ReceiverEffect] = []
        switch event {
        case .renderer(.positionChanged(session.load, let position)):
            effects = watchProgress(id, .heard(position.position))
        case .progressTimedOut(session.load, let generation):
            effects = watchProgress(id, .timerFired(generation: generation))
        case .seekTimedOut(session.load, let seek) where seek == session.seek?.id:
            effects = watchProgress(id, .unanswered)
        default: break
        }
        // What was done may have changed the claim, or ended the session.
        guard let session = sessions[id] else { return effects }
        return effects + watchProgress(id, claimsToPlay(session) ? .claimed : .rested)
    }

    /// Every seek that leaves for the renderer has a time in which it must be answered.
    func watchSeek(_ effects: [ReceiverEffect]) -> [ReceiverEffect] {
        effects.compactMap {
            guard case .render(.seek(let load, let seek, _, _)) = $0 else { return nil }
            return .armSeekTimer(load, seek)
        }
    }

    private mutating func watchProgress(
        _ id: SessionID, _ event: ProgressWatch.Event
    ) -> [ReceiverEffect] {
        guard let load = sessions[id]?.load, let wanted = watched?.watch.apply(event) else { return [] }
        return wanted.flatMap { (effect) -> [ReceiverEffect] in
            switch effect {
            case .armTimer(let generation): return [.armProgressTimer(load, generation: generation)]
            case .nudge: return nudge(id)
            case .restart: return restartStalled(id)
            case .giveUp: return giveUpStalled(id)
            }
        }
    }

    /// What senders are told is that sound is made right now. Without sound there is no place that is heard.
    private func claimsToPlay(_ session: Session) -> Bool {
        rendererIsUp && session.isHeard && session.isLoaded && session.isPlaying && !session.isBuffering
            && session.hasAudio
            && session.seek == nil && (!session.isGrouped || session.anchor != nil)
            && device.output.state != .lost && device.output.state != .busy
    }

    private mutating func nudge(_ id: SessionID) -> [ReceiverEffect] {
        guard var session = sessions[id] else { return [] }
        if session.isGrouped { return render(.bind(session.load, session.anchor)) }
        let place = session.position.position
        guard session.mode != .scanning, session.pendingSeek == nil, session.timeline.place(for: place) != nil
        else {
            // It cannot be pushed.
            return watchProgress(id, .unanswered)
        }
        session.pendingSeek = Session.Target(time: place, tolerance: .zero)
        let commands = session.sendSeek(next: &lastSeek)
        sessions[id] = session
        return commands.flatMap { render($0) }
    }

    private mutating func restartStalled(_ id: SessionID) -> [ReceiverEffect] {
        sessions[id]?.error = MediaFailure(.stalled, "Playback stood still; it is started again.")
        // The exit that follows is nobody's crash.
        rendererIsUp = false
        return [.restartRenderer] + announcementLost(wasForced: true) + prepareReload(id)
    }

    private mutating func giveUpStalled(_ id: SessionID) -> [ReceiverEffect] {
        let name = sessions[id]?.itemName ?? ""
        let failure = MediaFailure(.stalled, "Playback of \(name) stands still, also after a restart.")
        return itemFailed(id, failure, stopsRenderer: true)
    }
}

extension Session {
    /// The item in words: its title, else the end of its address without what may be secret.
    var itemName: String {
        if let title = metadata.title, !title.isEmpty { return "“\(title)”" }
        let path = item.uri.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return last.isEmpty || last.contains("@") ? "the item" : "“\(last)”"
    }
}
