// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import SessionCore

/// The books of a route's own channel: which messages of ours are unanswered, and how many answers the sender has
/// not read.
struct DataChannel {
    private var sent: UInt64 = 0
    private var unanswered: Set<UInt64> = []
    private var unreadAnswers = 0

    /// The number of the next message, or nil while the window is full.
    mutating func nextMessage() -> UInt64? {
        guard unanswered.count < DataFrame.window else { return nil }
        sent += 1
        unanswered.insert(sent)
        return sent
    }

    /// The sender answered, or the message did not leave.
    mutating func answered(_ message: UInt64) { unanswered.remove(message) }

    /// True if the sender may send another message. One that has not read the answers to a window's worth of
    /// messages cannot know that it may.
    func admits(isCongested: Bool) -> Bool { !isCongested || unreadAnswers < DataFrame.window }

    mutating func sentAnswer(isCongested: Bool) { unreadAnswers = isCongested ? unreadAnswers + 1 : 1 }
    mutating func drained() { unreadAnswers = 0 }
}

extension RouteConnection: RoutePeer {
    /// Bytes that may wait for a sender before further messages are held back: two messages of the largest size.
    static let messageLimit = 2 * DataFrame.limit

    func send(_ payload: [UInt8], from endpoint: String) -> Bool {
        sendMessage(payload, from: endpoint) != nil
    }

    /// The number of the message; nil if it was not sent.
    func sendMessage(_ payload: [UInt8], from endpoint: String) -> UInt64? {
        guard route != nil, !isClosing, pendingBytes + payload.count <= Self.messageLimit,
            let message = channel.nextMessage()
        else { return nil }
        let frame = DataFrame(kind: .message, message: message, endpoint: endpoint, payload: payload)
        guard let bytes = frame.bytes else {
            channel.answered(message)
            return nil
        }
        send(bytes)
        return message
    }
}

extension RouteFrontEnd {
    /// Handles a binary message: a data frame, or several that are joined.
    func receive(_ bytes: [UInt8], from connection: RouteConnection) {
        guard connection.joinsFrames, JoinedFrames.isJoined(bytes) else {
            return handle(bytes, from: connection)
        }
        do {
            for frame in try JoinedFrames.split(bytes) {
                guard !connection.isClosing else { return }
                handle(frame, from: connection)
            }
        } catch {
            cut(connection, 1002, error.description)
        }
    }

    /// Handles a data frame: a message for a service, or the answer to one of ours.
    private func handle(_ bytes: [UInt8], from connection: RouteConnection) {
        let frame: DataFrame
        do {
            let header = try DataFrame.Header(decoding: bytes)
            if header.channel != 0 || connection.instance != nil {
                return relay.received(header, bytes, from: connection)
            }
            frame = try DataFrame(decoding: bytes)
            if header.kind == .message, connection.route != nil, services[frame.endpoint] == nil,
                relay.received(header, bytes, onRouteOf: connection, endpoint: frame.endpoint)
            {
                return
            }
        } catch {
            cut(connection, 1002, error.description)
            return
        }
        switch frame.kind {
        case .acknowledged, .refused:
            connection.channel.answered(frame.message)
            guard let forwarded = connection.forwarded.removeValue(forKey: frame.message) else { return }
            let answer: MessageReception.Answer =
                frame.kind == .acknowledged
                ? .acknowledged : .refused(Array(frame.payload.prefix(RelayChannel.refusalLimit)))
            forwarded.channel.answeredBySender(forwarded.message, answer)
        case .message:
            shell.metrics.dataMessages += 1
            let refusal = deliver(frame, from: connection)
            answer(frame, refusal, to: connection)
        }
    }

    private func deliver(_ frame: DataFrame, from connection: RouteConnection) -> RouteServiceRefusal? {
        guard connection.route != nil else {
            return RouteServiceRefusal("routeRequired", "no route is active on this connection")
        }
        guard connection.channel.admits(isCongested: connection.isCongested) else {
            return RouteServiceRefusal("tooManyMessages", "\(DataFrame.window) messages are unanswered")
        }
        guard let service = services[frame.endpoint] else {
            return RouteServiceRefusal("endpointUnknown", "there is no such endpoint")
        }
        return service.handle(frame.payload, from: connection)
    }

    private func answer(_ frame: DataFrame, _ refusal: RouteServiceRefusal?, to connection: RouteConnection) {
        guard !connection.isClosing else { return }
        var answer = DataFrame(kind: .acknowledged, channel: frame.channel, message: frame.message)
        if let refusal {
            answer.kind = .refused
            let text = JSONText.encode(["reason": .text(refusal.reason), "message": .text(refusal.message)])
            answer.payload = Array(text.utf8)
        }
        guard let bytes = answer.bytes else { return }
        connection.channel.sentAnswer(isCongested: connection.isCongested)
        if !connection.send(answer: bytes) { cut(connection, 1008, "answers are not read") }
    }
}
