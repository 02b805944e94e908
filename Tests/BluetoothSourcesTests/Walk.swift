// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import ReceiverRuntime
import SwitchingCore

@testable import BluetoothSources

/// What a bus says of an adapter and some phones.
enum World {
    static let adapter = "/org/bluez/hci0"
    static func address(_ number: Int) -> SourceAddress { SourceAddress(0xAABB_CCDD_EE00 + UInt64(number)) }
    static func device(_ number: Int) -> String { "\(adapter)/dev_AA_BB_CC_DD_EE_0\(number)" }
    static func pcm(_ number: Int) -> String {
        "/org/bluealsa/hci0/dev_AA_BB_CC_DD_EE_0\(number)/a2dpsnk/source"
    }

    static var beginning: [BluetoothState.Event] {
        [
            .bluez(.appeared(owner: ":1.1")), .bluez(adapterAdded), .bluez(.listed),
            .bluealsa(.appeared(owner: ":1.2")), .bluealsa(.listed),
        ]
    }

    static var adapterAdded: RemoteObjects.Event {
        .added(
            path: adapter, interface: BluezNames.adapter,
            ["Powered": .boolean(true), "Discoverable": .boolean(false), "Pairable": .boolean(false)])
    }

    static func begin(_ state: inout BluetoothState) {
        for event in beginning {
            for case .call(let call) in state.apply(event, now: 0) {
                _ = state.apply(.called(call, nil), now: 0)
            }
        }
    }

    static func connection(_ number: Int) -> [BluetoothState.Event] {
        [
            .bluez(
                .added(
                    path: device(number), interface: BluezNames.device,
                    [
                        "Address": .string(address(number).text), "Alias": .string("Phone \(number)"),
                        "Paired": .boolean(true), "Trusted": .boolean(true), "Connected": .boolean(true),
                    ])),
            .bluez(
                .added(
                    path: "\(device(number))/fd0", interface: BluezNames.transport,
                    ["Device": .objectPath(device(number)), "Volume": .uint16(127)])),
            .bluez(
                .added(
                    path: "\(device(number))/player0", interface: BluezNames.player,
                    ["Device": .objectPath(device(number)), "Status": .string("paused")])),
            .bluealsa(
                .added(
                    path: pcm(number), interface: BluezNames.pcm,
                    [
                        "Device": .objectPath(device(number)), "Transport": .string("A2DP-sink"),
                        "Mode": .string("source"), "Running": .boolean(false), "Format": .uint16(0x8210),
                        "Channels": .byte(2), "Sampling": .uint32(48_000), "SoftVolume": .boolean(false),
                    ])),
        ]
    }
}

/// Events at random, with a check of what is reported after each.
struct Walk {
    private var state = BluetoothState(BluetoothSources.Configuration(name: "Kitchen"))
    private var random: UInt64
    private var now: Int64 = 0
    private var connected: Set<SourceAddress> = []
    private var asked: [SourceAddress: Int] = [:]
    private var waitingCalls: [BluezCall] = []
    private var waitingOpens: [(SourceAddress, Int)] = []
    private var descriptors: Set<Int32> = []
    private var timers: Set<BluetoothState.Timer> = []
    private var questions = 0
    private(set) var faults: [String] = []

    init(seed: UInt64) { random = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    private mutating func number(below limit: Int) -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return Int(random % UInt64(limit))
    }

    mutating func step() {
        now += Int64(number(below: 2_000_000_000))
        for effect in state.apply(event(), now: now) { check(effect) }
        if connected.count > BluetoothState.sourceLimit { faults.append("\(connected.count) are connected") }
        if state.effects.count != 0 { faults.append("effects were left behind") }
    }

    private mutating func event() -> BluetoothState.Event {
        let phone = 1 + number(below: 4)
        let address = World.address(phone)
        switch number(below: 26) {
        case 0: return World.beginning[number(below: World.beginning.count)]
        case 1...7: return World.connection(phone)[number(below: 4)]
        case 8: return .bluez(.removed(path: World.device(phone), interface: BluezNames.device))
        case 9: return .bluealsa(.removed(path: World.pcm(phone), interface: BluezNames.pcm))
        case 10...11: return change(World.device(phone), BluezNames.device, "Connected")
        case 12: return change(World.adapter, BluezNames.adapter, "Powered")
        case 13...14:
            let running = ["Running": Value.boolean(number(below: 2) == 0)]
            return .bluealsa(
                .changed(path: World.pcm(phone), interface: BluezNames.pcm, running, invalidated: []))
        case 15: return number(below: 4) == 0 ? .bluez(.gone) : .bluealsa(.gone)
        case 16:
            asked[address, default: 0] += 1
            return .commanded(.open(address))
        case 17: return .commanded(.close(address))
        case 18: return .commanded(.setVolume(address, Double(number(below: 128)) / 127))
        case 19:
            return .commanded(
                [.openPairing(seconds: 60), .closePairing, .disconnect(address)][number(below: 3)])
        case 20:
            questions += 1
            return .agentAsked(.init(number: questions, device: World.device(phone), kind: .authorization))
        case 21...22 where !waitingCalls.isEmpty:
            let call = waitingCalls.remove(at: number(below: waitingCalls.count))
            return .called(call, number(below: 3) == 0 ? CallFailure(name: "no", message: "no") : nil)
        case 23...24 where !waitingOpens.isEmpty:
            let (address, attempt) = waitingOpens.remove(at: number(below: waitingOpens.count))
            let name = "org.freedesktop.DBus.Error.LimitsExceeded"
            if number(below: 2) == 0 {
                return .opened(address, attempt: attempt, .failure(CallFailure(name: name, message: "busy")))
            }
            let descriptor = Int32(1000 + number(below: 1 << 30))
            descriptors.insert(descriptor)
            return .opened(address, attempt: attempt, .success(descriptor))
        default:
            guard let timer = timers.first else { return .busLost }
            timers.remove(timer)
            return .fired(timer)
        }
    }

    private mutating func change(_ path: String, _ interface: String, _ property: String)
        -> BluetoothState.Event
    {
        let value = Value.boolean(number(below: 2) == 0)
        return .bluez(.changed(path: path, interface: interface, [property: value], invalidated: []))
    }

    private mutating func check(_ effect: BluetoothState.Effect) {
        switch effect {
        case .report(let event): check(event)
        case .call(let call): waitingCalls = waitingCalls.suffix(50) + [call]
        case .open(let address, _, let attempt): waitingOpens.append((address, attempt))
        case .close(let descriptor):
            if descriptors.remove(descriptor) == nil { faults.append("a descriptor was closed twice") }
        case .arm(let timer, _): timers.insert(timer)
        case .disarm(let timer): timers.remove(timer)
        case .release, .answer, .log: break
        }
    }

    private mutating func check(_ event: ExternalSourceEvent) {
        switch event {
        case .connected(let address, _):
            if !connected.insert(address).inserted { faults.append("connected twice") }
        case .disconnected(let address):
            if connected.remove(address) == nil { faults.append("disconnected without being connected") }
        case .streaming(let address, _), .playerChanged(let address, _, _), .volumeChanged(let address, _),
            .inCall(let address, _):
            if !connected.contains(address) { faults.append("news of nobody: \(event)") }
        case .opened(let address, let descriptor, _):
            answered(address)
            if !connected.contains(address) { faults.append("opened without being connected") }
            if descriptors.remove(descriptor) == nil { faults.append("a descriptor was given away twice") }
        case .openFailed(let address, _): answered(address)
        case .availabilityChanged, .pairingChanged, .known: break
        }
    }

    private mutating func answered(_ address: SourceAddress) {
        asked[address, default: 0] -= 1
        if asked[address, default: 0] < 0 { faults.append("answered more often than asked") }
    }
}
