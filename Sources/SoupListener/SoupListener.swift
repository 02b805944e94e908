// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GLibLoop
package import ReceiverRuntime
import Soup

/// Serves the receiver's pages and WebSockets on one port. Made and used on a loop.
package final class SoupListener: Listener {
    /// The limits of section 11 of `Docs/protocols/route.md`.
    package struct Limits: Sendable {
        package var textFrame = 65_536
        package var binaryFrame = 1_048_576 + 144
        package var connectionsOfOneAddress = 32
        /// How long a request may take to arrive.
        package var head = Duration.seconds(10)
        package var pingEvery: UInt32 = 5
        package var silence = Duration.seconds(15)
        /// How long a peer may take to answer a close; shorter than the receiver's shutdown.
        package var closing = Duration.milliseconds(1500)
        package init() {}
    }

    private let limits: Limits
    private let log: any Log
    private var server: Server?
    private weak var service: (any ListenerService)?
    private var clients: [ObjectIdentifier: SoupClient] = [:]
    private var patrol: EventSource?
    /// A look that comes this much too late says nothing of the peers (0.5 s).
    private static let lateness: Int64 = 500_000_000

    package init(log: any Log, limits: Limits = Limits()) { (self.log, self.limits) = (log, limits) }

    package func start(
        _ configuration: ListenerConfiguration, service: any ListenerService
    ) throws -> UInt16 {
        let screen = RequestScreen(names: configuration.hostNames)
        var bounds = Server.Limits()
        bounds.connections = configuration.connectionLimit
        bounds.connectionsOfOneAddress = limits.connectionsOfOneAddress
        bounds.request = limits.head
        let server = Server(limits: bounds) { [log] request in
            guard let status = screen.refusal(host: request.host, origin: request.origin) else { return nil }
            log.write(
                .notice, "receiver.listener", "request refused",
                ["address": request.remote ?? "", "status": String(status)])
            return status
        }
        // libsoup takes the handler with the longest path that begins the request's: that of the socket of pages begins
        // the names of all their files.
        for path in ["/", "/v1/applications/"] {
            server.handle(below: path) { [weak service] request in Self.answer(request, service) }
        }
        var socketLimits = WebSocket.Limits()
        socketLimits.message = UInt64(limits.binaryFrame)
        socketLimits.pingEvery = limits.pingEvery
        socketLimits.unacknowledged = limits.silence
        server.handleWebSocket("/v1/route", limits: socketLimits) { [weak self] socket, _ in
            self?.open(socket) { $0.clientOpened($1) }
        }
        server.handleWebSocket("/v1/application", limits: socketLimits) { [weak self] socket, request in
            let token = Self.token(in: request.query)
            self?.open(socket) { $0.clientOpened($1, token: token) }
        }
        let port = try server.listen(port: configuration.port)
        (self.server, self.service) = (server, service)
        return port
    }

    package func stop() { server?.stop() }

    private static func answer(_ request: Request, _ service: (any ListenerService)?) -> Response {
        guard let page = service?.page(at: request.path) else {
            return Response(404, "text/plain", Array("not found\n".utf8))
        }
        if let tag = page.headers["ETag"], request.hasAnswer(tagged: tag) {
            return Response(304, page.type, [], headers: page.headers)
        }
        return Response(200, page.type, page.body, headers: page.headers)
    }

    /// The value of `token` in a query, empty without one. Tokens need no escapes.
    static func token(in query: String?) -> String {
        let parts = (query ?? "").split(separator: "&")
        return parts.first { $0.hasPrefix("token=") }.map { String($0.dropFirst(6)) } ?? ""
    }

    private func open(_ socket: WebSocket, _ tell: (any ListenerService, SoupClient) -> Void) {
        guard let service else { return socket.abort() }
        let client = SoupClient(socket, limits, log)
        clients[ObjectIdentifier(client)] = client
        client.onWatch = { [weak self] in self?.scheduleSilenceCheck() }
        client.connect(to: service) { [weak self] client in
            self?.clients[ObjectIdentifier(client)] = nil
            if self?.clients.isEmpty == true { self?.patrol = nil }
        }
        tell(service, client)
        if patrol == nil { scheduleSilenceCheck() }
    }

    /// Looks again when one of them may have been silent for too long.
    private func scheduleSilenceCheck() {
        guard let due = clients.values.map(\.dueAt).min(), due < .max else { return patrol = nil }
        let moment = max(due, MonotonicClock.nanoseconds + 10_000_000)
        patrol = EventSource.after(.nanoseconds(moment - MonotonicClock.nanoseconds)) { [weak self] in
            self?.cutSilent(at: moment)
        }
    }

    private func cutSilent(at moment: Int64) {
        let now = MonotonicClock.nanoseconds
        // A process that was held up itself has not heard what came meanwhile.
        guard now - moment < Self.lateness else {
            patrol = EventSource.after(.nanoseconds(Self.lateness)) { [weak self] in
                self?.cutSilent(at: now + Self.lateness)
            }
            return
        }
        for client in clients.values where client.dueAt <= now {
            client.giveUp("nothing was heard for too long")
        }
        scheduleSilenceCheck()
    }
}

extension SoupListener {
    /// Opens the port and closes it again, for a self-test. 0 takes a free one.
    package static func freePort(_ port: UInt16) throws(Failure) -> UInt16 {
        let server = Server()
        defer { server.stop() }
        return try server.listen(port: port)
    }
}
