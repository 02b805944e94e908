// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import ReceiverRuntime
import Soup

/// One open WebSocket of a sender.
final class SoupClient: Client {
    let address: String
    private let socket: WebSocket
    private let limits: SoupListener.Limits
    private let log: any Log
    private(set) var pendingBytes = 0
    private var closing: EventSource?
    private var hasGivenUp = false
    /// How long the peer may be silent.
    private(set) var silence: Duration
    /// The listener is to look at it earlier.
    var onWatch: (() -> Void)?

    init(_ socket: WebSocket, _ limits: SoupListener.Limits, _ log: any Log) {
        (self.socket, self.limits, self.log) = (socket, limits, log)
        silence = limits.silence
        address = socket.remoteAddress ?? "unknown"
    }

    /// Passes everything on to `service`; `ended` is called when the connection is over, after the service was told.
    func connect(to service: any ListenerService, ended: @escaping (SoupClient) -> Void) {
        socket.onMessage = { [weak self, weak service] message in
            guard let self, let service, closing == nil else { return }
            switch message {
            case .text(let text) where text.utf8.count > limits.textFrame:
                close(code: 1009, reason: "a text frame is larger than \(limits.textFrame) bytes")
            case .text(let text): service.clientReceived(text: text, from: self)
            case .binary(let bytes): service.clientReceived(binary: bytes, from: self)
            }
        }
        socket.onDrained = { [weak self, weak service] in
            guard let self else { return }
            pendingBytes = 0
            if closing == nil { service?.clientDrained(self) }
        }
        socket.onClosed = { [weak self, weak service] code, _ in
            guard let self else { return }
            closing = nil
            log.write(
                .debug, "receiver.listener", "connection closed", ["address": address, "code": String(code)])
            service?.clientClosed(self)
            ended(self)
        }
    }

    func linkZones(for address: String) -> [String] { socket.linkZones(for: address) }
    var isCongested: Bool { socket.isCongested }
    var isBehind: Bool { socket.isBehind }

    /// When it will have been silent for too long. Since a client that was given up is not heard either, it does not count a second
    /// time.
    var dueAt: Int64 { hasGivenUp ? .max : socket.lastHeard + Int64(silence / .nanoseconds(1)) }

    func watch(silence: Duration) {
        self.silence = min(silence, limits.silence)
        socket.ping(every: 1)
        onWatch?()
    }

    func send(text: String) {
        pendingBytes += text.utf8.count
        socket.send(.text(text))
    }

    func send(binary: [UInt8]) {
        pendingBytes += binary.count
        socket.send(.binary(binary))
    }

    func close(code: UInt16, reason: String) {
        guard closing == nil else { return }
        // A close frame waits behind what the peer has not read, and the peer may not answer it.
        closing = EventSource.after(limits.closing) { [weak self] in self?.socket.abort() }
        socket.close(code: code, reason: String(decoding: reason.utf8.prefix(120), as: UTF8.self))
    }

    /// Closes the connection of a peer that keeps to no rule.
    func giveUp(_ reason: String) {
        hasGivenUp = true
        log.write(.info, "receiver.listener", "connection given up", ["address": address, "reason": reason])
        // Others wait for it to be gone.
        if silence < limits.silence { return socket.abort() }
        close(code: 1008, reason: reason)
    }
}
