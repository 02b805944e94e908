// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import SessionCore

/// A data channel between a sender and an instance of an application (`Docs/protocols/application.md`, section 5). It passes
/// frames on as they are, holds what an end does not take yet, and answers in the place of an end only to refuse.
final class RelayChannel {
    /// Bytes that may be on their way to an end before more of them wait here, where states and answers overtake
    /// them: one message of the largest size.
    static let congestion = 1 << 20
    /// The longest payload of a refusal that is passed on.
    static let refusalLimit = 4_096

    let opening: ChannelOpening
    let budget: RelayBudget
    unowned let relay: Relay
    /// Nil while the route has no connection.
    private(set) var sender: RouteConnection?
    /// Nil until the application was told of the channel, and after a crash until it is told again.
    private(set) var application: RouteConnection?
    private var isAbandoned = false
    private var toApplication = RelayLane()
    private var toSender = RelayLane()
    /// On a route channel the numbers there, by those here: other endpoints share them.
    private var routeNumbers: [UInt64: UInt64] = [:]

    init(_ opening: ChannelOpening, budget: RelayBudget, relay: Relay, sender: RouteConnection?) {
        (self.opening, self.budget, self.relay, self.sender) = (opening, budget, relay, sender)
    }

    private var isRouteChannel: Bool { opening.kind != .session }

    // MARK: From the sender

    func received(_ header: DataFrame.Header, _ bytes: [UInt8], fromSender connection: RouteConnection) {
        switch header.kind {
        case .message: take(header, bytes, fromSender: connection)
        case .acknowledged, .refused: answeredBySender(header.message, Self.answer(header, bytes))
        }
    }

    private func take(_ header: DataFrame.Header, _ bytes: [UInt8], fromSender connection: RouteConnection) {
        let size = header.payloadLength
        var source = header.message
        if isRouteChannel {
            source = toApplication.reception.last &+ 1
            routeNumbers[source] = header.message
        }
        func refuse(_ refusal: RelayRefusal) {
            relay.refused()
            answerSender(source, .refused(refusal.payload), connection)
        }
        if source > toApplication.reception.last, budget.toApplication + size > RelayBudget.limit {
            return refuse(.busy)
        }
        switch toApplication.reception.receive(source, size) {
        case .deliver:
            if let refusal = refusal(header) {
                _ = toApplication.reception.answer(source, .refused(refusal.payload))
                return refuse(refusal)
            }
            relay.passed(.toApplication)
            budget.toApplication += size
            let target = toApplication.nextTarget()
            let frame = frame(header, bytes, target)
            let isNext = toApplication.messages.last?.isPassedOn ?? true
            let isTaken = isNext && application?.takes(frame.count) == true
            toApplication.messages.append(
                .init(
                    source: source, target: target, size: size, bytes: isTaken ? [] : frame,
                    isPassedOn: isTaken))
            if isTaken { application?.send(data: frame) } else { application?.wait(self) }
        case .answer(let answer): answerSender(source, answer, connection)
        case .pending: break
        case .tooMany: refuse(.tooMany)
        case .outOfOrder: refuse(.outOfOrder)
        }
    }

    /// The sender answered a message of the application.
    func answeredBySender(_ target: UInt64, _ answer: MessageReception.Answer) {
        guard let message = toSender.answer(target, answer) else { return }
        budget.toSender -= message.size
        // One of a process that is gone is only crossed off.
        guard let source = message.source, let application else { return }
        send(answer, source, to: application, opening.channel)
    }

    private func answerSender(
        _ source: UInt64, _ answer: MessageReception.Answer, _ connection: RouteConnection
    ) {
        guard isRouteChannel else { return send(answer, source, to: connection, opening.channel) }
        guard let number = routeNumbers.removeValue(forKey: source) else { return }
        send(answer, number, to: connection, 0)
    }

    // MARK: From the application

    func received(_ header: DataFrame.Header, _ bytes: [UInt8], fromApplication connection: RouteConnection) {
        switch header.kind {
        case .message: take(header, bytes, fromApplication: connection)
        case .acknowledged, .refused:
            let answer = Self.answer(header, bytes)
            guard let message = toApplication.answer(header.message, answer), let source = message.source
            else { return }
            budget.toApplication -= message.size
            if let sender { answerSender(source, answer, sender) }
        }
    }

    private func take(
        _ header: DataFrame.Header, _ bytes: [UInt8], fromApplication connection: RouteConnection
    ) {
        let (source, size) = (header.message, header.payloadLength)
        func refuse(_ refusal: RelayRefusal) {
            relay.refused()
            send(.refused(refusal.payload), source, to: connection, opening.channel)
        }
        if source > toSender.reception.last {
            // What a process before this one sent counts as well.
            guard toSender.admits(size) else { return refuse(.tooMany) }
            guard budget.toSender + size <= RelayBudget.limit else { return refuse(.busy) }
        }
        switch toSender.reception.receive(source, size) {
        case .deliver:
            if let refusal = isAbandoned ? .noSender : refusal(header) {
                _ = toSender.reception.answer(source, .refused(refusal.payload))
                return refuse(refusal)
            }
            relay.passed(.toSender)
            budget.toSender += size
            let target = toSender.nextTarget()
            if isRouteChannel {
                toSender.messages.append(
                    .init(source: source, target: target, size: size, bytes: [], isPassedOn: true))
                return passOnRoute(target, bytes[DataFrame.headerLength...])
            }
            let frame = frame(header, bytes, target)
            let isNext = toSender.messages.last?.isPassedOn ?? true
            let isTaken = isNext && sender?.takes(frame.count) == true
            toSender.messages.append(
                .init(source: source, target: target, size: size, bytes: frame, isPassedOn: isTaken))
            if isTaken { sender?.send(data: frame) } else { sender?.wait(self) }
        case .answer(let answer): send(answer, source, to: connection, opening.channel)
        case .pending: break
        case .tooMany: refuse(.tooMany)
        case .outOfOrder: refuse(.outOfOrder)
        }
    }

    /// The frame as the other end is to see it: most often as it came.
    private func frame(_ header: DataFrame.Header, _ bytes: [UInt8], _ target: UInt64) -> [UInt8] {
        guard header.endpointLength == 0, header.channel == opening.channel else {
            return DataFrame.bytes(
                .message, channel: opening.channel, message: target,
                payload: bytes[(DataFrame.headerLength + header.endpointLength)...])
        }
        guard header.message != target else { return bytes }
        var bytes = bytes
        DataFrame.setMessage(target, in: &bytes)
        return bytes
    }

    /// On a sender's route channel messages of all endpoints share one window; what does not go at once is refused.
    private func passOnRoute(_ target: UInt64, _ payload: ArraySlice<UInt8>) {
        guard let sender, let name = relay.endpoint(of: opening.instance),
            let number = sender.sendMessage(Array(payload), from: name)
        else { return answeredBySender(target, .refused(RelayRefusal.unread.payload)) }
        sender.forwarded[number] = RouteConnection.Forwarded(channel: self, message: target)
    }

    // MARK: Ends that come and go

    /// The application was told of the channel.
    func open(_ connection: RouteConnection) {
        application = connection
        if !toApplication.messages.isEmpty { connection.wait(self) }
        relay.pump(connection)
    }

    /// The sender is back; what it did not answer is sent again.
    func attach(_ connection: RouteConnection) {
        sender = connection
        for index in toSender.messages.indices { toSender.messages[index].isPassedOn = false }
        if !toSender.messages.isEmpty { connection.wait(self) }
        relay.pump(connection)
    }

    func detach() { sender = nil }

    /// The sender left for good.
    func abandon() {
        (sender, isAbandoned) = (nil, true)
        for message in toSender.messages {
            answeredBySender(message.target, .refused(RelayRefusal.noSender.payload))
        }
    }

    /// The application's process is gone and another one comes, which counts anew: what the old one may have taken is
    /// refused, what it sent goes on to the sender.
    func interrupt() {
        application = nil
        toSender.reception = MessageReception()
        for index in toSender.messages.indices { toSender.messages[index].source = nil }
        for message in toApplication.messages where message.isPassedOn {
            let answer = MessageReception.Answer.refused(RelayRefusal.restarted.payload)
            guard let source = toApplication.answer(message.target, answer)?.source else { continue }
            budget.toApplication -= message.size
            if let sender { answerSender(source, answer, sender) }
        }
    }

    /// The session is over: what is unanswered is refused on both sides.
    func close() {
        let over = MessageReception.Answer.refused(RelayRefusal.unknown.payload)
        let (sender, application) = (self.sender, self.application)
        (self.sender, self.application) = (nil, nil)
        let (received, sent) = (toApplication.messages, toSender.messages)
        (toApplication, toSender) = (RelayLane(), RelayLane())
        budget.toApplication -= received.reduce(0) { $0 + $1.size }
        budget.toSender -= sent.reduce(0) { $0 + $1.size }
        for message in received {
            if let sender, let source = message.source { answerSender(source, over, sender) }
        }
        for message in sent {
            if let application, let source = message.source {
                send(over, source, to: application, opening.channel)
            }
        }
    }

    /// Passes the next frame on that waits for this end. False if it has no room; nil if none waits.
    func passNext(to connection: RouteConnection) -> Bool? {
        if connection === application {
            guard let frame = Self.passNext(in: &toApplication, to: connection, isKept: false) else {
                return nil
            }
            return send(frame, to: connection)
        }
        guard connection === sender,
            let frame = Self.passNext(in: &toSender, to: connection, isKept: true)
        else { return nil }
        return send(frame, to: connection)
    }

    private func send(_ frame: [UInt8], to connection: RouteConnection) -> Bool {
        // An empty one is no frame: the end has no room.
        if !frame.isEmpty { connection.send(data: frame) }
        return !frame.isEmpty
    }

    /// The next frame, marked as passed on; empty if the end has no room for it, nil if there is none.
    private static func passNext(
        in lane: inout RelayLane, to connection: RouteConnection, isKept: Bool
    ) -> [UInt8]? {
        guard let index = lane.messages.firstIndex(where: { !$0.isPassedOn }) else { return nil }
        let frame = lane.messages[index].bytes
        guard connection.takes(frame.count) else { return [] }
        lane.messages[index].isPassedOn = true
        if !isKept { lane.messages[index].bytes = [] }
        return frame
    }

    // MARK: Answers

    /// Why a message is refused for good.
    private func refusal(_ header: DataFrame.Header) -> RelayRefusal? {
        // On the route channel the endpoint has led here.
        if header.channel != 0, header.endpointLength != 0 { return .endpoint }
        return header.payloadLength > opening.messageLimit ? .tooLong : nil
    }

    private static func answer(_ header: DataFrame.Header, _ bytes: [UInt8]) -> MessageReception.Answer {
        guard header.kind == .refused else { return .acknowledged }
        let payload = bytes[DataFrame.headerLength...]
        return .refused(
            payload.count <= refusalLimit ? Array(payload) : RelayRefusal.wordy.payload)
    }

    private func send(
        _ answer: MessageReception.Answer, _ id: UInt64, to connection: RouteConnection, _ channel: UInt32
    ) {
        switch answer {
        case .acknowledged:
            relay.answer(DataFrame.bytes(.acknowledged, channel: channel, message: id), to: connection)
        case .refused(let payload):
            relay.answer(
                DataFrame.bytes(.refused, channel: channel, message: id, payload: payload[...]),
                to: connection)
        }
    }
}
