// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Which source is heard, as a value: no clock, no I/O. Time comes in with events.
///
/// Its rules are in `Docs/switching.md`. Whatever comes, at most one source has the output, and whatever it does has a
/// `Decision` that says why.
package struct SwitchingState: Equatable, Sendable {
    /// A source that is there.
    package struct Source: Equatable, Sendable {
        package let id: SourceID
        package internal(set) var name: String
        /// It says that it plays, whether it is heard or not.
        package internal(set) var isPlaying = false
        package internal(set) var isInCall = false
        /// It had to make way in the middle of its call, and does not get the output back by that.
        var isDeclined = false
        /// Since when it plays without having been heard or refused.
        var wanting: Int64?
        /// When it last began or ceased to do something.
        var since: Int64
    }

    /// A source that was playing when it lost the output.
    struct Loser: Equatable, Sendable {
        let id: SourceID
        let since: Int64
        /// A call took the output.
        let byCall: Bool
    }

    /// The moment at which something may follow from nothing but time.
    struct Deadline: Equatable, Sendable {
        let at: Int64
        let generation: UInt64
    }

    /// The most sources: phones, line-ins and the network are fewer.
    package static let sourceLimit = 16
    package static let decisionLimit = 16
    package static let preferenceLimit = 64

    package let policy: SwitchingPolicy
    /// The one that was heard last comes first, then the one before it; those that never were come last, in the order in which
    /// they came.
    package internal(set) var sources: [Source] = []
    /// The source that has the output. Only it is heard.
    package internal(set) var owner: SourceID?
    package internal(set) var preferences: [SourceAddress: SourcePreference] = [:]
    package internal(set) var placement: DevicePlacement?
    package internal(set) var isPlugged: Bool?
    package internal(set) var isAnnouncing = false
    /// The newest comes last.
    package internal(set) var decisions: [Decision] = []

    /// Since when the owner has the output, and why.
    var ownerSince: Int64 = 0
    var ownerReason = Reason.started
    /// Since when the owner does not play; nil while it does, and once nothing follows from it any more.
    var held: Int64?
    /// The one that lost last comes last.
    var losers: [Loser] = []
    /// What was heard when the device was taken off.
    var takenOff: Loser?
    /// When the output went over without anybody asking, in the last `window`.
    var switches: [Int64] = []
    var now: Int64 = .min
    var timer: Deadline?
    var lastGeneration: UInt64 = 0
    var lastDecision: UInt64 = 0

    package init(policy: SwitchingPolicy = .init(), preferences: [SourceAddress: SourcePreference] = [:]) {
        (self.policy, self.preferences) = (policy, preferences)
    }

    /// The source that was heard last, of those that are there.
    package var primary: SourceID? { sources.first?.id }
    /// The one before it.
    package var secondary: SourceID? { sources.count > 1 ? sources[1].id : nil }

    package func source(_ id: SourceID) -> Source? { index(id).map { sources[$0] } }

    package func preference(_ address: SourceAddress) -> SourcePreference { preferences[address] ?? .normal }

    /// True unless a sensor says that the device is not worn.
    package var isWorn: Bool { placement?.isWorn ?? true }

    /// Takes one event and says what is to be done, in order. Events of sources that are not there are ignored, and so is a
    /// clock that goes back.
    package mutating func apply(_ event: SwitchingEvent, at moment: Int64) -> [SwitchingEffect] {
        now = max(now, moment)
        var effects: [SwitchingEffect] = []
        decide(event, &effects)
        settle(&effects)
        armTimer(&effects)
        return effects
    }

    private mutating func decide(_ event: SwitchingEvent, _ effects: inout [SwitchingEffect]) {
        switch event {
        case .connected(let id, let name): connect(id, name, &effects)
        case .disconnected(let id): disconnect(id, &effects)
        case .started(let id, let cause): start(id, cause, &effects)
        case .paused(let id): pause(id)
        case .callBegan(let id): beginCall(id, &effects)
        case .callEnded(let id): endCall(id, &effects)
        case .takeRequested(let id):
            guard index(id) != nil, owner != id || source(id)?.isPlaying == false else { return }
            take(id, .asked, isAsked: true, &effects)
        case .yieldRequested(let id):
            losers.removeAll { $0.id == id }
            if takenOff?.id == id { takenOff = nil }
            if let at = index(id) { (sources[at].wanting, sources[at].isDeclined) = (nil, true) }
            if owner == id { release(.yielded, &effects) }
        case .hearingFailed(let id): if owner == id { release(.failed, &effects) }
        case .preferenceChanged(let address, let preference):
            if preference == .normal {
                preferences[address] = nil
            } else if preferences[address] != nil || preferences.count < Self.preferenceLimit {
                preferences[address] = preference
            }
        case .placementChanged(let placement): place(placement, &effects)
        case .jackChanged(let isPlugged): plug(isPlugged, &effects)
        case .announcementBegan:
            guard !isAnnouncing else { return }
            isAnnouncing = true
            explain(.noted, .announced, owner)
        case .announcementEnded:
            guard isAnnouncing else { return }
            isAnnouncing = false
            explain(.noted, .announcementOver, owner)
        case .timerFired(let generation): if timer?.generation == generation { timer = nil }
        }
    }

    // MARK: Words

    func index(_ id: SourceID) -> Int? { sources.firstIndex { $0.id == id } }

    var ownerIsInCall: Bool { owner.flatMap { source($0) }?.isInCall ?? false }
    var ownerPlays: Bool { owner.flatMap { source($0) }.map { $0.isPlaying || $0.isInCall } ?? false }

    mutating func explain(
        _ outcome: Decision.Outcome, _ reason: Reason, _ id: SourceID?, name: String? = nil,
        previous: SourceID? = nil
    ) {
        lastDecision += 1
        if decisions.count >= Self.decisionLimit { decisions.removeFirst() }
        decisions.append(
            Decision(
                number: lastDecision, moment: now, outcome: outcome, reason: reason, source: id,
                name: name ?? id.flatMap { source($0) }?.name ?? "", previous: previous))
    }

    /// A moment after another one, without running over.
    static func moment(_ start: Int64, plus time: Int64) -> Int64 {
        let (sum, isOver) = start.addingReportingOverflow(time)
        return isOver ? .max : sum
    }
}
