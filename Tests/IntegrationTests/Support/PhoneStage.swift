// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import RouteKit
import Settings

/// Stand-ins for bluetoothd and bluealsa on a bus of their own, and one phone.
@RouteActor final class PhoneStage {
    nonisolated static let address = "AA:BB:CC:DD:EE:01"
    nonisolated static let device = "dev_AA_BB_CC_DD_EE_01"
    private static let script =
        String(#filePath.prefix { _ in true }.dropLast("IntegrationTests/Support/PhoneStage.swift".count))
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
