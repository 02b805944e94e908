// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import Soup

extension ReceiverLink {
    /// Channels that are spoken on before their session is known here: as many as a route may have.
    private static let earlyLimit = 16

    /// The channel of an application's session. It is made at its first mention, by whichever side.
    func channel(number: UInt32) -> SessionDataChannel {
        if let channel = channels[number] { return channel }
        let channel = SessionDataChannel(number: number)
        channels[number] = channel
        if isConnected { connect(channel) } else { open(channel) }
        return channel
    }

    /// The channel of a session that the state knows.
    func channel(of session: String) -> SessionDataChannel? {
        mirror.state?.applicationSessions[session].map { channel(number: $0.channel) }
    }

    func connectChannels() {
        for channel in channels.values { connect(channel) }
    }

    func openChannels() {
        for channel in channels.values { open(channel) }
    }

    private func open(_ channel: SessionDataChannel) {
        guard let socket else { return }
        channel.opened { [weak socket] frame in socket?.send(.binary(frame.bytes ?? [])) }
    }

    private func connect(_ channel: SessionDataChannel) {
        guard let socket else { return }
        channel.connected { [weak socket] frame in socket?.send(.binary(frame.bytes ?? [])) }
    }

    func closeChannels(_ error: RoutingError) {
        for channel in channels.values { channel.close(error) }
        channels = [:]
    }

    /// Before the state forgets the session.
    func closeChannel(of session: String) {
        guard let number = mirror.channels[session] else { return }
        closeChannel(number: number)
    }

    func closeChannel(number: UInt32) {
        channels.removeValue(forKey: number)?.close(
            RoutingError(.ended, family: .session, "the session is over"))
    }

    func received(_ frame: DataFrame) {
        if let channel = channels[frame.channel] { return channel.received(frame) }
        // An application may speak before the answer to the start is looked at here.
        guard frame.kind == .message, channels.count < Self.earlyLimit || mirror.knows(channel: frame.channel)
        else { return }
        channel(number: frame.channel).received(frame)
    }
}
