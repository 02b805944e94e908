// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import BluetoothSources
import Glibc
import LoopTestKit
import ReceiverRuntime
import SwitchingCore
import Testing

/// Who may pair, and when.
@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .enabled(
        if: BluetoothStage.missing == nil, "NOT RUN: needs dbus-daemon, python3, python3-dbus, python3-gi"))
struct PairingTests {
    private let stage = BluetoothStage()
    private let phone = Phone.first

    private func open(_ seconds: Int = 60) async {
        await stage.send(.openPairing(seconds: seconds))
        let opened = await stage.events.first { if case .pairingChanged(.open) = $0 { true } else { false } }
        #expect(opened != nil)
        await stage.said(.bluez, "adapter Discoverable 1")
    }

    @Test func `an adapter that was left open is closed, named, and shows the service of the accessory`()
        async throws
    {
        try await stage.startBus()
        try await stage.start(.bluez)
        try await stage.start(.bluealsa)
        await stage.tell(.bluez, "adapter hci0")
        try await stage.startSources()
        await stage.said(.bluez, "profile \(AccessoryService.uuid) server")
        await stage.said(.bluez, "adapter Alias Kitchen")
        // Registering an agent makes BlueZ pairable, which is taken back.
        await stage.said(.bluez, "adapter Pairable 0")
        await stage.said(.bluez, "adapter Discoverable 0")
        await stage.tell(.bluez, "pair \(phone.address) - \(phone.name)")
        await stage.said(.bluez, "not-pairable \(phone.address)")
    }

    @Test func `while the window is open a phone is paired, trusted from then on, and the window closes`()
        async throws
    {
        try await stage.ready()
        await open()
        await stage.tell(.bluez, "pair \(phone.address) - \(phone.name)")
        await stage.expect(.pairingChanged(.paired(phone.address)))
        await stage.expect(.pairingChanged(.closed))
        await stage.said(.bluez, "device \(phone.address) Trusted 1")
        await stage.said(.bluez, "adapter Discoverable 0")
        await stage.expect(
            .known([KnownSource(address: phone.address, name: phone.name, isConnected: true, isTrusted: true)]
            ))
        await stage.tell(.bluez, "pair \(Phone.second.address) - \(Phone.second.name)")
        await stage.said(.bluez, "not-pairable \(Phone.second.address)")
        await stage.reconnect(phone)
    }

    @Test func `BlueZ closes the window by itself should the receiver end`() async throws {
        try await stage.ready()
        await stage.send(.openPairing(seconds: 60))
        await stage.said(.bluez, "adapter PairableTimeout 70")
        await stage.said(.bluez, "adapter DiscoverableTimeout 70")
        await stage.said(.bluez, "adapter Pairable 1")
        await stage.said(.bluez, "adapter Discoverable 1")
    }

    @Test func `a window ends by its time and on request`() async throws {
        try await stage.ready()
        await open(1)
        await stage.expect(.pairingChanged(.closed))
        await stage.said(.bluez, "adapter Discoverable 0")
        await open()
        await stage.send(.closePairing)
        await stage.expect(.pairingChanged(.closed))
        await stage.said(.bluez, "adapter Discoverable 0")
    }

    @Test func `a person confirms the number that both sides show`() async throws {
        try await stage.ready(confirms: true)
        await open()
        await stage.tell(.bluez, "pair \(phone.address) 123456 \(phone.name)")
        await stage.expect(.pairingChanged(.asked(phone.address, name: phone.name, passkey: 123456)))
        await stage.send(.confirmPairing(Phone.second.address, true))
        await stage.send(.confirmPairing(phone.address, true))
        await stage.said(.bluez, "paired \(phone.address)")
        await stage.expect(.pairingChanged(.paired(phone.address)))
        await stage.expect(.pairingChanged(.closed))
    }

    @Test func `a number that is wrong is refused, and the window stays open`() async throws {
        try await stage.ready(confirms: true)
        await open()
        await stage.tell(.bluez, "pair \(phone.address) 123456 \(phone.name)")
        await stage.expect(.pairingChanged(.asked(phone.address, name: phone.name, passkey: 123456)))
        await stage.send(.confirmPairing(phone.address, false))
        await stage.said(.bluez, "pairing-refused \(phone.address) org.bluez.Error.Rejected")
        await stage.expect(.pairingChanged(.failed(reason: "it was refused")))
        await stage.tell(.bluez, "pair \(Phone.second.address) 000007 \(Phone.second.name)")
        await stage.expect(
            .pairingChanged(.asked(Phone.second.address, name: Phone.second.name, passkey: 7)))
        await stage.tell(.bluez, "cancel")
        await stage.expect(.pairingChanged(.failed(reason: "the other side gave up")))
    }

    @Test func `a question outside of the window is answered with no`() async throws {
        try await stage.ready(confirms: true)
        await stage.tell(.bluez, "pair-anyway \(phone.address) 123456 \(phone.name)")
        await stage.said(.bluez, "pairing-refused \(phone.address) org.bluez.Error.Rejected")
    }

    @Test func `who was paired without a window does not play`() async throws {
        try await stage.ready()
        await stage.tell(.bluez, "pair-anyway \(phone.address) - \(phone.name)")
        await stage.said(.bluez, "paired \(phone.address)")
        await stage.tell(.bluez, "connect \(phone.address)")
        await stage.said(.bluez, "turned-away \(phone.address) org.bluez.Error.Rejected")
    }

    @Test func `a strange program on the bus is not answered`() async throws {
        try await stage.ready()
        await open()
        let refusal = try await stage.askAgentAsStranger()
        #expect(refusal == "org.freedesktop.DBus.Error.AccessDenied")
    }

    @Test func `after a restart of BlueZ the agent is there again and the window closed`() async throws {
        try await stage.ready()
        await open()
        try await stage.end(.bluez, signal: SIGKILL)
        await stage.expect(.pairingChanged(.failed(reason: "Bluetooth is not there any more")))
        await stage.expect(.pairingChanged(.closed))
        try await stage.start(.bluez)
        await stage.tell(.bluez, "adapter hci0")
        await stage.said(.bluez, all: ["default-agent", "adapter Discoverable 0", "adapter Pairable 0"])
    }

    @Test func `a window does not open without an adapter`() async throws {
        try await stage.startBus()
        try await stage.start(.bluez)
        try await stage.startSources()
        await stage.expect(.availabilityChanged(.absent(reason: "there is no Bluetooth adapter")))
        await stage.send(.openPairing(seconds: 60))
        await stage.expect(.pairingChanged(.failed(reason: "Bluetooth is not ready")))
    }

    @Test func `another program that opens the adapter is set right, though not for ever`() async throws {
        try await stage.ready()
        for _ in 0..<4 {
            await stage.tell(.bluez, "property Discoverable true")
            await stage.said(.bluez, "adapter Discoverable 0")
        }
    }

    @Test func `an adapter that can is found in the low-energy way while the window is open`() async throws {
        try await stage.startBus()
        try await stage.start(.bluez)
        try await stage.start(.bluealsa)
        await stage.tell(.bluez, "adapter hci0 yes")
        await stage.said(.bluez, "done adapter")
        try await stage.startSources()
        await stage.said(.bluez, "default-agent")
        await stage.expect(.availabilityChanged(.ready))
        await stage.send(.openPairing(seconds: 60))
        await stage.said(.bluez, "advertised peripheral \(AccessoryService.uuid)")
        await stage.send(.closePairing)
        await stage.said(.bluez, "unadvertised")
    }
}
