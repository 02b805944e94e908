// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import Settings
import Synchronization

/// Two network namespaces with an Avahi daemon each, for as long as this lives. See `Tests/Support/two-hosts.sh`.
actor TwoHosts {
    nonisolated let loop = GLibLoop(named: "hosts")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// What the two need; nil if all is there.
    static let missing: String? = {
        if (try? FileSystem.list("/proc/1/fd")) == nil { return "root" }
        let tools = ["/usr/sbin/avahi-daemon", "/usr/bin/dbus-daemon", "/usr/sbin/ip", "/usr/bin/unshare"]
        return tools.first { !FileSystem.isExecutable($0) }
    }()

    private static let script =
        String(#filePath.prefix { _ in true }.dropLast("AvahiTests/TwoHosts.swift".count))
        + "Support/two-hosts.sh"
    private static let probe: String = {
        let path = Machine.programPath ?? ""
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) + "/dns-sd-probe"
    }()

    /// Counts the pairs: the hosts of one test are still being taken down while the next one's are set up.
    private static let count = Mutex(0)
    private let prefix = count.withLock { count in
        count += 1
        return "lt\(Machine.processIdentifier)n\(count)"
    }
    private var running: [Running] = []
    private var holder: Running?

    /// A program whose output is read line by line.
    final class Running {
        let lines = Mailbox<String>()
        fileprivate let link: ByteLink
        private var partial: [UInt8] = []

        fileprivate init(_ command: [String]) throws {
            link = try ByteLink { other in
                // Standard input and output are the inherited descriptor.
                _ = try ChildProcess(
                    ["sh", "-c", "exec \"$@\" <&3 >&3 3<&-", "sh"] + command, inheriting: other)
            }
            link.onReceive = { [unowned self] bytes in
                for byte in bytes {
                    guard byte == 10 else {
                        partial.append(byte)
                        continue
                    }
                    lines.put(String(decoding: partial, as: UTF8.self))
                    partial = []
                }
            }
        }
    }

    isolated deinit {
        running.removeAll()
        holder = nil
    }

    func start() async throws {
        let holder = try Running([Self.script, "hold", prefix])
        self.holder = holder
        _ = await holder.lines.first { $0 == "ready" }
    }

    /// Runs the probe on host `a` or `b`; its lines, and its number for commands.
    func probe(on host: String, _ arguments: String...) throws -> (number: Int, lines: Mailbox<String>) {
        let program = try Running([Self.script, "in", "\(prefix)-\(host)", Self.probe] + arguments)
        running.append(program)
        return (running.count - 1, program.lines)
    }

    func send(_ line: String, to number: Int) { _ = running[number].link.send(Array((line + "\n").utf8)) }

    /// Stops or starts `avahi` or the `bus` of a host.
    func turn(_ daemon: String, of host: String, _ action: String) async throws {
        let exit = try await ChildProcess([Self.script, daemon, "\(prefix)-\(host)", action]).wait()
        if exit != .status(0) {
            throw Failure(domain: "test", code: 0, message: "\(daemon) \(action): \(exit)")
        }
    }
}
