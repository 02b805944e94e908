// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

// Who has the output: taking, letting go, coming back, and what only time decides.

extension SwitchingState {
    /// Gives a source the output, whoever had it. The one that loses it is remembered if it played.
    ///
    /// `isAsked`: a person wanted it, so that it does not count as one switch more that nobody asked for.
    mutating func take(
        _ id: SourceID, _ reason: Reason, isAsked: Bool = false, previous: SourceID? = nil,
        _ effects: inout [SwitchingEffect]
    ) {
        guard let at = index(id) else { return }
        let before = owner ?? previous
        if let owner, owner != id, let old = source(owner) {
            if old.isPlaying || old.isInCall {
                remember(owner, byCall: reason == .call)
                effects.append(.pause(owner, reason))
            }
            if let place = index(owner) { sources[place].since = now }
        }
        losers.removeAll { $0.id == id }
        if takenOff?.id == id || reason != .call { takenOff = nil }
        let isNew = owner != id
        (owner, ownerSince, ownerReason) = (id, now, reason)
        let source = sources.remove(at: at)
        sources.insert(source, at: 0)
        (sources[0].wanting, sources[0].isDeclined) = (nil, false)
        let plays = source.isPlaying || source.isInCall
        held = plays ? nil : now
        if isNew { effects.append(.hear(id)) }
        // What came back may have been told to pause and be slow to do it.
        if !source.isPlaying || reason == .cameBack || reason == .wornAgain, !source.isInCall {
            effects.append(.play(id))
        }
        if isNew, !isAsked, before != nil || reason == .cameBack { note() }
        explain(.heard, reason, id, previous: before == id ? nil : before)
    }

    /// Takes the output from its owner, for the one that comes back or for nobody.
    mutating func release(_ reason: Reason, _ effects: inout [SwitchingEffect]) {
        guard let old = owner else { return }
        if ownerPlays { effects.append(.pause(old, reason)) }
        explain(.silent, reason, old)
        (owner, held) = (nil, nil)
        if let at = index(old) {
            sources[at].since = now
            // What is taken off is wanted again when it is worn.
            if reason != .takenOff { sources[at].isDeclined = true }
        }
        handOn(from: old, &effects)
    }

    /// Gives the output, which nobody has any more, to the one that is next, if there is one.
    mutating func handOn(from old: SourceID, _ effects: inout [SwitchingEffect]) {
        if let call = callWaiting { return take(call, .call, previous: old, &effects) }
        if let next = comingBack { return take(next, .cameBack, previous: old, &effects) }
        effects.append(.silence(old))
    }

    mutating func refuse(_ id: SourceID, _ reason: Reason, _ effects: inout [SwitchingEffect]) {
        if let at = index(id) { sources[at].wanting = nil }
        effects.append(.pause(id, reason))
        explain(.refused, reason, id)
    }

    mutating func remember(_ id: SourceID, byCall: Bool) {
        losers.removeAll { $0.id == id }
        losers.append(Loser(id: id, since: now, byCall: byCall))
    }

    // MARK: What only time decides

    mutating func settle(_ effects: inout [SwitchingEffect]) {
        forget()
        while let wanting = nextWanting, due(wanting.since) <= now {
            if ownerIsInCall {
                remember(wanting.id, byCall: true)
                refuse(wanting.id, .callHasPriority, &effects)
            } else if isBelowLimit {
                take(wanting.id, .started, &effects)
            } else {
                remember(wanting.id, byCall: false)
                refuse(wanting.id, .tooManySwitches, &effects)
            }
        }
        if let held, let owner, now >= Self.moment(held, plus: policy.hold) {
            if comingBack != nil || owner.kind.isCaptured {
                release(.pausedLong, &effects)
            } else if losers.isEmpty {
                // A session of the network stays where it is until somebody takes the output.
                self.held = nil
            }
        }
        if owner == nil, let next = comingBack { take(next, .cameBack, &effects) }
    }

    /// Drops what is too old to count.
    private mutating func forget() {
        let start = now.subtractingReportingOverflow(policy.window)
        if let first = switches.first, !start.overflow, first <= start.partialValue {
            switches.removeAll { $0 <= start.partialValue }
        }
        if losers.contains(where: { !isRemembered($0) }) { losers = losers.filter(isRemembered) }
    }

    private func isRemembered(_ loser: Loser) -> Bool {
        guard let source = source(loser.id) else { return false }
        return loser.byCall || source.isPlaying || now <= Self.moment(loser.since, plus: policy.resumeLimit)
    }

    /// The source that is in a call and not heard.
    var callWaiting: SourceID? {
        isWorn ? sources.first { $0.isInCall && !$0.isDeclined && $0.id != owner }?.id : nil
    }

    /// The one that gets the output when it is free.
    var comingBack: SourceID? {
        guard isWorn, policy.resume != .never, !losers.isEmpty else { return nil }
        let mayAny = policy.resume == .always && isBelowLimit
        return losers.last {
            (mayAny || $0.byCall) && $0.id != owner && isRemembered($0)
                && preference($0.id.address) != .manual
        }?.id
    }

    private var nextWanting: (id: SourceID, since: Int64)? {
        var first: (id: SourceID, since: Int64)?
        for source in sources {
            guard let since = source.wanting, source.id != owner else { continue }
            if first.map({ since < $0.since }) ?? true { first = (source.id, since) }
        }
        return first
    }

    /// When a source that wants the output since then may have it.
    private func due(_ since: Int64) -> Int64 {
        guard ownerPlays else { return since }
        return max(
            Self.moment(since, plus: policy.confirmation), Self.moment(ownerSince, plus: policy.dwell))
    }

    var isBelowLimit: Bool {
        let start = now.subtractingReportingOverflow(policy.window)
        return start.overflow || switches.count { $0 > start.partialValue } < policy.switchLimit
    }

    private mutating func note() {
        // Calls are not held back, and may be more than the limit.
        if switches.count >= max(policy.switchLimit, 1) { switches.removeFirst() }
        switches.append(now)
    }

    /// The next moment at which something may follow from nothing but time.
    private var deadline: Int64? {
        var moments: [Int64] = []
        if let wanting = nextWanting { moments.append(due(wanting.since)) }
        if let held, owner != nil { moments.append(Self.moment(held, plus: policy.hold)) }
        let isWaiting = !losers.isEmpty && (owner == nil || held != nil)
        if isWaiting, !isBelowLimit, let first = switches.first {
            moments.append(Self.moment(first, plus: policy.window))
        }
        return moments.filter { $0 > now }.min()
    }

    mutating func armTimer(_ effects: inout [SwitchingEffect]) {
        let deadline = deadline
        guard deadline != timer?.at else { return }
        guard let deadline else {
            timer = nil
            return effects.append(.cancelTimer)
        }
        lastGeneration &+= 1
        timer = Deadline(at: deadline, generation: lastGeneration)
        effects.append(.armTimer(at: deadline, generation: lastGeneration))
    }
}
