// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import Testing

@Suite struct RequestTests {
    @Test func `a seek while playing stops all, and they go on when all are there`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("b", .seek(to: 40 * second, item: "x"))
        let due = scene.now + 10 * second
        #expect(scene.told("a") == [.seek(to: 40 * second, anticipatedRate: 1, due: due)])
        scene.completes("a")
        #expect(scene.group.timeline(of: "x") == .waiting(at: 40 * second, rate: 1))
        scene.completes("b")
        #expect(scene.anchor()?.itemTime == 40 * second)
        #expect(scene.told("a").count == 1)
    }

    @Test func `a seek while paused stays paused`() {
        var scene = Scene(["a", "b"], on: "x")
        scene.settle()
        scene.asks("a", .seek(to: 40 * second, item: "x"))
        #expect(scene.told("b") == [.seek(to: 40 * second, anticipatedRate: nil, due: nil)])
        scene.settle()
        #expect(scene.group.timeline(of: "x") == .paused(at: 40 * second))
    }

    @Test func `a seek that resumes at once waits for nobody`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .seek(to: 40 * second, item: "x", resumeImmediately: true))
        let anchor = PlaybackAnchor(itemTime: 40 * second, clockTime: scene.now + 300_000_000, rate: 1)
        #expect(scene.anchor() == anchor)
        #expect(scene.told("b") == [.seek(to: 40 * second, anticipatedRate: nil, due: nil)])
        scene.completes("b")
        #expect(scene.told("b") == [.play(anchor)])
    }

    @Test func `of seeks in a row the newest overtakes, and what lies between is never sent`() {
        var scene = Scene.playing(["a", "b"])
        for place in 1...9 { scene.asks("a", .seek(to: Int64(place) * second, item: "x")) }
        #expect(scene.open.count { $0.to == "b" } == 2)
        scene.completes("b", .ignored)
        #expect(scene.commands(to: "b").map(\.overtakes) == [true])
        #expect(
            scene.told("b") == [.seek(to: 9 * second, anticipatedRate: 1, due: scene.now + 10 * second)])
    }

    @Test func `a change of rate has one moment for all`() {
        var scene = Scene.playing(["a", "b"])
        scene.now += 10 * second
        let old = scene.anchor()
        scene.asks("a", .setRate(2, item: "x"))
        let moment = scene.now + 300_000_000
        let anchor = PlaybackAnchor(itemTime: old?.itemTime(at: moment) ?? 0, clockTime: moment, rate: 2)
        #expect(scene.told("a") == [.play(anchor)])
        #expect(scene.told("b") == [.play(anchor)])
    }

    @Test func `a pause is where the one who paused says it stopped`() {
        var scene = Scene.playing(["a", "b"])
        scene.now += 10 * second
        scene.asks("b", .setRate(0, item: "x", itemTime: 9 * second))
        #expect(scene.group.timeline(of: "x") == .paused(at: 9 * second))
        #expect(scene.told("a") == [.pause(anticipatedRate: nil)])
        scene.settle()
        // Small differences stay: nobody is told to seek.
        #expect(scene.group.timeline(of: "x") == .paused(at: 9 * second))
        scene.asks("a", .setRate(1, item: "x"))
        scene.settle()
        #expect(scene.anchor()?.itemTime == 9 * second)
    }

    @Test func `where the policy says so all go to the place of the one who paused`() {
        var scene = Scene.playing(["a", "b"], policy: GroupPolicy(pauseSnapsToMediaTimeOfOriginator: true))
        scene.now += 10 * second
        scene.asks("b", .setRate(0, item: "x"))
        #expect(scene.told("a") == [.pause(anticipatedRate: nil)])
        #expect(scene.told("b") == [.pause(anticipatedRate: nil)])
        scene.completes("a")
        scene.completes("b")
        scene.reports("b", .stopped(item: "x", at: 8 * second))
        #expect(scene.told("a") == [.seek(to: 8 * second, anticipatedRate: nil, due: nil)])
        #expect(scene.told("b") == [])
        #expect(scene.group.timeline(of: "x") == .paused(at: 8 * second))
        // Only once, and only from the one who paused.
        scene.reports("b", .stopped(item: "x", at: 7 * second))
        #expect(scene.group.timeline(of: "x") == .paused(at: 8 * second))
    }

    @Test func `only the one who paused says where`() {
        var scene = Scene.playing(["a", "b"], policy: GroupPolicy(pauseSnapsToMediaTimeOfOriginator: true))
        scene.asks("b", .setRate(0, item: "x"))
        let paused = scene.group.timeline(of: "x")
        scene.reports("a", .stopped(item: "x", at: 8 * second))
        #expect(scene.group.timeline(of: "x") == paused)
    }

    @Test func `requests about another item are refused`() {
        var scene = Scene.playing(["a", "b"])
        #expect(scene.asks("a", .setRate(0, item: "y")) == .otherItem)
        #expect(scene.asks("a", .seek(to: 0, item: "y")) == .otherItem)
        #expect(scene.effects.count == 1)
    }

    @Test func `numbers that mean nothing are refused`() {
        var scene = Scene.playing(["a", "b"])
        for rate in [Double.nan, -1, .infinity] {
            #expect(scene.asks("a", .setRate(rate, item: "x")) == .invalid)
        }
        #expect(scene.asks("a", .seek(to: -1, item: "x")) == .invalid)
        #expect(scene.asks("a", .seek(to: .max, item: "x")) == .invalid)
        #expect(scene.asks("a", .setRate(0, item: "x", itemTime: .min)) == .invalid)
        #expect(scene.asks("a", .setItem(GroupItem(identifier: ""), proposing: nil)) == .invalid)
        let long = String(repeating: "x", count: GroupLimits.identifierBytes + 1)
        #expect(scene.asks("a", .setItem(GroupItem(identifier: long), proposing: nil)) == .invalid)
        #expect(scene.asks("z", .setRate(0, item: "x")) == .unknownParticipant)
        #expect(scene.asks("a", .remove("z")) == .unknownParticipant)
    }

    @Test func `a rate is kept within the limits`() {
        var scene = Scene.playing(["a"])
        scene.asks("a", .setRate(100, item: "x"))
        #expect(scene.anchor()?.rate == 4)
        scene.asks("a", .setRate(0.001, item: "x"))
        #expect(scene.anchor()?.rate == 0.25)
    }

    @Test func `what is so already sends nothing`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .setRate(1, item: "x"))
        #expect(scene.effects.count == 1)
        scene.asks("a", .setRate(0, item: "x"))
        scene.settle()
        scene.asks("a", .setRate(0, item: "x"))
        #expect(scene.effects.count == 1)
    }

    @Test func `a removed member is out, and what it was told is lost`() {
        var scene = Scene.playing(["a", "b"])
        scene.asks("a", .seek(to: second, item: "x"))
        let open = scene.open.first { $0.to == "b" }?.command.id
        scene.asks("a", .remove("b"))
        #expect(scene.effects.contains(.removed("b")))
        #expect(scene.effects.contains(.completed(open ?? CommandID(0), by: "b", .lost)))
        #expect(scene.member("b") == nil)
    }

    @Test func `name, activity and policy are told when they change`() {
        var scene = Scene(["a"])
        scene.asks("a", .setName("Garden"))
        #expect(scene.effects.contains(.changed(.name)))
        scene.asks("a", .setActivity(GroupActivity(kind: .watch, title: "A film")))
        #expect(scene.effects.contains(.changed(.activity)))
        scene.asks("a", .setPolicy(GroupPolicy(lead: 0)))
        #expect(scene.effects.contains(.changed(.policy)))
        #expect(scene.group.policy.lead == 20_000_000)
        scene.asks("a", .setName("Garden"))
        #expect(scene.effects.count == 1)
    }
}
