// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import ReceiverRuntime
import RouteWire

/// The socket of a program, as a client of the receiver. Both directions are bounded: what the program does not read
/// waits in a queue that has an end, and what it writes is left to the kernel while answers to it wait.
final class ApplicationClient: Client {
    /// What may wait for the program: 16 MiB of data messages, by the protocol, and texts.
    static let capacity = 20 << 20
    /// Text that may wait before no more requests are read.
    private static let textLimit = 64 << 10
    /// Messages that are handed over before everybody else has a turn.
    private static let batch = 64

    let address: String
    private let link: ByteLink
    private var reader = SocketMessageReader()
    private weak var service: (any ListenerService)?
    private var turn: EventSource?
    private var isDelivering = false
    /// Bytes of text since nothing waited.
    private var waitingText = 0
    private var isOver = false
    /// The program has closed the socket, or broke the rules of the frames; then with the reason. Told once.
    var onEnd: ((String?) -> Void)?

    init(_ link: ByteLink, address: String, service: any ListenerService) {
        (self.link, self.address, self.service) = (link, address, service)
        link.onReceive = { [weak self] in self?.receive($0) }
        link.onClosed = { [weak self] in self?.finish(nil) }
        link.onDrained = { [weak self] in self?.drained() }
    }

    var isCongested: Bool { link.queued > 0 }
    var pendingBytes: Int { link.queued }

    func send(text: String) {
        waitingText += text.utf8.count
        send(.text(text))
        if link.queued == 0 { waitingText = 0 }
    }

    func send(binary: [UInt8]) { send(.binary(binary)) }

    /// On a stream messages need no joining to be written at once.
    func send(frames: [[UInt8]], areJoined: Bool) {
        guard !isOver else { return }
        if !link.send(SocketMessage.bytes(of: frames)), link.isOpen { later("it does not read") }
    }

    private func send(_ message: SocketMessage) {
        guard !isOver, let frame = message.frame else { return }
        if !link.send(frame), link.isOpen { later("it does not read") }
    }

    func linkZones(for address: String) -> [String] { [] }

    func close(code: UInt16, reason: String) { later(nil) }

    /// Hands over what was read, and ends.
    func end() {
        while !isOver, step() {}
        finish(nil)
    }

    /// Not from inside a call of the service.
    private func later(_ fault: String?) {
        guard !isOver else { return }
        link.isReading = false
        turn = EventSource.after(.zero) { [weak self] in self?.finish(fault) }
    }

    private func finish(_ fault: String?) {
        guard !isOver else { return }
        isOver = true
        turn = nil
        link.close()
        service?.clientClosed(self)
        let body = onEnd
        onEnd = nil
        body?(fault)
    }

    private func drained() {
        waitingText = 0
        guard !isOver else { return }
        service?.clientDrained(self)
        deliver()
    }

    private func receive(_ bytes: [UInt8]) {
        reader.push(bytes)
        deliver()
    }

    /// Hands over a batch; the rest has its turn after everybody else's.
    private func deliver() {
        guard !isOver, !isDelivering, turn == nil else { return }
        isDelivering = true
        service?.together { deliverBatch() }
        isDelivering = false
    }

    private func deliverBatch() {
        for _ in 0..<Self.batch {
            guard !isOver, turn == nil else { return }
            // Until it has read its answers it is not asked for more.
            guard waitingText <= Self.textLimit else { return link.isReading = false }
            guard step() else {
                if !isOver, turn == nil { link.isReading = true }
                return
            }
        }
        guard !isOver, turn == nil else { return }
        link.isReading = false
        turn = EventSource.after(.zero) { [weak self] in
            self?.turn = nil
            self?.deliver()
        }
    }

    /// False when no whole message is left.
    private func step() -> Bool {
        do {
            switch try reader.next() {
            case nil: return false
            case .text(let text)?: service?.clientReceived(text: text, from: self)
            case .binary(let bytes)?: service?.clientReceived(binary: bytes, from: self)
            }
            return true
        } catch {
            finish(error.description)
            return false
        }
    }
}
