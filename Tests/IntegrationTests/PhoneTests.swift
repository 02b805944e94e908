// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import ReceiverTestKit
import RouteKit
import Settings
import Testing

extension Receiving {
    @Suite(
        .enabled(
            if: PhoneStage.missing == nil, "NOT RUN: needs dbus-daemon, python3, python3-dbus, python3-gi"))
    struct PhoneTests {
        @Test @RouteActor
        func `a phone is heard, and is paused when a sender plays`()
            async throws
        {
            let stage = try await PhoneStage()
            try await ReceiverUnderTest.use(
                ["--bluetooth", "yes", "--confirm-pairing", "no"], environment: stage.environment
            ) { receiver in
                var card = receiver.card
                // The adapter is settled: the receiver knows both daemons.
                _ = await stage.bluez.lines.first { $0 == "default-agent" }
                await stage.play(hertz: 440)
                let begun = SimulatedCard.now
                let recording = await card.recording(within: .seconds(40)) { recording in
                    guard let first = recording.firstSound(from: begun) else { return false }
                    let sound = recording.heard(from: first + 100_000_000, for: .milliseconds(300))
                    return sound.peak > 10_000 && abs((sound.frequency ?? 0) - 440) < 5
                }
                #expect(recording != nil)
                _ = try await receiver.play("position.flac")
                #expect(
                    await stage.bluez.lines.first { $0 == "player \(PhoneStage.device) Pause" } != nil)
            }
        }
    }
}
