// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Testing

extension Receiving {
    /// The volume on a card with a mixer; `Docs/volume.md` has the numbers. One without is in `OutputTests`.
    struct MixerTests {
        /// 120 steps of half a decibel.
        private static let usual = SimulatedCard.MixerKind(lowest: -6000, steps: 120)

        private func use(
            _ kind: SimulatedCard.MixerKind = usual, _ settings: [String] = [],
            _ body: @RouteActor (ReceiverUnderTest) async throws -> Void
        ) async throws {
            let device = ["--device", SimulatedCard.hardwareDevice, "--mixer", "auto"]
            try await ReceiverUnderTest.use(device + settings, mixer: kind, body)
        }

        @RouteActor private func mixer(_ receiver: ReceiverUnderTest, becomes value: Int, _ isOn: Bool) async
            -> Bool
        {
            let card = receiver.card
            return await Programs.poll(within: .seconds(30)) {
                card.mixer == SimulatedCard.Mixer(value: value, isOn: isOn)
            }
        }

        /// Plays, so that the output's thread looks at the mixer.
        @RouteActor private func playing(_ receiver: ReceiverUnderTest) async throws {
            _ = try await receiver.playReady("position.flac")
            try await receiver.route.wait("the output open") { $0.device.output.state == .open }
        }

        @Test @RouteActor func `the mixer follows the volume in decibels, and samples stay as they are`()
            async throws
        {
            try await use { receiver in
                var card = receiver.card
                let device = receiver.route.device
                try await playing(receiver)
                #expect(device.output.hasHardwareVolume)
                for (level, value) in [(0.75, 90), (0.5, 60), (1, 120)] {
                    try await device.perform(.setVolume(level))
                    #expect(await mixer(receiver, becomes: value, true), "\(level)")
                }
                try await device.perform(.setVolume(0.25))
                #expect(await mixer(receiver, becomes: 30, true))
                let heard = try await card.sound(from: SimulatedCard.now)
                #expect(heard.recording.heard(from: heard.start, for: .milliseconds(100)).peak > 15_000)
            }
        }

        @Test @RouteActor func `mute is the mixer's switch, and leaves the level alone`() async throws {
            try await use { receiver in
                let device = receiver.route.device
                try await playing(receiver)
                try await device.perform(.setVolume(0.5))
                try await device.perform(.setMuted(true))
                #expect(await mixer(receiver, becomes: 60, false))
                try await device.perform(.setVolume(0.75))
                #expect(await mixer(receiver, becomes: 90, false))
                try await device.perform(.setMuted(false))
                #expect(await mixer(receiver, becomes: 90, true))
            }
        }

        @Test @RouteActor func `without a switch mute is the lowest gain`() async throws {
            try await use(.init(lowest: -6000, steps: 120, hasSwitch: false)) { receiver in
                let device = receiver.route.device
                try await playing(receiver)
                try await device.perform(.setVolume(0.5))
                try await device.perform(.setMuted(true))
                #expect(await mixer(receiver, becomes: 0, true))
                try await device.perform(.setMuted(false))
                #expect(await mixer(receiver, becomes: 60, true))
            }
        }

        @Test @RouteActor func `who moves the mixer elsewhere moves the volume, and everybody sees it`()
            async throws
        {
            try await use { receiver in
                let device = receiver.route.device
                try await playing(receiver)
                #expect(await mixer(receiver, becomes: 120, true))
                try receiver.card.setMixer(SimulatedCard.Mixer(value: 60, isOn: true))
                try await receiver.route.wait("the level") { $0.device.volume == 0.5 && !$0.device.isMuted }
                #expect(device.volumeOrigin == .local)
                // A single step, too.
                try receiver.card.setMixer(SimulatedCard.Mixer(value: 61, isOn: true))
                try await receiver.route.wait("the step") { abs($0.device.volume - (0.5 + 0.5 / 60)) < 1e-9 }
                try receiver.card.setMixer(SimulatedCard.Mixer(value: 61, isOn: false))
                try await receiver.route.wait("the mute") { $0.device.isMuted }
                try receiver.card.setMixer(SimulatedCard.Mixer(value: 61, isOn: true))
                try await receiver.route.wait("no mute") { !$0.device.isMuted }
            }
        }

        @Test @RouteActor func `the cap holds against the mixer as well`() async throws {
            try await use(Self.usual, ["--volume-cap", "0.5"]) { receiver in
                try await playing(receiver)
                #expect(await mixer(receiver, becomes: 60, true))
                try receiver.card.setMixer(SimulatedCard.Mixer(value: 120, isOn: true))
                #expect(await mixer(receiver, becomes: 60, true))
                #expect(receiver.route.device.volume == 0.5)
            }
        }

        @Test @RouteActor func `a mixer with a short scale does not change the level that was asked for`()
            async throws
        {
            try await use(.init(lowest: -3000, steps: 10)) { receiver in
                let device = receiver.route.device
                try await playing(receiver)
                try await device.perform(.setVolume(0.25))
                #expect(await mixer(receiver, becomes: 0, true))
                // The mixer is looked at, and only what was moved is taken over.
                try receiver.card.setMixer(SimulatedCard.Mixer(value: 0, isOn: false))
                try await receiver.route.wait("the mute") { $0.device.isMuted }
                #expect(device.volume == 0.25)
            }
        }

        @Test @RouteActor func `the mixer of a card that was unplugged follows again when it is back`()
            async throws
        {
            try await use { receiver in
                let card = receiver.card
                let device = receiver.route.device
                try await playing(receiver)
                try card.setUnplugged(true)
                try await receiver.route.wait("the output lost") { $0.device.output.state == .lost }
                try await device.perform(.setVolume(0.5))
                try card.setUnplugged(false)
                try await receiver.route.wait("the output open") { $0.device.output.state == .open }
                #expect(device.output.hasHardwareVolume)
                #expect(await mixer(receiver, becomes: 60, true))
                #expect(device.volume == 0.5)
            }
        }

        @Test @RouteActor func `the mixer of a card that was away while it was not used follows again`()
            async throws
        {
            try await use(Self.usual, ["--close-after-seconds", "0"]) { receiver in
                let card = receiver.card
                #expect(try await receiver.play("short.wav").ended() == .finished)
                try await receiver.route.wait("the output closed") { $0.device.output.state == .closed }
                try card.setUnplugged(true)
                try await receiver.route.device.perform(.setVolume(0.75))
                try card.setUnplugged(false)
                try await playing(receiver)
                try await receiver.route.device.perform(.setVolume(0.5))
                #expect(await mixer(receiver, becomes: 60, true))
            }
        }
    }
}
