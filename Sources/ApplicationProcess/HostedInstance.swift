// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import ReceiverRuntime

/// An instance as the receiver sees it: its processes, and of a program the socket to it. Made and used on a loop.
final class HostedInstance {
    /// How long a program may go on without its socket.
    private static let leaving = Duration.seconds(1)

    var life: (any ApplicationLife)?
    /// Where it may keep files, as it sees the path itself.
    var storage: String?
    private var socket: ByteLink?
    private var client: ApplicationClient?
    private var leaving: EventSource?

    /// Makes the socket of a program and gives the other end to whoever starts it.
    func makeSocket() throws -> SharedDescriptor {
        var other: SharedDescriptor?
        socket = try ByteLink(capacity: ApplicationClient.capacity) { other = SharedDescriptor($0) }
        guard let other else { throw Failure(domain: "application", code: 0, message: "it has no socket") }
        return other
    }

    /// Makes the socket a client; nil where there is none.
    func open(for service: any ListenerService, address: String) -> ApplicationClient? {
        guard let socket, client == nil else { return nil }
        let client = ApplicationClient(socket, address: address, service: service)
        client.onEnd = { [weak self] in self?.socketEnded($0) }
        self.client = client
        return client
    }

    private func socketEnded(_ fault: String?) {
        client = nil
        if let fault {
            life?.note("(\(fault))")
            life?.kill(nil)
        } else {
            leaving = EventSource.after(Self.leaving) { [weak self] in self?.life?.kill(nil) }
        }
    }

    /// Its processes have ended: hands on what they said before.
    func close() {
        leaving = nil
        client?.onEnd = nil
        client?.end()
        client = nil
        socket?.close()
    }

    /// Ends all without telling anybody.
    func drop() {
        leaving = nil
        client?.onEnd = nil
        life?.drop()
    }
}
