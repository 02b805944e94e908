// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe
import Testing

/// Signals by their numbers, which are the same on all of Linux's architectures.
private enum Signal {
    static let abort: Int32 = 6
    static let kill: Int32 = 9
    static let segmentation: Int32 = 11
    static let stop: Int32 = 19
}

extension Receiving {
    /// The renderer dies of what really kills processes, at the worst moments.
    struct RendererDeathTests {
        @Test(arguments: [Signal.segmentation, Signal.abort, Signal.kill]) @RouteActor
        func `what plays is back soon, with all that was set`(_ signal: Int32) async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                var options = RouteSession.Options()
                options.startPosition = .seconds(10)
                let control = try await receiver.playReady("position.flac", options: options)
                try await control.perform(.setVolume(0.8))
                try await control.perform(.setSpeed(1.25))
                try await receiver.route.device.perform(.setVolume(0.9))
                _ = try await card.beginning(ofSecond: 11, from: 0)
                let next = max(Int(control.position().seconds + 0.2), 11) + 2
                let session = control.sessionID
                let killed = try receiver.signalRenderer(signal).time
                let back = try await card.soundAfterDeath(at: killed)
                print("back \((back - killed) / 1_000_000) ms after signal \(signal)")
                #expect(back - killed < 8_000_000_000)
                // The first moments are a fade and a new pace.
                let change = try await card.beginning(ofSecond: next, from: back + 150_000_000)
                try await control.wait(untilTold: Double(next), at: change, tolerance: 0.15)
                #expect(control.end == nil && control.sessionID == session)
                #expect(receiver.route.player?.sessionID == session)
                try await control.wait("no trouble") { $0.error == nil && !$0.isBuffering }
                #expect(abs(control.playbackPosition.rate - 1.25) < 0.01)
                #expect(control.playbackSpeed == 1.25 && control.volume == 0.8)
                #expect(receiver.route.device.volume == 0.9)
                // The pace and the level are those of before.
                let following = try await card.beginning(ofSecond: next + 1, from: change)
                #expect(abs(Double(following - change) * 1e-9 - 0.8) < 0.1)
                let (before, after) = (
                    card.recording().heard(from: killed - 300_000_000, for: .milliseconds(200), channel: 1)
                        .peak,
                    card.recording().heard(from: change + 300_000_000, for: .milliseconds(200), channel: 1)
                        .peak
                )
                #expect(before > 100 && abs(before - after) < before / 4, "\(before), then \(after)")
            }
        }

        @Test @RouteActor func `what is paused stays paused at its place, and plays from there`() async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                var options = RouteSession.Options()
                (options.startPosition, options.isPlaying) = (.seconds(20.5), false)
                let control = try await receiver.playReady("position.flac", options: options)
                let killed = try receiver.signalRenderer(Signal.segmentation).time
                try await control.wait("an error") { $0.error?.code == .rendererCrashed }
                try await control.wait("no error") { $0.error == nil }
                #expect(!control.isPlaying && control.end == nil)
                #expect(abs(control.position().seconds - 20.5) < 0.1)
                #expect(card.recording().firstSound(from: killed) == nil)
                try await control.perform(.setPlaying(true))
                _ = try await card.beginning(ofSecond: 21, from: killed)
            }
        }

        @Test @RouteActor func `a chosen track and a mute are those of before`() async throws {
            try await ReceiverUnderTest.use { receiver in
                let control = try await receiver.playReady("languages.mkv")
                let other = try #require(control.audioOptions.first { $0 != control.currentAudioOption })
                try await control.perform(.selectTrack(.audio, identifier: other.identifier))
                try await control.perform(.setMuted(true))
                try await control.wait("the other track") { $0.currentAudioOption == other }
                let killed = try receiver.signalRenderer(Signal.segmentation).time
                try await control.wait("an error") { $0.error?.code == .rendererCrashed }
                try await control.wait("no error") { $0.error == nil && !$0.isBuffering }
                try await control.wait("the other track again") { $0.currentAudioOption == other }
                #expect(control.isMuted)
                var card = receiver.card
                let recording = await card.recording(within: .seconds(30)) { recording in
                    guard let start = recording.segments.last?.start, start > killed else { return false }
                    return start + 400_000_000 < SimulatedCard.now
                }
                let start = try #require(recording?.segments.last?.start)
                #expect(card.recording().firstSound(from: start) == nil)
            }
        }

        @Test @RouteActor func `a load that is under way is begun again`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                // Loading takes a while at this rate.
                let session = try await receiver.play("slow/60000/position.wav")
                let control = session.playbackControl
                #expect(!control.isReady)
                let killed = try receiver.signalRenderer(Signal.abort).time
                try await control.wait("ready") { $0.isReady }
                #expect(control.end == nil)
                _ = try await card.sound(from: killed)
            }
        }

        @Test @RouteActor func `a seek that is under way leads to its place`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                _ = try await card.sound(from: 0)
                control.seek(to: .seconds(40))
                let killed = try receiver.signalRenderer(Signal.segmentation).time
                _ = try await card.beginning(ofSecond: 41, from: killed)
                #expect(control.end == nil)
            }
        }

        @Test @RouteActor
        func `an item that always crashes ends with an error that names it, and others play`()
            async throws
        {
            let poison = "\(Programs.build)/media/poison.wav"
            try writeBytes(wave(of: [Int16](repeating: 0x7abc, count: 96_000)), to: poison)
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.play("poison.wav").playbackControl
                try await control.wait("the end") { $0.end != nil }
                guard case .failed(let failure)? = control.end else {
                    Issue.record("ended with \(String(describing: control.end))")
                    return
                }
                #expect(failure.code == .rendererCrashed)
                #expect(failure.message.contains("poison.wav"))
                // Once, once more, and one for what comes next.
                let launches = readLines("\(receiver.folder)/linnetd.log").filter {
                    $0.contains("renderer launched")
                }
                #expect(launches.count <= 3)
                let asked = SimulatedCard.now
                _ = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: asked)
            }
        }

        @Test @RouteActor func `a stop is over soon, whatever the renderer does`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let session = try await receiver.play("position.flac")
                try await session.playbackControl.wait("ready") { $0.isReady }
                let old = try receiver.signalRenderer(Signal.stop).renderer
                let asked = ContinuousClock.now
                try await receiver.route.stopPlayer()
                #expect(session.playbackControl.end == .stopped)
                #expect(ContinuousClock.now - asked < .seconds(3))
                #expect(
                    await Programs.poll(within: .seconds(30)) {
                        receiver.renderer != old && receiver.renderer != nil
                    })
                #expect(ContinuousClock.now - asked < .seconds(10))
                let again = SimulatedCard.now
                _ = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: again)
            }
        }

        @Test @RouteActor func `a renderer that hangs is replaced soon after it was told something`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: 0)
                let hung = try receiver.signalRenderer(Signal.stop).time
                try await control.perform(.setMuted(false))
                let back = try await card.soundAfterDeath(at: hung)
                #expect(back - hung < 20_000_000_000)
                #expect(control.end == nil)
            }
        }

        /// A pipe that nobody writes to: opening it blocks the pipeline's change of state, and nothing ends that.
        @Test @RouteActor func `a pipeline that is stuck in its change of state holds up nobody`()
            async throws
        {
            try await ReceiverUnderTest.use(["--allow-file", "yes"]) { receiver in
                var card = receiver.card
                let pipe = "\(card.folder)/pipe"
                _ = try ChildProcess(["mkfifo", pipe]).wait(milliseconds: 20_000)
                let stuck = RouteSession(url: "file://\(pipe)")
                #expect(receiver.route.addSession(stuck))
                let session = try await stuck.start()
                #expect(!session.playbackControl.isReady)
                let asked = ContinuousClock.now
                await stuck.stop()
                #expect(ContinuousClock.now - asked < .seconds(10))
                let again = SimulatedCard.now
                _ = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: again)
                #expect(SimulatedCard.now - again < 15_000_000_000)
            }
        }
    }

    struct RendererLinkTests {
        @Test @RouteActor func `a real renderer ends when its daemon breaks the rules, or is gone`()
            async throws
        {
            let root = Programs.build.split(separator: "/").dropLast().joined(separator: "/")
            let folder = try Programs.makeFolder()
            defer { Programs.remove(folder) }
            let output = "\(folder)/daemon.out"
            let script = try Programs.start(
                ["python3", "/\(root)/Tests/Support/python/daemon.py", try Programs.path("linnet-renderer")],
                output: output)
            #expect(await Programs.poll(within: .seconds(90)) { !script.isRunning })
            #expect(script.wait(milliseconds: 0) == 0, "\(readText(output))")
            #expect(readLines(output).count == 21)
        }
    }
}

extension ReceiverUnderTest {
    /// Sends a signal to the renderer alone; when, and to which.
    fileprivate func signalRenderer(_ number: Int32) throws -> (time: Int64, renderer: Int32) {
        guard let renderer else { throw TestFailure("there is no renderer") }
        let time = SimulatedCard.now
        _ = try ChildProcess(["kill", "-\(number)", "\(renderer)"]).wait(milliseconds: 20_000)
        return (time, renderer)
    }
}

/// 16 bits, two channels, 48 kHz.
private func wave(of samples: [Int16]) -> [UInt8] {
    func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    let size = UInt32(samples.count * 2)
    var file = Array("RIFF".utf8) + bytes(36 + size) + Array("WAVEfmt ".utf8) + bytes(UInt32(16))
    file += bytes(UInt16(1)) + bytes(UInt16(2)) + bytes(UInt32(48_000)) + bytes(UInt32(192_000))
    file += bytes(UInt16(4)) + bytes(UInt16(16)) + Array("data".utf8) + bytes(size)
    return file + samples.flatMap { bytes($0) }
}
