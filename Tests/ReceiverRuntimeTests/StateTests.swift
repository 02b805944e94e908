// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SeededNumbers
import SessionCore
import Testing

struct StateTests {
    @Test func `a sender that applies patches knows what one that asks for all is given`() throws {
        for seed in 1...15 { try walk(seed: UInt64(seed), steps: 80) }
    }

    /// Three senders do what comes to their minds; one more only watches, and reads now and then.
    private func walk(seed: UInt64, steps: Int) throws {
        var chance = SeededNumbers(seed: seed)
        let receiver = try TestReceiver.running()
        let watcher = TestSender(receiver)
        try watcher.ask(.subscribe)
        var senders = (1...3).map { _ in TestSender(receiver) }
        for (number, sender) in senders.enumerated() { try sender.activate("S\(number)", id: "s\(number)") }
        for _ in 0..<steps {
            let index = Int.random(in: 0..<senders.count, using: &chance)
            let sender = senders[index]
            switch Int.random(in: 0..<20, using: &chance) {
            case 0:
                sender.client.vanish()
                senders[index] = TestSender(receiver)
                _ = try? senders[index].activate("S\(index)", id: "s\(index)", resume: sender.resumeToken)
            case 1:
                receiver.clock.advance(by: .seconds(Int.random(in: 1...20, using: &chance)))
            case 2: watcher.client.stopReading()
            case 3: watcher.client.readOnce()
            case 4: watcher.client.resumeReading()
            case 5: report(to: receiver, &chance)
            case 6: receiver.settle()
            default: _ = sender.say(request(&chance))
            }
            try sender.read()
            try watcher.read()
        }
        watcher.client.resumeReading()
        receiver.settle()
        try watcher.read()
        let whole = try snapshot(receiver)
        try watcher.read()
        #expect(watcher.state == whole, "seed \(seed)")
        for sender in senders where sender.route != "" {
            try sender.read()
            #expect(sender.state == whole, "seed \(seed)")
        }
    }

    private func request(_ chance: inout SeededNumbers) -> RouteRequest {
        let time = MediaTime(value: Int64.random(in: -5...300, using: &chance), timescale: 1)
        switch Int.random(in: 0..<14, using: &chance) {
        case 0: return .start(SessionStart(url: "http://a/\(time)", title: "T", segments: segments))
        case 1: return .stop(session: nil)
        case 2: return .setPlaying(session: nil, Bool.random(using: &chance))
        case 3: return .seek(session: nil, position: time, tolerance: .zero)
        case 4: return .setSpeed(session: nil, Double.random(in: 0...6, using: &chance))
        case 5: return .setState(session: nil, .scanning, scanSpeed: 8)
        case 6: return .setState(session: nil, .normal, scanSpeed: nil)
        case 7: return .setVolume(session: nil, Double.random(in: 0...1, using: &chance))
        case 8: return .setDeviceVolume(Double.random(in: 0...1, using: &chance))
        case 9: return .changeDeviceVolume(steps: Int64.random(in: -4...4, using: &chance))
        case 10: return .setDeviceMuted(nil)
        case 11: return .rename("Name \(time)")
        case 12: return .selectTrack(session: nil, .audio, option: "t1")
        default: return .setMuted(session: nil, true)
        }
    }

    private let segments = [
        Segment(
            range: TimeRange(start: .zero, duration: MediaTime(value: 10, timescale: 1)), kind: .intro,
            identifier: nil)
    ]

    private func report(to receiver: TestReceiver, _ chance: inout SeededNumbers) {
        guard let load = receiver.renderer.currentLoad else { return }
        let event: RendererEvent =
            switch Int.random(in: 0..<8, using: &chance) {
            case 0: .bufferingChanged(load, Bool.random(using: &chance))
            case 1: .metadataChanged(load, Metadata(title: nil, album: "A", videoSize: nil))
            case 2: .artworkFound(load, Artwork(bytes: [1, 2, 3], type: "image/png", size: nil))
            case 3:
                .tracksChanged(
                    load,
                    Tracks(
                        audio: TrackSelection(
                            options: [TrackOption(identifier: "t1", displayName: "One")], current: "t1")))
            case 4: .ended(load)
            case 5: .outputChanged(OutputStatus(state: .open, device: "hw:0", sampleRate: 48_000))
            case 6: .outputChanged(OutputStatus(state: .lost, device: "hw:0", reason: "unplugged"))
            default:
                .positionChanged(
                    load,
                    PlaybackPosition(
                        position: MediaTime(
                            nanoseconds: Int64.random(in: 0...100_000_000_000, using: &chance)),
                        clockTime: receiver.clock.now, rate: 1))
            }
        receiver.renderer.report(event)
    }

    @Test func `a sender that does not read gets one step with everything when it reads again`() throws {
        let receiver = try TestReceiver.running()
        let watcher = TestSender(receiver)
        try watcher.ask(.subscribe)
        let sender = TestSender(receiver)
        try sender.activate()
        try watcher.read()
        watcher.changes = []
        watcher.client.stopReading()
        for step in 1...200 { try sender.ask(.setDeviceVolume(Double(step % 16) / 16)) }
        receiver.renderer.report(.outputVolumeChanged(Volume(level: 0.75)))
        // One step was on its way; nothing more waits for the reader.
        #expect(watcher.client.texts.count == 1)
        #expect(watcher.client.pendingBytes < 1_024)
        try watcher.read()
        watcher.client.readOnce()
        try watcher.read()
        #expect(watcher.changes.count == 2)
        #expect(watcher.changes.last?.origin == .several)
        #expect(watcher.member("device", "volume") == 0.75)
        #expect(watcher.client.closing == nil)
    }

    @Test func `a reader that was held up for one step keeps its origin`() throws {
        let receiver = try TestReceiver.running()
        let watcher = TestSender(receiver)
        try watcher.ask(.subscribe)
        let sender = TestSender(receiver)
        try sender.activate()
        try watcher.read()
        watcher.client.stopReading()
        try sender.ask(.setDeviceVolume(0.1))
        try sender.ask(.setDeviceVolume(0.2))
        watcher.client.resumeReading()
        try watcher.read()
        #expect(watcher.changes.last?.origin == .sender(route: sender.route, name: "Ada"))
    }

    @Test func `readers that were held up from the same version on each get all up to now`() throws {
        let receiver = try TestReceiver.running()
        let watchers = (1...3).map { _ in TestSender(receiver) }
        for watcher in watchers { try watcher.ask(.subscribe) }
        let sender = TestSender(receiver)
        try sender.activate()
        for watcher in watchers { watcher.client.stopReading() }
        for step in 1...3 { try sender.ask(.setDeviceVolume(Double(step) / 10)) }
        watchers[0].client.readOnce()
        watchers[1].client.readOnce()
        try sender.ask(.setDeviceVolume(0.9))
        for watcher in watchers {
            watcher.client.resumeReading()
            try watcher.read()
            #expect(watcher.state == sender.state)
        }
    }

    @Test func `after unsubscribing nothing is pushed`() throws {
        let receiver = try TestReceiver.running()
        let watcher = TestSender(receiver)
        try watcher.ask(.subscribe)
        #expect(try watcher.ask(.unsubscribe)["outcome"] == "accepted")
        let sender = TestSender(receiver)
        try sender.activate()
        try watcher.read()
        #expect(watcher.changes.isEmpty)
    }

    @Test func `a change that leaves the state as it was is not pushed`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        try sender.ask(.setDeviceVolume(0.3))
        try sender.read()
        sender.changes = []
        try sender.ask(.setDeviceVolume(0.3))
        try sender.read()
        #expect(sender.changes.isEmpty)
    }
}
