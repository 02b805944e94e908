// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import RouteWire
import SessionCore

/// Passes data frames between senders and applications, channel by channel.
final class Relay {
    enum Direction { case toApplication, toSender }

    unowned let front: RouteFrontEnd
    private var channels: [UInt32: RelayChannel] = [:]
    private var budgets: [InstanceID: RelayBudget] = [:]

    init(front: RouteFrontEnd) { self.front = front }

    // MARK: Frames

    /// A frame on another channel than 0, or any of an application.
    func received(_ header: DataFrame.Header, _ bytes: [UInt8], from connection: RouteConnection) {
        let channel = channels[header.channel]
        if connection.instance != nil {
            if let channel, channel.application === connection {
                return channel.received(header, bytes, fromApplication: connection)
            }
        } else if let channel, channel.sender === connection, channel.opening.kind == .session {
            return channel.received(header, bytes, fromSender: connection)
        }
        guard header.kind == .message else { return }
        refused()
        let isWithout = connection.instance == nil && connection.route == nil
        let refusal = isWithout ? RelayRefusal.route : .unknown
        answer(
            DataFrame.bytes(
                .refused, channel: header.channel, message: header.message, payload: refusal.payload[...]),
            to: connection)
    }

    /// A message on a sender's route channel for an endpoint that no service has. False: no application has it either.
    func received(
        _ header: DataFrame.Header, _ bytes: [UInt8], onRouteOf connection: RouteConnection,
        endpoint: String
    ) -> Bool {
        if connection.routeChannels[endpoint] == nil, let application = ApplicationID(endpoint) {
            front.shell.handle(
                .routeChannelRequested(
                    connection.id, application, instance: InstanceID(front.shell.ports.identifiers.uuid())))
        }
        guard let channel = connection.routeChannels[endpoint] else { return false }
        channel.received(header, bytes, fromSender: connection)
        return true
    }

    /// Sends an answer; who does not read its answers is cut.
    func answer(_ frame: [UInt8], to connection: RouteConnection) {
        guard !connection.isClosing, !connection.send(answer: frame) else { return }
        front.cut(connection, 1008, "answers are not read")
    }

    func passed(_ direction: Direction) {
        switch direction {
        case .toApplication: front.shell.metrics.messagesToApplications += 1
        case .toSender: front.shell.metrics.messagesToSenders += 1
        }
    }

    func refused() { front.shell.metrics.messagesRefused += 1 }

    /// The end takes more: each channel that waits for it has its turn.
    func pump(_ connection: RouteConnection) {
        while let channel = connection.nextWaiting() {
            switch channel.passNext(to: connection) {
            case true: connection.wait(channel)
            case false: return connection.waitFirst(channel)
            default: break
            }
        }
    }

    // MARK: Channels

    func open(_ opening: ChannelOpening) {
        let budget = budgets[opening.instance] ?? RelayBudget()
        budgets[opening.instance] = budget
        let sender: RouteConnection?
        switch opening.kind {
        case .session: sender = front.connections.first { $0.route == opening.route && !$0.isClosing }
        case .route(let connection): sender = front.connection(connection)
        }
        let channel = RelayChannel(opening, budget: budget, relay: self, sender: sender)
        channels[opening.channel] = channel
        if case .route = opening.kind, let name = endpoint(of: opening.instance) {
            sender?.routeChannels[name] = channel
        }
    }

    /// The application was told of it.
    func opened(_ channel: UInt32, at connection: RouteConnection) { channels[channel]?.open(connection) }

    func close(_ number: UInt32) {
        guard let channel = channels.removeValue(forKey: number) else { return }
        if case .route = channel.opening.kind, let sender = channel.sender {
            sender.routeChannels = sender.routeChannels.filter { $0.value !== channel }
            sender.forwarded = sender.forwarded.filter { $0.value.channel !== channel }
        }
        channel.close()
        let instance = channel.opening.instance
        if !channels.values.contains(where: { $0.opening.instance == instance }) { budgets[instance] = nil }
    }

    func abandon(_ channel: UInt32) { channels[channel]?.abandon() }

    func interrupt(_ instance: InstanceID) {
        for channel in inOrder where channel.opening.instance == instance { channel.interrupt() }
    }

    /// A sender has its route back.
    func attach(_ route: RouteID, _ connection: RouteConnection) {
        for channel in inOrder where channel.opening.route == route && channel.opening.kind == .session {
            channel.attach(connection)
        }
    }

    /// A sender's connection, or its route there, is over.
    func detach(_ connection: RouteConnection) {
        for channel in channels.values where channel.sender === connection { channel.detach() }
        connection.forgetChannels()
    }

    private var inOrder: [RelayChannel] {
        channels.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The name by which an instance is reached on a route channel.
    func endpoint(of instance: InstanceID) -> String? {
        front.shell.state.applications.instances[instance]?.manifest.id.text
    }
}
