// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A member's own side of a group: takes commands in order, starts one at a time, completes each exactly once, and knows when it
/// takes no part.
///
/// It serves the receiver's renderer and any other player alike. It never reads a clock or does I/O. Its rules are in
/// `Docs/state-machines/group.md`.
package struct GroupParticipant: Equatable, Sendable {
    package let id: ParticipantID
    package let name: String
    package let kind: ParticipantKind
    /// The host that it is attached to. Nil: none at present, and nothing is reported.
    package private(set) var host: ParticipantID?
    package private(set) var epoch: UInt32 = 0
    package private(set) var item: String?
    package private(set) var isReady = false
    /// Those that are open. Empty: it takes part.
    package private(set) var suspensions: [Suspension] = []
    /// The command that the player is busy with.
    package private(set) var performing: GroupCommand?
    /// Commands that wait for it.
    private var waiting: [GroupCommand] = []
    /// The newest, and those that came lately, so that none is taken twice.
    private var newest = CommandID(0)
    private var seen: [CommandID] = []
    /// Not told to a host yet.
    private var proposal: TimingProposal?
    /// The player was told to play and has begun.
    private var isPlaying = false
    /// The command that was not done in time; its end is the end of the stall too.
    private var late: CommandID?
    private var timelines: [String: GroupTimeline] = [:]

    package init(id: ParticipantID, name: String, kind: ParticipantKind) {
        (self.id, self.kind) = (id, kind)
        self.name = name.prefix(bytes: GroupLimits.nameBytes)
    }

    /// The number of the stall recovery that it begins and ends by itself.
    package static let stall = SuspensionID(0)

    /// What is told to a host when a link to it is up; `attached` follows in the same step.
    package var participation: Participation {
        Participation(
            id: id, name: name, kind: kind, item: item, proposal: proposal, isReady: isReady,
            suspensions: suspensions)
    }

    /// Whether it follows the group.
    package var takesPart: Bool { suspensions.isEmpty }

    /// Where the group is in this participant's item at a moment of the group's clock, also while it takes no part. Nil: it is on
    /// no item, or the group has no timeline for it.
    package func expectedItemTime(atHostTime time: Int64) -> Int64? {
        item.flatMap { timelines[$0] }?.itemTime(at: time)
    }

    /// Takes one event and says what is to be done, in order.
    package mutating func apply(_ event: ParticipantEvent) -> [ParticipantEffect] {
        switch event {
        case .attached(let host, let epoch): return attached(host, epoch)
        case .detached:
            // What the player is busy with goes on; nobody asks for its end.
            host = nil
            waiting = []
            return []
        case .received(let command): return received(command)
        case .timelineChanged(let item, let timeline):
            remember(timeline, of: item)
            return []
        case .performed(let command): return performed(command)
        case .readinessChanged(let isReady): return readinessChanged(isReady)
        case .stopped(let item, let time):
            return item == self.item && takesPart ? report(.stopped(item: item, at: time)) : []
        case .ended(let item):
            guard item == self.item else { return [] }
            isPlaying = false
            return report(.ended(item: item))
        case .transitioned(let item, let proposal): return transitioned(to: item, proposing: proposal)
        case .suspensionBegan(let suspension): return suspend(suspension)
        case .suspensionEnded(let id, let time): return resume(id, proposing: time)
        case .requested(let id, let request): return requested(id, request)
        case .reapplyRequested: return takesPart ? report(.reapplied) : []
        case .timerFired(.due(let command)):
            guard performing?.id == command else { return [] }
            late = command
            return suspend(Suspension(id: Self.stall, reason: .stallRecovery))
        }
    }

    /// What is told to the host, if there is one. Without one, it learns it from `participation`.
    private func report(_ report: ParticipantReport) -> [ParticipantEffect] {
        host == nil ? [] : [.report(report)]
    }

    private mutating func attached(_ host: ParticipantID, _ epoch: UInt32) -> [ParticipantEffect] {
        (self.host, self.epoch) = (host, epoch)
        proposal = nil
        waiting = []
        guard let old = performing else { return [] }
        performing = nil
        return [.abandon(old.id)]
    }

    private mutating func remember(_ timeline: GroupTimeline?, of identifier: String) {
        guard let timeline else {
            timelines[identifier] = nil
            return
        }
        guard identifier.isIdentifier else { return }
        if timelines[identifier] == nil, timelines.count >= GroupLimits.items {
            guard let other = timelines.keys.filter({ $0 != item }).min() else { return }
            timelines[other] = nil
        }
        timelines[identifier] = timeline
    }

    // MARK: Commands

    private mutating func received(_ command: GroupCommand) -> [ParticipantEffect] {
        guard host != nil, !seen.contains(command.id) else { return [] }
        seen.append(command.id)
        if seen.count > GroupLimits.intake * 2 { seen.removeFirst() }
        guard command.id > newest else {
            // One that is newer is here already, and says more.
            return complete(command, .ignored)
        }
        newest = command.id
        guard takesPart else { return complete(command, .suspended) }
        guard command.item == item, waiting.count < GroupLimits.intake else {
            return complete(command, .ignored)
        }
        waiting.append(command)
        return startNext()
    }

    private func complete(_ command: GroupCommand, _ outcome: CommandOutcome) -> [ParticipantEffect] {
        report(.completed(command.id, outcome))
    }

    /// Starts what comes next when nothing else is being done; what only waits for readiness gives way to what overtakes it.
    private mutating func startNext() -> [ParticipantEffect] {
        var effects: [ParticipantEffect] = []
        while true {
            if let current = performing {
                guard current.action.waitsForReadiness, waiting.contains(where: { $0.overtakes }) else {
                    return effects
                }
                performing = nil
                effects += [.abandon(current.id)] + complete(current, .ignored)
            }
            guard !waiting.isEmpty else { return effects }
            let next = waiting.removeFirst()
            performing = next
            isPlaying = false
            effects.append(.perform(next))
            if let due = next.action.due { effects.append(.arm(.due(next.id), at: due)) }
        }
    }

    private mutating func performed(_ id: CommandID) -> [ParticipantEffect] {
        if late == id, performing?.id != id { return readinessChanged(true) }
        guard let command = performing, command.id == id else { return [] }
        performing = nil
        if command.action.waitsForReadiness { isReady = true }
        if case .play = command.action { isPlaying = true }
        return complete(command, .done) + startNext()
    }

    /// Ends what is being done and what waits, without having done it.
    private mutating func completeAll(_ outcome: CommandOutcome) -> [ParticipantEffect] {
        var effects: [ParticipantEffect] = []
        if let current = performing {
            performing = nil
            effects += [.abandon(current.id)] + complete(current, outcome)
        }
        for command in waiting { effects += complete(command, outcome) }
        waiting = []
        isPlaying = false
        return effects
    }

    // MARK: What the player does by itself

    private mutating func readinessChanged(_ new: Bool) -> [ParticipantEffect] {
        var effects: [ParticipantEffect] = []
        if isReady != new {
            isReady = new
            effects += report(.readinessChanged(new))
        }
        if new { return effects + resume(Self.stall, proposing: nil) }
        // While it falls in it is not ready yet, which is no stall.
        guard isPlaying, takesPart else { return effects }
        return effects + suspend(Suspension(id: Self.stall, reason: .stallRecovery))
    }

    private mutating func transitioned(
        to wanted: String?, proposing new: TimingProposal?
    ) -> [ParticipantEffect] {
        let identifier = wanted.flatMap { $0.isIdentifier ? $0 : nil }
        let isSame = identifier == item
        item = identifier
        isReady = false
        isPlaying = false
        proposal = host == nil ? new : nil
        let effects = report(.transitioned(to: identifier, proposing: new))
        return isSame ? effects : effects + completeAll(.ignored)
    }

    // MARK: Suspensions and requests

    private mutating func suspend(_ suspension: Suspension) -> [ParticipantEffect] {
        guard suspensions.count < GroupLimits.suspensions,
            !suspensions.contains(where: { $0.id == suspension.id })
        else { return [] }
        suspensions.append(suspension)
        // The host knows first that it takes no part, and then that the commands were not done.
        return report(.suspensionBegan(suspension)) + completeAll(.suspended) + [.suspensionsChanged]
    }

    private mutating func resume(_ id: SuspensionID, proposing time: Int64?) -> [ParticipantEffect] {
        guard let place = suspensions.firstIndex(where: { $0.id == id }) else { return [] }
        suspensions.remove(at: place)
        if id == Self.stall { late = nil }
        // While others are open the group's place is not for this one to choose.
        return report(.suspensionEnded(id, proposing: takesPart ? time : nil)) + [.suspensionsChanged]
    }

    private func requested(_ id: GroupRequestID, _ request: GroupRequest) -> [ParticipantEffect] {
        switch request {
        case .setRate(_, let identifier, _, _), .seek(_, let identifier, _):
            guard takesPart else { return [.performLocally(id, request)] }
            guard identifier == item else { return [.refuse(id, .otherItem)] }
        case .setItem, .setPolicy, .setActivity, .setName, .remove: break
        }
        return host == nil ? [.refuse(id, .unavailable)] : [.report(.requested(id, request))]
    }
}
