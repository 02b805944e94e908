// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import SessionCore

/// The receiver's side of the route protocol: every connection of a sender, from text to events and from answers
/// to text. The one place where core and wire meet.
final class RouteFrontEnd {
    /// The order is that of their opening.
    private(set) var connections: [RouteConnection] = []
    /// The same by their clients, since every frame names its client.
    private var byClient: [ObjectIdentifier: RouteConnection] = [:]
    private(set) lazy var relay = Relay(front: self)
    private(set) var publisher: Publisher
    let services: [String: any RouteService]
    unowned let shell: ReceiverShell
    private var opened: UInt64 = 0
    private let turn = FrameTurn()

    init(shell: ReceiverShell, services: [any RouteService] = [EchoService()]) {
        self.shell = shell
        self.services = Dictionary(services.map { ($0.endpoint, $0) }) { first, _ in first }
        publisher = Publisher(
            composer: StateComposer(identity: shell.identity, configuration: shell.configuration),
            state: shell.state, artwork: shell.artwork)
    }

    var isEmpty: Bool { connections.isEmpty }

    // MARK: Clients

    func clientOpened(_ client: any Client) {
        let isFull =
            connections.count { $0.instance == nil } >= shell.configuration.connectionLimit
        let connection = add(client, of: nil)
        guard shell.isRunning, !isFull else {
            close(connection, isFull ? 1008 : 1001, isFull ? "too many connections" : Self.goodbye)
            return
        }
        shell.metrics.connectionsOpened += 1
        shell.log.write(
            .debug, "receiver.route", "connection opened",
            ["connection": String(opened), "address": client.address])
        shell.handle(.connectionOpened(connection.id))
    }

    func add(_ client: any Client, of instance: InstanceID?) -> RouteConnection {
        opened += 1
        let connection = RouteConnection(
            id: ConnectionID(opened), client: client, instance: instance, turn: turn)
        connections.append(connection)
        byClient[ObjectIdentifier(client)] = connection
        return connection
    }

    func clientReceived(text: String, from client: any Client) {
        let received = shell.ports.clock.now
        guard let connection = connection(of: client), shell.isRunning else { return }
        handle(text, received: received, from: connection)
    }

    func clientReceived(binary: [UInt8], from client: any Client) {
        guard let connection = connection(of: client), shell.isRunning else { return }
        turn.run { receive(binary, from: connection) }
    }

    func together(_ body: () -> Void) { turn.run(body) }

    func clientDrained(_ client: any Client) {
        guard let connection = connection(of: client) else { return }
        connection.drained()
        // States are not to wait behind messages without end.
        push(to: connection)
        turn.run { relay.pump(connection) }
    }

    func clientClosed(_ client: any Client) {
        guard let connection = byClient.removeValue(forKey: ObjectIdentifier(client)) else { return }
        connections.removeAll { $0 === connection }
        connection.isClosing = true
        relay.detach(connection)
        shell.group?.connectionClosed(connection)
        shell.log.write(
            .debug, "receiver.route", "connection closed", ["connection": String(connection.id.number)])
        shell.handle(.connectionLost(connection.id))
        shell.clientsChanged()
    }

    /// The open connection of a client; nil once it is being closed.
    private func connection(of client: any Client) -> RouteConnection? {
        guard let connection = byClient[ObjectIdentifier(client)], !connection.isClosing else { return nil }
        return connection
    }

    func connection(_ id: ConnectionID) -> RouteConnection? {
        connections.first { $0.id == id && !$0.isClosing }
    }

    // MARK: Closing

    private static let goodbye = "the receiver goes away"

    func close(_ connection: RouteConnection, _ code: UInt16, _ reason: String) {
        guard !connection.isClosing else { return }
        connection.flush()
        connection.isClosing = true
        connection.seen = nil
        connection.client.close(code: code, reason: reason)
    }

    /// Cuts a connection whose peer breaks a limit.
    func cut(_ connection: RouteConnection, _ code: UInt16, _ reason: String) {
        guard !connection.isClosing else { return }
        shell.metrics.connectionsCut += 1
        shell.log.write(
            .notice, "receiver.route", "connection cut",
            ["address": connection.client.address, "reason": reason, "code": String(code)])
        close(connection, code, reason)
        report(connection, code, reason)
    }

    /// Nobody reports the end of applications any more.
    func closeAll() {
        for connection in connections { close(connection, 1001, Self.goodbye) }
        byClient = byClient.filter { $0.value.instance == nil }
        connections.removeAll { $0.instance != nil }
    }

    /// Sends what must not be left out, or cuts a connection that does not read.
    func send(_ text: String, to connection: RouteConnection) {
        guard !connection.isClosing, !connection.send(answer: text) else { return }
        cut(connection, 1008, "answers are not read")
    }

    // MARK: State

    func stateChanged(after event: ReceiverEvent) {
        publisher.update(
            shell.state, artwork: shell.artwork, group: shell.group?.json, accessory: shell.accessory?.json,
            after: event)
    }

    /// Sends every subscriber what it does not know yet.
    func publish() {
        for connection in connections { push(to: connection) }
    }

    /// Sends the newest state to a subscriber that is behind and reads; one that does not read gets it later, joined.
    func push(to connection: RouteConnection) {
        guard let seen = connection.seen, seen.version < publisher.current.version, !connection.isClosing
        else {
            return
        }
        guard !connection.isInBatch, !connection.client.isCongested else {
            if connection.missed < publisher.current.version {
                connection.missed = publisher.current.version
                shell.metrics.skippedStates += 1
            }
            return
        }
        connection.seen = publisher.current
        shell.metrics.statePushes += 1
        send(publisher.step(from: seen), to: connection)
    }

    // MARK: Announcements

    func announceEnd(_ session: SessionID, _ reason: EndReason) {
        let text = JSONText.encode(reason.notification(session))
        for connection in connections where connection.seen != nil && connection.instance == nil {
            send(text, to: connection)
        }
    }

    func tellAnnouncementEnd(_ announcement: AnnouncementID, _ end: AnnouncementEnd) {
        let text = JSONText.encode(end.notification(announcement))
        for connection in connections where connection.seen != nil { send(text, to: connection) }
    }

    func announceRouteEnd(_ id: ConnectionID, _ route: RouteID, _ reason: RouteEndReason) {
        guard let connection = connection(id) else { return }
        connection.route = nil
        connection.channel = DataChannel()
        relay.detach(connection)
        send(
            JSONText.encode(
                Notification.routeEnded(route: route.text, reason: reason.rawValue, message: reason.sentence)),
            to: connection)
        if reason == .resumedElsewhere { close(connection, 4000, reason.sentence) }
    }
}

extension RouteEndReason {
    /// For people.
    fileprivate var sentence: String {
        switch self {
        case .deactivated: "The route was deactivated."
        case .graceExpired: "The sender did not come back in time."
        case .resumedElsewhere: "The route was resumed on another connection."
        case .shutdown: "The receiver goes away."
        }
    }
}
