// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import GroupLink
import MediaModel
import RouteWire
import SessionCore

// The group's queue at its host, which alone changes it: what follows what is `PlayQueue`'s to say, as for a receiver alone, and
// each item that is gone over to is the group's under a name of its own.

extension HostSeat {
    // MARK: What members ask

    /// The group is to play this, and what follows it.
    func setItem(
        _ wanted: WireGroupItem?, _ proposal: TimingProposal?, following: [QueueItemRequest] = [],
        repeats: WireRepeat = .off, for id: ParticipantID, answer: @escaping GroupAgent.Reply
    ) {
        guard let wanted, let media = wanted.media else {
            return setItem(wanted, proposal, line: nil, for: id, answer: answer)
        }
        do throws(Refusal) {
            let items = [QueueItem(media)] + following.map { QueueItem($0) }
            let queue = try PlayQueue(items, repeats: RepeatMode(repeats))
            let line = try GroupLine(queue, named: wanted.identifier).tellable
            setItem(wanted, proposal, line: line, for: id, answer: answer)
        } catch { answer(.failure(error.routeError)) }
    }

    /// The same with a queue that is there already.
    func setItem(
        _ wanted: WireGroupItem?, _ proposal: TimingProposal?, line: GroupLine?, for id: ParticipantID,
        answer: @escaping GroupAgent.Reply
    ) {
        let isAnother = wanted?.identifier != coordinator.item?.identifier
        request(.setItem(wanted.map { GroupItem($0) }, proposing: proposal), for: id) { [weak self] result in
            if case .success = result, isAnother { self?.line = line }
            answer(result)
        }
    }

    /// Does what a sender asks of the queue that is meant.
    func change(_ command: QueueCommand, of name: String, answer: GroupAgent.Reply) {
        do throws(Refusal) {
            guard let line, line.wire.id == name else {
                throw Refusal(.itemUnknown, "The group plays something else by now.")
            }
            var queue = line.queue
            let (said, step) = try queue.apply(QueueRequest(command))
            if case .none = step {
                let changed = line.with(queue)
                self.line = if case .insert = command { try changed.tellable } else { changed }
            }
            switch step {
            case .none: publish()
            case .go(let item): play(item, of: queue, rate: wantedRate)
            case .back: goBack(queue)
            case .end: playNothing()
            }
            // Who has the answer knows what has become of the queue.
            answer(.success(said.outcome))
        } catch { answer(.failure(error.routeError)) }
    }

    /// Begins the item again, or goes to the one before it.
    private func goBack(_ queue: PlayQueue) {
        guard let item = coordinator.item?.identifier, let timeline = coordinator.timeline(of: item) else {
            return
        }
        let start = agent.start
        let limit = SessionCore.Session.restartAfter.nanoseconds ?? 0
        let isWithin = start.map { timeline.itemTime(at: moment) - $0 > limit } ?? false
        if !isWithin, let earlier = queue.predecessor {
            return play(earlier, of: queue, rate: wantedRate)
        }
        guard let start else { return play(queue.current, of: queue, rate: wantedRate) }
        request(.seek(to: start, item: item), for: coordinator.host) { [weak self] result in
            guard case .failure = result, let self else { return }
            play(queue.current, of: queue, rate: wantedRate)
        }
    }

    /// The queue of the host before, as it was told last.
    func takeOver(_ queue: PlayQueue?, of known: GroupDocument) {
        guard let item = known.item, let name = known.queue?.id, let queue else { return }
        line = GroupLine(queue, named: name)
        let wanted = known.timelines[item.identifier]?.timeline.wantedRate ?? 0
        if wanted > 0 { rate = wanted }
    }

    // MARK: What follows

    /// What is wanted of the present item; an item that another one takes the place of hands it on.
    private var wantedRate: Double {
        coordinator.item.flatMap { coordinator.timeline(of: $0.identifier) }?.wantedRate ?? 0
    }

    /// Those who take part have played the item to its end.
    func ended() {
        guard let queue = line?.queue, !queue.isHopeless, let next = queue.successor(explicitly: false) else {
            return playNothing()
        }
        play(next, of: queue, rate: rate)
    }

    /// Looks at what has become of the item, once all that has happened is decided. True: something follows from it.
    func judgeItem() -> Bool {
        guard let item = coordinator.item?.identifier, let line else { return false }
        if let wanted = coordinator.timeline(of: item)?.wantedRate, wanted > 0 { rate = wanted }
        let members = coordinator.snapshot.roster.members
        if members.contains(where: { $0.item == item && $0.isReady && $0.suspensions.isEmpty }) {
            var queue = line.queue
            queue.succeed()
            if queue != line.queue { self.line = line.with(queue) }
            return false
        }
        guard !coordinator.awaitsMembers, members.cannotPlay(item) else { return false }
        passOver(line.queue, agent.failure ?? MediaFailure(.unsupportedFormat, "No member can play it."))
        return true
    }

    /// The current item cannot be played by anybody.
    private func passOver(_ queue: PlayQueue, _ failure: MediaFailure) {
        var queue = queue
        queue.fail(queue.current, failure)
        guard !queue.isHopeless, let next = queue.successor(explicitly: true) else { return playNothing() }
        play(next, of: queue, rate: wantedRate)
    }

    /// Has the group go over to an item of the queue.
    private func play(_ entry: QueueItemID, of queue: PlayQueue, rate: Double) {
        guard let line else { return }
        var queue = queue
        guard queue.go(to: entry), let given = queue[entry]?.given else { return playNothing() }
        let changed = line.with(queue)
        let item = WireGroupItem(given, named: freshName())
        let start = max(0, given.item.startPosition.nanoseconds ?? 0)
        setItem(
            item, TimingProposal(itemTime: start, rate: rate), line: changed, for: coordinator.host
        ) { [weak self] result in
            guard case .failure = result else { return }
            self?.passOver(queue, MediaFailure(.internalFailure, "The group cannot be told of the item."))
        }
    }

    private func playNothing() {
        setItem(nil, nil, line: nil, for: coordinator.host) { _ in }
    }
}

extension [GroupMember] {
    /// Whether the item is one that none of those who should play it can play. Who is kept from it by something else says nothing of it.
    fileprivate func cannotPlay(_ item: String) -> Bool {
        let known: Set<SuspensionReason> = [.stallRecovery, .coordinatedPlaybackNotPossible]
        let asked = filter {
            ($0.kind == .receiver || $0.item == item) && $0.suspensions.allSatisfy { known.contains($0) }
        }
        return !asked.isEmpty
            && asked.allSatisfy {
                $0.item == item && $0.suspensions.contains(.coordinatedPlaybackNotPossible)
            }
    }
}

extension GroupLine {
    /// Itself, if members can be told of it.
    var tellable: GroupLine {
        get throws(Refusal) {
            guard wire.isTellable else {
                throw Refusal(.limitReached, "The queue is too long for a group.")
            }
            return self
        }
    }
}

extension Refusal {
    var routeError: RouteError {
        RouteError(RouteError.Code(rawValue: code.rawValue) ?? .internalError, message)
    }
}

extension Answer {
    /// Of a request to a queue.
    fileprivate var outcome: JSONValue {
        guard case .inserted(let items) = self else { return Outcome.accepted.json }
        return Outcome.value(.array(items.map { .text($0.text) })).json
    }
}
