// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import ReceiverRuntime
import SwitchingCore
import Testing

@testable import BluetoothSources

/// What follows from what the bus says, without a bus.
@Suite struct BluetoothStateTests {
    private let phone = SourceAddress(0xAABB_CCDD_EE01)
    private let device = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_01"
    private var transport: String { "\(device)/fd0" }
    private var state = BluetoothState(BluetoothSources.Configuration(name: ""))

    init() {
        World.begin(&state)
        for event in World.connection(1) { _ = state.apply(event, now: 0) }
    }

    private func reports(_ effects: [BluetoothState.Effect]) -> [ExternalSourceEvent] {
        effects.compactMap { if case .report(let event) = $0 { event } else { nil } }
    }

    private func calls(_ effects: [BluetoothState.Effect]) -> [BluezCall] {
        effects.compactMap { if case .call(let call) = $0 { call } else { nil } }
    }

    private mutating func phoneSets(_ volume: Int) -> [ExternalSourceEvent] {
        reports(
            state.apply(
                .bluez(
                    .changed(
                        path: transport, interface: BluezNames.transport, ["Volume": .uint16(UInt16(volume))],
                        invalidated: [])), now: 0))
    }

    private mutating func receiverSets(_ volume: Int) -> [BluezCall] {
        calls(state.apply(.commanded(.setVolume(phone, Double(volume) / 127)), now: 0))
    }

    @Test mutating func `an echo is no change, before the answer and after it`() throws {
        let call = try #require(receiverSets(40).first)
        #expect(phoneSets(40) == [])
        _ = state.apply(.called(call, nil), now: 0)
        #expect(phoneSets(40) == [])
        let other = try #require(receiverSets(50).first)
        _ = state.apply(.called(other, nil), now: 0)
        #expect(phoneSets(50) == [])
        #expect(receiverSets(50) == [])
        #expect(phoneSets(51) == [.volumeChanged(phone, 51.0 / 127)])
    }

    @Test
    mutating func `settings that follow each other quickly come back in their order, and none is a change`() {
        for volume in [10, 20, 30] { _ = receiverSets(volume) }
        for volume in [10, 20, 30] { #expect(phoneSets(volume) == []) }
        #expect(phoneSets(20) == [.volumeChanged(phone, 20.0 / 127)])
    }

    @Test mutating func `a phone that rounds what was set is believed`() throws {
        let call = try #require(receiverSets(40).first)
        _ = state.apply(.called(call, nil), now: 0)
        #expect(phoneSets(42) == [.volumeChanged(phone, 42.0 / 127)])
        #expect(phoneSets(42) == [])
    }

    @Test mutating func `when both sides set at one time, what came last counts`() {
        _ = receiverSets(40)
        #expect(phoneSets(70) == [])
        #expect(phoneSets(40) == [])
        _ = receiverSets(60)
        #expect(phoneSets(60) == [])
        #expect(phoneSets(90) == [.volumeChanged(phone, 90.0 / 127)])
    }

    @Test mutating func `an adapter that another program keeps open is set right five times, and not again`()
        throws
    {
        var count = 0
        for _ in 0..<50 {
            let open = BluetoothState.Event.bluez(
                .changed(
                    path: "/org/bluez/hci0", interface: BluezNames.adapter, ["Discoverable": .boolean(true)],
                    invalidated: []))
            for call in calls(state.apply(open, now: 0)) {
                count += 1
                _ = state.apply(.called(call, nil), now: 0)
            }
        }
        #expect(count == BluetoothState.maximumCorrections)
    }

    @Test mutating func `a device that leaves before its samples were opened answers the question for them`()
    {
        let effects = state.apply(.commanded(.open(phone)), now: 0)
        guard case .open(phone, _, let attempt) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        let left = reports(state.apply(.bluealsa(.gone), now: 0))
        #expect(left.contains(.openFailed(phone, reason: "the device has left")))
        #expect(left.contains(.disconnected(phone)))
        // The descriptor that comes all the same is closed.
        #expect(
            state.apply(.opened(phone, attempt: attempt, .success(77)), now: 0)
                == [.close(77), .release(attempt: attempt)])
    }

    @Test mutating func `a PCM that is busy is asked for again, and given up in the end`() {
        var effects = state.apply(.commanded(.open(phone)), now: 0)
        let busy = CallFailure(name: "org.freedesktop.DBus.Error.LimitsExceeded", message: "busy")
        var tries = 0
        while case .open(_, _, let attempt) = effects.first {
            tries += 1
            effects = state.apply(.opened(phone, attempt: attempt, .failure(busy)), now: 0)
            guard case .arm(.reopen(phone), _) = effects.first else { break }
            effects = state.apply(.fired(.reopen(phone)), now: 0)
        }
        #expect(tries == 20)
        #expect(reports(effects) == [.openFailed(phone, reason: "busy")])
    }

    @Test mutating func `who leaves of its own accord is not asked back when a daemon ends much later`() {
        _ = state.apply(.bluealsa(.removed(path: World.pcm(1), interface: BluezNames.pcm)), now: 0)
        _ = state.apply(.bluez(.gone), now: 10_000_000_000)
        World.begin(&state)
        #expect(state.rejoining.isEmpty)
    }

    @Test
    mutating func
        `who does not come back with a daemon is asked with growing pauses, and left alone in the end`()
    {
        _ = state.apply(.bluealsa(.gone), now: 0)
        func pauses(_ effects: [BluetoothState.Effect]) -> [Duration] {
            effects.compactMap { if case .arm(.rejoin, let pause) = $0 { pause } else { nil } }
        }
        var waited = pauses(state.apply(.bluealsa(.listed), now: 0))
        var found: [Duration] = []
        let refusal = CallFailure(name: "org.bluez.Error.Failed", message: "br-connection-refused")
        while let pause = waited.last, found.count < 10 {
            found.append(pause)
            guard let call = calls(state.apply(.fired(.rejoin), now: 0)).first else { break }
            #expect(call.method == "ConnectProfile")
            let effects = state.apply(.called(call, refusal), now: 0)
            guard let parting = calls(effects).first else {
                waited = pauses(effects)
                continue
            }
            // The old connection is ended first; the pause begins with its end.
            #expect(parting.method == "Disconnect")
            _ = state.apply(.called(parting, nil), now: 0)
            waited = pauses(
                state.apply(
                    .bluez(
                        .changed(
                            path: device, interface: BluezNames.device, ["Connected": .boolean(false)],
                            invalidated: [])), now: 0))
        }
        #expect(found == [.seconds(2), .seconds(5), .seconds(10), .seconds(20)])
        #expect(state.rejoining.isEmpty)
    }

    @Test(arguments: 0..<40) func `in any order of events, reports make sense`(seed: UInt64) {
        var walk = Walk(seed: seed)
        for _ in 0..<400 { walk.step() }
        #expect(walk.faults == [])
    }
}
