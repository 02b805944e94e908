// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import Testing

@Suite struct MemberTests {
    @Test func `the first proposal sets the timing, and who comes later adopts it`() {
        var scene = Scene()
        let anchor = PlaybackAnchor(itemTime: 30 * second, clockTime: scene.now, rate: 1)
        scene.joins(
            "a", on: "x",
            proposing: TimingProposal(itemTime: 30 * second, rate: 1, clockTime: scene.now))
        #expect(scene.anchor() == anchor)
        // It plays so already: what plays is taken into the group without a break.
        #expect(scene.told("a") == [])
        scene.now += 5 * second
        scene.joins("b", on: "x", proposing: TimingProposal(itemTime: 90 * second))
        #expect(scene.told("b") == [.play(anchor)])
        #expect(scene.told("a") == [])
        #expect(scene.commands(to: "b").map(\.originator) == [nil])
    }

    @Test func `without a proposal an item stands at its start`() {
        var scene = Scene(["a"], on: "x")
        #expect(scene.group.timeline(of: "x") == .paused(at: 0))
        #expect(scene.open.isEmpty)
        scene.joins("b", on: "x")
        #expect(scene.told("b") == [.seek(to: 0, anticipatedRate: nil, due: nil)])
    }

    @Test func `items have states of their own`() {
        var scene = Scene.playing(["a", "b"])
        scene.joins("c", on: "y", proposing: TimingProposal(itemTime: 7 * second))
        scene.asks("a", .seek(to: 40 * second, item: "x"))
        #expect(scene.told("c") == [])
        #expect(scene.group.timeline(of: "y") == .paused(at: 7 * second))
        scene.settle()
        scene.reports("c", .transitioned(to: "x", proposing: nil))
        #expect(scene.told("c") == scene.anchor().map { [.play($0)] })
        // Nobody is on it any more.
        #expect(scene.group.timeline(of: "y") == nil)
    }

    @Test func `the group's item is remembered while nobody is on it`() {
        var scene = Scene(["a"])
        scene.asks(
            "a", .setItem(GroupItem(identifier: "x"), proposing: TimingProposal(itemTime: 9 * second)))
        scene.reports("a", .transitioned(to: "x", proposing: nil))
        scene.reports("a", .transitioned(to: nil, proposing: nil))
        #expect(scene.group.timeline(of: "x") == .paused(at: 9 * second))
        scene.asks("a", .setItem(nil, proposing: nil))
        #expect(scene.group.timeline(of: "x") == nil)
        #expect(scene.group.item == nil)
    }

    @Test func `the same item set again changes no timing`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .setItem(GroupItem(identifier: "x", descriptor: "1"), proposing: nil))
        let anchor = scene.anchor()
        #expect(anchor != nil)
        scene.asks(
            "a",
            .setItem(
                GroupItem(identifier: "x", descriptor: "2"), proposing: TimingProposal(itemTime: second)))
        #expect(scene.anchor() == anchor)
        #expect(scene.group.item?.descriptor == "2")
    }

    @Test func `joining disturbs nobody`() {
        var scene = Scene.playing(["a", "b"])
        scene.joins("c", on: "x")
        #expect(scene.told("a") == [])
        #expect(scene.told("b") == [])
        #expect(scene.told("c") == scene.anchor().map { [.play($0)] })
    }

    @Test func `an answer about an item that was left changes nothing`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .seek(to: second, item: "x"))
        scene.reports("b", .transitioned(to: "y", proposing: nil))
        scene.completes("b", .ignored)
        #expect(scene.told("b") == [])
        scene.asks("b", .setRate(1, item: "y"))
        scene.settle()
        #expect(scene.anchor("y") != nil)
    }

    @Test func `a command without an answer is lost, and its member is told anew`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .setRate(2, item: "x"))
        let command = scene.open.first { $0.to == "b" }?.command.id ?? CommandID(0)
        scene.completes("a")
        scene.now += GroupLimits.answer
        scene.fires(.completion("b", command))
        #expect(scene.effects.contains(.completed(command, by: "b", .lost)))
        #expect(scene.told("b") == scene.anchor().map { [.play($0)] })
        #expect(scene.member("b")?.suspensions == [.stallRecovery])
        // The late answer is one too many.
        scene.reports("b", .completed(command, .done))
        #expect(scene.effects == [])
        scene.completes("b")
        #expect(scene.member("b")?.suspensions == [])
    }

    @Test func `a member that ignores what it should do is told again after a while, not at once`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .setRate(2, item: "x"))
        let command = scene.open.first { $0.to == "b" }?.command.id ?? CommandID(0)
        scene.completes("b", .ignored)
        #expect(scene.told("b") == [])
        scene.fires(.completion("b", command))
        #expect(scene.told("b") == scene.anchor().map { [.play($0)] })
    }

    @Test func `who wants the state anew gets it, without an originator`() {
        var scene = Scene.playing(["a", "b"])
        scene.reports("b", .reapplied)
        #expect(scene.told("b") == scene.anchor().map { [.play($0)] })
        #expect(scene.commands(to: "b").map(\.originator) == [nil])
    }

    @Test func `no more than sixty-four take part`() {
        var scene = Scene()
        for number in 0..<70 { scene.joins(ParticipantID("m\(number)"), on: "x") }
        #expect(scene.group.snapshot.roster.members.count == 64)
        #expect(scene.effects == [.refuseJoin("m69", .limitReached)])
        scene.joins("m5", on: "x")
        #expect(scene.group.snapshot.roster.members.count == 64)
        #expect(scene.member("m5")?.joinNumber == 6)
    }

    @Test func `one that joins again keeps its number, and what it was told is lost`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .seek(to: second, item: "x"))
        let command = scene.open.first { $0.to == "b" }?.command.id ?? CommandID(0)
        scene.joins("b", on: "x")
        #expect(scene.effects.contains(.completed(command, by: "b", .lost)))
        #expect(scene.member("b")?.joinNumber == 2)
        scene.settle()
        #expect(scene.anchor()?.itemTime == second)
    }

    @Test func `an item is over when all have played it, and a broken one stops nobody`() {
        var scene = Scene.playing(["a", "b", "c"])
        scene.now += 60 * second
        scene.reports("a", .ended(item: "x"))
        #expect(scene.effects == [])
        scene.reports("b", .ended(item: "x"))
        #expect(scene.effects.count == 1)
        scene.reports("c", .ended(item: "x"))
        #expect(scene.effects.contains(.ended(item: "x")))
        #expect(scene.open.isEmpty)
        #expect(scene.group.timeline(of: "x")?.rate == 0)
    }

    @Test func `once most have played an item the others have a while`() {
        var scene = Scene.playing(["a", "b", "c"])
        scene.reports("a", .ended(item: "x"))
        scene.reports("b", .ended(item: "x"))
        guard case .arm(let timer, _)? = scene.effects.first else {
            Issue.record("no timer")
            return
        }
        scene.fires(timer)
        #expect(scene.effects.contains(.ended(item: "x")))
        #expect(scene.told("c") == [.pause(anticipatedRate: nil)])
        #expect(scene.told("a") == [])
    }

    @Test func `who ran dry on the way has played an item, too`() {
        var scene = Scene.playing(["a", "b"])
        scene.reports("a", .suspensionBegan(Suspension(id: SuspensionID(0), reason: .stallRecovery)))
        scene.reports("a", .ended(item: "x"))
        #expect(!scene.effects.contains(.ended(item: "x")))
        // Nobody is left who plays it.
        scene.reports("b", .suspensionBegan(Suspension(id: SuspensionID(0), reason: .stallRecovery)))
        #expect(scene.effects.contains(.ended(item: "x")))
    }

    @Test func `a seek away from the end makes it none`() {
        var scene = Scene.playing(["a", "b"])
        scene.reports("a", .ended(item: "x"))
        scene.asks("b", .seek(to: 0, item: "x"))
        scene.settle()
        scene.reports("b", .ended(item: "x"))
        #expect(!scene.effects.contains(.ended(item: "x")))
    }

    // MARK: Another host

    @Test func `the next host goes on where the last was, when its members are there again`() {
        var scene = Scene.playing(["a", "b", "c"])
        let old = scene.anchor()
        let snapshot = scene.group.snapshot
        let line = ClockLine(local: 0, remote: 500 * second, skew: 0)
        scene.group = GroupCoordinator(succeeding: snapshot, as: "b") {
            Election.carryOver($0, from: line, to: .identity, at: 600 * second)
        }
        scene.now = 600 * second
        #expect(scene.group.epoch == 2)
        #expect(scene.group.snapshot.id == snapshot.id)
        #expect(
            scene.anchor()?.itemTime(at: 600 * second) == old?.itemTime(at: line.remote(at: 600 * second)))
        scene.joins("b", on: "x")
        #expect(scene.told("b") == scene.anchor().map { [.play($0)] })
        scene.joins("c", on: "x")
        #expect(scene.told("c") == scene.anchor().map { [.play($0)] })
        #expect(scene.member("c")?.joinNumber == 3)
        scene.joins("d", on: "x")
        #expect(scene.member("d")?.joinNumber == 4)
    }

    @Test func `a new host's commands have greater numbers`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .seek(to: second, item: "x"))
        let old = scene.open.map(\.command.id).max() ?? CommandID(0)
        scene.open = []
        scene.group = GroupCoordinator(succeeding: scene.group.snapshot, as: "b") { $0 }
        scene.joins("b", on: "x")
        #expect(scene.open.allSatisfy { $0.command.id > old })
        #expect(!scene.open.isEmpty)
    }

    @Test func `a start that waited is waited for under the next host, but not without end`() {
        var scene = Scene(["a", "b", "c"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        scene.open = []
        scene.group = GroupCoordinator(succeeding: scene.group.snapshot, as: "b") { $0 }
        scene.joins("b", on: "x")
        let timer = scene.readinessTimer
        scene.settle()
        #expect(scene.anchor() == nil)
        if let timer { scene.fires(timer) }
        #expect(scene.anchor() != nil)
    }

    @Test func `the next host forgets items to which nobody came back`() {
        var scene = Scene.playing(["a", "b"])
        scene.joins("c", on: "y")
        scene.group = GroupCoordinator(succeeding: scene.group.snapshot, as: "b") { $0 }
        scene.joins("b", on: "x")
        #expect(scene.group.timeline(of: "y") != nil)
        scene.fires(.members)
        #expect(scene.group.timeline(of: "y") == nil)
        #expect(scene.group.timeline(of: "x") != nil)
    }
}
