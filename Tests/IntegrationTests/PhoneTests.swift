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
                try await card.hears(440)
                _ = try await receiver.play("position.flac")
                #expect(
                    await stage.bluez.lines.first { $0 == "player \(PhoneStage.device) Pause" } != nil)
            }
        }
    }
}
