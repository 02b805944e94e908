// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop

/// A program that is told things line by line on its standard input, and tells things on its standard output. It lives on the
/// thread that made it, and its input ends with the last reference, or with the process: the program must end then, too.
package final class TalkingProgram {
    package let lines = Mailbox<String>()
    private let child: ChildProcess
    private let link: ByteLink
    private var partial: [UInt8] = []

    package init(_ command: [String], environment: [String: String] = [:]) throws {
        var started: ChildProcess?
        link = try ByteLink { other in
            // Standard input and output are the inherited descriptor.
            started = try ChildProcess(
                ["/bin/sh", "-c", "exec \"$@\" <&3 >&3 3<&-", "sh"] + command, environment: environment,
                inheriting: other)
        }
        guard let started else { throw Failure(domain: "test", code: 0, message: "nothing was started") }
        child = started
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

    package func say(_ line: String) { _ = link.send(Array((line + "\n").utf8)) }

    package func send(signal: Int32) { child.send(signal: signal) }

    /// Waits for its end.
    package func ended(isolation: isolated any Actor = #isolation) async throws { _ = try await child.wait() }
}

/// A message bus that nobody else is on. It lives on the thread that made it and ends with its last reference.
package final class PrivateBus {
    package let address: String
    private let daemon: TalkingProgram

    private init(_ daemon: TalkingProgram, _ address: String) {
        (self.daemon, self.address) = (daemon, address)
    }

    package static func start(isolation: isolated any Actor = #isolation) async throws -> PrivateBus {
        // The daemon itself would not notice that nobody needs it any more.
        let daemon = try TalkingProgram([
            "/bin/sh", "-c",
            "dbus-daemon --session --nofork --nopidfile --print-address=1 2>/dev/null & read -r _; kill -9 $!",
        ])
        guard let address = await daemon.lines.next() else {
            throw Failure(domain: "test", code: 0, message: "dbus-daemon said nothing")
        }
        return PrivateBus(daemon, address)
    }

    package func kill() { daemon.say("") }
}
