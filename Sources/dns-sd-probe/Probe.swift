// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Avahi
import GLibLoop
import Glibc
import Settings

/// Publishes or browses one service and prints what happens, a line an event, so that a test can do both inside other
/// network namespaces.
///
///     dns-sd-probe publish NAME TYPE PORT [KEY=VALUE…]
///     dns-sd-probe browse TYPE
///
/// Standard input takes commands for a publisher: `update NAME<tab>KEY=VALUE…`, `withdraw`, `start`. Its end ends the
/// program.
@main struct Program {
    static func main() async {
        Machine.prepareProcess()
        let arguments = Array(Swift.CommandLine.arguments.dropFirst())
        let probe = Probe()
        switch arguments.first {
        case "publish" where arguments.count >= 4:
            let port = UInt16(arguments[3]) ?? 0
            await probe.publish(arguments[1], arguments[2], port, Array(arguments[4...]))
        case "browse" where arguments.count == 2: await probe.browse(arguments[1])
        default:
            print("usage: dns-sd-probe publish NAME TYPE PORT [KEY=VALUE…] | browse TYPE")
            exit(2)
        }
        // The probe ends the process when its input ends.
        while true { try? await Task.sleep(for: .seconds(3600)) }
    }
}

/// The one service, on a loop of its own.
actor Probe {
    private nonisolated let loop = GLibLoop(named: "probe")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private var advertisement: Advertisement?
    private var browser: ServiceBrowser?
    private var retry: EventSource?
    private var input: EventSource?
    private var line: [UInt8] = []

    func publish(_ name: String, _ type: String, _ port: UInt16, _ text: [String]) {
        advertisement = Advertisement(name: name, type: type, port: port, text: text) {
            [unowned self] event in
            switch event {
            case .waitingForDaemon: print("waiting")
            case .lost(let reason):
                print("lost\t\(reason)")
                startLater()
            case .published(let name): print("published\t\(name)")
            case .renamed(let name): print("renamed\t\(name)")
            case .failed(let reason): print("failed\t\(reason)")
            }
        }
        startAgain()
        takeCommands()
    }

    func browse(_ type: String) {
        browser = ServiceBrowser(type: type) { [unowned self] event in
            switch event {
            case .found(let service):
                let addresses = service.addresses.map(\.uriHost).joined(separator: ",")
                let parts =
                    ["found", service.name, service.host, String(service.port), addresses] + service.text
                print(parts.joined(separator: "\t"))
            case .removed(let name): print("removed\t\(name)")
            case .allForNow: print("all")
            case .waitingForDaemon: print("waiting")
            case .lost(let reason):
                print("lost\t\(reason)")
                startLater()
            case .failed(let reason): print("failed\t\(reason)")
            }
        }
        startAgain()
        takeCommands()
    }

    /// Connects; a failure is reported as a loss, too.
    private func startAgain() { _ = advertisement?.start() ?? browser?.start() }

    private func startLater() {
        retry = EventSource.after(.milliseconds(100)) { [unowned self] in startAgain() }
    }

    private func takeCommands() {
        input = EventSource.descriptor(0, .readable) { [unowned self] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(0, &bytes, bytes.count)
            guard count > 0 else { exit(0) }
            for byte in bytes[..<count] {
                if byte != 10 {
                    line.append(byte)
                } else {
                    obey(String(decoding: line, as: UTF8.self))
                    line = []
                }
            }
        }
    }

    private func obey(_ command: String) {
        let parts = command.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        switch parts[0] {
        case "update" where parts.count >= 2:
            advertisement?.update(name: parts[1], text: Array(parts[2...]))
        case "withdraw":
            advertisement?.withdraw()
            print("withdrawn")
        case "start": startAgain()
        default: print("unknown\t\(command)")
        }
    }
}
