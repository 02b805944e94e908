// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import BluetoothSources
import GLibLoop
import MediaModel
import ReceiverRuntime
import Settings
import SwitchingCore

/// Lets a script lead the receiver's Bluetooth: commands on standard input, a line for each event.
///
///     bluetooth-probe NAME [confirm]
@main enum Program {
    static func main() {
        Machine.prepareProcess()
        let arguments = Array(Swift.CommandLine.arguments.dropFirst())
        guard let name = arguments.first else {
            Machine.write("usage: bluetooth-probe NAME [confirm]\n", to: .error)
            Machine.exit(64)
        }
        let confirms = arguments.dropFirst().first == "confirm"
        let status = GLibLoop.run { _, loop in
            let probe = Probe(loop, name: name, confirms: confirms)
            await probe.begin()
            // It ends the process when its input ends.
            while true { try? await loop.sleep(for: .seconds(3600)) }
        }
        Machine.exit(status)
    }
}

/// The sources, and what comes from them.
actor Probe {
    private nonisolated let loop: GLibLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private let configuration: BluetoothSources.Configuration
    private var sources: BluetoothSources?
    private var input: ByteLink?
    private var line: [UInt8] = []
    private var heard: [SourceAddress: (link: ByteLink, meter: Meter)] = [:]

    init(_ loop: GLibLoop, name: String, confirms: Bool) {
        self.loop = loop
        configuration = BluetoothSources.Configuration(name: name, confirmsPairing: confirms)
    }

    func begin() {
        let sources = BluetoothSources(configuration, log: PrintedLog())
        self.sources = sources
        sources.start { [unowned self] event in assumeIsolated { $0.take(event) } }
        let input = ByteLink(Descriptor(adopting: 0), capacity: 0)
        self.input = input
        input.onReceive = { [unowned self] bytes in assumeIsolated { $0.receive(bytes) } }
        input.onClosed = { Machine.exit(0) }
    }

    private func receive(_ bytes: [UInt8]) {
        for byte in bytes {
            guard byte == 10 else {
                line.append(byte)
                continue
            }
            let words = String(decoding: line, as: UTF8.self).split(separator: " " as Character).map(
                String.init)
            line = []
            if !obey(words) { say("not understood: \(words)") }
        }
    }

    private func obey(_ words: [String]) -> Bool {
        guard let sources, let verb = words.first else { return false }
        switch (verb, words.dropFirst().first.flatMap { SourceAddress($0) }, words.last.flatMap { Int($0) }) {
        case ("open", .some(let address), _): sources.send(.open(address))
        case ("close", .some(let address), _):
            sources.send(.close(address))
            end(address)
        case ("play", .some(let address), _): sources.send(.play(address))
        case ("pause", .some(let address), _): sources.send(.pause(address))
        case ("disconnect", .some(let address), _): sources.send(.disconnect(address))
        case ("forget", .some(let address), _): sources.send(.forget(address))
        case ("confirm", .some(let address), _): sources.send(.confirmPairing(address, true))
        case ("volume", .some(let address), .some(let volume)):
            sources.send(.setVolume(address, Double(volume) / 127))
        case ("pair", _, .some(let seconds)): sources.send(.openPairing(seconds: seconds))
        default: return false
        }
        return true
    }

    private func take(_ event: ExternalSourceEvent) {
        switch event {
        case .availabilityChanged(.ready): say("ready")
        case .availabilityChanged(.off(let reason)): say("off: \(reason)")
        case .availabilityChanged(.absent(let reason)): say("absent: \(reason)")
        case .connected(let address, let name): say("connected \(address) \(name)")
        case .disconnected(let address): say("disconnected \(address)")
        case .streaming(let address, let format):
            say(format.map { "streaming \(address) \($0.sampleRate) \($0.channels)" } ?? "silent \(address)")
        case .playerChanged(let address, let status, let metadata):
            say("player \(address) \(status.rawValue) \(metadata.title ?? "-")")
        case .volumeChanged(let address, let level): say("volume \(address) \(Int((level * 127).rounded()))")
        case .opened(let address, let descriptor, let format):
            say("opened \(address)")
            listen(to: address, Descriptor(adopting: descriptor), channels: Int(format.channels))
        case .openFailed(let address, let reason): say("not-opened \(address) \(reason)")
        case .inCall(let address, let isInCall): say("call \(address) \(isInCall)")
        case .pairingChanged(.closed): say("pairing closed")
        case .pairingChanged(.open): say("pairing open")
        case .pairingChanged(.asked(let address, _, let passkey)):
            say("pairing asked \(address) \(passkey.map(String.init) ?? "-")")
        case .pairingChanged(.paired(let address)): say("pairing paired \(address)")
        case .pairingChanged(.failed(let reason)): say("pairing failed: \(reason)")
        case .known(let sources): say("known \(sources.map(\.address.text))")
        }
    }

    private func listen(to address: SourceAddress, _ descriptor: consuming Descriptor, channels: Int) {
        let link = ByteLink(descriptor, capacity: 0)
        let meter = Meter(channels: channels)
        link.onReceive = { meter.take($0) }
        link.onClosed = { [unowned self] in assumeIsolated { $0.end(address) } }
        heard[address] = (link, meter)
    }

    private func end(_ address: SourceAddress) {
        guard let (link, meter) = heard.removeValue(forKey: address) else { return }
        link.close()
        say("heard \(address) \(meter)")
    }

    private nonisolated func say(_ text: String) { Machine.write("\(text)\n", to: .output) }
}

private struct PrintedLog: Log {
    func write(_ level: LogLevel, _ label: String, _ message: String, _ metadata: [String: String]) {
        Machine.write("log \(message) \(metadata)\n", to: .output)
    }
}
