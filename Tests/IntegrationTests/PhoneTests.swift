// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import ReceiverTestKit
import RouteKit
import Settings
import Testing

/// Stand-ins for bluetoothd and bluealsa on a bus of their own, and one phone.
@RouteActor private final class PhoneStage {
    nonisolated static let address = "AA:BB:CC:DD:EE:01"
    nonisolated static let device = "dev_AA_BB_CC_DD_EE_01"
    private static let script =
        String(#filePath.prefix { _ in true }.dropLast("IntegrationTests/PhoneTests.swift".count))
        + "Support/python/bluetooth.py"
    nonisolated static let missing: String? = ["/usr/bin/dbus-daemon", "/usr/bin/python3"].first {
        !FileSystem.isExecutable($0)
    }

    private let bus: PrivateBus
    let bluez: TalkingProgram
    let bluealsa: TalkingProgram
    var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }

    init() async throws {
        bus = try await PrivateBus.start()
        bluez = try TalkingProgram(["/usr/bin/python3", Self.script, "bluez", bus.address])
        bluealsa = try TalkingProgram(["/usr/bin/python3", Self.script, "bluealsa", bus.address])
        _ = await bluez.lines.first { $0 == "ready" }
        _ = await bluealsa.lines.first { $0 == "ready" }
        bluez.say("adapter hci0")
    }

    /// The phone is paired, and plays a tone.
    func play(hertz: Int) async {
        bluez.say("device \(Self.address) Phone")
        bluez.say("connect \(Self.address)")
        _ = await bluez.lines.first { $0 == "up \(Self.address)" }
        bluealsa.say("pcm \(Self.address)")
        bluealsa.say("feed \(Self.address) \(hertz)")
    }
}

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
