// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import SessionCore

struct ProgressWatchTests {
    private static let events: [ProgressWatch.Event] = [
        .claimed, .rested, .heard(seconds(1)), .heard(seconds(2)), .timerFired(generation: 0), .unanswered,
    ]

    /// A timer event always names the newest timer here; old ones have a test of their own.
    private static func now(_ event: ProgressWatch.Event, _ watch: ProgressWatch) -> ProgressWatch.Event {
        if case .timerFired = event { .timerFired(generation: watch.generation) } else { event }
    }

    private static func check(_ before: ProgressWatch, _ event: ProgressWatch.Event, _ path: [String]) {
        var watch = before
        let effects = watch.apply(event)
        #expect(effects.count <= 1, "\(path)")
        switch effects.first {
        case .armTimer(let generation):
            #expect(watch.phase == .watching && generation == watch.generation, "\(path)")
            #expect(generation > before.generation, "\(path)")
        case .nudge: #expect(watch.phase == .resting && (before.tries, watch.tries) == (0, 1), "\(path)")
        case .restart: #expect(watch.phase == .resting && before.tries <= 1 && watch.tries == 2, "\(path)")
        case .giveUp: #expect(watch.phase == .over && before.tries == 2, "\(path)")
        case nil: #expect(watch.tries == before.tries || watch.moves == ProgressWatch.proof, "\(path)")
        }
        if before.phase == .over { #expect(effects.isEmpty && watch == before, "\(path)") }
        // Whatever happened, a claim is watched.
        if event == .claimed, before.phase != .over { #expect(watch.phase == .watching, "\(path)") }
        if event == .rested, before.phase != .over { #expect(watch.phase == .resting, "\(path)") }
    }

    @Test func `every sequence of six events keeps the rules`() {
        var count = 0
        func walk(_ watch: ProgressWatch, _ depth: Int, _ path: [String]) {
            guard depth > 0 else { return }
            for event in Self.events {
                let event = Self.now(event, watch)
                var next = watch
                Self.check(watch, event, path + ["\(event)"])
                _ = next.apply(event)
                count += 1
                walk(next, depth - 1, path + ["\(event)"])
            }
        }
        walk(ProgressWatch(), 6, [])
        #expect(count == (1...6).reduce(0) { sum, depth in sum + (0..<depth).reduce(1) { n, _ in n * 6 } })
    }

    @Test func `what stands still is pushed, then restarted, then given up`() {
        var watch = ProgressWatch()
        #expect(watch.apply(.claimed) == [.armTimer(generation: 1)])
        #expect(watch.apply(.timerFired(generation: 1)) == [.nudge])
        #expect(watch.apply(.claimed) == [.armTimer(generation: 2)])
        #expect(watch.apply(.timerFired(generation: 2)) == [.restart])
        #expect(watch.apply(.claimed) == [.armTimer(generation: 3)])
        #expect(watch.apply(.timerFired(generation: 3)) == [.giveUp])
        #expect(watch.apply(.claimed) == [])
    }

    @Test func `an old timer ends nothing, and the same place again is no progress`() {
        var watch = ProgressWatch()
        _ = watch.apply(.claimed)
        #expect(watch.apply(.heard(seconds(1))) == [.armTimer(generation: 2)])
        #expect(watch.apply(.heard(MediaTime(value: 1000, timescale: 1000))) == [])
        #expect(watch.apply(.timerFired(generation: 1)) == [])
        #expect(watch.apply(.timerFired(generation: 2)) == [.nudge])
    }

    @Test func `half a minute of progress makes up for what was tried, less does not`() {
        var watch = ProgressWatch()
        func play(_ count: Int, from start: Int64) {
            for second in 0..<Int64(count) { _ = watch.apply(.heard(seconds(start + second))) }
        }
        _ = watch.apply(.claimed)
        _ = watch.apply(.timerFired(generation: watch.generation))
        _ = watch.apply(.claimed)
        play(ProgressWatch.proof - 1, from: 100)
        #expect(watch.apply(.timerFired(generation: watch.generation)) == [.restart])
        _ = watch.apply(.claimed)
        play(ProgressWatch.proof, from: 200)
        #expect(watch.apply(.timerFired(generation: watch.generation)) == [.nudge])
    }
}

/// The same as senders see it.
struct StandingStillTests {
    @Test func `a file is sought to where it stands, then loaded anew, then ends with its name`() {
        var scene = Scene.playing()
        scene.reaches(seconds(10))
        let pushed = scene.standsStill()
        #expect(
            pushed.commands == [.seek(scene.load, scene.seek, to: seconds(10), tolerance: .zero)])
        // While it seeks it claims nothing.
        #expect(scene.standsStill() == [])
        scene.reports(.seekFinished(scene.load, scene.seek, failure: nil))
        let restarted = scene.standsStill()
        #expect(restarted == [.restartRenderer, .armLoadTimer(LoadID(2))])
        #expect(scene.session?.error == MediaFailure(.stalled, ""))
        #expect(scene.reports(.exited(reason: "killed")) == [])
        #expect(
            scene.reports(.started(.closed)).commands.contains { if case .load = $0 { true } else { false } })
        scene.loads()
        #expect(scene.session?.error == nil)
        scene.reaches(seconds(10))
        let effects = scene.standsStill()
        #expect(effects.ends == [.failed(MediaFailure(.stalled, ""))])
        guard case .failed(let failure)? = effects.ends.first else { return }
        #expect(failure.message.contains("a.flac"))
        #expect(scene.session == nil)
    }

    @Test func `what cannot be sought is loaded anew at once`() {
        var scene = Scene.playing(.init(), .radio)
        #expect(scene.standsStill() == [.restartRenderer, .armLoadTimer(LoadID(2))])
    }

    @Test func `nothing is done while it waits: paused, buffering, without its device`() {
        for event: RendererEvent in [.bufferingChanged(LoadID(1), true), .outputChanged(.lost)] {
            var scene = Scene.playing()
            scene.reports(event)
            #expect(scene.standsStill() == [])
        }
        var scene = Scene.playing()
        scene.asks(.setPlaying(false))
        #expect(scene.standsStill() == [])
        scene.asks(.setPlaying(true))
        #expect(!scene.standsStill().isEmpty)
    }

    @Test func `pictures without sound are not measured by what is heard`() {
        var scene = Scene()
        scene.joins(1, .anna)
        scene.starts(1)
        scene.reports(
            .loaded(scene.load, LoadedMedia(timeline: .file, hasAudio: false, hasVideo: true)))
        #expect(scene.standsStill() == [])
    }

    @Test func `a seek that is not answered is answered by a new renderer, at the place that was wanted`() {
        var scene = Scene.playing()
        scene.asks(.seek(to: seconds(60), tolerance: .zero))
        #expect(scene.happens(.seekTimedOut(scene.load, SeekID(99))) == [])
        let effects = scene.happens(.seekTimedOut(scene.load, scene.seek))
        #expect(effects == [.restartRenderer, .armLoadTimer(LoadID(2))])
        let load = scene.reports(.started(.closed)).commands.compactMap { command -> MediaItem? in
            if case .load(_, let item, _) = command { item } else { nil }
        }
        #expect(load.first?.startPosition == seconds(60))
    }

    @Test func `the second crash of an item ends it with an error that names it`() {
        var scene = Scene.playing()
        scene.reports(.exited(reason: "signal 11"))
        scene.reports(.started(.closed))
        scene.loads()
        guard case .failed(let failure)? = scene.reports(.exited(reason: "signal 11")).ends.first else {
            Issue.record("the session goes on")
            return
        }
        #expect(failure.code == .rendererCrashed && failure.message.contains("a.flac"))
    }

    @Test func `an item is named by its title, and never by what may be secret`() {
        func name(_ uri: String, title: String? = nil) -> String? {
            var scene = Scene()
            scene.joins(1, .anna)
            scene.starts(1, uri, metadata: Metadata(title: title))
            return scene.session?.itemName
        }
        #expect(name("http://a/b/c.mp3?token=1#x", title: "Song") == "“Song”")
        #expect(name("http://a/b/c.mp3?token=1#x") == "“c.mp3”")
        #expect(name("http://user:word@host") == "the item")
    }
}
