// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

// What sources and the device do.

extension SwitchingState {
    mutating func connect(_ id: SourceID, _ name: String, _ effects: inout [SwitchingEffect]) {
        if let known = index(id) {
            sources[known].name = name
            return
        }
        let phones = sources.count { $0.id.kind == .bluetooth }
        if id.kind == .bluetooth, phones >= policy.multipoint {
            guard let idle = idlePhone else {
                effects.append(.letGo(id))
                return explain(.letGo, .multipointLimit, id, name: name)
            }
            effects.append(.letGo(idle))
            explain(.letGo, .multipointLimit, idle)
            sources.removeAll { $0.id == idle }
        }
        guard sources.count < Self.sourceLimit else {
            effects.append(.letGo(id))
            return explain(.letGo, .multipointLimit, id, name: name)
        }
        sources.append(Source(id: id, name: name, since: now))
    }

    /// The phone that has done nothing for the longest time, and is not wanted back.
    private var idlePhone: SourceID? {
        sources.filter { source in
            source.id.kind == .bluetooth && source.id != owner && !source.isPlaying && !source.isInCall
                && takenOff?.id != source.id && !losers.contains { $0.id == source.id }
        }.min { $0.since < $1.since }?.id
    }

    mutating func disconnect(_ id: SourceID, _ effects: inout [SwitchingEffect]) {
        guard let at = index(id) else { return }
        let name = sources[at].name
        sources.remove(at: at)
        losers.removeAll { $0.id == id }
        if takenOff?.id == id { takenOff = nil }
        guard owner == id else { return }
        owner = nil
        held = nil
        explain(.silent, .ended, id, name: name)
        handOn(from: id, &effects)
    }

    mutating func start(_ id: SourceID, _ cause: Cause, _ effects: inout [SwitchingEffect]) {
        guard let at = index(id) else { return }
        let wentOn = sources[at].isPlaying
        sources[at].isPlaying = true
        sources[at].since = now
        if owner == id {
            held = nil
            return
        }
        // What goes on although it lost the output does not get it back by that.
        if cause == .itself, wentOn { return }
        if ownerIsInCall {
            remember(id, byCall: true)
            return refuse(id, .callHasPriority, &effects)
        }
        if cause == .person { return take(id, .started, isAsked: true, &effects) }
        guard isWorn else { return refuse(id, .notWorn, &effects) }
        if preference(id.address) == .manual { return refuse(id, .onlyWhenAsked, &effects) }
        guard let owner else { return take(id, .started, &effects) }
        if ownerPlays, preference(owner.address) == .preferred, preference(id.address) != .preferred {
            remember(id, byCall: false)
            return refuse(id, .preferredIsHeard, &effects)
        }
        // `settle` gives it the output, at once if nobody plays.
        sources[at].wanting = now
    }

    mutating func pause(_ id: SourceID) {
        guard let at = index(id) else { return }
        if sources[at].isPlaying { sources[at].since = now }
        sources[at].isPlaying = false
        sources[at].wanting = nil
        if owner == id, held == nil, !sources[at].isInCall { held = now }
    }

    mutating func beginCall(_ id: SourceID, _ effects: inout [SwitchingEffect]) {
        guard let at = index(id), !sources[at].isInCall else { return }
        (sources[at].isInCall, sources[at].isDeclined) = (true, false)
        sources[at].since = now
        if owner == id {
            held = nil
        } else if !isWorn {
            explain(.refused, .notWorn, id)
        } else if ownerIsInCall {
            explain(.refused, .callHasPriority, id)
        } else {
            take(id, .call, &effects)
        }
    }

    mutating func endCall(_ id: SourceID, _ effects: inout [SwitchingEffect]) {
        guard let at = index(id), sources[at].isInCall else { return }
        sources[at].isInCall = false
        sources[at].since = now
        guard owner == id else { return }
        if let call = callWaiting { return take(call, .call, &effects) }
        if ownerReason == .call, losers.contains(where: \.byCall) { return release(.ended, &effects) }
        if !sources[at].isPlaying { held = now }
    }

    mutating func place(_ new: DevicePlacement?, _ effects: inout [SwitchingEffect]) {
        let was = isWorn
        placement = new
        guard was != isWorn else { return }
        if isWorn { return wear(&effects) }
        for at in sources.indices { sources[at].wanting = nil }
        losers = []
        takenOff = nil
        guard let owner else { return }
        if ownerPlays { takenOff = Loser(id: owner, since: now, byCall: false) }
        release(.takenOff, &effects)
    }

    private mutating func wear(_ effects: inout [SwitchingEffect]) {
        let waiting = takenOff
        takenOff = nil
        let isInTime = waiting.map { now <= Self.moment($0.since, plus: policy.wearLimit) } ?? false
        if let waiting, !isInTime { explain(.noted, .takenOffTooLong, waiting.id) }
        if !ownerIsInCall, let call = callWaiting {
            if let waiting, isInTime, waiting.id != call { remember(waiting.id, byCall: true) }
            return take(call, .call, &effects)
        }
        if let waiting, isInTime, owner == nil { take(waiting.id, .wornAgain, &effects) }
    }

    mutating func plug(_ isPlugged: Bool, _ effects: inout [SwitchingEffect]) {
        guard self.isPlugged != isPlugged else { return }
        let isFirst = self.isPlugged == nil
        self.isPlugged = isPlugged
        // Last: what pauses is not heard at the other device before it does.
        defer { effects.append(.moveOutput(toJack: isPlugged)) }
        if isPlugged { return explain(.noted, .pluggedIn, owner) }
        // What a sensor says at first is no change.
        guard policy.pausesWhenUnplugged, !isFirst, owner != nil, ownerPlays else {
            return explain(.noted, .unplugged, owner)
        }
        losers = []
        release(.unplugged, &effects)
    }
}
