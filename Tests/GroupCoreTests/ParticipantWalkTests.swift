// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import SeededNumbers
import Testing

/// What can happen at one participant.
private enum Step: CaseIterable {
    case play, buffer, seek, pauseOvertakes, seekOvertakes, otherItem, again, older
    case done, doneLate, due, ready, notReady, stalls
    case suspends, suspendsToo, resumes, resumesToo
    case goesToY, goesToX, goesNowhere, isLost, attaches, asks, ends, stops, reapplies

    static let essential: [Step] = [
        .play, .buffer, .pauseOvertakes, .otherItem, .older, .done, .doneLate, .due, .ready, .notReady,
        .suspends, .resumes, .goesToY, .isLost, .attaches,
    ]
}

/// Feeds a participant and checks after every event what must hold whatever happened before.
private struct Walker {
    private(set) var participant = GroupParticipant(id: "p", name: "Radio", kind: .receiver)
    private(set) var faults: [String] = []
    private var number: UInt64 = 1_000
    /// Sent over the present link and not completed.
    private var open: [CommandID] = []
    private var last: GroupCommand?
    private var busy: GroupCommand?
    private var old: CommandID?
    private var isAttached = false
    private var suspensions: Set<SuspensionID> = []

    init() {
        take(.attaches)
        take(.goesToX)
    }

    private mutating func expect(_ holds: Bool, _ fault: String) {
        if !holds { faults.append(fault) }
    }

    private mutating func receives(
        _ action: GroupCommand.Action, on item: String? = nil, overtakes: Bool = false
    ) {
        number += 2
        let command = GroupCommand(
            id: CommandID(number), item: item ?? participant.item ?? "x", action: action, overtakes: overtakes
        )
        last = command
        if isAttached { open.append(command.id) }
        apply(.received(command))
        let isKept = participant.takesPart && participant.item == command.item
        expect(isKept || !open.contains(command.id), "it keeps what it does not do")
    }

    private mutating func apply(_ event: ParticipantEvent) {
        for effect in participant.apply(event) {
            switch effect {
            case .report(let report):
                expect(isAttached, "a report to nobody")
                check(report)
            case .perform(let command):
                expect(busy == nil, "two at a time")
                expect(command.item == participant.item, "something with another item")
                expect(participant.takesPart, "something while it takes no part")
                busy = command
            case .abandon(let id):
                expect(busy?.id == id, "it abandons what it does not do")
                (old, busy) = (id, nil)
            case .performLocally: expect(!participant.takesPart, "alone what all should do")
            case .refuse, .arm, .suspensionsChanged: break
            }
        }
        expect(participant.performing == busy, "it does not know what its player does")
        expect(participant.takesPart == suspensions.isEmpty || !isAttached, "the host knows it otherwise")
    }

    private mutating func check(_ report: ParticipantReport) {
        switch report {
        case .completed(let id, let outcome):
            expect(open.contains(id), "the end of what was not open")
            open.removeAll { $0 == id }
            expect(outcome != .lost, "it knows nothing of losses")
            if outcome == .suspended { expect(!participant.takesPart, "suspended, and takes part") }
        case .suspensionBegan(let suspension):
            expect(suspensions.insert(suspension.id).inserted, "one suspension twice")
        case .suspensionEnded(let id, let time):
            expect(suspensions.remove(id) != nil, "the end of no suspension")
            expect(time == nil || suspensions.isEmpty, "a proposal while others are open")
        case .requested(_, .seek), .requested(_, .setRate):
            expect(participant.takesPart, "a request of all while it takes no part")
        case .transitioned, .readinessChanged, .stopped, .ended, .reapplied, .requested: break
        }
    }

    private mutating func goes(to item: String?) {
        apply(.transitioned(to: item, proposing: nil))
        if busy?.item != item { expect(open.isEmpty, "what was about the old item is open") }
    }

    mutating func take(_ step: Step) {
        let anchor = PlaybackAnchor(itemTime: 0, clockTime: Int64(number), rate: 1)
        switch step {
        case .play: receives(.play(anchor))
        case .buffer: receives(.buffer(anticipatedRate: 1, due: 5))
        case .seek: receives(.seek(to: 7, anticipatedRate: nil, due: nil))
        case .pauseOvertakes:
            receives(.pause(anticipatedRate: nil), overtakes: true)
            expect(!isAttached || busy?.action.waitsForReadiness != true, "what waits is not overtaken")
        case .seekOvertakes: receives(.seek(to: 8, anticipatedRate: 1, due: 9), overtakes: true)
        case .otherItem: receives(.play(anchor), on: "other")
        case .again:
            guard let last else { return }
            let before = open
            apply(.received(last))
            expect(open == before, "what came twice is done twice")
        case .older:
            // The one between the last two, which had been on the way for long.
            guard last?.id == CommandID(number), isAttached, participant.item != nil else { return }
            let command = GroupCommand(
                id: CommandID(number - 1), item: participant.item ?? "", action: .play(anchor))
            let before = participant
            open.append(command.id)
            apply(.received(command))
            // It may have come before already.
            if participant == before { open.removeAll { $0 == command.id } }
            expect(!open.contains(command.id), "it keeps what was overtaken")
        case .done:
            guard let command = busy else { return }
            busy = nil
            apply(.performed(command.id))
            expect(!open.contains(command.id) || !isAttached, "what is done is not completed")
        case .doneLate: if let old { apply(.performed(old)) }
        case .due: apply(.timerFired(.due(busy?.id ?? old ?? CommandID(0))))
        case .ready: apply(.readinessChanged(true))
        case .notReady: apply(.readinessChanged(false))
        case .stalls: apply(.suspensionBegan(Suspension(id: GroupParticipant.stall, reason: .stallRecovery)))
        case .suspends:
            apply(.suspensionBegan(Suspension(id: SuspensionID(1), reason: .userActionRequired)))
            expect(open.isEmpty && busy == nil, "it does something while it takes no part")
        case .suspendsToo:
            apply(.suspensionBegan(Suspension(id: SuspensionID(2), reason: .playingInterstitial)))
        case .resumes: apply(.suspensionEnded(SuspensionID(1), proposing: 3))
        case .resumesToo: apply(.suspensionEnded(SuspensionID(2), proposing: 4))
        case .goesToY: goes(to: "y")
        case .goesToX: goes(to: "x")
        case .goesNowhere: goes(to: nil)
        case .isLost:
            isAttached = false
            open = []
            apply(.detached)
        case .attaches:
            let participation = participant.participation
            isAttached = true
            open = []
            last = nil
            suspensions = Set(participation.suspensions.map(\.id))
            apply(.attached(host: "h", epoch: 1))
        case .asks: apply(.requested(GroupRequestID(1), .setRate(1, item: "x")))
        case .ends: apply(.ended(item: participant.item ?? "x"))
        case .stops: apply(.stopped(item: participant.item ?? "x", at: 3))
        case .reapplies: apply(.reapplyRequested)
        }
    }

    /// The player does all that it is told; then nothing is open.
    mutating func settle() {
        for _ in 0..<20 where busy != nil { take(.done) }
        expect(busy == nil && open.isEmpty, "a command without an end")
    }
}

@Suite struct ParticipantWalkTests {
    private func firstFault(_ walker: Walker, depth: Int, _ path: [Step]) -> String? {
        var settled = walker
        settled.settle()
        guard settled.faults.isEmpty else { return "\(path), settled: \(settled.faults)" }
        guard depth > 0 else { return nil }
        for step in Step.essential {
            var next = walker
            next.take(step)
            guard next.faults.isEmpty else { return "\(path + [step]): \(next.faults)" }
            if let fault = firstFault(next, depth: depth - 1, path + [step]) { return fault }
        }
        return nil
    }

    @Test func `every sequence of events completes each command once`() {
        #expect(firstFault(Walker(), depth: 3, []) == nil)
    }

    @Test(arguments: [[.buffer], [.play, .buffer], [.play, .done, .ready], [.buffer, .due]] as [[Step]])
    private func `every sequence from a state completes each command once`(_ prefix: [Step]) {
        var walker = Walker()
        for step in prefix { walker.take(step) }
        #expect(walker.faults.isEmpty)
        #expect(firstFault(walker, depth: 2, prefix) == nil)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a long random walk completes each command once`(_ seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var walker = Walker()
        for count in 0..<10_000 {
            let step = Step.allCases[Int(random.next() % UInt64(Step.allCases.count))]
            walker.take(step)
            guard walker.faults.isEmpty else {
                Issue.record("seed \(seed), step \(count), \(step): \(walker.faults)")
                return
            }
        }
        for step in [.resumes, .resumesToo, .ready] as [Step] { walker.take(step) }
        walker.settle()
        #expect(walker.faults.isEmpty)
    }
}
