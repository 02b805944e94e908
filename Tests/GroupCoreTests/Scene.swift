// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel

let second: Int64 = 1_000_000_000

extension ParticipantID: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

/// A coordinator with members that answer when the test says so.
struct Scene {
    var group: GroupCoordinator
    var now: Int64 = 1_000 * second
    /// What the last event led to.
    var effects: [GroupEffect] = []
    /// Commands without an answer, in order.
    var open: [(to: ParticipantID, command: GroupCommand)] = []
    private var requests: UInt64 = 0

    init(_ members: [ParticipantID] = [], on item: String? = nil, policy: GroupPolicy = GroupPolicy()) {
        group = GroupCoordinator(
            id: GroupID("g"), name: "Kitchen and hall", host: members.first ?? "a", policy: policy)
        for member in members { joins(member, on: item) }
    }

    mutating func apply(_ event: GroupEvent) {
        effects = group.apply(event, at: now)
        for effect in effects {
            switch effect {
            case .send(let command, let id): open.append((id, command))
            case .completed(let command, _, _): open.removeAll { $0.command.id == command }
            default: break
            }
        }
    }

    mutating func joins(
        _ id: ParticipantID, on item: String? = nil, proposing proposal: TimingProposal? = nil,
        kind: ParticipantKind = .receiver, suspensions: [Suspension] = []
    ) {
        apply(
            .joined(
                Participation(
                    id: id, name: id.text, kind: kind, item: item, proposal: proposal,
                    suspensions: suspensions)))
    }

    mutating func reports(_ id: ParticipantID, _ report: ParticipantReport) { apply(.reported(id, report)) }

    /// Returns why it was refused.
    @discardableResult
    mutating func asks(_ id: ParticipantID, _ request: GroupRequest) -> GroupRefusal? {
        requests += 1
        reports(id, .requested(GroupRequestID(requests), request))
        for case .answer(GroupRequestID(requests), id, let refusal) in effects { return refusal }
        return .unavailable
    }

    /// The member does what it was told first.
    mutating func completes(_ id: ParticipantID, _ outcome: CommandOutcome = .done) {
        guard let first = open.first(where: { $0.to == id }) else { return }
        reports(id, .completed(first.command.id, outcome))
    }

    /// All do what they are told until nothing is open.
    mutating func settle() {
        for _ in 0..<1_000 {
            guard let first = open.first else { return }
            reports(first.to, .completed(first.command.id, .done))
        }
    }

    /// The newest timer of a kind fires.
    mutating func fires(_ timer: GroupTimer) { apply(.timerFired(timer)) }

    /// What the last event sent to a member.
    func told(_ id: ParticipantID) -> [GroupCommand.Action] {
        effects.compactMap { if case .send(let command, id) = $0 { command.action } else { nil } }
    }

    func commands(to id: ParticipantID) -> [GroupCommand] {
        effects.compactMap { if case .send(let command, id) = $0 { command } else { nil } }
    }

    var readinessTimer: GroupTimer? {
        effects.compactMap {
            if case .arm(let timer, _) = $0, case .readiness = timer { timer } else { nil }
        }.last
    }

    var suspensionTimer: GroupTimer? {
        effects.compactMap {
            if case .arm(let timer, _) = $0, case .suspensions = timer { timer } else { nil }
        }.last
    }

    func member(_ id: ParticipantID) -> GroupMember? { group.snapshot.roster[id] }

    /// The anchor by which the item plays.
    func anchor(_ item: String = "x") -> PlaybackAnchor? {
        if case .playing(let anchor) = group.timeline(of: item) { anchor } else { nil }
    }

    /// A group that plays from a place on, all being done.
    static func playing(
        _ members: [ParticipantID] = ["a", "b", "c"], policy: GroupPolicy = GroupPolicy()
    ) -> Scene {
        var scene = Scene(members, on: "x", policy: policy)
        scene.settle()
        scene.asks(members[0], .setRate(1, item: "x"))
        scene.settle()
        return scene
    }
}
