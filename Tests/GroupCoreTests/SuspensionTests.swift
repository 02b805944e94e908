// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import Testing

private func suspension(_ number: UInt64, _ reason: SuspensionReason) -> Suspension {
    Suspension(id: SuspensionID(number), reason: reason)
}

@Suite struct SuspensionTests {
    @Test func `one that is suspended is told nothing, and all when its last reason is over`() {
        var scene = Scene.playing()
        scene.reports("b", .suspensionBegan(suspension(1, .userActionRequired)))
        scene.reports("b", .suspensionBegan(suspension(2, SuspensionReason("lunch"))))
        #expect(scene.member("b")?.suspensions == [.userActionRequired, SuspensionReason("lunch")])
        scene.asks("a", .setRate(2, item: "x"))
        #expect(scene.told("b") == [])
        #expect(scene.told("c").count == 1)
        scene.reports("b", .suspensionEnded(SuspensionID(1), proposing: nil))
        #expect(scene.told("b") == [])
        scene.reports("b", .suspensionEnded(SuspensionID(2), proposing: nil))
        #expect(scene.told("b") == scene.anchor().map { [.play($0)] })
        // It is told a state, and nobody's wish.
        #expect(scene.commands(to: "b").map(\.originator) == [nil])
    }

    @Test func `its requests are refused`() {
        var scene = Scene.playing()
        scene.reports("b", .suspensionBegan(suspension(1, .userActionRequired)))
        #expect(scene.asks("b", .setRate(0, item: "x")) == .suspended)
        #expect(scene.asks("b", .seek(to: 0, item: "x")) == .suspended)
    }

    @Test func `a start waits for a reason that the policy names, and for no other`() {
        for (reason, waits) in [
            (SuspensionReason.playingInterstitial, true), (.stallRecovery, false),
            (SuspensionReason("lunch"), true), (SuspensionReason("tea"), false),
        ] {
            var scene = Scene(
                ["a", "b"], on: "x",
                policy: GroupPolicy(waitingReasons: [.playingInterstitial, SuspensionReason("lunch")]))
            scene.settle()
            scene.reports("b", .suspensionBegan(suspension(1, reason)))
            scene.asks("a", .setRate(1, item: "x"))
            scene.completes("a")
            #expect((scene.anchor() == nil) == waits)
            scene.reports("b", .suspensionEnded(SuspensionID(1), proposing: nil))
            scene.settle()
            #expect(scene.anchor() != nil)
        }
    }

    @Test func `in a group above the limit nobody is waited for`() {
        for (limit, waits) in [(3, true), (2, false), (0, false)] {
            var scene = Scene(
                ["a", "b", "c"], on: "x",
                policy: GroupPolicy(participantLimits: [.playingInterstitial: limit]))
            scene.settle()
            scene.reports("b", .suspensionBegan(suspension(1, .playingInterstitial)))
            scene.asks("a", .setRate(1, item: "x"))
            scene.completes("a")
            scene.completes("c")
            #expect((scene.anchor() == nil) == waits)
        }
    }

    @Test func `a start does not wait for a suspension without end`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.reports("b", .suspensionBegan(suspension(1, .playingInterstitial)))
        scene.asks("a", .setRate(1, item: "x"))
        let (readiness, suspensions) = (scene.readinessTimer, scene.suspensionTimer)
        scene.completes("a")
        scene.now += 10 * second
        if let readiness { scene.fires(readiness) }
        #expect(scene.anchor() == nil)
        scene.now += 50 * second
        if let suspensions { scene.fires(suspensions) }
        #expect(scene.anchor() != nil)
        #expect(suspensions != nil)
    }

    @Test func `a playing group goes on without one that stalls`() {
        var scene = Scene.playing()
        let anchor = scene.anchor()
        scene.now += 5 * second
        scene.reports("b", .suspensionBegan(suspension(0, .stallRecovery)))
        #expect(scene.anchor() == anchor)
        #expect(scene.open.isEmpty)
        scene.now += 5 * second
        scene.reports("b", .suspensionEnded(SuspensionID(0), proposing: nil))
        #expect(scene.told("b") == anchor.map { [.play($0)] })
        #expect(scene.told("a") == [])
    }

    @Test func `a playing group stops for one that stalls, where the policy says so`() {
        var scene = Scene.playing(policy: GroupPolicy(waitingReasons: [.stallRecovery]))
        scene.now += 5 * second
        let place = scene.anchor()?.itemTime(at: scene.now) ?? 0
        scene.reports("b", .suspensionBegan(suspension(0, .stallRecovery)))
        #expect(scene.told("a") == [.pause(anticipatedRate: 1)])
        #expect(scene.told("b") == [])
        scene.settle()
        #expect(scene.group.timeline(of: "x") == .waiting(at: place, rate: 1))
        scene.now += 5 * second
        scene.reports("b", .suspensionEnded(SuspensionID(0), proposing: nil))
        scene.settle()
        #expect(scene.anchor()?.itemTime == place)
    }

    @Test func `the end of a suspension can propose a place, and the rate stays`() {
        var scene = Scene.playing()
        scene.asks("a", .setRate(2, item: "x"))
        scene.settle()
        scene.reports("b", .suspensionBegan(suspension(1, .userIsChangingCurrentTime)))
        scene.reports("b", .suspensionEnded(SuspensionID(1), proposing: 70 * second))
        #expect(scene.group.timeline(of: "x") == .waiting(at: 70 * second, rate: 2))
        #expect(scene.commands(to: "a").map(\.originator) == ["b"])
        scene.settle()
        #expect(scene.anchor()?.itemTime == 70 * second)
        #expect(scene.anchor()?.rate == 2)
    }

    @Test func `a proposal while the group is paused leaves it paused`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.reports("b", .suspensionBegan(suspension(1, .userIsChangingCurrentTime)))
        scene.reports("b", .suspensionEnded(SuspensionID(1), proposing: 70 * second))
        scene.settle()
        #expect(scene.group.timeline(of: "x") == .paused(at: 70 * second))
    }

    @Test func `a proposal is dropped while others are open, and when it is no place`() {
        var scene = Scene.playing()
        let anchor = scene.anchor()
        scene.reports("b", .suspensionBegan(suspension(1, .userIsChangingCurrentTime)))
        scene.reports("b", .suspensionBegan(suspension(2, .userActionRequired)))
        scene.reports("b", .suspensionEnded(SuspensionID(1), proposing: 70 * second))
        #expect(scene.anchor() == anchor)
        scene.reports("b", .suspensionEnded(SuspensionID(2), proposing: -1))
        #expect(scene.anchor() == anchor)
    }

    @Test func `suspensions are bounded, and their texts`() {
        var scene = Scene.playing()
        for number in 1...100 {
            scene.reports("b", .suspensionBegan(suspension(UInt64(number), SuspensionReason("r\(number)"))))
        }
        #expect(scene.member("b")?.suspensions.count == GroupLimits.suspensions)
        let long = SuspensionReason(String(repeating: "ä", count: 1_000))
        #expect(long.rawValue.utf8.count == GroupLimits.reasonBytes)
    }

    @Test func `one suspension counts once`() {
        var scene = Scene.playing()
        scene.reports("b", .suspensionBegan(suspension(1, .stallRecovery)))
        scene.reports("b", .suspensionBegan(suspension(1, .stallRecovery)))
        scene.reports("b", .suspensionEnded(SuspensionID(1), proposing: nil))
        #expect(scene.member("b")?.suspensions == [])
        scene.reports("b", .suspensionEnded(SuspensionID(1), proposing: nil))
        #expect(scene.effects == [])
    }
}
