// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SwitchingCore

let phone = SourceID(.bluetooth, SourceAddress(0xA0_0000_0000_01))
let laptop = SourceID(.bluetooth, SourceAddress(0xA0_0000_0000_02))
let tablet = SourceID(.bluetooth, SourceAddress(0xA0_0000_0000_03))
let network = SourceID(.network, SourceAddress(derivedFrom: "sender"))
let line = SourceID(.lineIn, SourceAddress(derivedFrom: "hw:Line"))

/// One thing that happens, or time that passes.
enum Step {
    case event(SwitchingEvent)
    case wait(milliseconds: Int64)

    static func connects(_ id: SourceID) -> Step { .event(.connected(id, name: "\(id.kind)")) }
    static func starts(_ id: SourceID) -> Step { .event(.started(id, by: .itself)) }
    /// By the hand of a person.
    static func isStarted(_ id: SourceID) -> Step { .event(.started(id, by: .person)) }
    static func pauses(_ id: SourceID) -> Step { .event(.paused(id)) }
    static func leaves(_ id: SourceID) -> Step { .event(.disconnected(id)) }
    static func calls(_ id: SourceID) -> Step { .event(.callBegan(id)) }
    static func hangsUp(_ id: SourceID) -> Step { .event(.callEnded(id)) }
    static let takenOff = Step.event(.placementChanged(.offHead))
    static let worn = Step.event(.placementChanged(.onHead))
}

/// A state with a clock and its one timer, and what is heard as somebody knows it who only sees the effects.
struct World {
    private(set) var state: SwitchingState
    private(set) var now: Int64
    private(set) var heard: SourceID?
    /// What does not fit together.
    private(set) var faults: [String] = []
    private var timer: (at: Int64, generation: UInt64)?

    init(policy: SwitchingPolicy = .init(), now: Int64 = 1_000_000_000_000) {
        state = SwitchingState(policy: policy)
        self.now = now
    }

    /// Returns what is to be done, without timers.
    @discardableResult
    mutating func take(_ step: Step) -> [SwitchingEffect] {
        switch step {
        case .event(let event): return apply(event)
        case .wait(let milliseconds):
            let end = now + milliseconds * 1_000_000
            var effects: [SwitchingEffect] = []
            while let due = timer, due.at <= end {
                now = max(now, due.at)
                timer = nil
                effects += apply(.timerFired(generation: due.generation))
            }
            now = end
            return effects
        }
    }

    mutating func take(_ steps: [Step]) { for step in steps { take(step) } }

    mutating func apply(_ event: SwitchingEvent) -> [SwitchingEffect] {
        let before = state.decisions.last?.number ?? 0
        let owner = state.owner
        let effects = state.apply(event, at: now)
        let explained = state.decisions.filter { $0.number > before }
        for effect in effects { see(effect, explained) }
        if heard != state.owner {
            faults.append("\(event): \(heard as Any) is heard, not \(state.owner as Any)")
        }
        if owner != state.owner, explained.isEmpty { faults.append("\(event): nothing says why") }
        check(event)
        return effects.filter {
            switch $0 {
            case .armTimer, .cancelTimer: false
            default: true
            }
        }
    }

    private mutating func see(_ effect: SwitchingEffect, _ explained: [Decision]) {
        switch effect {
        case .hear(let id):
            if heard == id { faults.append("\(id) is heard already") }
            heard = id
            if !explained.contains(where: { $0.source == id && $0.outcome == .heard }) {
                faults.append("nothing says why \(id) is heard")
            }
        case .silence(let id):
            if heard != id && !explained.contains(where: { $0.source == id && $0.outcome == .silent }) {
                faults.append("\(id) is silenced and was not heard")
            }
            heard = nil
            if !explained.contains(where: { $0.source == id && $0.outcome == .silent }) {
                faults.append("nothing says why \(id) is silent")
            }
        case .pause(let id, let reason):
            if !explained.contains(where: { $0.reason == reason }) {
                faults.append("nothing says why \(id) pauses")
            }
        case .letGo(let id):
            if !explained.contains(where: { $0.source == id && $0.outcome == .letGo }) {
                faults.append("nothing says why \(id) is let go")
            }
        case .play(let id): if heard != id { faults.append("\(id) is to go on and is not heard") }
        case .armTimer(let at, let generation):
            if at <= now { faults.append("a timer for a moment that has passed") }
            timer = (at, generation)
        case .cancelTimer: timer = nil
        case .moveOutput: break
        }
    }

    private mutating func check(_ event: SwitchingEvent) {
        if let owner = state.owner, state.source(owner) == nil {
            faults.append("\(event): the owner is gone")
        }
        if state.sources.count(where: { $0.id.kind == .bluetooth }) > state.policy.multipoint {
            faults.append("\(event): too many phones")
        }
        if state.primary == nil, state.secondary != nil { faults.append("a second one without a first one") }
        if state.sources.count == 1, state.primary != state.sources[0].id {
            faults.append("one, and not the first")
        }
        if state.decisions.count > SwitchingState.decisionLimit {
            faults.append("too many decisions are kept")
        }
        if let owner = state.owner, state.primary != owner {
            faults.append("\(event): what is heard is not the first")
        }
    }
}
