// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import RouteWire
import SessionCore

// An application's client is one more connection, with other rights.

extension RouteFrontEnd {
    func applicationOpened(_ client: any Client, of instance: InstanceID) {
        let connection = add(client, of: instance)
        guard shell.isRunning else { return close(connection, 1001, "the receiver goes away") }
        shell.log.write(
            .debug, "receiver.application", "application connected",
            ["instance": instance.text, "connection": String(connection.id.number)])
        shell.handle(.applicationConnected(connection.id, instance))
    }

    func dismiss(_ id: ConnectionID) {
        guard let connection = connection(id) else { return }
        close(connection, 1008, "the application is over")
    }

    /// Tells an application something, and opens its channel where it is told of one.
    func tell(_ instance: InstanceID, _ notice: InstanceNotice) {
        guard let connection = connections.first(where: { $0.instance == instance && !$0.isClosing }) else {
            return
        }
        guard let text = text(of: notice) else { return }
        send(text, to: connection)
        switch notice {
        case .opened(let id):
            guard let session = shell.state.applications.sessions[id] else { return }
            relay.opened(session.channel, at: connection)
        case .routeOpened(let channel): relay.opened(channel, at: connection)
        default: break
        }
    }

    private func text(of notice: InstanceNotice) -> String? {
        let applications = shell.state.applications
        let words: ApplicationNotice
        switch notice {
        case .opened(let id):
            guard let session = applications.sessions[id] else { return nil }
            let route = session.route.flatMap { shell.state.routes[$0] }
            words = .sessionOpened(
                session: id.text, channel: session.channel, url: session.url,
                sender: route.map { SenderInfo($0.sender) }, isAttached: route?.connection != nil)
        case .attached(let id, let isAttached):
            words = .sessionAttached(session: id.text, isAttached: isAttached)
        case .closed(let id, let channel, let reason):
            words = .sessionClosed(session: id.text, channel: channel, reason: reason.name)
        case .routeOpened(let channel):
            guard let opened = applications.routeChannels[channel],
                let route = shell.state.routes[opened.route]
            else { return nil }
            words = .routeOpened(
                channel: channel, route: opened.route.text, sender: SenderInfo(route.sender))
        case .routeClosed(let channel): words = .routeClosed(channel: channel)
        case .mediaEnded(let id, let reason): return JSONText.encode(reason.notification(id))
        case .ending(let reason, let time):
            words = .ending(reason: reason, milliseconds: time.components.seconds * 1_000)
        }
        return JSONText.encode(words.json)
    }

    /// The answer to hello.
    func greeting(_ id: InstanceID) -> JSONValue {
        guard let instance = shell.state.applications.instances[id] else { return .null }
        return HelloResult(
            application: instance.manifest.id.text, instance: id.text,
            permissions: ApplicationManifest.Permission.allCases.filter(
                instance.manifest.permissions.contains
            )
            .map(\.rawValue),
            limits: instance.manifest.limits, storage: shell.ports.applications?.storage(of: id),
            clock: ClockInfo(id: shell.identity.clock, now: shell.ports.clock.now),
            version: publisher.current.version, state: publisher.current.state
        ).json
    }

    /// Ends the instance whose client breaks a limit or the protocol.
    func report(_ connection: RouteConnection, _ code: UInt16, _ reason: String) {
        guard let instance = connection.instance else { return }
        let isLimit = code == 1008 && connection.nonsense < RouteConnection.nonsenseLimit
        shell.handle(
            .instanceViolated(
                instance,
                ApplicationFailure(
                    isLimit ? .limitExceeded : .protocolViolation, "The application: \(reason).")))
    }
}

extension SenderInfo {
    fileprivate init(_ sender: Sender) { self.init(identifier: sender.identifier, name: sender.name) }
}
