// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension GroupCoordinator {
    /// Lets an item wait at a place for those who take part.
    mutating func wait(_ identifier: String, at place: Int64, rate: Double, now: Int64) -> [GroupEffect] {
        let generation = nextMark()
        let due = now.clamped(adding: policy.readinessLimit)
        items[identifier]?.timeline = .waiting(at: place, rate: rate)
        items[identifier]?.generation = generation
        items[identifier]?.due = due
        items[identifier]?.suspensionsDue = nil
        return [.arm(.readiness(item: identifier, generation: generation), at: due)]
    }

    /// Lets an item play from a place, as soon as a command takes to reach everybody.
    mutating func play(_ identifier: String, from place: Int64, rate: Double, now: Int64) {
        play(
            identifier,
            PlaybackAnchor(itemTime: place, clockTime: now.clamped(adding: policy.lead), rate: rate))
    }

    mutating func play(_ identifier: String, _ anchor: PlaybackAnchor) {
        let generation = nextMark()
        items[identifier]?.timeline = .playing(anchor)
        items[identifier]?.generation = generation
        items[identifier]?.due = nil
        items[identifier]?.isEnding = false
    }

    /// Whether a start of the item has to do with this participant.
    private func isAwaited(_ participant: Participant, on identifier: String) -> Bool {
        if participant.item != identifier {
            // Receivers follow the group's item; this one is not there yet.
            guard participant.kind == .receiver, item?.identifier == identifier else { return false }
        }
        if participant.takesPart { return !participant.isLeftBehind }
        return !participant.isWaitedOut
            && participant.suspensions.contains {
                policy.waits(for: $0.reason, participants: participants.count)
            }
    }

    private func isPrepared(_ participant: Participant, for state: ItemState, on identifier: String) -> Bool {
        participant.item == identifier && participant.takesPart && participant.outstanding.isEmpty
            && participant.isReady && state.nextAction(for: participant) == nil
    }

    /// Who has something to do for a start after its time, while others are suspended, gets as long as any other.
    mutating func extend(_ identifier: String, at now: Int64) -> [GroupEffect] {
        guard let state = items[identifier], case .waiting = state.timeline, let due = state.due, due <= now
        else { return [] }
        let later = now.clamped(adding: policy.readinessLimit)
        guard later > due else { return [] }
        items[identifier]?.due = later
        return [.arm(.readiness(item: identifier, generation: state.generation), at: later)]
    }

    /// Bounds the wait for those that are suspended.
    private mutating func waitForSuspensions(of identifier: String, at now: Int64) -> [GroupEffect] {
        guard let state = items[identifier], state.suspensionsDue.map({ $0 <= now }) ?? true else {
            return []
        }
        let limit = now.clamped(adding: policy.suspensionLimit)
        items[identifier]?.suspensionsDue = limit
        return [.arm(.suspensions(item: identifier, generation: state.generation), at: limit)]
    }

    /// Starts an item that waits, if nobody is waited for any more and somebody is ready.
    mutating func startIfReady(_ identifier: String, at now: Int64) -> [GroupEffect] {
        guard let state = items[identifier], case .waiting(let place, let rate) = state.timeline else {
            return []
        }
        let isSomebodyPrepared = participants.contains { isPrepared($0, for: state, on: identifier) }
        let awaited = participants.filter {
            isAwaited($0, on: identifier) && !isPrepared($0, for: state, on: identifier)
        }
        guard expected.isEmpty, awaited.isEmpty, isSomebodyPrepared else {
            return (awaited.contains(where: \.takesPart) ? extend(identifier, at: now) : [])
                + (awaited.allSatisfy(\.takesPart) ? [] : waitForSuspensions(of: identifier, at: now))
        }
        play(identifier, from: place, rate: rate, now: now)
        return tellAll(on: identifier, at: now)
    }

    mutating func startWhatIsReady(at now: Int64) -> [GroupEffect] {
        items.keys.sorted().flatMap { startIfReady($0, at: now) }
    }

    /// Leaves behind who is not ready.
    mutating func waitedForReadiness(of identifier: String, at now: Int64) -> [GroupEffect] {
        guard let state = items[identifier], case .waiting = state.timeline else { return [] }
        expected = [:]
        for index in participants.indices
        where participants[index].takesPart && isAwaited(participants[index], on: identifier)
            && !isPrepared(participants[index], for: state, on: identifier)
        {
            participants[index].isLeftBehind = true
        }
        return startIfReady(identifier, at: now)
    }

    /// Leaves behind who is suspended.
    mutating func waitedForSuspensions(of identifier: String, at now: Int64) -> [GroupEffect] {
        guard case .waiting = items[identifier]?.timeline else { return [] }
        for index in participants.indices
        where !participants[index].takesPart && isAwaited(participants[index], on: identifier) {
            participants[index].isWaitedOut = true
        }
        return startIfReady(identifier, at: now)
    }

    // MARK: The end of an item

    mutating func ended(_ index: Int, _ identifier: String, at now: Int64) -> [GroupEffect] {
        guard participants[index].item == identifier, case .playing = items[identifier]?.timeline else {
            return []
        }
        participants[index].hasEnded = true
        return finishIfEnded(identifier, at: now)
    }

    /// An item is over when all who take part have played it; once more than half have, the others have a while.
    mutating func finishIfEnded(_ identifier: String, at now: Int64) -> [GroupEffect] {
        guard let state = items[identifier], case .playing = state.timeline else { return [] }
        // Who has played it is one of them, also if it ran dry on the way.
        let playing = participants.filter {
            $0.item == identifier && ($0.hasEnded || $0.takesPart && !$0.isLeftBehind)
        }
        let ended = playing.count { $0.hasEnded }
        guard ended > 0 else { return [] }
        if ended == playing.count { return finish(identifier, at: now) }
        guard ended * 2 > playing.count, !state.isEnding else { return [] }
        items[identifier]?.isEnding = true
        return [
            .arm(
                .end(item: identifier, generation: state.generation),
                at: now.clamped(adding: policy.readinessLimit))
        ]
    }

    mutating func finish(_ identifier: String, at now: Int64) -> [GroupEffect] {
        guard let state = items[identifier], case .playing = state.timeline else { return [] }
        pause(identifier, at: state.timeline.itemTime(at: now), by: nil)
        for index in participants.indices where participants[index].item == identifier {
            // Who has played it to the end stands there.
            if participants[index].hasEnded, case .playing = participants[index].motion {
                participants[index].motion = .standing
            }
            participants[index].hasEnded = false
        }
        return [.ended(item: identifier)] + tellAll(on: identifier, at: now)
    }

    mutating func pause(_ identifier: String, at place: Int64, by originator: ParticipantID?) {
        let (revision, generation) = (nextMark(), nextMark())
        items[identifier]?.timeline = .paused(at: place)
        items[identifier]?.revision = revision
        items[identifier]?.generation = generation
        items[identifier]?.originator = originator
        items[identifier]?.due = nil
        items[identifier]?.isEnding = false
    }
}
