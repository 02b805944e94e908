// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import GroupLink
import MediaModel
import RouteWire
import SessionCore

// What the group decides, on the session that plays here; and what becomes of it.

extension GroupAgent {
    /// Names the reason why this receiver cannot play the group's item.
    private static let incapable = SuspensionID(1)
    /// Names the reason that another source is heard here.
    private static let interruption = SuspensionID(2)
    /// An item that stands further off than this goes to the group's place before it is made ready.
    private static let tolerance: ClosedRange<Int64> = -250_000_000...1_000_000

    /// Sees each event that the receiver has taken, with what followed.
    func stepped(_ event: ReceiverEvent, _ effects: [ReceiverEffect]) {
        guard membership != nil else { return }
        switch event {
        case .renderer(.readinessChanged(let load, let isReady)):
            if isBound(load) { readinessChanged(isReady) }
        case .renderer(.syncChanged(let load, let report)):
            if isBound(load) {
                report.tell(self)
                learnCard(report)
            }
        case .renderer(.positionChanged(let load, let position)):
            if isBound(load) { stood(at: position) }
        case .renderer(.exited):
            cardReports = 0
            readinessChanged(false)
        case .groupAnchored(let session, _), .groupSought(let session, _):
            if membership?.binding?.session == session { membership?.performing?.isTold = true }
        case .groupItemChanged(_, let fresh, _):
            entered(fresh)
            if shell.state.sessions[fresh] == nil { failed() }
        case .groupAdvanced(let session, _): entered(session)
        default: break
        }
        for effect in effects {
            switch effect {
            case .announceEnd(let session, let reason): ended(session, reason)
            case .coordinate(let session, let wanted): coordinate(session, wanted)
            default: break
            }
        }
        reportVolume()
        settle()
    }

    /// Another source has the output, or sessions have it again: until then the group goes on without this receiver.
    func outputChanged(isOurs: Bool) {
        guard let membership else { return }
        let isSuspended = membership.participant.suspensions.contains { $0.id == Self.interruption }
        if !isOurs, !isSuspended {
            participate(
                .suspensionBegan(Suspension(id: Self.interruption, reason: .audioSessionInterrupted)))
        } else if isOurs, isSuspended {
            participate(.suspensionEnded(Self.interruption, proposing: nil))
        }
    }

    /// Nil also when the item is over here and the group's next is waited for.
    private var session: Session? {
        let session = membership?.binding.flatMap { shell.state.sessions[$0.session] }
        return session?.waiting == nil ? session : nil
    }

    private func isBound(_ load: LoadID) -> Bool {
        membership?.binding?.isEntered == true && session?.load == load
    }

    /// The session has been told of the item. What the group wanted meanwhile follows.
    private func entered(_ session: SessionID) {
        guard membership?.binding?.session == session else { return }
        membership?.binding?.isEntered = true
        goOn()
    }

    /// From where the item here is played; nil where that is not known, or moves.
    var start: Int64? {
        guard let session, session.isReady, !session.timeline.isLive,
            session.timeline.range.duration.value > 0
        else { return nil }
        return session.timeline.range.start.nanoseconds.map { max(0, $0) }
    }

    /// Why the item cannot be played here.
    var failure: MediaFailure? {
        let session = membership?.binding.flatMap { shell.state.sessions[$0.session] }
        if case .failed(let failure) = session?.waiting { return failure }
        return membership?.failure
    }

    private func readinessChanged(_ isReady: Bool) {
        guard membership?.isReady != isReady else { return }
        membership?.isReady = isReady
        participate(.readinessChanged(isReady))
    }

    private func reportVolume() {
        let volume = shell.state.device.volume
        guard let membership, membership.toldVolume != volume, membership.phase == .joined else { return }
        self.membership?.toldVolume = volume
        if let seat {
            seat.volumeChanged(volume, of: me)
        } else {
            membership.link?.tell(.report(volume, nil))
        }
    }

    // MARK: Commands

    /// Begins to do what the group wants. `settle` sees when it is done.
    func begin(_ command: GroupCommand) {
        membership?.performing = Performing(command: command)
        membership?.pausing = nil
        // Whose command is its own has no originator.
        if case .pause = command.action, command.originator == nil { membership?.pausing = command.item }
        goOn()
    }

    /// Whoever paused the group says where it came to stand: there the group goes on.
    private func stood(at position: PlaybackPosition) {
        guard position.rate == 0, let item = membership?.pausing, item == membership?.binding?.item,
            let time = position.position.nanoseconds
        else { return }
        membership?.pausing = nil
        participate(.stopped(item: item, at: max(0, time)))
    }

    /// Tells the session what is to be done, unless the clock by which it is meant is not known yet.
    func goOn() {
        guard let membership, let performing = membership.performing, !performing.isTold,
            membership.binding?.isEntered != false
        else { return }
        guard let binding = membership.binding, let session else { return settle() }
        switch performing.command.action {
        case .play(let anchor):
            guard membership.isLineCurrent else { return }
            shell.handle(.groupAnchored(binding.session, anchor))
        case .pause: shell.handle(.groupAnchored(binding.session, nil))
        case .seek(let time, _, _):
            shell.handle(.groupSought(binding.session, MediaTime(nanoseconds: time)))
        case .buffer:
            let place = groupTime.flatMap { membership.participant.expectedItemTime(atHostTime: $0) }
            let own = session.position.position.nanoseconds ?? 0
            if let place, session.isReady, !Self.tolerance.contains(own &- place) {
                shell.handle(.groupSought(binding.session, MediaTime(nanoseconds: place)))
            } else {
                self.membership?.performing?.isTold = true
                settle()
            }
        }
    }

    /// Completes what is done: the session stands where it should, and could begin at once where that is wanted.
    private func settle() {
        guard let membership, let performing = membership.performing, membership.binding?.isEntered != false
        else { return }
        if let session {
            guard performing.isTold, session.isReady, !session.isSeekAhead else { return }
            switch performing.command.action {
            case .play: guard membership.isReady else { return }
            case .pause, .seek, .buffer:
                guard performing.command.action.anticipatedRate == nil || membership.isReady else { return }
            }
        }
        self.membership?.performing = nil
        participate(.performed(performing.command.id))
    }

    /// While this receiver takes no part, requests are for itself alone.
    func performLocally(_ request: GroupRequest) {
        guard let binding = membership?.binding, let session, let time = groupTime else { return }
        let lead: Int64 = 300_000_000
        let place = max(0, session.position.position.nanoseconds ?? 0)
        switch request {
        case .setRate(let rate, _, _, _):
            let anchor = PlaybackAnchor(itemTime: place, clockTime: time + lead, rate: rate)
            shell.handle(.groupAnchored(binding.session, rate > 0 ? anchor : nil))
        case .seek(let wanted, _, _):
            let rate = session.anchor?.rate
            shell.handle(.groupSought(binding.session, MediaTime(nanoseconds: wanted)))
            guard let rate else { return }
            shell.handle(
                .groupAnchored(
                    binding.session,
                    PlaybackAnchor(itemTime: wanted, clockTime: time + lead, rate: rate)))
        case .setItem, .setPolicy, .setActivity, .setName, .remove: break
        }
    }

    // MARK: The session

    /// What a sender asked of the session that is the group's.
    private func coordinate(_ id: SessionID, _ wanted: CoordinatedRequest) {
        switch wanted {
        case .start(let item): start(id, item)
        case .setPlaying(let isPlaying):
            guard let item = membership?.participant.item else { return }
            request(.setRate(isPlaying ? session?.speed ?? 1 : 0, item: item))
        case .seek(let time):
            guard let item = membership?.participant.item else { return }
            request(.seek(to: nanoseconds(time), item: item))
        case .setSpeed(let speed):
            guard let item = membership?.participant.item, session?.isPlaying == true else { return }
            request(.setRate(speed, item: item))
        case .queue(let request, let wanted): change(id, request, wanted)
        case .ended:
            guard let binding = membership?.binding, binding.session == id, binding.isEntered else { return }
            membership?.isReady = false
            participate(.ended(item: binding.item))
        case .failed:
            guard let binding = membership?.binding, binding.session == id, binding.isEntered else { return }
            membership?.isReady = false
            failed()
        }
    }

    /// Has the host change the queue that the session plays. It answers.
    private func change(_ id: SessionID, _ request: RequestID, _ wanted: QueueRequest) {
        let reply: Reply = { [weak self] result in self?.shell.front.complete(request, result) }
        do throws(RouteError) {
            guard let binding = membership?.binding, binding.session == id, let queue = binding.queue else {
                throw RouteError(.itemUnknown, "The group plays something else by now.")
            }
            try pass(.queue(QueueCommand(wanted), of: queue), reply: reply)
        } catch { reply(.failure(error)) }
    }

    /// A host that is new has not heard that the item is over here.
    func tellEnd() {
        guard let binding = membership?.binding, binding.isEntered,
            shell.state.sessions[binding.session]?.waiting == .ended
        else { return }
        participate(.ended(item: binding.item))
    }

    private func stop() {
        membership?.binding = nil
        membership?.wantedItem = nil
        try? pass(.item(nil, nil)) { _ in }
        participate(.transitioned(to: nil, proposing: nil))
    }

    private func nanoseconds(_ time: MediaTime) -> Int64 {
        let value = time == .positiveInfinity ? Int64.max : time.nanoseconds ?? 0
        return min(max(value, GroupLimits.itemTimes.lowerBound), GroupLimits.itemTimes.upperBound)
    }

    /// The group is to play what has begun here.
    private func start(_ id: SessionID, _ wanted: SessionRequest) {
        var name = wanted.identifier ?? shell.ports.identifiers.uuid()
        // An item that is played anew needs another name, and so does a queue, which is named after its first.
        if membership?.known.timelines[name] != nil || membership?.known.queue?.id == name {
            name = shell.ports.identifiers.uuid()
        }
        let proposal = TimingProposal(
            itemTime: nanoseconds(wanted.item.startPosition), rate: wanted.isPlaying ? 1 : 0)
        bind(Binding(session: id, item: name, queue: name))
        membership?.wantedItem = name
        ask(
            .item(
                WireGroupItem(wanted.first, named: name), WireGroupProposal(proposal),
                following: wanted.following.map { QueueItemRequest($0) },
                repeats: WireRepeat(wanted.repeats)), for: name)
        participate(.transitioned(to: name, proposing: proposal))
    }

    /// Asks the group to play what has begun here. Until the answer what is known of the group's item is older than that.
    private func ask(_ ask: GroupAsk, for item: String) {
        let reply: Reply = { [weak self] result in
            guard let self, membership?.wantedItem == item else { return }
            membership?.wantedItem = nil
            // The group as it is with the item follows the answer.
            if case .failure = result, let known = membership?.known { follow(known) }
        }
        do throws(RouteError) { try pass(ask, reply: reply) } catch { reply(.failure(error)) }
    }

    private func bind(_ binding: Binding) {
        membership?.binding = binding
        membership?.failure = nil
        membership?.isReady = false
        membership?.performing = nil
        membership?.pausing = nil
        if membership?.participant.suspensions.contains(where: { $0.id == Self.incapable }) == true {
            participate(.suspensionEnded(Self.incapable, proposing: nil))
        }
    }

    private func ended(_ id: SessionID, _ reason: EndReason) {
        guard let binding = membership?.binding, binding.session == id else { return }
        membership?.isReady = false
        switch reason {
        case .finished: participate(.ended(item: binding.item))
        case .failed(let failure):
            membership?.failure = failure
            failed()
        case .applicationFailed: failed()
        // Whoever ends it here ends it for all; what the group itself ends is not bound any more.
        case .stopped, .routeEnded: stop()
        case .preempted, .shutdown: break
        }
    }

    /// This receiver cannot play the item; the others go on.
    private func failed() {
        participate(
            .suspensionBegan(
                Suspension(id: Self.incapable, reason: .coordinatedPlaybackNotPossible)))
    }

    // MARK: What the host says

    /// The group as its host has it from now on.
    func learned(_ document: GroupDocument) {
        guard let old = membership?.known else { return }
        membership?.known = document
        if document.queue != old.queue { membership?.queue = document.queue?.playQueue }
        ports.clock.setPlaying(document.moves)
        for (item, timeline) in document.timelines.sorted(by: { $0.key < $1.key })
        where old.timelines[item] != timeline {
            participate(.timelineChanged(item: item, timeline.timeline))
        }
        for item in old.timelines.keys.sorted() where document.timelines[item] == nil {
            participate(.timelineChanged(item: item, nil))
        }
        follow(document)
        shell.handle(.groupNoted)
    }

    /// Goes over to the group's item, and shows what it wants to play at.
    private func follow(_ document: GroupDocument) {
        guard let membership, membership.wantedItem == nil else { return }
        let item = document.item?.identifier
        // What has just begun here is the group's before this participant has said so.
        let isBound = item != nil && item == membership.binding?.item
        if item != membership.participant.item, !isBound { goOver(document) } else { mirror(document) }
        guard let binding = self.membership?.binding,
            let rate = document.timelines[binding.item]?.timeline.wantedRate, rate != binding.rate
        else { return }
        self.membership?.binding?.rate = rate
        shell.handle(.groupRateChanged(binding.session, rate))
    }

    /// Shows the group's queue as it has become around the present item.
    private func mirror(_ document: GroupDocument) {
        guard let binding = membership?.binding, binding.item == document.item?.identifier,
            let queue = document.queue, queue.id == binding.queue, queue != binding.mirrored,
            let known = membership?.queue
        else { return }
        membership?.binding?.mirrored = queue
        shell.handle(.groupQueueChanged(binding.session, known))
    }

    private func goOver(_ document: GroupDocument) {
        let old = membership?.binding
        guard let item = document.item else {
            membership?.binding = nil
            if let old { shell.handle(.groupItemEnded(old.session)) }
            return participate(.transitioned(to: nil, proposing: nil))
        }
        guard let queue = membership?.queue ?? item.media.flatMap({ try? PlayQueue([QueueItem($0)]) }) else {
            membership?.binding = nil
            if let old { shell.handle(.groupItemEnded(old.session)) }
            participate(.transitioned(to: item.identifier, proposing: nil))
            return failed()
        }
        var binding = Binding(
            session: SessionID(shell.ports.identifiers.uuid()), item: item.identifier,
            queue: document.queue?.id, mirrored: document.queue, isEntered: false)
        if let old, let name = old.queue, name == binding.queue, shell.state.sessions[old.session] != nil {
            // The session plays the queue, and goes on with its next item.
            binding.session = old.session
            bind(binding)
            shell.handle(.groupAdvanced(old.session, queue))
        } else {
            bind(binding)
            shell.handle(.groupItemChanged(queue, fresh: binding.session, by: document.name))
        }
        participate(.transitioned(to: item.identifier, proposing: nil))
    }
}

extension SyncReport {
    /// Tells the group how exactly this receiver plays.
    fileprivate func tell(_ agent: GroupAgent) {
        agent.lastSync = self
        if let seat = agent.seat {
            seat.report(self, of: agent.me)
        } else {
            agent.membership?.link?.tell(.report(nil, self))
        }
    }
}
