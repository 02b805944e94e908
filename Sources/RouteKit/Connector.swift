// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteWire
import Soup

/// The calls that this library makes over the network.
enum Connector {
    /// One client for all receivers: libsoup keeps no state between them.
    @RouteActor private static let client = HTTPClient()

    /// What a connection takes on. Messages up to the largest data frame. What is under way is bounded by the windows of the data
    /// channels and the requests in flight, each answered when the receiver has read it; libsoup's queue is not, since it is not seen
    /// to be empty while messages keep coming. The receiver pings, and clock readings tell whether it answers, so we send no
    /// pings.
    private static var limits: WebSocket.Limits {
        var limits = WebSocket.Limits()
        limits.message = 1_048_576 + 144
        limits.queue = .max
        limits.pingEvery = 0
        return limits
    }

    /// Opens the WebSocket of the protocol. `configure` sets its callbacks.
    @RouteActor static func webSocket(
        _ address: Receiver.Address, timeout: Duration, configure: @escaping (WebSocket) -> Void
    ) async throws -> WebSocket {
        try await client.connect(
            "ws://\(address)/v1/route", limits: limits, timeout: timeout, configure: configure)
    }

    /// Asks who answers at an address.
    @RouteActor static func identity(
        at address: Receiver.Address, timeout: Duration
    ) async throws(RoutingError) -> Receiver {
        let answer: HTTPClient.Answer
        do {
            answer = try await client.get(
                "http://\(address)/v1/receiver", maximum: 65_536, timeout: timeout)
        } catch {
            throw RoutingError(
                .connectionFailed, family: .connection, "\(address) does not answer: \(words(for: error))")
        }
        let text = String(decoding: answer.body, as: UTF8.self)
        guard answer.status == 200, let value = try? JSONText.decode(text, limit: 65_536),
            let description = try? ReceiverDescription(json: value)
        else {
            throw RoutingError(
                .badAnswer, family: .connection, "what answers at \(address) is no Linnet receiver")
        }
        return Receiver(description, addresses: [address])
    }

    /// An error of the network in words, without its domain.
    static func words(for error: any Error) -> String {
        if let failure = error as? Failure { return failure.message }
        return String(describing: error)
    }
}
