// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LoopTestKit
import MediaModel
import ReceiverRuntime
import SwitchingCore
import Testing

/// What a phone does between coming and going.
@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .enabled(
        if: BluetoothStage.missing == nil, "NOT RUN: needs dbus-daemon, python3, python3-dbus, python3-gi"))
struct PhoneLifeTests {
    private let stage = BluetoothStage()
    private let phone = Phone.first

    @Test func `a phone comes, plays, is paused, played, made louder, and leaves`() async throws {
        try await stage.ready()
        await stage.connect(phone)
        await stage.said(.bluealsa, "softvolume \(phone.device) 0")
        await stage.tell(.bluez, "player \(phone.address) playing One")
        await stage.expect(
            .playerChanged(phone.address, .playing, Metadata(title: "One", subtitle: "Somebody")))
        await stage.tell(.bluez, "state \(phone.address) pending")
        await stage.tell(.bluez, "state \(phone.address) active")
        await stage.play(phone)

        let samples = try await stage.listen(to: phone)
        let heard = await samples.read(frames: 12_000)
        #expect(heard.count == 24_000)
        #expect(heard.max() ?? 0 > 15_000)

        // The receiver pauses the phone, which does so; then the phone itself plays on.
        await stage.send(.pause(phone.address))
        await stage.said(.bluez, "player \(phone.device) Pause")
        await stage.expect(
            .playerChanged(phone.address, .paused, Metadata(title: "One", subtitle: "Somebody")))
        await stage.tell(.bluealsa, "stop \(phone.address)")
        await stage.expect(.streaming(phone.address, nil))
        await stage.send(.play(phone.address))
        await stage.said(.bluez, "player \(phone.device) Play")
        await stage.expect(
            .playerChanged(phone.address, .playing, Metadata(title: "One", subtitle: "Somebody")))
        await stage.play(phone)

        // What the receiver sets is no news; what the phone sets is.
        await stage.send(.setVolume(phone.address, 40 / 127))
        await stage.said(.bluez, "volume \(phone.device) 40")
        await stage.tell(.bluez, "volume \(phone.address) 70")
        let louder = await stage.events.first { if case .volumeChanged = $0 { true } else { false } }
        #expect(louder == .volumeChanged(phone.address, 70.0 / 127))

        await stage.tell(.bluealsa, "gone \(phone.address)")
        await stage.tell(.bluez, "leave \(phone.address)")
        await stage.expect(.disconnected(phone.address))
        #expect(await samples.hasEnded())
        await stage.expect(
            .known([
                KnownSource(address: phone.address, name: phone.name, isConnected: false, isTrusted: true)
            ]))
    }

    @Test func `a phone that ignores a pause goes on, and its samples are still there to be read`()
        async throws
    {
        try await stage.ready()
        await stage.connect(phone)
        await stage.play(phone)
        let samples = try await stage.listen(to: phone)
        await stage.tell(.bluez, "ignore-control yes")
        await stage.send(.pause(phone.address))
        await stage.said(.bluez, "player \(phone.device) Pause")
        #expect(await samples.read(frames: 24_000).count == 48_000)
    }

    @Test func `the same phone is opened again after it was closed`() async throws {
        try await stage.ready()
        await stage.connect(phone)
        await stage.play(phone)
        for _ in 0..<3 {
            let samples = try await stage.listen(to: phone)
            #expect(await samples.read(frames: 480).count == 960)
            await stage.send(.close(phone.address))
            await stage.said(.bluealsa, "closed \(phone.device)")
        }
        // Without a word in between the older one is let go.
        _ = try await stage.listen(to: phone)
        let samples = try await stage.listen(to: phone)
        #expect(await samples.read(frames: 480).count == 960)
    }

    @Test func `a phone that is gone, or was never there, is not opened`() async throws {
        try await stage.ready()
        await stage.send(.open(phone.address))
        await stage.expect(.openFailed(phone.address, reason: "the device is not connected"))
        for command in [
            ExternalSourceCommand.close(phone.address), .play(phone.address), .pause(phone.address),
            .setVolume(phone.address, .nan), .disconnect(phone.address), .forget(phone.address),
            .confirmPairing(phone.address, true), .closePairing,
        ] {
            await stage.send(command)
        }
        await stage.send(.open(phone.address))
        await stage.expect(.openFailed(phone.address, reason: "the device is not connected"))
    }

    @Test func `samples in a form that nobody plays are refused`() async throws {
        try await stage.ready()
        await stage.tell(.bluez, "device \(phone.address) \(phone.name)")
        await stage.tell(.bluez, "connect \(phone.address)")
        await stage.said(.bluez, "up \(phone.address)")
        await stage.tell(.bluealsa, "pcm \(phone.address) 0x8418")
        await stage.expect(.connected(phone.address, name: phone.name))
        await stage.send(.open(phone.address))
        await stage.expect(
            .openFailed(phone.address, reason: "its samples come in a form that cannot be played"))
    }

    @Test func `two phones play side by side, and for a third the one goes that is quiet`() async throws {
        try await stage.ready()
        await stage.connect(.first)
        await stage.connect(.second)
        await stage.play(.first)
        await stage.play(.second)
        let first = try await stage.listen(to: .first)
        let second = try await stage.listen(to: .second)
        #expect(await first.read(frames: 480).count == 960)
        #expect(await second.read(frames: 480).count == 960)
        // Both play: the newcomer is sent away.
        await stage.tell(.bluez, "device \(Phone.third.address) \(Phone.third.name)")
        await stage.tell(.bluez, "connect \(Phone.third.address)")
        await stage.said(.bluez, "up \(Phone.third.address)")
        await stage.tell(.bluealsa, "pcm \(Phone.third.address)")
        await stage.said(.bluez, "disconnect \(Phone.third.address)")
        await stage.said(.bluez, "left \(Phone.third.address)")
        await stage.tell(.bluealsa, "gone \(Phone.third.address)")
        // Now the second is quiet, and makes room.
        await stage.tell(.bluealsa, "stop \(Phone.second.address)")
        await stage.expect(.streaming(Phone.second.address, nil))
        await stage.tell(.bluez, "connect \(Phone.third.address)")
        await stage.said(.bluez, "up \(Phone.third.address)")
        await stage.tell(.bluealsa, "pcm \(Phone.third.address)")
        await stage.expect(.disconnected(Phone.second.address))
        await stage.expect(.connected(Phone.third.address, name: Phone.third.name))
        await stage.said(.bluez, "disconnect \(Phone.second.address)")
    }

    @Test func `a call is told where bluez-alsa shows one`() async throws {
        try await stage.ready()
        await stage.connect(phone)
        await stage.tell(.bluealsa, "call-pcm \(phone.address)")
        await stage.tell(.bluealsa, "call \(phone.address) begins")
        await stage.expect(.inCall(phone.address, true))
        await stage.tell(.bluealsa, "call \(phone.address) ends")
        await stage.expect(.inCall(phone.address, false))
    }

    @Test func `a phone is disconnected and forgotten on request`() async throws {
        try await stage.ready()
        await stage.connect(phone)
        await stage.send(.disconnect(phone.address))
        await stage.said(.bluez, "disconnect \(phone.address)")
        await stage.expect(.disconnected(phone.address))
        await stage.send(.forget(phone.address))
        await stage.said(.bluez, "forgotten \(phone.address)")
        await stage.expect(.known([]))
    }

    @Test func `hundreds of strangers with long names change nothing`() async throws {
        try await stage.ready()
        await stage.connect(phone)
        await stage.tell(.bluez, "flood 300")
        await stage.said(.bluez, "done flood")
        await stage.tell(.bluez, "player \(phone.address) playing \(String(repeating: "é", count: 5000))")
        let changed = await stage.events.first {
            if case .playerChanged(_, .playing, _) = $0 { true } else { false }
        }
        let title = String(repeating: "é", count: 128)
        #expect(
            changed == .playerChanged(phone.address, .playing, Metadata(title: title, subtitle: "Somebody")))
    }
}
