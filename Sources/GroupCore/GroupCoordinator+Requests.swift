// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension GroupCoordinator {
    /// Does what a participant asks, or says why not.
    mutating func requested(
        _ request: GroupRequest, by index: Int, at now: Int64
    ) -> ([GroupEffect], GroupRefusal?) {
        do throws(GroupRefusal) {
            return (try accept(request, by: index, at: now), nil)
        } catch {
            return ([], error)
        }
    }

    private mutating func accept(
        _ request: GroupRequest, by index: Int, at now: Int64
    ) throws(GroupRefusal) -> [GroupEffect] {
        switch request {
        case .setItem(let wanted, let proposal):
            return try setItem(wanted, proposing: proposal, by: participants[index].id, at: now)
        case .setRate(let rate, let item, let time, let immediately):
            try check(item, index)
            guard rate.isFinite, rate >= 0, time.map({ GroupLimits.itemTimes.contains($0) }) ?? true else {
                throw .invalid
            }
            guard rate > 0 else { return pause(item, by: index, stoppedAt: time, now: now) }
            return start(item, at: rate.rateInLimits, by: index, immediately: immediately, now: now)
        case .seek(let time, let item, let immediately):
            try check(item, index)
            guard GroupLimits.itemTimes.contains(time) else { throw .invalid }
            return seek(item, to: time, by: index, immediately: immediately, now: now)
        case .setPolicy(let wanted):
            policy = wanted
            return startWhatIsReady(at: now)
        case .setActivity(let wanted): activity = wanted
        case .setName(let wanted):
            guard !wanted.isEmpty else { throw .invalid }
            name = wanted.prefix(bytes: GroupLimits.nameBytes)
        case .remove(let id):
            guard self.index(of: id) != nil else { throw .unknownParticipant }
            return leave(id, at: now) + [.removed(id)]
        }
        return []
    }

    /// Requests of playback are about the item that the one who asks is on, or that of the group, from one who takes part.
    private func check(_ identifier: String, _ index: Int) throws(GroupRefusal) {
        guard participants[index].takesPart else { throw .suspended }
        guard identifier == participants[index].item || identifier == item?.identifier,
            items[identifier] != nil
        else { throw .otherItem }
    }

    private mutating func setItem(
        _ wanted: GroupItem?, proposing proposal: TimingProposal?, by originator: ParticipantID,
        at now: Int64
    ) throws(GroupRefusal) -> [GroupEffect] {
        guard wanted?.isAcceptable ?? true else { throw .invalid }
        let old = item
        item = wanted
        guard old?.identifier != wanted?.identifier else { return [] }
        // Whoever was left behind on the way to the old item is waited for on the way to the new one.
        for index in participants.indices where participants[index].item != wanted?.identifier {
            participants[index].isLeftBehind = false
        }
        var effects: [GroupEffect] = []
        if let identifier = wanted?.identifier {
            effects += create(identifier, proposing: proposal, by: originator, at: now)
        }
        if let old {
            forgetIfUnused(old.identifier)
            effects += startIfReady(old.identifier, at: now)
        }
        return effects
    }

    /// Makes the state of an item that has none.
    mutating func create(
        _ identifier: String, proposing proposal: TimingProposal?, by originator: ParticipantID, at now: Int64
    ) -> [GroupEffect] {
        guard items[identifier] == nil else { return [] }
        let place = (proposal?.itemTime ?? 0).itemTimeInLimits
        items[identifier] = ItemState(
            timeline: .paused(at: place), revision: nextMark(), placement: nextMark(), originator: originator,
            place: place)
        guard let proposal, proposal.rate.isFinite, proposal.rate > 0 else { return [] }
        let rate = proposal.rate.rateInLimits
        guard let clockTime = proposal.clockTime else {
            return wait(identifier, at: place, rate: rate, now: now)
        }
        play(identifier, PlaybackAnchor(itemTime: place, clockTime: clockTime, rate: rate))
        return []
    }

    // MARK: Rate and place

    private mutating func change(_ identifier: String, by index: Int) {
        let revision = nextMark()
        items[identifier]?.revision = revision
        items[identifier]?.originator = participants[index].id
        items[identifier]?.awaitsStop = false
        items[identifier]?.isEnding = false
        for other in participants.indices where participants[other].item == identifier {
            participants[other].hasEnded = false
        }
    }

    private mutating func pause(
        _ identifier: String, by index: Int, stoppedAt time: Int64?, now: Int64
    ) -> [GroupEffect] {
        guard let timeline = items[identifier]?.timeline else { return [] }
        switch timeline {
        case .paused: return []
        case .waiting(let place, _):
            change(identifier, by: index)
            pause(identifier, at: place, by: participants[index].id)
        case .playing:
            change(identifier, by: index)
            pause(identifier, at: time ?? timeline.itemTime(at: now), by: participants[index].id)
            if let time {
                snap(identifier, to: time, by: index)
            } else {
                items[identifier]?.awaitsStop = true
            }
        }
        return tellAll(on: identifier, at: now)
    }

    /// The one who paused stands here: there the group goes on, and where it wants that, all go there now.
    private mutating func snap(_ identifier: String, to time: Int64, by index: Int) {
        items[identifier]?.timeline = .paused(at: time)
        items[identifier]?.awaitsStop = false
        guard policy.pauseSnapsToMediaTimeOfOriginator else { return }
        let placement = nextMark()
        items[identifier]?.placement = placement
        items[identifier]?.place = time
        if participants[index].item == identifier, participants[index].motion != .unknown {
            participants[index].placement = placement
        }
    }

    mutating func stopped(_ index: Int, _ identifier: String, at time: Int64, now: Int64) -> [GroupEffect] {
        guard participants[index].takesPart, participants[index].item == identifier,
            let state = items[identifier], case .paused = state.timeline, state.awaitsStop,
            state.originator == participants[index].id, GroupLimits.itemTimes.contains(time)
        else { return [] }
        snap(identifier, to: time, by: index)
        return tellAll(on: identifier, at: now)
    }

    private mutating func start(
        _ identifier: String, at rate: Double, by index: Int, immediately: Bool, now: Int64
    ) -> [GroupEffect] {
        guard let timeline = items[identifier]?.timeline else { return [] }
        if !immediately || timeline.rate > 0, timeline.wantedRate == rate { return [] }
        change(identifier, by: index)
        var effects: [GroupEffect] = []
        switch timeline {
        case .paused(let place), .waiting(let place, _):
            if immediately {
                play(identifier, from: place, rate: rate, now: now)
            } else {
                effects += wait(identifier, at: place, rate: rate, now: now)
            }
        case .playing(let anchor):
            // From one moment on for all, so that they stay together.
            let moment = now.clamped(adding: policy.lead)
            play(identifier, from: max(0, anchor.itemTime(at: moment)), rate: rate, now: now)
        }
        return effects + tellAll(on: identifier, at: now) + startIfReady(identifier, at: now)
    }

    /// All go to a place. What played waits there for those who take part, unless it shall go on at once.
    mutating func seek(
        _ identifier: String, to time: Int64, by index: Int, immediately: Bool, now: Int64
    ) -> [GroupEffect] {
        guard let timeline = items[identifier]?.timeline else { return [] }
        change(identifier, by: index)
        let placement = nextMark()
        items[identifier]?.placement = placement
        items[identifier]?.place = time
        var effects: [GroupEffect] = []
        switch timeline {
        case .paused: items[identifier]?.timeline = .paused(at: time)
        case .waiting, .playing:
            if immediately {
                play(identifier, from: time, rate: timeline.wantedRate, now: now)
            } else {
                effects += wait(identifier, at: time, rate: timeline.wantedRate, now: now)
            }
        }
        return effects + tellAll(on: identifier, at: now) + startIfReady(identifier, at: now)
    }
}

extension Double {
    var rateInLimits: Double { min(max(self, GroupLimits.rates.lowerBound), GroupLimits.rates.upperBound) }
}

extension Int64 {
    var itemTimeInLimits: Int64 {
        Swift.min(Swift.max(self, GroupLimits.itemTimes.lowerBound), GroupLimits.itemTimes.upperBound)
    }
}
