// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import Testing

extension Receiving {
    /// A card that has a jack and does not switch over by itself: headphones are another device.
    struct JackTests {
        private static let settings = [
            "--device", SimulatedCard.hardwareDevice, "--mixer", "none", "--jack", "Headphone Jack",
            "--jack-device", "headphones",
        ]

        /// Adds the headphones to the configuration, with a rate of their own.
        private static func connect(_ card: SimulatedCard, rate: Int) throws {
            let path = "\(card.folder)/asound.conf"
            let text = """
                pcm.headphones { type simdac path "\(card.folder)/sim1" rate \(rate) }

                """
            try FileSystem.write(try FileSystem.read(path, maximum: 1 << 20) + Array(text.utf8), to: path)
        }

        @Test(arguments: [48_000, 44_100]) @RouteActor
        func `what plays goes on at the headphones that are plugged in, and comes back`(rate: Int)
            async throws
        {
            let mixer = SimulatedCard.MixerKind(lowest: -6000, steps: 120, hasJack: true)
            try await ReceiverUnderTest.use(
                Self.settings, mixer: mixer, prepare: { try Self.connect($0, rate: rate) }
            ) { receiver in
                var (usual, other) = (
                    receiver.card, SimulatedCard(folder: receiver.card.folder, number: 1)
                )
                let control = try await receiver.playReady("position.flac")
                let first = try await usual.beginning(ofSecond: 1, from: 0)
                for isPlugged in [true, false] {
                    let before = SimulatedCard.now
                    try usual.setPlugged(isPlugged)
                    let device = isPlugged ? "headphones" : SimulatedCard.hardwareDevice
                    try await receiver.route.wait("the other device") {
                        $0.device.output.device == device && $0.device.output.state == .open
                            && $0.sources.state?.isPlugged == isPlugged
                    }
                    // The last second that was heard there whole, and one that comes.
                    let next = Int((SimulatedCard.now - first) / 1_000_000_000) + 3
                    let later =
                        isPlugged
                        ? try await other.beginning(ofSecond: next, from: before)
                        : try await usual.beginning(ofSecond: next, from: before)
                    // Opening a device takes its time; nothing is left out or heard again.
                    let elapsed = later - first - Int64(next - 1) * 1_000_000_000
                    #expect(elapsed > -60_000_000 && elapsed < 5_000_000_000, "\(elapsed)")
                    let silent = isPlugged ? usual.recording() : other.recording()
                    #expect(!silent.isOpen)
                }
                #expect(control.end == nil && control.isPlaying && control.error == nil)
            }
        }
    }
}
