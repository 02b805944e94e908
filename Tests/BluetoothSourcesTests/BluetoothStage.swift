// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import BluetoothSources
import DBus
import GLibLoop
import Glibc
import LoopTestKit
import ReceiverRuntime
import Settings
import SwitchingCore
import Synchronization
import Testing

/// A private bus with stand-ins for bluetoothd and bluealsa, and the receiver's sources on it.
actor BluetoothStage {
    nonisolated let loop = GLibLoop(named: "stage")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    enum Daemon: String { case bluez, bluealsa }

    static let missing: String? = ["/usr/bin/dbus-daemon", "/usr/bin/python3"].first {
        !FileSystem.isExecutable($0)
    }
    private static let script =
        String(#filePath.prefix { _ in true }.dropLast("BluetoothSourcesTests/BluetoothStage.swift".count))
        + "Support/python/bluetooth.py"

    nonisolated let events = Mailbox<ExternalSourceEvent>()
    private var bus: PrivateBus?
    private var stranger: Bus?
    private var daemons: [Daemon: TalkingProgram] = [:]
    private(set) var sources: BluetoothSources?

    isolated deinit { letGo() }

    func letGo() {
        sources?.shutDown()
        sources = nil
        (stranger, daemons, bus) = (nil, [:], nil)
    }

    func startBus() async throws { bus = try await PrivateBus.start() }

    func start(_ daemon: Daemon) async throws {
        let address = try #require(bus).address
        let program = try TalkingProgram(["/usr/bin/python3", Self.script, daemon.rawValue, address])
        daemons[daemon] = program
        #expect(await program.lines.first { $0 == "ready" } != nil)
    }

    func startSources(name: String = "Kitchen", confirms: Bool = false) throws {
        let configuration = BluetoothSources.Configuration(
            name: name, confirmsPairing: confirms, address: try #require(bus).address)
        let sources = BluetoothSources(configuration, log: SilentLog())
        self.sources = sources
        sources.start { [events] in events.put($0) }
    }

    /// Ends the receiver's side alone.
    func shutDownSources() {
        sources?.shutDown()
        sources = nil
    }

    func send(_ command: ExternalSourceCommand) { sources?.send(command) }

    /// Gives a stand-in a command; its answer to it comes among its lines.
    func tell(_ daemon: Daemon, _ line: String) { daemons[daemon]?.say(line) }

    /// Waits for a line of a stand-in; those before it are dropped.
    func said(_ daemon: Daemon, _ line: String) async {
        let found = await daemons[daemon]?.lines.first { $0 == line }
        #expect(found == line)
    }

    /// Waits until a stand-in has said all of these, in any order.
    func said(_ daemon: Daemon, all lines: Set<String>) async {
        var missing = lines
        while !missing.isEmpty, let line = await daemons[daemon]?.lines.next() { missing.remove(line) }
        #expect(missing == [])
    }

    func end(_ daemon: Daemon, signal: Int32) async throws {
        daemons[daemon]?.send(signal: signal)
        try await daemons[daemon]?.ended()
        daemons[daemon] = nil
    }

    /// Waits for an event; those before it are dropped.
    nonisolated func expect(_ event: ExternalSourceEvent) async {
        let found = await events.first { $0 == event }
        #expect(found == event)
    }

    /// Calls the receiver's agent as a program that is not BlueZ; the name of the error that it gets.
    func askAgentAsStranger() async throws -> String? {
        let address = try #require(bus).address
        var connecting: [Connecting] = []
        let other = try await withCheckedContinuation { continuation in
            connecting.append(
                Connecting(to: address, within: .seconds(30)) {
                    continuation.resume(returning: Staying(value: $0))
                })
        }.value.get()
        stranger = other
        daemons[.bluez]?.say("agent-owner")
        let line = await daemons[.bluez]?.lines.first { $0.hasPrefix("agent-owner ") }
        let owner = String(line?.dropFirst("agent-owner ".count) ?? "")
        let result = await withCheckedContinuation { continuation in
            other.call(
                owner, "/org/linnet/bluetooth/agent", "org.bluez.Agent1", "RequestAuthorization",
                [.objectPath("/org/bluez/hci0/dev_AA")]
            ) { continuation.resume(returning: Staying(value: $0)) }
        }.value
        stranger = nil
        if case .failure(let failure) = result { return failure.name }
        return nil
    }

    // MARK: Parts of a phone's life

    /// Bus, both daemons, an adapter, the receiver, and nothing left to be said.
    func ready(confirms: Bool = false) async throws {
        try await startBus()
        try await start(.bluez)
        try await start(.bluealsa)
        tell(.bluez, "adapter hci0")
        await said(.bluez, "done adapter")
        try startSources(confirms: confirms)
        await expect(.availabilityChanged(.ready))
        await said(.bluez, "default-agent")
    }

    /// A paired phone comes, with everything that it has.
    func connect(_ phone: Phone) async {
        tell(.bluez, "device \(phone.address) \(phone.name)")
        await said(.bluez, "done device")
        await reconnect(phone)
    }

    func reconnect(_ phone: Phone) async {
        tell(.bluez, "connect \(phone.address)")
        await said(.bluez, "up \(phone.address)")
        tell(.bluealsa, "pcm \(phone.address)")
        await expect(.connected(phone.address, name: phone.name))
    }

    func play(_ phone: Phone) async {
        tell(.bluealsa, "feed \(phone.address) \(phone.frequency)")
        await expect(.streaming(phone.address, Phone.format))
    }

    /// Opens a phone's samples and reads some.
    func listen(to phone: Phone) async throws -> Samples {
        send(.open(phone.address))
        let event = await events.first {
            switch $0 {
            case .opened, .openFailed: true
            default: false
            }
        }
        guard case .opened(phone.address, let descriptor, Phone.format) = event else {
            Issue.record("\(String(describing: event))")
            throw Failure(domain: "test", code: 0, message: "not opened")
        }
        return Samples(Descriptor(adopting: descriptor))
    }
}

/// A phone of the stand-ins.
struct Phone: Sendable {
    static let format = CaptureFormat(sampleRate: 48_000, channels: 2)
    static let first = Phone(SourceAddress(0xAABB_CCDD_EE01), "First phone", frequency: 440)
    static let second = Phone(SourceAddress(0xAABB_CCDD_EE02), "Second phone", frequency: 660)
    static let third = Phone(SourceAddress(0xAABB_CCDD_EE03), "Third phone", frequency: 880)

    let address: SourceAddress
    let name: String
    let frequency: Int
    /// How its device is named on the bus.
    var device: String { "dev_" + String(address.text.map { $0 == ":" ? "_" : $0 }) }

    init(_ address: SourceAddress, _ name: String, frequency: Int) {
        (self.address, self.name, self.frequency) = (address, name, frequency)
    }
}

/// What comes through a pipe.
final class Samples: @unchecked Sendable {
    // Used by one test, one step after the other.
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Reads so many frames; fewer if the pipe ends before, or nothing comes for a minute.
    func read(frames count: Int) async -> [Int16] { await bytes(count * 4).samples }

    /// Reads what is left; true if the pipe ends then.
    func hasEnded() async -> Bool { await bytes(1 << 30).hasEnded }

    private struct Outcome: Sendable {
        var bytes: [UInt8] = []
        var hasEnded = false
        var samples: [Int16] {
            stride(from: 0, to: bytes.count & ~1, by: 2).map {
                Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
            }
        }
    }

    /// On a thread of its own, since there may be nothing for long.
    private func bytes(_ limit: Int) async -> Outcome {
        let number = descriptor.number
        return await withCheckedContinuation { continuation in
            BackgroundThread.run(named: "reader") {
                var outcome = Outcome()
                var piece = [UInt8](repeating: 0, count: 8192)
                while outcome.bytes.count < limit {
                    var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                    guard unsafe poll(&waiting, 1, 60_000) > 0 else { break }
                    let count = unsafe Glibc.read(
                        number, &piece, min(piece.count, limit - outcome.bytes.count))
                    guard count > 0 else {
                        outcome.hasEnded = count == 0
                        break
                    }
                    outcome.bytes += piece.prefix(count)
                }
                continuation.resume(returning: outcome)
            }
        }
    }
}

/// A value that does not leave the stage's thread.
private struct Staying<Value>: @unchecked Sendable { let value: Value }

private struct SilentLog: Log {
    func write(_ level: LogLevel, _ label: String, _ message: String, _ metadata: [String: String]) {}
}
