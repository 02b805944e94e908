// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension GroupCoordinator {
    mutating func joined(_ wanted: Participation, at now: Int64) -> [GroupEffect] {
        guard !wanted.id.text.isEmpty, wanted.id.text.utf8.count <= GroupLimits.identifierBytes,
            wanted.item?.isIdentifier ?? true
        else { return [.refuseJoin(wanted.id, .invalid)] }
        let known = index(of: wanted.id)
        guard known != nil || participants.count < GroupLimits.participants else {
            return [.refuseJoin(wanted.id, .limitReached)]
        }
        var effects: [GroupEffect] = []
        if isTakingOver {
            isTakingOver = false
            effects += takeOver(at: now)
        }
        let number = known.map { participants[$0].joinNumber } ?? expected.removeValue(forKey: wanted.id)
        if number == nil { lastJoin += 1 }
        var participant = Participant(
            id: wanted.id, name: wanted.name, kind: wanted.kind, joinNumber: number ?? lastJoin,
            isReady: false, suspensions: wanted.suspensions)
        let index: Int
        if let known {
            index = known
            effects += lose(participants[known].outstanding, of: wanted.id)
            participant.item = participants[known].item
            participants[known] = participant
        } else {
            index =
                participants.firstIndex { $0.joinNumber > participant.joinNumber } ?? participants.endIndex
            participants.insert(participant, at: index)
        }
        effects += transition(index, to: wanted.item, proposing: wanted.proposal, at: now)
        if wanted.isReady { effects += readinessChanged(index, true, at: now) }
        if let item { effects += waitForSuspensions(of: item.identifier, at: now) }
        // It may be the last that a new host waited for.
        return effects + startWhatIsReady(at: now)
    }

    /// Starts that waited under the host before have as long as any other.
    private mutating func takeOver(at now: Int64) -> [GroupEffect] {
        var effects: [GroupEffect] = [.arm(.members, at: now.clamped(adding: policy.readinessLimit))]
        for identifier in items.keys.sorted() {
            if case .waiting(let place, let rate) = items[identifier]?.timeline {
                effects += wait(identifier, at: place, rate: rate, now: now)
            }
        }
        return effects
    }

    private func lose(_ commands: [Participant.Sent], of id: ParticipantID) -> [GroupEffect] {
        commands.map { .completed($0.id, by: id, .lost) }
    }

    mutating func leave(_ id: ParticipantID, at now: Int64) -> [GroupEffect] {
        guard let index = index(of: id) else { return [] }
        let participant = participants.remove(at: index)
        if let item = participant.item { forgetIfUnused(item) }
        return lose(participant.outstanding, of: id) + withoutSomebody(at: now)
    }

    /// Somebody takes no part any more: perhaps the last that the others waited for.
    private mutating func withoutSomebody(at now: Int64) -> [GroupEffect] {
        startWhatIsReady(at: now) + items.keys.sorted().flatMap { finishIfEnded($0, at: now) }
    }

    mutating func transition(
        _ index: Int, to wanted: String?, proposing proposal: TimingProposal?, at now: Int64
    ) -> [GroupEffect] {
        let new = wanted.flatMap { $0.isIdentifier ? $0 : nil }
        let old = participants[index].item
        participants[index].item = new
        participants[index].isReady = false
        participants[index].hasEnded = false
        participants[index].isLeftBehind = false
        participants[index].isWaitedOut = false
        participants[index].forgetWhatItWasTold()
        if let old, old != new { forgetIfUnused(old) }
        var effects: [GroupEffect] = []
        if let new, participants[index].takesPart {
            let isFirst = items[new] == nil
            effects += create(new, proposing: proposal, by: participants[index].id, at: now)
            if isFirst { settle(index, on: new) } else { realign(index) }
            effects += tell(index, at: now)
        }
        return effects + withoutSomebody(at: now)
    }

    /// The one whose proposal counted is where it said.
    private mutating func settle(_ index: Int, on item: String) {
        guard let state = items[item] else { return }
        participants[index].placement = state.placement
        if case .playing(let anchor) = state.timeline {
            participants[index].motion = .playing(anchor)
        } else {
            participants[index].motion = .standing
        }
    }

    mutating func readinessChanged(_ index: Int, _ isReady: Bool, at now: Int64) -> [GroupEffect] {
        participants[index].isReady = isReady
        guard isReady else { return [] }
        var effects: [GroupEffect] = []
        if participants[index].outstanding.isEmpty {
            participants[index].isLeftBehind = false
            effects += tell(index, at: now)
        }
        return effects + startWhatIsReady(at: now)
    }

    // MARK: Suspensions

    mutating func suspend(_ index: Int, _ suspension: Suspension, at now: Int64) -> [GroupEffect] {
        guard participants[index].suspensions.count < GroupLimits.suspensions,
            !participants[index].suspensions.contains(where: { $0.id == suspension.id })
        else { return [] }
        if participants[index].takesPart {
            participants[index].isWaitedOut = false
            participants[index].isLeftBehind = false
        }
        participants[index].suspensions.append(suspension)
        participants[index].forgetWhatItWasTold()
        guard let item = participants[index].item, let state = items[item] else {
            return withoutSomebody(at: now)
        }
        if case .playing(let anchor) = state.timeline, !participants[index].isWaitedOut,
            policy.waits(for: suspension.reason, participants: participants.count)
        {
            let revision = nextMark()
            items[item]?.revision = revision
            items[item]?.originator = participants[index].id
            let place = max(0, anchor.itemTime(at: now))
            return wait(item, at: place, rate: anchor.rate, now: now) + tellAll(on: item, at: now)
                + startIfReady(item, at: now)
        }
        return waitForSuspensions(of: item, at: now) + withoutSomebody(at: now)
    }

    mutating func resume(
        _ index: Int, _ id: SuspensionID, proposing time: Int64?, at now: Int64
    ) -> [GroupEffect] {
        guard let place = participants[index].suspensions.firstIndex(where: { $0.id == id }) else {
            return []
        }
        participants[index].suspensions.remove(at: place)
        // A start may have waited for this reason alone.
        guard participants[index].takesPart else { return startWhatIsReady(at: now) }
        participants[index].isWaitedOut = false
        participants[index].isLeftBehind = false
        guard let item = participants[index].item else { return withoutSomebody(at: now) }
        let proposed = time.flatMap { GroupLimits.itemTimes.contains($0) ? $0 : nil }
        if items[item] == nil {
            _ = create(
                item, proposing: proposed.map { TimingProposal(itemTime: $0) }, by: participants[index].id,
                at: now)
            realign(index)
            return tell(index, at: now)
        }
        realign(index)
        guard let proposed else { return tell(index, at: now) + startIfReady(item, at: now) }
        return seek(item, to: proposed, by: index, immediately: false, now: now)
    }
}
