// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReceiverRuntime
import SwitchingCore
import Testing

/// Daemons, adapters and buses that go while a phone plays.
@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .enabled(
        if: BluetoothStage.missing == nil, "NOT RUN: needs dbus-daemon, python3, python3-dbus, python3-gi"))
struct DaemonLossTests {
    private let stage = BluetoothStage()
    private let phone = Phone.first

    private func playing() async throws -> Samples {
        try await stage.ready()
        await stage.connect(phone)
        await stage.play(phone)
        return try await stage.listen(to: phone)
    }

    @Test func `a receiver that starts first waits for everything else`() async throws {
        try await stage.startBus()
        try await stage.startSources()
        await stage.expect(.availabilityChanged(.absent(reason: "BlueZ does not run")))
        try await stage.start(.bluez)
        await stage.expect(.availabilityChanged(.absent(reason: "there is no Bluetooth adapter")))
        await stage.tell(.bluez, "adapter hci0")
        await stage.expect(.availabilityChanged(.absent(reason: "bluez-alsa does not run")))
        try await stage.start(.bluealsa)
        await stage.expect(.availabilityChanged(.ready))
        await stage.connect(phone)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `BlueZ ends while a phone plays, comes back, and so does the phone`(
        signal: Int32
    ) async throws {
        let samples = try await playing()
        try await stage.end(.bluez, signal: signal)
        await stage.expect(.disconnected(phone.address))
        await stage.expect(.availabilityChanged(.absent(reason: "BlueZ does not run")))
        // As bluez-alsa does, which loses the transport.
        await stage.tell(.bluealsa, "gone \(phone.address)")
        #expect(await samples.hasEnded())
        try await stage.start(.bluez)
        await stage.tell(.bluez, "adapter hci0")
        await stage.tell(.bluez, "device \(phone.address) \(phone.name)")
        await stage.said(.bluez, "agent NoInputNoOutput")
        await stage.expect(.availabilityChanged(.ready))
        await stage.said(.bluez, "connect-profile \(phone.address) 0000110a-0000-1000-8000-00805f9b34fb")
        await stage.tell(.bluealsa, "pcm \(phone.address)")
        await stage.expect(.connected(phone.address, name: phone.name))
        await stage.play(phone)
        _ = try await stage.listen(to: phone)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `bluez-alsa ends while a phone plays, and sound comes back with it`(
        signal: Int32
    ) async throws {
        let samples = try await playing()
        try await stage.end(.bluealsa, signal: signal)
        await stage.expect(.disconnected(phone.address))
        await stage.expect(.availabilityChanged(.absent(reason: "bluez-alsa does not run")))
        #expect(await samples.hasEnded())
        try await stage.start(.bluealsa)
        await stage.expect(.availabilityChanged(.ready))
        // The phone is still connected, and nobody but the receiver would ask for its sound again.
        await stage.said(.bluez, "connect-profile \(phone.address) 0000110a-0000-1000-8000-00805f9b34fb")
        await stage.tell(.bluealsa, "pcm \(phone.address)")
        await stage.expect(.connected(phone.address, name: phone.name))
    }

    @Test func `a phone that refuses sound over its old connection is asked for a new one`() async throws {
        _ = try await playing()
        await stage.tell(.bluez, "refuse-joining yes")
        try await stage.end(.bluealsa, signal: SIGKILL)
        await stage.expect(.disconnected(phone.address))
        try await stage.start(.bluealsa)
        let question = "connect-profile \(phone.address) 0000110a-0000-1000-8000-00805f9b34fb"
        await stage.said(.bluez, question)
        await stage.said(.bluez, "disconnect \(phone.address)")
        await stage.said(.bluez, "left \(phone.address)")
        await stage.tell(.bluez, "refuse-joining no")
        await stage.said(.bluez, question)
        await stage.tell(.bluealsa, "pcm \(phone.address)")
        await stage.expect(.connected(phone.address, name: phone.name))
    }

    @Test func `the adapter is switched off and on again`() async throws {
        let samples = try await playing()
        await stage.tell(.bluez, "power off")
        await stage.expect(.disconnected(phone.address))
        await stage.expect(.availabilityChanged(.off(reason: "the Bluetooth adapter is switched off")))
        await stage.tell(.bluealsa, "gone \(phone.address)")
        #expect(await samples.hasEnded())
        await stage.tell(.bluez, "power on")
        await stage.expect(.availabilityChanged(.ready))
        await stage.said(.bluez, "connect-profile \(phone.address) 0000110a-0000-1000-8000-00805f9b34fb")
        await stage.tell(.bluealsa, "pcm \(phone.address)")
        await stage.expect(.connected(phone.address, name: phone.name))
    }

    @Test func `the adapter is pulled out while a phone plays, and another one takes its place`() async throws
    {
        _ = try await playing()
        await stage.tell(.bluez, "adapter-gone")
        await stage.expect(.disconnected(phone.address))
        await stage.expect(.availabilityChanged(.absent(reason: "there is no Bluetooth adapter")))
        await stage.tell(.bluealsa, "gone \(phone.address)")
        await stage.tell(.bluez, "adapter hci0")
        await stage.expect(.availabilityChanged(.ready))
        await stage.connect(phone)
    }

    @Test func `a receiver that is shut down reports nothing more and lets samples go`() async throws {
        let samples = try await playing()
        await stage.shutDownSources()
        await stage.said(.bluealsa, "closed \(phone.device)")
        #expect(await samples.hasEnded())
    }
}
