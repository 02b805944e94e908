// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import SeededNumbers
import Testing

extension World {
    /// Something that people, players or the network do.
    fileprivate mutating func disturb() {
        let id = anyone()
        let item = devices[id]?.participant.item ?? "x"
        let place = between(0, 3_000) * second
        switch random.next() % 20 {
        case 0, 1, 2: asks(id, .setRate(1, item: item))
        case 3: asks(id, .setRate(1, item: item, immediately: true))
        case 4: asks(id, .setRate(Double(between(1, 8)) / 4, item: item))
        case 5, 6: asks(id, .setRate(0, item: item))
        case 7, 8: asks(id, .seek(to: place, item: item))
        case 9: asks(id, .seek(to: place, item: item, resumeImmediately: true))
        case 10:
            let reasons: [SuspensionReason] = [
                .audioSessionInterrupted, .playingInterstitial, .userActionRequired, SuspensionReason("tea"),
            ]
            let proposed = chance(1, in: 3) ? place : nil
            let reason = reasons[Int(random.next() % 4)]
            suspend(id, reason, for: between(1, 8_000) * 1_000_000, proposing: proposed)
        case 11, 12: runsDry(id, for: between(1, 4_000) * 1_000_000)
        case 13:
            // A group lives as long as somebody remembers it.
            guard order.allSatisfy({ devices[$0]?.isAlive == true && devices[$0]?.snapshot != nil }) else {
                return
            }
            crash(id, returning: between(1, 5) * second)
        case 14: cut(id)
        case 15: transition(id, to: ["x", "y", nil][Int(random.next() % 3)])
        case 16:
            let name = ["x", "y", "z"][Int(random.next() % 3)]
            asks(
                id, .setItem(GroupItem(identifier: name), proposing: TimingProposal(itemTime: place, rate: 1))
            )
        case 17: apply(.reapplyRequested, to: id)
        case 18:
            let some = order.filter { _ in chance(1, in: 2) }
            partition(some, for: between(1, 10) * second)
        default: if let host = hosts.first { jump(host, by: between(-20, 20) * second) }
        }
    }

    /// What must hold when nothing has been asked for a while.
    fileprivate mutating func checkAgreement(_ name: String, atMost bound: Int64) {
        let hosts = hosts
        expect(hosts.count == 1, "\(name): \(hosts.count) hosts")
        guard let host = hosts.first, let group = devices[host]?.group else { return }
        expect(group.snapshot.roster.members.count == order.count, "\(name): somebody is missing")
        guard let item = group.item?.identifier, let timeline = group.timeline(of: item) else {
            return expect(false, "\(name): no item")
        }
        for id in order {
            guard let device = devices[id] else { continue }
            expect(device.participant.host == host, "\(name): \(id) has another host")
            expect(device.participant.item == item, "\(name): \(id) is on another item")
            expect(device.participant.takesPart, "\(name): \(id) takes no part")
            expect(device.player.busy == nil, "\(name): \(id) is busy")
            expect(
                (device.player.anchor == nil) == (timeline.rate == 0),
                "\(name): \(id) stands, or the others do")
            let expected = timeline.itemTime(at: clock(of: host))
            let ahead = place(of: id) - expected
            expect(abs(ahead) <= bound, "\(name): \(id) is \(ahead) ns ahead")
            let told = device.participant.expectedItemTime(atHostTime: clock(of: host))
            expect(told == expected, "\(name): \(id) expects \(String(describing: told)), not \(expected)")
        }
    }

    /// How far the players' reading of the host's clock is off, times the highest rate.
    fileprivate static var clockBound: Int64 { 4 * 50_000 }
}

@Suite struct SimulationTests {
    /// What a whole life of a group is: disturbed for a while, then left in peace.
    private func live(_ world: inout World, disturbances: Int, every gap: Int64) {
        world.asks(
            world.order[0],
            .setItem(GroupItem(identifier: "x"), proposing: TimingProposal(itemTime: 0, rate: 1)))
        world.run(for: 2 * second)
        for _ in 0..<disturbances {
            world.disturb()
            world.run(for: world.between(1, gap / 1_000_000) * 1_000_000)
            guard world.faults.isEmpty else { return }
        }
        world.isRough = false
        world.heal()
        world.run(for: 120 * second)
        let (first, last) = (world.order[0], world.order[world.order.count - 1])
        world.asks(
            last, .setItem(GroupItem(identifier: "last"), proposing: TimingProposal(itemTime: 0, rate: 1)))
        world.run(for: 30 * second)
        world.checkAgreement("started", atMost: World.clockBound)
        world.asks(first, .seek(to: 500 * second, item: "last"))
        world.run(for: 5 * second)
        world.checkAgreement("sought", atMost: World.clockBound)
        world.asks(last, .setRate(2, item: "last"))
        world.run(for: 5 * second)
        world.checkAgreement("faster", atMost: World.clockBound)
        world.asks(first, .setRate(0, item: "last"))
        world.run(for: 5 * second)
        // Nobody can pause at a moment that has passed: as far apart as messages are under way, at this rate.
        world.checkAgreement("paused", atMost: 2 * 2 * 110_000_000)
        world.asks(last, .seek(to: 100 * second, item: "last"))
        world.run(for: 5 * second)
        world.checkAgreement("sought in a pause", atMost: 0)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `few devices agree in the end, whatever happened`(_ seed: UInt64) {
        let policy =
            seed % 2 == 0
            ? GroupPolicy()
            : GroupPolicy(waitingReasons: [.stallRecovery, .playingInterstitial, SuspensionReason("tea")])
        var world = World(seed: seed, devices: 4, players: seed % 3 == 0 ? 1 : 0, policy: policy)
        live(&world, disturbances: 120, every: 2 * second)
        #expect(world.faults == [])
        #expect(world.happened > 1_000)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the host is killed, and the others play on without a step`(_ seed: UInt64) {
        var world = World(seed: seed, devices: 6)
        world.isRough = false
        world.asks(
            world.order[0],
            .setItem(GroupItem(identifier: "x"), proposing: TimingProposal(itemTime: 0, rate: 1)))
        world.run(for: 10 * second)
        world.checkAgreement("before", atMost: World.clockBound)
        let survivors = world.order.dropFirst()
        let next = world.devices[world.order[0]]?.group?.snapshot.roster.members[1].id ?? ""
        let before = survivors.map { world.place(of: $0) - world.now }
        world.crash(world.order[0], returning: 60 * second)
        for _ in 0..<40 {
            world.run(for: 250_000_000)
            let steps = zip(before, survivors).map { world.place(of: $1) - world.now - $0 }
            #expect(steps.allSatisfy { abs($0) < 1_000_000 }, "\(steps)")
            #expect(survivors.allSatisfy { world.devices[$0]?.player.anchor != nil })
        }
        #expect(world.hosts == [next])
        #expect(survivors.allSatisfy { world.devices[$0]?.participant.host == next })
        world.run(for: 60 * second)
        world.checkAgreement("after its return", atMost: World.clockBound)
        #expect(world.faults == [])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a group that was cut in two comes together again`(_ seed: UInt64) {
        var world = World(seed: seed, devices: 8)
        world.isRough = false
        world.asks(
            world.order[0],
            .setItem(GroupItem(identifier: "x"), proposing: TimingProposal(itemTime: 0, rate: 1)))
        world.run(for: 10 * second)
        world.partition(Array(world.order[3...]), for: 20 * second)
        world.run(for: 15 * second)
        #expect(world.hosts.count == 2)
        // Each half goes on by itself.
        for host in world.hosts { world.asks(host, .seek(to: 1_000 * second, item: "x")) }
        world.run(for: 30 * second)
        world.checkAgreement("together", atMost: World.clockBound)
        #expect(world.faults == [])
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `sixty-four devices agree in the end, whatever happened`(_ seed: UInt64) {
        var world = World(seed: seed, devices: 64, players: 4)
        live(&world, disturbances: 25, every: 2 * second)
        #expect(world.faults == [])
    }
}
