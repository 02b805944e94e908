// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel

/// What a member's player does, as far as it was told.
enum Played: Equatable {
    case unknown
    case standing
    case playing(PlaybackAnchor)

    init(after action: GroupCommand.Action) {
        switch action {
        case .play(let anchor): self = .playing(anchor)
        case .pause, .seek, .buffer: self = .standing
        }
    }
}

extension GroupCommand.Action {
    /// Whether it can be told while the group is there.
    func leads(to timeline: GroupTimeline) -> Bool {
        switch (self, timeline) {
        case (.play(let told), .playing(let anchor)): told == anchor
        case (.seek(_, let rate, _), .playing): rate == nil
        case (.pause(let rate), .paused), (.seek(_, let rate, _), .paused): rate == nil
        case (.pause(let told), .waiting(_, let rate)): told == rate
        case (.buffer(let told, _), .waiting(_, let rate)): told == rate
        case (.seek(let told, let toldRate, _), .waiting(let place, let rate)):
            told == place && toldRate == rate
        case (.play, .paused), (.play, .waiting), (.buffer, .paused), (.buffer, .playing), (.pause, .playing):
            false
        }
    }
}

/// Feeds a coordinator and checks after every event what must hold whatever happened before.
struct GroupWatcher {
    /// What a member is known to be from its own reports, not from what the coordinator makes of them.
    struct Member {
        var item: String?
        var suspensions: Set<SuspensionID> = []
        var played = Played.unknown
        /// Where it stands, when it was last told.
        var place: Int64?
        var open: [GroupCommand] = []
        /// It has played its item to the end, and was told nothing since.
        var hasEnded = false

        mutating func forgets() { (played, place) = (.unknown, nil) }
    }

    private(set) var group: GroupCoordinator
    private(set) var now: Int64 = 1_000 * second
    /// What was found wrong. Empty is right.
    private(set) var faults: [String] = []
    private(set) var members: [ParticipantID: Member] = [:]
    /// Timers that were armed and have not fired, in order.
    private(set) var timers: [(timer: GroupTimer, at: Int64)] = []
    private var completed: Set<CommandID> = []
    private var sent: Set<CommandID> = []
    private var lastCommand = CommandID(0)
    private var requests: UInt64 = 0
    private var isSettling = false

    init(_ policy: GroupPolicy) {
        group = GroupCoordinator(id: GroupID("g"), name: "Kitchen", host: "a", policy: policy)
    }

    mutating func expect(_ holds: Bool, _ fault: @autoclosure () -> String) {
        if !holds { faults.append(fault()) }
    }

    mutating func asks(_ id: ParticipantID, _ request: GroupRequest) {
        requests += 1
        apply(.reported(id, .requested(GroupRequestID(requests), request)))
    }

    mutating func completes(_ id: ParticipantID, _ outcome: CommandOutcome) {
        guard let command = members[id]?.open.first else { return }
        if outcome == .done, members[id]?.item == command.item {
            members[id]?.played = Played(after: command.action)
            if case .seek(let place, _, _) = command.action { members[id]?.place = place }
        }
        apply(.reported(id, .completed(command.id, outcome)))
    }

    mutating func firesNext(_ matches: (GroupTimer) -> Bool = { _ in true }) {
        guard let place = timers.firstIndex(where: { matches($0.timer) }) else { return }
        let next = timers.remove(at: place)
        now = max(now, next.at)
        apply(.timerFired(next.timer))
    }

    mutating func passes(_ time: Int64) { now += time }

    mutating func apply(_ event: GroupEvent) {
        // What it costs most to look at is left out while all settles.
        let before = isSettling ? nil : group.snapshot
        note(event)
        let effects = group.apply(event, at: now)
        var answers = 0
        for effect in effects {
            switch effect {
            case .send(let command, let id): checkSent(command, to: id)
            case .completed(let id, let member, let outcome): checkCompleted(id, by: member, outcome)
            case .arm(let timer, let time):
                expect(time >= now, "a timer in the past")
                timers.append((timer, time))
                timers.sort { $0.at < $1.at }
            case .answer: answers += 1
            case .removed(let id): members[id] = nil
            case .refuseJoin, .changed, .ended: break
            }
        }
        if case .reported(_, .requested) = event {
            expect(answers == 1, "\(answers) answers")
        } else {
            expect(answers == 0, "an answer to nothing")
        }
        checkSeek(event, effects)
        guard let before else { return }
        checkChanges(before, effects)
        checkBounds()
    }

    /// Keeps book of what members report, before the coordinator hears of it.
    private mutating func note(_ event: GroupEvent) {
        switch event {
        case .joined(let member):
            guard members[member.id] != nil || members.count < GroupLimits.participants else { break }
            members[member.id] = Member(
                item: member.item, suspensions: Set(member.suspensions.map(\.id)),
                open: members[member.id]?.open ?? [])
            if let item = member.item, member.suspensions.isEmpty, group.timeline(of: item) == nil,
                let proposal = member.proposal, let clockTime = proposal.clockTime
            {
                // It plays so already.
                members[member.id]?.played = .playing(
                    PlaybackAnchor(
                        itemTime: proposal.itemTime, clockTime: clockTime, rate: proposal.rate))
            }
        case .reported(let id, .transitioned(let item, _)):
            members[id]?.item = item
            members[id]?.forgets()
        case .reported(let id, .suspensionBegan(let suspension)):
            members[id]?.suspensions.insert(suspension.id)
            members[id]?.forgets()
        case .reported(let id, .suspensionEnded(let suspension, _)):
            members[id]?.suspensions.remove(suspension)
        case .reported(let id, .ended(let item)):
            if members[id]?.item == item { members[id]?.hasEnded = true }
        case .left, .lost, .reported, .timerFired: break
        }
    }

    private mutating func checkSent(_ command: GroupCommand, to id: ParticipantID) {
        expect(command.id > lastCommand, "a number was used twice")
        lastCommand = command.id
        sent.insert(command.id)
        guard let member = members[id] else {
            expect(false, "a command to nobody")
            return
        }
        expect(member.suspensions.isEmpty, "a command to one that takes no part")
        expect(member.item == command.item, "a command about an item that it is not on")
        expect(command.originator != id, "somebody is told that he asked")
        let others = member.open.filter { $0.item == command.item }
        expect(others.isEmpty || command.overtakes, "a command before the end of the one before")
        expect(
            others.allSatisfy { $0.action.waitsForReadiness }, "a command overtakes what waits for nothing")
        if let timeline = group.timeline(of: command.item) {
            expect(command.action.leads(to: timeline), "\(command.action) in \(timeline)")
        } else {
            expect(false, "a command about an item without a timeline")
        }
        members[id]?.open.append(command)
        members[id]?.hasEnded = false
        expect((members[id]?.open.count ?? 0) <= GroupLimits.commands, "too many commands on the way")
    }

    private mutating func checkCompleted(
        _ id: CommandID, by member: ParticipantID, _ outcome: CommandOutcome
    ) {
        expect(sent.contains(id), "the end of a command that was never sent")
        expect(completed.insert(id).inserted, "a second end of one command")
        members[member]?.open.removeAll { $0.id == id }
    }

    /// Nothing goes on after a seek, unless that was asked for, before all who are waited for have done it.
    private mutating func checkSeek(_ event: GroupEvent, _ effects: [GroupEffect]) {
        guard case .reported(let id, .requested(_, .seek(_, let item, false))) = event,
            case .playing? = group.timeline(of: item)
        else { return }
        for case .answer(_, _, .some) in effects { return }
        let awaited = group.snapshot.roster.members.filter { $0.item == item && $0.suspensions.isEmpty }
        expect(awaited.isEmpty, "\(id) seeks, and it goes on at once")
    }

    private mutating func checkChanges(_ before: GroupSnapshot, _ effects: [GroupEffect]) {
        var parts: Set<GroupPart> = []
        for case .changed(let part) in effects {
            expect(parts.insert(part).inserted, "\(part) is told twice")
        }
        let after = group.snapshot
        expect(parts.contains(.roster) == (before.roster != after.roster), "the roster is not told rightly")
        expect(parts.contains(.item) == (before.item != after.item), "the item is not told rightly")
        for item in Set(before.timelines.keys).union(after.timelines.keys) {
            expect(
                parts.contains(.timeline(item)) == (before.timelines[item] != after.timelines[item]),
                "a timeline is not told rightly")
        }
    }

    private mutating func checkBounds() {
        let snapshot = group.snapshot
        let ids = Set(snapshot.roster.members.map(\.id))
        expect(ids.count == snapshot.roster.members.count, "a member twice")
        expect(ids.count <= GroupLimits.participants, "too many members")
        for id in members.keys where !ids.contains(id) { members[id] = nil }
        expect(Set(members.keys) == ids, "a member is missing")
        for member in snapshot.roster.members {
            expect(member.item == members[member.id]?.item, "\(member.id) is on another item")
            if let item = member.item, member.suspensions.isEmpty {
                expect(snapshot.timelines[item] != nil, "an item without a timeline")
            }
        }
        expect(snapshot.timelines.count <= GroupLimits.items, "too many items")
        for timeline in snapshot.timelines.values {
            expect(timeline.itemTime(at: now) >= 0, "a place before the start")
        }
    }

    // MARK: The end

    /// All do what they are told, and all that was armed fires, until nothing happens any more: then all agree.
    mutating func settle() {
        isSettling = true
        defer { isSettling = false }
        for _ in 0..<2_000 {
            if let next = members.filter({ !$0.value.open.isEmpty }).keys.min() {
                completes(next, .done)
            } else if !timers.isEmpty {
                firesNext()
            } else {
                break
            }
            guard faults.isEmpty else { return }
        }
        expect(timers.isEmpty && members.values.allSatisfy(\.open.isEmpty), "no end of it")
        expect(sent == completed, "a command without an end")
        for (id, member) in members where member.suspensions.isEmpty && !member.hasEnded {
            guard let item = member.item, let timeline = group.timeline(of: item) else { continue }
            switch timeline {
            case .paused(let place):
                expect(member.played == .standing || member.played == .unknown, "\(id) plays in a pause")
                if let known = member.place, member.played == .standing, agreesOnPlaces {
                    expect(known == place, "\(id) stands at \(known), not \(place)")
                }
            case .waiting: expect(false, "\(item) waits for ever")
            case .playing(let anchor):
                expect(member.played == .playing(anchor), "\(id) does not play as the others do")
            }
        }
    }

    /// True while nobody has paused: then each place is one to which all were told to go.
    var agreesOnPlaces = true
}
