// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Testing

extension Receiving {
    struct MovingTests {
        @Test(arguments: [1.5, 0.5]) @RouteActor
        func `another speed keeps the pitch and steps through the media so much quicker`(_ speed: Double)
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                _ = try await card.sound(from: 0)
                let asked = SimulatedCard.now
                #expect(try await control.perform(.setSpeed(speed)) == .accepted)
                try await control.wait("the speed") { abs($0.playbackPosition.rate - speed) < 0.01 }
                let next = Int(control.position().seconds) + 1
                let first = try await card.beginning(ofSecond: next, from: asked)
                let second = try await card.beginning(ofSecond: next + 1, from: first)
                let length = Double(second - first) * 1e-9
                #expect(abs(length - 1 / speed) < 0.1 / speed)
                let pitch = card.recording().heard(
                    from: first + 100_000_000, for: .milliseconds(300), channel: 1)
                #expect(abs(try #require(pitch.frequency) - 1000) < 20)
                #expect(control.playbackSpeed == speed)
                try await control.wait(untilTold: Double(next + 1), at: second, tolerance: 0.15)
                #expect(abs(control.playbackPosition.rate - speed) < 0.01)
            }
        }

        @Test @RouteActor func `a speed beyond the limits is clamped`() async throws {
            try await ReceiverUnderTest.use { receiver in
                let control = try await receiver.playReady("position.flac")
                #expect(try await control.perform(.setSpeed(9)) == .clampedNumber(4))
                #expect(try await control.perform(.setSpeed(0.1)) == .clampedNumber(0.25))
                #expect(control.playbackSpeed == 0.25)
            }
        }

        @Test @RouteActor func `a pause loses nothing`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.mp3")
                _ = try await card.beginning(ofSecond: 1, from: 0)
                try await control.perform(.setPlaying(false))
                try await control.wait("a standing position") { $0.playbackPosition.rate == 0 }
                let paused = SimulatedCard.now
                let place = control.playbackPosition.position.seconds
                let next = Int(place) + 1
                #expect(place > 1 && place < 30)
                #expect(await card.recording(within: .seconds(30)) { !$0.isRunning } != nil)
                let resumed = SimulatedCard.now
                #expect(card.recording().firstSound(from: paused + 60_000_000) == nil)
                try await control.perform(.setPlaying(true))
                let start = try await card.sound(from: resumed).start
                let change = try await card.beginning(ofSecond: next, from: resumed)
                // What was heard before and after the pause is whole together.
                #expect(abs(place + Double(change - start) * 1e-9 - Double(next)) < 0.05)
            }
        }

        @Test @RouteActor func `a session can begin paused`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                var options = RouteSession.Options()
                options.isPlaying = false
                options.startPosition = .seconds(5)
                let control = try await receiver.playReady("position.flac", options: options)
                #expect(!control.isPlaying && control.playbackPosition.rate == 0)
                #expect(abs(control.playbackPosition.position.seconds - 5) < 0.01)
                let asked = SimulatedCard.now
                #expect(card.recording().firstSound(from: 0) == nil)
                control.isPlaying = true
                let sound = try await card.sound(from: asked)
                #expect(sound.recording.second(at: sound.start + 20_000_000) == 5)
            }
        }

        @Test(arguments: [8.0, -8.0]) @RouteActor
        func `a scan moves the position, and ends where it is`(_ speed: Double) async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                var options = RouteSession.Options()
                options.startPosition = .seconds(speed > 0 ? 10 : 50)
                let control = try await receiver.playReady("position.flac", options: options)
                try #require(
                    control.supportedSeekCapabilities.contains(speed > 0 ? .scanForward : .scanBackward))
                _ = try await card.sound(from: 0)
                try await control.perform(.setState(.scanning, scanSpeed: speed))
                #expect(control.state == .scanning && control.scanSpeed == speed)
                try await control.wait("the scan to have moved") {
                    speed > 0
                        ? $0.playbackPosition.position.seconds > 18
                        : $0.playbackPosition.position.seconds < 42
                }
                #expect(control.playbackPosition.rate * speed > 0)
                let asked = SimulatedCard.now
                try await control.perform(.setState(.normal, scanSpeed: nil))
                try await control.wait("normal speed") {
                    $0.state == .normal && $0.playbackPosition.rate == 1
                }
                let place = control.playbackPosition.position(atClockTime: SimulatedCard.now).seconds
                #expect(speed > 0 ? place > 17 && place < 57 : place < 43 && place > 0)
                let next = Int(place) + 1
                let change = try await card.beginning(ofSecond: next, from: asked)
                try await control.wait(untilTold: Double(next), at: change)
            }
        }

        @Test @RouteActor func `of seeks in a row the last counts`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                _ = try await card.sound(from: 0)
                let asked = SimulatedCard.now
                for second in [10.0, 50, 20, 40.5] { control.seek(to: .seconds(second)) }
                let change = try await card.beginning(ofSecond: 41, from: asked)
                try await control.wait(untilTold: 41, at: change)
                #expect(
                    try await control.perform(.seek(to: .seconds(100), tolerance: .zero))
                        == .clampedTime(control.timeRange.end))
            }
        }
    }
}
