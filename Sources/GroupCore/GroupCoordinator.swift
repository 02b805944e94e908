// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// A group as its host sees it: who takes part, where each item stands, and what each participant was told.
///
/// It never reads a clock or does I/O. Its transitions are in `Docs/state-machines/group.md`.
package struct GroupCoordinator: Equatable, Sendable {
    package let id: GroupID
    package let host: ParticipantID
    package let epoch: UInt32
    package internal(set) var name: String
    package internal(set) var item: GroupItem?
    package internal(set) var activity: GroupActivity
    package internal(set) var policy: GroupPolicy

    /// In the order in which they joined.
    var participants: [Participant] = []
    /// By identifier: items that somebody is on, the group's, and for a while those of the host before.
    var items: [String: ItemState] = [:]
    /// Members of the host before that have not joined again, with the numbers that they keep.
    var expected: [ParticipantID: UInt64] = [:]
    /// A start under the host before waits for its timers.
    var isTakingOver = false
    var lastJoin: UInt64 = 0
    var lastCommand: UInt64
    /// Counts revisions, placements and generations, so that none is used twice.
    var lastMark: UInt64 = 0

    /// A new group, of nobody yet. The host takes part as any other member: by `joined`.
    package init(
        id: GroupID, name: String, host: ParticipantID, activity: GroupActivity = GroupActivity(),
        policy: GroupPolicy = GroupPolicy()
    ) {
        (self.id, self.host, self.epoch) = (id, host, 1)
        self.name = name.prefix(bytes: GroupLimits.nameBytes)
        (self.activity, self.policy) = (activity, policy)
        lastCommand = UInt64(epoch) << 32
    }

    /// Goes on where a lost host left off, in the next epoch. The members of the snapshot are waited for until they have joined
    /// again, but no longer than for readiness.
    ///
    /// - Parameter carry: Binds an anchor to the new host's clock: `Election.carryOver`.
    package init(
        succeeding snapshot: GroupSnapshot, as host: ParticipantID, carry: (PlaybackAnchor) -> PlaybackAnchor
    ) {
        (id, self.host, epoch) = (snapshot.id, host, snapshot.epoch &+ 1)
        (name, item, activity, policy) = (snapshot.name, snapshot.item, snapshot.activity, snapshot.policy)
        lastCommand = UInt64(epoch) << 32
        for member in snapshot.roster.members.prefix(GroupLimits.participants)
        where member.id != snapshot.host {
            expected[member.id] = member.joinNumber
        }
        lastJoin = snapshot.roster.members.last?.joinNumber ?? 0
        isTakingOver = true
        for (identifier, timeline) in snapshot.timelines.sorted(by: { $0.key < $1.key }).prefix(
            GroupLimits.items)
        {
            var carried = timeline
            if case .playing(let anchor) = timeline { carried = .playing(carry(anchor)) }
            items[identifier] = ItemState(
                timeline: carried, revision: nextMark(), placement: nextMark(), place: carried.itemTime(at: 0)
            )
        }
    }

    /// Takes one event at a moment of the group's clock and says what is to be done, in order.
    package mutating func apply(_ event: GroupEvent, at now: Int64) -> [GroupEffect] {
        let before = self
        let effects = decide(event, at: now)
        return effects + changes(since: before)
    }

    private mutating func decide(_ event: GroupEvent, at now: Int64) -> [GroupEffect] {
        switch event {
        case .joined(let participation): return joined(participation, at: now)
        case .left(let id), .lost(let id): return leave(id, at: now)
        case .timerFired(let timer): return fired(timer, at: now)
        case .reported(let id, let report):
            guard let index = index(of: id) else {
                guard case .requested(let request, _) = report else { return [] }
                return [.answer(request, to: id, .unknownParticipant)]
            }
            return reported(report, by: index, at: now)
        }
    }

    private mutating func reported(
        _ report: ParticipantReport, by index: Int, at now: Int64
    ) -> [GroupEffect] {
        switch report {
        case .completed(let command, let outcome): return completed(command, outcome, by: index, at: now)
        case .transitioned(let item, let proposal):
            return transition(index, to: item, proposing: proposal, at: now)
        case .readinessChanged(let isReady): return readinessChanged(index, isReady, at: now)
        case .suspensionBegan(let suspension): return suspend(index, suspension, at: now)
        case .suspensionEnded(let id, let time): return resume(index, id, proposing: time, at: now)
        case .stopped(let item, let time): return stopped(index, item, at: time, now: now)
        case .ended(let item): return ended(index, item, at: now)
        case .reapplied:
            realign(index)
            return tell(index, at: now)
        case .requested(let id, let request):
            let (effects, refusal) = requested(request, by: index, at: now)
            return effects + [.answer(id, to: participants[index].id, refusal)]
        }
    }

    private mutating func fired(_ timer: GroupTimer, at now: Int64) -> [GroupEffect] {
        switch timer {
        case .readiness(let item, let generation):
            guard items[item]?.generation == generation else { return [] }
            return waitedForReadiness(of: item, at: now)
        case .suspensions(let item, let generation):
            guard items[item]?.generation == generation else { return [] }
            return waitedForSuspensions(of: item, at: now)
        case .end(let item, let generation):
            guard items[item]?.generation == generation else { return [] }
            return finish(item, at: now)
        case .completion(let id, let command):
            guard let index = index(of: id) else { return [] }
            return waitedForAnswer(to: command, by: index, at: now)
        case .members:
            expected = [:]
            for identifier in items.keys.sorted() { forgetIfUnused(identifier) }
            return startWhatIsReady(at: now)
        }
    }

    // MARK: What all know

    /// What all members are to know.
    package var snapshot: GroupSnapshot {
        GroupSnapshot(
            id: id, name: name, host: host, epoch: epoch, roster: GroupRoster(participants.map(\.member)),
            item: item, timelines: items.mapValues(\.timeline), activity: activity, policy: policy)
    }

    /// Whether members of the host before may still come.
    package var awaitsMembers: Bool { !expected.isEmpty }

    /// Where the group is in an item.
    package func timeline(of item: String) -> GroupTimeline? { items[item]?.timeline }

    private func changes(since before: GroupCoordinator) -> [GroupEffect] {
        var parts: [GroupPart] = []
        if participants != before.participants,
            participants.map(\.member) != before.participants.map(\.member)
        {
            parts.append(.roster)
        }
        if item != before.item { parts.append(.item) }
        if activity != before.activity { parts.append(.activity) }
        if policy != before.policy { parts.append(.policy) }
        if name != before.name { parts.append(.name) }
        guard items != before.items else { return parts.map { .changed($0) } }
        for identifier in Set(items.keys).union(before.items.keys).sorted()
        where items[identifier]?.timeline != before.items[identifier]?.timeline {
            parts.append(.timeline(identifier))
        }
        return parts.map { .changed($0) }
    }

    // MARK: Small tools

    func index(of id: ParticipantID) -> Int? { participants.firstIndex { $0.id == id } }

    mutating func nextMark() -> UInt64 {
        lastMark += 1
        return lastMark
    }

    /// The state of an item goes with the last who was on it, unless it is the group's.
    mutating func forgetIfUnused(_ identifier: String) {
        guard identifier != item?.identifier, expected.isEmpty else { return }
        guard !participants.contains(where: { $0.item == identifier }) else { return }
        items[identifier] = nil
    }
}
