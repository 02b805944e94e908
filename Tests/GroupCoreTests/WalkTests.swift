// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import SeededNumbers
import Testing

/// What can happen in a group of three.
private enum Step: CaseIterable {
    case bJoins, bIsLost, cLeaves, cJoinsPlaying, pJoins
    case aDone, bDone, cDone, bSuspended, bIgnored, bAnswersLate
    case play, playNow, faster, pause, pauseHere, bPauses, seek, seekNow, bSeeks
    case aStops, bStops
    case bStalls, bRecovers, cAdvertises, cIsBack, cIsBackElsewhere, aIsInterrupted, aIsBack
    case bReady, bNotReady, bReapplies
    case bToY, bToX, bToNothing, groupToY, groupToX, groupToNothing
    case aEnds, bEnds, cEnds
    case readiness, suspensions, completion, anyTimer
    case timePasses, timeJumpsBack, removesC, waitsForStalls, snaps

    /// The steps of the exhaustive walks: each kind once.
    static let essential: [Step] = [
        .bJoins, .bIsLost, .aDone, .bDone, .bIgnored, .play, .playNow, .pause, .seek, .seekNow, .bSeeks,
        .bStalls, .bRecovers, .cAdvertises, .cIsBackElsewhere, .bNotReady, .bToY, .bToX, .groupToY,
        .bEnds, .readiness, .completion, .suspensions,
    ]
}

private struct Walker {
    var watcher: GroupWatcher
    private var suspensions: UInt64 = 10

    init(_ policy: GroupPolicy) { watcher = GroupWatcher(policy) }

    private mutating func joins(
        _ id: ParticipantID, on item: String?, proposing proposal: TimingProposal? = nil,
        kind: ParticipantKind = .receiver
    ) {
        watcher.apply(
            .joined(
                Participation(id: id, name: id.text, kind: kind, item: item, proposal: proposal)))
    }

    private mutating func reports(_ id: ParticipantID, _ report: ParticipantReport) {
        watcher.apply(.reported(id, report))
    }

    private mutating func begins(_ id: ParticipantID, _ number: UInt64, _ reason: SuspensionReason) {
        // What was told to it meanwhile it completes as suspended, after it has said so.
        guard watcher.members[id] != nil else { return }
        reports(id, .suspensionBegan(Suspension(id: SuspensionID(number), reason: reason)))
        while watcher.members[id]?.open.isEmpty == false { watcher.completes(id, .suspended) }
    }

    private mutating func goes(_ id: ParticipantID, to item: String?) {
        guard watcher.members[id] != nil else { return }
        reports(id, .transitioned(to: item, proposing: TimingProposal(itemTime: 3 * second)))
        while watcher.members[id]?.open.contains(where: { $0.item != item }) == true {
            watcher.completes(id, .ignored)
        }
    }

    mutating func take(_ step: Step, _ chance: Int64 = 30) {
        let item = watcher.group.snapshot.roster["a"]?.item ?? "x"
        let place = chance * second
        switch step {
        case .bJoins: joins("b", on: "x")
        case .bIsLost: watcher.apply(.lost("b"))
        case .cLeaves: watcher.apply(.left("c"))
        case .cJoinsPlaying:
            joins(
                "c", on: chance % 2 == 0 ? "x" : "z",
                proposing: TimingProposal(itemTime: place, rate: 1, clockTime: watcher.now))
        case .pJoins: joins("p", on: "x", kind: .player)
        case .aDone: watcher.completes("a", .done)
        case .bDone: watcher.completes("b", .done)
        case .cDone: watcher.completes("c", .done)
        case .bSuspended: watcher.completes("b", .suspended)
        case .bIgnored: watcher.completes("b", .ignored)
        case .bAnswersLate: reports("b", .completed(CommandID(1 << 32 + UInt64(chance)), .lost))
        case .play: watcher.asks("a", .setRate(1, item: item))
        case .playNow: watcher.asks("a", .setRate(1, item: item, immediately: true))
        case .faster: watcher.asks("a", .setRate(1 + Double(chance % 3), item: item))
        case .pause: watcher.asks("a", .setRate(0, item: item))
        case .pauseHere: watcher.asks("a", .setRate(0, item: item, itemTime: place))
        case .bPauses: watcher.asks("b", .setRate(0, item: "x"))
        case .seek: watcher.asks("a", .seek(to: place, item: item))
        case .seekNow: watcher.asks("a", .seek(to: place, item: item, resumeImmediately: true))
        case .bSeeks: watcher.asks("b", .seek(to: 50 * second, item: "x"))
        case .aStops: reports("a", .stopped(item: item, at: place))
        case .bStops: reports("b", .stopped(item: "x", at: place))
        case .bStalls: begins("b", 0, .stallRecovery)
        case .bRecovers: reports("b", .suspensionEnded(SuspensionID(0), proposing: nil))
        case .cAdvertises: begins("c", 1, .playingInterstitial)
        case .cIsBack: reports("c", .suspensionEnded(SuspensionID(1), proposing: nil))
        case .cIsBackElsewhere: reports("c", .suspensionEnded(SuspensionID(1), proposing: 70 * second))
        case .aIsInterrupted: begins("a", 2, .audioSessionInterrupted)
        case .aIsBack: reports("a", .suspensionEnded(SuspensionID(2), proposing: nil))
        case .bReady: reports("b", .readinessChanged(true))
        case .bNotReady: reports("b", .readinessChanged(false))
        case .bReapplies: reports("b", .reapplied)
        case .bToY: goes("b", to: "y")
        case .bToX: goes("b", to: "x")
        case .bToNothing: goes("b", to: nil)
        case .groupToY: watcher.asks("a", .setItem(GroupItem(identifier: "y"), proposing: nil))
        case .groupToX:
            watcher.asks(
                "a", .setItem(GroupItem(identifier: "x"), proposing: TimingProposal(itemTime: 0, rate: 1)))
        case .groupToNothing: watcher.asks("a", .setItem(nil, proposing: nil))
        case .aEnds: reports("a", .ended(item: item))
        case .bEnds: reports("b", .ended(item: "x"))
        case .cEnds: reports("c", .ended(item: "x"))
        case .readiness: watcher.firesNext { if case .readiness = $0 { true } else { false } }
        case .suspensions: watcher.firesNext { if case .suspensions = $0 { true } else { false } }
        case .completion: watcher.firesNext { if case .completion = $0 { true } else { false } }
        case .anyTimer: watcher.firesNext()
        case .timePasses: watcher.passes(place)
        case .timeJumpsBack: watcher.passes(-place)
        case .removesC: watcher.asks("a", .remove("c"))
        case .waitsForStalls:
            watcher.asks(
                "a",
                .setPolicy(
                    GroupPolicy(waitingReasons: [.stallRecovery], participantLimits: [.stallRecovery: 3])))
        case .snaps:
            watcher.asks("a", .setPolicy(GroupPolicy(pauseSnapsToMediaTimeOfOriginator: chance % 2 == 0)))
        }
        if [.pause, .pauseHere, .bPauses].contains(step) { watcher.agreesOnPlaces = false }
    }
}

@Suite struct WalkTests {
    private static let start: [Step] = [.bJoins]

    /// Takes every sequence of steps from here, and lets all settle after each; the first one that goes wrong, or nil.
    private func firstFault(_ walker: Walker, depth: Int, _ path: [Step]) -> String? {
        var settled = walker
        settled.watcher.settle()
        guard settled.watcher.faults.isEmpty else { return "\(path), settled: \(settled.watcher.faults)" }
        guard depth > 0 else { return nil }
        for step in Step.essential {
            var next = walker
            next.take(step)
            guard next.watcher.faults.isEmpty else { return "\(path + [step]): \(next.watcher.faults)" }
            if let fault = firstFault(next, depth: depth - 1, path + [step]) { return fault }
        }
        return nil
    }

    private func walker(_ policy: GroupPolicy, _ prefix: [Step]) -> Walker {
        var walker = Walker(policy)
        for id in ["a", "b", "c"] as [ParticipantID] {
            walker.watcher.apply(
                .joined(Participation(id: id, name: id.text, kind: .receiver, item: "x")))
        }
        walker.watcher.settle()
        for step in prefix { walker.take(step) }
        return walker
    }

    @Test(
        arguments: [
            [], [.play], [.playNow, .aDone, .bDone, .cDone], [.play, .aDone, .cAdvertises],
            [.playNow, .aDone, .bStalls],
        ] as [[Step]])
    private func `every sequence of events keeps the rules, and ends with all in agreement`(
        _ prefix: [Step]
    ) {
        let policies = [
            GroupPolicy(),
            GroupPolicy(
                waitingReasons: [.stallRecovery, .playingInterstitial],
                pauseSnapsToMediaTimeOfOriginator: true),
        ]
        for (policy, depth) in zip(policies, [2, 2]) {
            let walker = walker(policy, prefix)
            #expect(walker.watcher.faults.isEmpty)
            #expect(firstFault(walker, depth: depth, prefix) == nil)
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a long random walk keeps the rules, and ends with all in agreement`(_ seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var walker = walker(GroupPolicy(), [])
        var played = 0
        for count in 0..<4_000 {
            let step = Step.allCases[Int(random.next() % UInt64(Step.allCases.count))]
            walker.take(step, Int64(random.next() % 80))
            if case .playing? = walker.watcher.group.timeline(of: "x") { played += 1 }
            if count % 20 == 0 {
                var settled = walker
                settled.watcher.settle()
                guard settled.watcher.faults.isEmpty else {
                    Issue.record("seed \(seed), after \(count), \(step): \(settled.watcher.faults)")
                    return
                }
            }
            guard walker.watcher.faults.isEmpty else {
                Issue.record("seed \(seed), step \(count), \(step): \(walker.watcher.faults)")
                return
            }
        }
        // The walk is worth something only if it gets somewhere.
        #expect(played > 200)
    }
}
