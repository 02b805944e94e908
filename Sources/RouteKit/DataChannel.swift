// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire

/// Takes the messages that a receiver sends on a data channel.
@RouteActor public protocol RouteDataChannelDelegate: AnyObject {
    /// A message came. Returning acknowledges it; throwing refuses it with the error's words. Messages are handed over
    /// one at a time, in order.
    func dataChannel(
        _ channel: RouteDataChannel, receive message: [UInt8], from endpoint: String
    ) async throws
}

/// Messages between a sender and an endpoint at the receiver, beside what plays. Usable as soon as the route is active.
///
/// Boundaries and order are kept. A message is at most 1 MiB; at most 16 are under way in each direction.
@RouteActor public final class RouteDataChannel {
    /// The longest message in bytes.
    public static let maximumMessage = 1_048_576
    /// The longest name of an endpoint in bytes of UTF-8.
    public static let maximumEndpointName = 128
    /// Messages that may be under way in each direction.
    public static let maximumUnanswered = 16

    /// Takes what comes. Without one, messages are refused.
    public weak var delegate: (any RouteDataChannelDelegate)?

    private let channel: UInt32
    private var next: UInt64 = 1
    private var unanswered: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    private var incoming: [(id: UInt64, endpoint: String, message: [UInt8])] = []
    private var isDelivering = false
    private var transmit: ((DataFrame) -> Void)?
    /// Counts connections: a message is answered only on the one it came by.
    private var connection: UInt64 = 0
    private var closed: RoutingError?

    init(channel: UInt32) { self.channel = channel }

    /// Sends a message and waits until the endpoint has taken it.
    public func send(_ message: [UInt8], to endpoint: String) async throws {
        if let closed { throw closed }
        guard message.count <= Self.maximumMessage, endpoint.utf8.count <= Self.maximumEndpointName else {
            throw RoutingError(
                .tooLong, family: .connection,
                "a message has at most 1 MiB, the name of an endpoint 128 bytes")
        }
        guard unanswered.count < Self.maximumUnanswered else {
            throw RoutingError(
                .tooMuchAtOnce, family: .connection, "\(unanswered.count) messages are not answered yet")
        }
        guard let transmit else {
            throw RoutingError(.connectionLost, family: .connection, "the connection is down")
        }
        let id = next
        next += 1
        let frame = DataFrame(
            kind: .message, channel: channel, message: id, endpoint: endpoint, payload: message)
        try await withCheckedThrowingContinuation { continuation in
            unanswered[id] = continuation
            transmit(frame)
        }
    }

    // MARK: From the connection

    func connected(_ transmit: @escaping (DataFrame) -> Void) {
        connection += 1
        self.transmit = transmit
    }

    /// What is not answered will never be. What came may not be answered any more.
    func disconnected(
        _ error: RoutingError = RoutingError(
            .connectionLost, family: .connection, "the connection was lost before the message was answered")
    ) {
        transmit = nil
        incoming = []
        let lost = unanswered
        unanswered = [:]
        for continuation in lost.values { continuation.resume(throwing: error) }
    }

    func close(_ error: RoutingError) {
        closed = error
        disconnected(error)
    }

    func acknowledged(_ id: UInt64) { unanswered.removeValue(forKey: id)?.resume() }

    func refused(_ id: UInt64, _ error: RoutingError) {
        unanswered.removeValue(forKey: id)?.resume(throwing: error)
    }

    func received(_ id: UInt64, from endpoint: String, _ message: [UInt8]) {
        guard incoming.count < Self.maximumUnanswered else {
            return refuse(id, "tooManyMessages", "\(incoming.count) messages are not answered yet")
        }
        incoming.append((id, endpoint, message))
        if !isDelivering { Task { await deliver() } }
        isDelivering = true
    }

    private func deliver() async {
        while let (id, endpoint, message) = incoming.first {
            let connection = connection
            let refusal = await offer(message, from: endpoint)
            guard connection == self.connection else { continue }
            if incoming.first?.id == id { incoming.removeFirst() }
            if let refusal {
                refuse(id, refusal.code.rawValue, refusal.message)
            } else {
                transmit?(DataFrame(kind: .acknowledged, channel: channel, message: id))
            }
        }
        isDelivering = false
    }

    /// Nil: taken.
    private func offer(_ message: [UInt8], from endpoint: String) async -> RoutingError? {
        guard let delegate else {
            return RoutingError(.noHandler, family: .connection, "nobody takes messages here")
        }
        do {
            try await delegate.dataChannel(self, receive: message, from: endpoint)
            return nil
        } catch let error as RoutingError {
            return error
        } catch {
            return RoutingError(
                .init(rawValue: "failed"), family: .connection, String(describing: error))
        }
    }

    private func refuse(_ id: UInt64, _ reason: String, _ message: String) {
        let payload = Codec.refusal(reason: reason, message: message)
        transmit?(DataFrame(kind: .refused, channel: channel, message: id, payload: payload))
    }
}
