// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import SessionCore

/// What the receiver holds for one instance of an application, in bytes of messages that are unanswered.
final class RelayBudget {
    static let limit = 16 << 20
    var toApplication = 0
    var toSender = 0
}

/// One direction of a channel.
struct RelayLane {
    struct Held {
        /// As the receiving end sees it.
        let message: UInt64
        let bytes: [UInt8]
        var isPassedOn = false
    }

    /// The books of what the sending end sent.
    var reception = MessageReception()
    /// In order: what waits for its turn, and of what goes to a sender also what it has not answered.
    var held: [Held] = []

    /// Notes an answer; nil if nobody waits for it, else the bytes that are free again.
    mutating func answer(_ message: UInt64, _ answer: MessageReception.Answer) -> Int? {
        let before = reception.unansweredBytes
        guard reception.answer(message, answer) else { return nil }
        if let index = held.firstIndex(where: { $0.message == message }) { held.remove(at: index) }
        return before - reception.unansweredBytes
    }
}

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
    /// What the numbers of the application's messages are raised by: each process counts from 1, the channel goes on.
    private var offset: UInt64 = 0

    init(_ opening: ChannelOpening, budget: RelayBudget, relay: Relay, sender: RouteConnection?) {
        (self.opening, self.budget, self.relay, self.sender) = (opening, budget, relay, sender)
    }

    private var isRouteChannel: Bool { opening.kind != .session }
    /// The number by which the sender knows it.
    private var senderChannel: UInt32 { isRouteChannel ? 0 : opening.channel }

    // MARK: From the sender

    func received(_ header: DataFrame.Header, _ bytes: [UInt8], fromSender connection: RouteConnection) {
        switch header.kind {
        case .message: take(header, bytes, fromSender: connection)
        case .acknowledged, .refused: answeredBySender(header.message, Self.answer(header, bytes))
        }
    }

    private func take(_ header: DataFrame.Header, _ bytes: [UInt8], fromSender connection: RouteConnection) {
        let (id, size) = (header.message, header.payloadLength)
        if let refusal = refusal(
            header, isNew: id > toApplication.reception.last, held: budget.toApplication)
        {
            return refuse(refusal, id, to: connection, senderChannel)
        }
        switch toApplication.reception.receive(id, size) {
        case .deliver:
            relay.passed(.toApplication)
            budget.toApplication += size
            let frame =
                isRouteChannel
                ? DataFrame.bytes(
                    .message, channel: opening.channel, message: id,
                    payload: bytes[(DataFrame.headerLength + header.endpointLength)...]) : bytes
            if toApplication.held.isEmpty, let application, application.takes(frame.count) {
                application.send(data: frame)
            } else {
                toApplication.held.append(.init(message: id, bytes: frame))
                application?.wait(self)
            }
        case .answer(let answer): send(answer, id, to: connection, senderChannel)
        case .pending: break
        case .tooMany: refuse(.tooMany, id, to: connection, senderChannel)
        case .outOfOrder: refuse(.outOfOrder, id, to: connection, senderChannel)
        }
    }

    /// The sender answered a message of the application.
    func answeredBySender(_ id: UInt64, _ answer: MessageReception.Answer) {
        guard let size = toSender.answer(id, answer) else { return }
        budget.toSender -= size
        // One of a process that is gone is only crossed off.
        guard id > offset, let application else { return }
        send(answer, id - offset, to: application, opening.channel)
    }

    // MARK: From the application

    func received(_ header: DataFrame.Header, _ bytes: [UInt8], fromApplication connection: RouteConnection) {
        switch header.kind {
        case .message: take(header, bytes, fromApplication: connection)
        case .acknowledged, .refused:
            let answer = Self.answer(header, bytes)
            guard let size = toApplication.answer(header.message, answer) else { return }
            budget.toApplication -= size
            if let sender { send(answer, header.message, to: sender, senderChannel) }
        }
    }

    private func take(
        _ header: DataFrame.Header, _ bytes: [UInt8], fromApplication connection: RouteConnection
    ) {
        let (id, isTooHigh) = header.message.addingReportingOverflow(offset)
        let size = header.payloadLength
        var refusal = refusal(header, isNew: id > toSender.reception.last, held: budget.toSender)
        if isTooHigh { refusal = .outOfOrder }
        if isAbandoned { refusal = .noSender }
        if let refusal { return refuse(refusal, header.message, to: connection, opening.channel) }
        switch toSender.reception.receive(id, size) {
        case .deliver:
            relay.passed(.toSender)
            budget.toSender += size
            if isRouteChannel { return passOnRoute(id, bytes[DataFrame.headerLength...]) }
            var frame = bytes
            if offset != 0 { DataFrame.setMessage(id, in: &frame) }
            let isNext = toSender.held.last?.isPassedOn ?? true
            let isTaken = isNext && sender?.takes(frame.count) == true
            toSender.held.append(.init(message: id, bytes: frame, isPassedOn: isTaken))
            if isTaken { sender?.send(data: frame) } else { sender?.wait(self) }
        case .answer(let answer): send(answer, header.message, to: connection, opening.channel)
        case .pending: break
        case .tooMany: refuse(.tooMany, header.message, to: connection, opening.channel)
        case .outOfOrder: refuse(.outOfOrder, header.message, to: connection, opening.channel)
        }
    }

    /// On a sender's route channel messages of all endpoints share one window; what does not go at once is refused.
    private func passOnRoute(_ id: UInt64, _ payload: ArraySlice<UInt8>) {
        guard let sender, let name = relay.endpoint(of: opening.instance),
            let number = sender.sendMessage(Array(payload), from: name)
        else { return answeredBySender(id, .refused(RelayRefusal.busy.payload)) }
        sender.forwarded[number] = RouteConnection.Forwarded(channel: self, message: id)
    }

    // MARK: Ends that come and go

    /// The application was told of the channel.
    func open(_ connection: RouteConnection) {
        application = connection
        if !toApplication.held.isEmpty { connection.wait(self) }
        relay.pump(connection)
    }

    /// The sender is back; what it did not answer is sent again.
    func attach(_ connection: RouteConnection) {
        sender = connection
        for index in toSender.held.indices { toSender.held[index].isPassedOn = false }
        if !toSender.held.isEmpty { connection.wait(self) }
        relay.pump(connection)
    }

    func detach() { sender = nil }

    /// The sender left for good.
    func abandon() {
        (sender, isAbandoned) = (nil, true)
        for id in toSender.reception.unanswered {
            answeredBySender(id, .refused(RelayRefusal.noSender.payload))
        }
    }

    /// The application's process is gone and another one comes: what the old one may have taken is refused.
    func interrupt() {
        application = nil
        offset = toSender.reception.last
        let waiting = Set(toApplication.held.map(\.message))
        for id in toApplication.reception.unanswered where !waiting.contains(id) {
            let answer = MessageReception.Answer.refused(RelayRefusal.restarted.payload)
            guard let size = toApplication.answer(id, answer) else { continue }
            budget.toApplication -= size
            if let sender { send(answer, id, to: sender, senderChannel) }
        }
    }

    /// The session is over: what is unanswered is refused on both sides.
    func close() {
        let over = MessageReception.Answer.refused(RelayRefusal.unknown.payload)
        let (sender, application) = (self.sender, self.application)
        (self.sender, self.application) = (nil, nil)
        for id in toApplication.reception.unanswered {
            if let sender { send(over, id, to: sender, senderChannel) }
        }
        for id in toSender.reception.unanswered where id > offset {
            if let application { send(over, id - offset, to: application, opening.channel) }
        }
        budget.toApplication -= toApplication.reception.unansweredBytes
        budget.toSender -= toSender.reception.unansweredBytes
        (toApplication, toSender) = (RelayLane(), RelayLane())
    }

    /// Passes the next frame on that waits for this end. False if it has no room; nil if none waits.
    func passNext(to connection: RouteConnection) -> Bool? {
        if connection === application {
            guard let first = toApplication.held.first else { return nil }
            guard connection.takes(first.bytes.count) else { return false }
            toApplication.held.removeFirst()
            connection.send(data: first.bytes)
            return true
        }
        guard connection === sender, let index = toSender.held.firstIndex(where: { !$0.isPassedOn }) else {
            return nil
        }
        guard connection.takes(toSender.held[index].bytes.count) else { return false }
        toSender.held[index].isPassedOn = true
        connection.send(data: toSender.held[index].bytes)
        return true
    }

    // MARK: Answers

    private func refusal(_ header: DataFrame.Header, isNew: Bool, held: Int) -> RelayRefusal? {
        if !isRouteChannel, header.endpointLength != 0 { return .endpoint }
        if header.payloadLength > opening.messageLimit { return .tooLong }
        return isNew && held + header.payloadLength > RelayBudget.limit ? .busy : nil
    }

    private static func answer(_ header: DataFrame.Header, _ bytes: [UInt8]) -> MessageReception.Answer {
        guard header.kind == .refused else { return .acknowledged }
        let payload = bytes[DataFrame.headerLength...]
        return .refused(
            payload.count <= refusalLimit ? Array(payload) : RelayRefusal.wordy.payload)
    }

    private func refuse(
        _ refusal: RelayRefusal, _ id: UInt64, to connection: RouteConnection, _ channel: UInt32
    ) {
        relay.refused()
        send(.refused(refusal.payload), id, to: connection, channel)
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

/// What the receiver answers in the place of an end.
struct RelayRefusal: Equatable {
    let payload: [UInt8]
    private init(_ reason: String, _ message: String) { payload = DataFrame.refusal(reason, message) }

    static let tooMany = RelayRefusal("tooManyMessages", "too many messages are unanswered")
    static let busy = RelayRefusal("busy", "the receiver holds as much for this application as it may")
    static let tooLong = RelayRefusal("tooLong", "the message is longer than the application takes")
    static let outOfOrder = RelayRefusal(
        "outOfOrder", "the number of the message is not higher than the last")
    static let restarted = RelayRefusal("applicationRestarted", "the application failed before it answered")
    static let unknown = RelayRefusal("channelUnknown", "there is no such channel, or no longer")
    static let endpoint = RelayRefusal("endpointUnknown", "messages of this channel name no endpoint")
    static let noSender = RelayRefusal("noSender", "the sender has left for good")
    static let route = RelayRefusal("routeRequired", "no route is active on this connection")
    static let wordy = RelayRefusal("refused", "the message was refused with too many words")
}
