// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ReceiverRuntime

/// A listener without a network: the test opens its clients.
package final class FakeListener: Listener {
    package struct PortTaken: Error {}
    package private(set) var configuration: ListenerConfiguration?
    package private(set) var isOpen = false
    /// Starting fails.
    package var isPortTaken = false
    fileprivate weak var service: (any ListenerService)?
    fileprivate let order: RecordingOrder?
    private var clients: [FakeClient] = []
    private var opened = 0

    package init(order: RecordingOrder? = nil) { self.order = order }

    package func start(
        _ configuration: ListenerConfiguration, service: any ListenerService
    ) throws -> UInt16 {
        guard !isPortTaken else { throw PortTaken() }
        (self.configuration, self.service, isOpen) = (configuration, service, true)
        return configuration.port == 0 ? 40000 : configuration.port
    }

    package func stop() {
        isOpen = false
        order?.note("listener.stop")
    }

    /// A client opens the route's WebSocket.
    package func connect() -> FakeClient {
        opened += 1
        let client = FakeClient(address: "192.0.2.\(opened % 250)", listener: self)
        clients.append(client)
        service?.clientOpened(client)
        return client
    }

    /// The page of an application opens its WebSocket.
    package func connect(token: String) -> FakeClient {
        let client = FakeClient(address: "127.0.0.1", listener: self)
        clients.append(client)
        service?.clientOpened(client, token: token)
        return client
    }

    /// An application's socket: a client that came another way.
    func connect(_ open: (FakeClient) -> Void) -> FakeClient {
        let client = FakeClient(address: "application", listener: self)
        clients.append(client)
        open(client)
        return client
    }

    package func page(at path: String) -> Page? { service?.page(at: path) }

    /// Reports the clients that were closed by the receiver. True if there were any.
    package func deliver() -> Bool {
        let closed = clients.filter(\.isClosing)
        clients.removeAll(where: \.isClosing)
        for client in closed { client.reportClosed() }
        return !closed.isEmpty
    }

    fileprivate func remove(_ client: FakeClient) { clients.removeAll { $0 === client } }
}

/// A sender's end of a connection. It remembers frames, and can stop reading. It does not keep the receiver alive.
package final class FakeClient: Client {
    package struct Closing: Equatable, Sendable {
        package let code: UInt16
        package let reason: String
    }

    package let address: String
    package private(set) var texts: [String] = []
    package private(set) var binaries: [[UInt8]] = []
    package private(set) var closing: Closing?
    package private(set) var isCongested = false
    package private(set) var pendingBytes = 0
    /// A peer that does not answer the closing handshake.
    package var isDeaf = false
    private weak var listener: FakeListener?
    private var isReading = true

    fileprivate init(address: String, listener: FakeListener) {
        (self.address, self.listener) = (address, listener)
    }

    package func linkZones(for address: String) -> [String] { [] }

    package func send(text: String) {
        guard closing == nil else { return }
        texts.append(text)
        count(text.utf8.count)
    }

    package func send(binary: [UInt8]) {
        guard closing == nil else { return }
        binaries.append(binary)
        count(binary.count)
    }

    package func close(code: UInt16, reason: String) {
        guard closing == nil else { return }
        closing = Closing(code: code, reason: reason)
        listener?.order?.note("client.close \(code)")
    }

    private func count(_ bytes: Int) {
        guard !isReading else { return }
        isCongested = true
        pendingBytes += bytes
    }

    fileprivate var isClosing: Bool { closing != nil && !isDeaf }
    fileprivate func reportClosed() { listener?.service?.clientClosed(self) }

    // MARK: The peer's acts

    /// Stops reading: everything sent from now on waits.
    package func stopReading() { isReading = false }

    /// Reads everything.
    package func resumeReading() {
        (isReading, isCongested, pendingBytes) = (true, false, 0)
        listener?.service?.clientDrained(self)
    }

    /// Reads everything that was sent so far, and then nothing more.
    package func readOnce() {
        (isCongested, pendingBytes) = (false, 0)
        listener?.service?.clientDrained(self)
    }

    package func say(_ text: String) { listener?.service?.clientReceived(text: text, from: self) }
    package func say(binary: [UInt8]) { listener?.service?.clientReceived(binary: binary, from: self) }

    /// The connection is lost.
    package func vanish() {
        listener?.remove(self)
        listener?.service?.clientClosed(self)
    }

    /// The frames since the last call.
    package func takeTexts() -> [String] {
        defer { texts = [] }
        return texts
    }

    package func takeBinaries() -> [[UInt8]] {
        defer { binaries = [] }
        return binaries
    }
}
