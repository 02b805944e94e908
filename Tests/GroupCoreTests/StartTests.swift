// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import Testing

@Suite struct StartTests {
    @Test func `a start is buffered by all, and begins a lead after the last is ready`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        #expect(scene.asks("b", .setRate(1.5, item: "x")) == nil)
        let due = scene.now + 10 * second
        #expect(scene.told("a") == [.buffer(anticipatedRate: 1.5, due: due)])
        #expect(scene.told("b") == [.buffer(anticipatedRate: 1.5, due: due)])
        #expect(scene.group.timeline(of: "x") == .waiting(at: 0, rate: 1.5))
        scene.completes("a")
        #expect(scene.told("a") == [])
        scene.now += second
        scene.completes("b")
        let anchor = PlaybackAnchor(itemTime: 0, clockTime: scene.now + 300_000_000, rate: 1.5)
        #expect(scene.told("a") == [.play(anchor)])
        #expect(scene.told("b") == [.play(anchor)])
        #expect(scene.group.timeline(of: "x") == .playing(anchor))
    }

    @Test func `who asked is the originator for the others, and nobody is for himself`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("b", .setRate(1, item: "x"))
        #expect(scene.commands(to: "a").map(\.originator) == ["b"])
        #expect(scene.commands(to: "b").map(\.originator) == [nil])
    }

    @Test func `a start at once waits for nobody`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x", immediately: true))
        let anchor = PlaybackAnchor(itemTime: 0, clockTime: scene.now + 300_000_000, rate: 1)
        #expect(scene.told("a") == [.play(anchor)])
        #expect(scene.told("b") == [.play(anchor)])
    }

    @Test func `a start at once overtakes one that waits`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        scene.asks("a", .setRate(1, item: "x", immediately: true))
        #expect(scene.anchor() != nil)
        #expect(scene.commands(to: "b").map(\.overtakes) == [true])
    }

    @Test func `who is not ready within the bound is left behind, and falls in later`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        let timer = scene.readinessTimer
        scene.completes("a")
        #expect(scene.told("a") == [])
        scene.now += 10 * second
        if let timer { scene.fires(timer) }
        let anchor = PlaybackAnchor(itemTime: 0, clockTime: scene.now + 300_000_000, rate: 1)
        #expect(scene.told("a") == [.play(anchor)])
        // It has something to complete first.
        #expect(scene.told("b") == [])
        #expect(scene.member("b")?.suspensions == [.stallRecovery])
        scene.now += second
        scene.completes("b")
        #expect(scene.told("b") == [.play(anchor)])
        scene.completes("b")
        #expect(scene.member("b")?.suspensions == [])
    }

    @Test func `who was left behind is not waited for again before it has caught up`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        let timer = scene.readinessTimer
        scene.completes("a")
        if let timer { scene.fires(timer) }
        scene.completes("a")
        scene.asks("a", .seek(to: 60 * second, item: "x"))
        scene.completes("a")
        #expect(scene.anchor()?.itemTime == 60 * second)
    }

    @Test func `the timer of a start that is over does nothing`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        let timer = scene.readinessTimer
        scene.asks("a", .setRate(0, item: "x"))
        scene.asks("a", .setRate(1, item: "x"))
        if let timer { scene.fires(timer) }
        #expect(scene.anchor() == nil)
        #expect(scene.effects == [])
    }

    @Test func `a pause ends the wait, and overtakes the buffering`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        scene.asks("b", .setRate(0, item: "x"))
        #expect(scene.group.timeline(of: "x") == .paused(at: 0))
        scene.settle()
        #expect(scene.group.timeline(of: "x") == .paused(at: 0))
        scene.asks("a", .setRate(1, item: "x"))
        scene.settle()
        #expect(scene.anchor()?.rate == 1)
    }

    @Test func `a member that says it is not ready is waited for, though it has buffered`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        scene.completes("b")
        scene.reports("b", .readinessChanged(false))
        scene.completes("a")
        #expect(scene.anchor() == nil)
        scene.reports("b", .readinessChanged(true))
        #expect(scene.anchor() != nil)
    }

    @Test func `receivers that are not on the group's item yet are waited for`() {
        var scene = Scene(["a", "b"])
        scene.joins("p", kind: .player)
        scene.asks(
            "a", .setItem(GroupItem(identifier: "x"), proposing: TimingProposal(itemTime: second, rate: 1)))
        #expect(scene.group.timeline(of: "x") == .waiting(at: second, rate: 1))
        scene.reports("a", .transitioned(to: "x", proposing: nil))
        scene.settle()
        #expect(scene.anchor() == nil)
        // The player is not: it goes to items when it wants to.
        scene.reports("b", .transitioned(to: "x", proposing: nil))
        scene.settle()
        #expect(scene.anchor()?.itemTime == second)
    }

    @Test func `one that leaves is not waited for any more`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .setRate(1, item: "x"))
        scene.completes("a")
        scene.apply(.lost("b"))
        #expect(scene.anchor() != nil)
    }

    @Test func `nothing starts before somebody is on the item`() {
        var scene = Scene()
        scene.joins("p", kind: .player)
        scene.asks(
            "p", .setItem(GroupItem(identifier: "x"), proposing: TimingProposal(itemTime: 0, rate: 1)))
        #expect(scene.anchor() == nil)
        scene.reports("p", .transitioned(to: "x", proposing: nil))
        scene.settle()
        #expect(scene.anchor() != nil)
    }
}
