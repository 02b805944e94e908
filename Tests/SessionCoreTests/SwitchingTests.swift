// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SeededNumbers
import SessionCore
import Testing

private let pipe = CaptureSource(kind: .descriptor(token: 1))

@Suite("Sessions and other sources") struct SwitchingTests {
    @Test func `a session that yields keeps its place and is loaded there when it returns`() {
        var scene = Scene.playing()
        scene.reaches(seconds(30))
        let load = scene.load
        #expect(scene.happens(.sessionSwitched(isPlaying: false)).commands == [.setPlaying(load, false)])
        scene.happens(.outputYielded(at: 2_000_000_001))
        #expect(scene.session?.isHeard == false && scene.session?.isPlaying == false)
        #expect(scene.session?.isBuffering == false)
        let captured = scene.happens(.captureRequested(pipe)).commands
        #expect(captured == [.loadCapture(LoadID(load.number + 2), pipe, playing: true)])
        // It was at 30 s, and was heard for two seconds more.
        let returned = scene.happens(.outputReturned)
        guard case .load(let fresh, let item, playing: false) = returned.commands.first else {
            Issue.record("\(returned)")
            return
        }
        #expect(fresh > load && item.startPosition.isSameMoment(as: seconds(32)))
        #expect(scene.session?.isHeard == true)
        #expect(scene.happens(.sessionSwitched(isPlaying: true)).commands == [.setPlaying(fresh, true)])
    }

    @Test func `what is asked of a session that is not heard counts when it returns`() {
        var scene = Scene.playing()
        scene.happens(.outputYielded(at: 1))
        #expect(scene.asks(.seek(to: seconds(70), tolerance: .zero)).commands == [])
        #expect(scene.asks(.setSpeed(2)).commands == [])
        #expect(scene.asks(.setVolume(0.5)).commands == [])
        let commands = scene.happens(.outputReturned).commands
        guard case .load(let load, let item, _) = commands.first else {
            Issue.record("\(commands)")
            return
        }
        #expect(item.startPosition.isSameMoment(as: seconds(70)))
        #expect(commands.contains(.setMediaVolume(load, Volume(level: 0.5))))
        #expect(scene.loads().commands.contains(.setSpeed(load, 2)))
    }

    @Test func `a session that ends unheard needs no stop, and what is captured goes on`() {
        var scene = Scene.playing()
        scene.happens(.outputYielded(at: 1))
        scene.happens(.captureRequested(pipe))
        let capture = scene.state.foreign?.load
        #expect(scene.stops(1).commands == [])
        #expect(scene.state.foreign?.load == capture && capture != nil)
        let back = scene.happens(.outputReturned)
        #expect(back.commands == [.stop(capture ?? LoadID(0))])
    }

    @Test func `a crash under another source is not the session's`() {
        var scene = Scene.playing()
        scene.happens(.outputYielded(at: 1))
        scene.happens(.captureRequested(pipe))
        scene.reports(.exited(reason: "crash"))
        #expect(
            scene.reports(.started(.closed)).commands.contains { if case .load = $0 { true } else { false } }
                == false)
        #expect(scene.session?.error == nil)
        #expect(scene.state.foreign != nil && scene.state.foreign?.load == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `nothing of a session is played while another source has the output`(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var scene = Scene.playing()
        scene.joins(2, .ben)
        var heard = scene.load
        for moment in 0..<1_500 as Range<Int64> {
            let effects: [ReceiverEffect]
            switch Int.random(in: 0..<16, using: &numbers) {
            case 0, 1: effects = scene.happens(.outputYielded(at: moment))
            case 2, 3: effects = scene.happens(.outputReturned)
            case 4: effects = scene.happens(.captureRequested(pipe))
            case 5: effects = scene.happens(.captureEnded)
            case 6: effects = scene.happens(.sessionSwitched(isPlaying: Bool.random(using: &numbers)))
            case 7: effects = scene.starts(Bool.random(using: &numbers) ? 1 : 2)
            case 8: effects = scene.stops(1)
            case 9: effects = scene.asks(.setPlaying(Bool.random(using: &numbers)))
            case 10: effects = scene.asks(.seek(to: seconds(moment % 90), tolerance: .zero))
            case 11: effects = scene.loads()
            case 12: effects = scene.reaches(seconds(moment % 90))
            case 13:
                scene.reports(.exited(reason: ""))
                effects = scene.reports(.started(.closed))
            case 14: effects = scene.reports(.ended(scene.state.foreign?.load ?? scene.load))
            default: effects = scene.reports(.stopped(heard))
            }
            for command in effects.commands {
                switch command {
                case .load(let load, _, _), .loadCapture(let load, _, _):
                    #expect(load > heard)
                    heard = load
                    if case .load = command {
                        #expect(scene.state.foreign == nil)
                    } else {
                        #expect(scene.state.foreign?.load == load)
                    }
                case .seek, .setSpeed, .setPlaying(_, true): #expect(scene.state.foreign == nil)
                default: break
                }
            }
            if let session = scene.session { #expect(session.isHeard == (scene.state.foreign == nil)) }
        }
    }
}
