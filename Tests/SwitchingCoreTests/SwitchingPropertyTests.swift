// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers
import SwitchingCore
import Testing

/// What holds whatever happens, in whatever order.
struct SwitchingPropertyTests {
    private static let all = [phone, laptop, tablet, network, line]

    private static func event(
        _ numbers: inout SeededNumbers, withCalls: Bool, withPersons: Bool
    ) -> SwitchingEvent {
        let id = all[Int.random(in: 0..<all.count, using: &numbers)]
        switch Int.random(in: 0..<24, using: &numbers) {
        case 0...2: return .connected(id, name: "x")
        case 3: return .disconnected(id)
        case 4...9: return .started(id, by: .itself)
        case 10...13: return .paused(id)
        case 14: return withPersons ? .started(network, by: .person) : .started(network, by: .itself)
        case 15: return withPersons ? .takeRequested(id) : .paused(id)
        case 16: return withPersons ? .yieldRequested(id) : .started(id, by: .itself)
        case 17: return withCalls ? .callBegan(id) : .started(id, by: .itself)
        case 18, 19: return withCalls ? .callEnded(id) : .paused(id)
        case 20: return .placementChanged([.onHead, .offHead, nil].randomElement(using: &numbers) ?? nil)
        case 21: return .hearingFailed(id)
        case 22:
            return .preferenceChanged(
                id.address, SourcePreference.allCases.randomElement(using: &numbers) ?? .normal)
        default:
            return [
                .jackChanged(isPlugged: true), .jackChanged(isPlugged: false), .announcementBegan,
                .announcementEnded,
            ].randomElement(using: &numbers) ?? .announcementEnded
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `one source is heard, and each decision says why`(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var policy = SwitchingPolicy()
        policy.resume = SwitchingPolicy.Resume.allCases.randomElement(using: &numbers) ?? .always
        policy.pausesWhenUnplugged = Bool.random(using: &numbers)
        var world = World(policy: policy)
        for _ in 0..<2_000 {
            world.take(.event(Self.event(&numbers, withCalls: true, withPersons: true)))
            world.take(.wait(milliseconds: Int64.random(in: 0...3_000, using: &numbers)))
        }
        #expect(world.faults == [])
    }

    /// Nobody asks for anything and nobody calls: sources that start again whenever they lose do not throw each other out.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the output does not go to and fro by itself`(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var world = World()
        var moments: [Int64] = []
        var last: UInt64 = 0
        for _ in 0..<2_000 {
            world.take(.event(Self.event(&numbers, withCalls: false, withPersons: false)))
            world.take(.wait(milliseconds: Int64.random(in: 0...400, using: &numbers)))
            for decision in world.state.decisions where decision.number > last {
                last = decision.number
                let isSwitch = decision.outcome == .heard && decision.reason != .wornAgain
                if isSwitch, decision.previous != nil || decision.reason == .cameBack {
                    moments.append(decision.moment)
                }
            }
        }
        let policy = world.state.policy
        for (index, moment) in moments.enumerated() {
            let others = moments[..<index].count { $0 > moment - policy.window }
            #expect(others < policy.switchLimit)
        }
        #expect(world.faults == [])
    }

    /// Two players that begin again as soon as they are told to pause.
    @Test func `two sources that will not yield end with one of them heard`() {
        var world = World()
        world.take([
            .connects(phone), .connects(laptop), .starts(phone), .wait(milliseconds: 2_000), .starts(laptop),
        ])
        var changes = 0
        for _ in 0..<1_000 {
            let before = world.heard
            world.take(.wait(milliseconds: 500))
            if world.heard != before { changes += 1 }
            let loser = world.heard == phone ? laptop : phone
            world.take([.pauses(loser), .starts(loser)])
        }
        // 500 s are less than nine windows.
        #expect(changes <= 9 * world.state.policy.switchLimit)
        #expect(world.heard != nil)
        #expect(world.faults == [])
    }

    /// Every sequence of five events of two phones and the network, with and without time between them.
    @Test func `no short sequence breaks the rules`() {
        let events: [SwitchingEvent] = [
            .started(phone, by: .itself), .started(network, by: .person), .paused(phone), .paused(network),
            .callBegan(phone), .callEnded(phone), .disconnected(phone), .connected(phone, name: "p"),
            .placementChanged(.offHead), .placementChanged(.inEar), .takeRequested(phone),
        ]
        var count = 0
        func walk(_ world: World, depth: Int) {
            guard depth > 0 else { return }
            for event in events {
                var next = world
                next.take(.event(event))
                if depth % 2 == 0 { next.take(.wait(milliseconds: 9_000)) }
                count += 1
                guard next.faults.isEmpty else {
                    Issue.record("\(next.faults)")
                    return
                }
                walk(next, depth: depth - 1)
            }
        }
        var world = World()
        world.take([.connects(phone), .connects(network)])
        walk(world, depth: 4)
        #expect(count == 11 + 121 + 1_331 + 14_641)
    }

    @Test func `times at the ends of the clock do no harm`() {
        for start in [Int64.min, -1, 0, Int64.max - 1] {
            var state = SwitchingState()
            _ = state.apply(.connected(phone, name: ""), at: start)
            _ = state.apply(.connected(network, name: ""), at: start)
            _ = state.apply(.started(network, by: .person), at: .max)
            _ = state.apply(.started(phone, by: .itself), at: .min)
            _ = state.apply(.paused(network), at: .max)
            #expect(state.owner == network || state.owner == phone)
        }
    }
}
