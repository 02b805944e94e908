// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteWire

/// Takes the messages of a session's data channel.
@RouteActor public protocol SessionDataChannelDelegate: AnyObject {
    /// A message came. Returning acknowledges it; throwing refuses it with the error's words. Messages are handed over
    /// one at a time, in order, each once.
    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws
}

/// Messages between a sender and the application of its session.
///
/// Boundaries and order are kept. A message is acknowledged when the other end's delegate has taken it. What was not answered when
/// the connection was lost is sent again when the route is resumed, and handled once all the same. At most 16 messages and 2 MiB
/// are under way in each direction: whoever sends more waits, so a slow reader slows its writer.
@RouteActor public final class SessionDataChannel {
    /// The longest message in bytes; an application's manifest may allow less.
    public nonisolated static let maximumMessage = DataFrame.payloadLimit

    /// Takes what comes. Before the first one is set messages wait; when it is gone they are refused.
    public weak var delegate: (any SessionDataChannelDelegate)? {
        didSet {
            if delegate != nil { hadDelegate = true }
            startDelivering()
        }
    }
    /// Messages that the other end has not answered.
    public var unanswered: Int { outgoing.count }

    /// What is on its way.
    private struct Outgoing {
        let payload: [UInt8]
        let answered: (Result<Void, RoutingError>) -> Void
    }

    /// A message that waits for room, and whoever waits with it. It is resumed with true when the message is on its way.
    private struct Waiter {
        let number: UInt64
        let message: Outgoing
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// Refusals that say that nothing was taken: the message goes again.
    private static let passing: Set<String> = ["busy", "tooManyMessages", "outOfOrder"]
    private static let pause = Duration.milliseconds(50)

    let number: UInt32
    private let sleep: (Duration) async -> Void
    private var transmit: ((DataFrame) -> Void)?
    /// What answers go by: also by a connection that has not resumed the route yet, as far as this end knows.
    private var transmitAnswer: ((DataFrame) -> Void)?
    private var closed: RoutingError?
    private var window = MessageWindow()
    private var outgoing: [UInt64: Outgoing] = [:]
    private var again: Set<UInt64> = []
    private var waiters: [Waiter] = []
    private var lastWaiter: UInt64 = 0
    private var reception = MessageReception()
    private var incoming: [(id: UInt64, payload: [UInt8])] = []
    private var isDelivering = false
    private var hadDelegate = false

    init(
        number: UInt32,
        sleep: @escaping (Duration) async -> Void = { try? await RouteActor.shared.loop.sleep(for: $0) }
    ) {
        (self.number, self.sleep) = (number, sleep)
    }

    // MARK: Sending

    /// Sends a message and waits until the other end has taken it. Throws its refusal, or `ended` when the session is over
    /// before it answered. A message that is on its way is not called back by a cancelled task.
    public func send(_ message: [UInt8]) async throws {
        let reply = Reply()
        try await post(message) { reply.set($0) }
        try await reply.value().get()
    }

    /// Sends a message and returns when it is on its way, which is when there is room for it. `answered` is called once with what
    /// becomes of a message that is.
    public func post(
        _ message: [UInt8], answered: @escaping (Result<Void, RoutingError>) -> Void = { _ in }
    ) async throws {
        guard message.count <= Self.maximumMessage else {
            throw RoutingError(.tooLong, family: .session, "a message has at most 1 MiB")
        }
        if let closed { throw closed }
        let outgoing = Outgoing(payload: message, answered: answered)
        if waiters.isEmpty, transmit(outgoing) { return }
        guard await wait(with: outgoing) else { throw closed ?? CancellationError() }
    }

    /// False: it was cancelled, or the session is over.
    private func wait(with message: Outgoing) async -> Bool {
        lastWaiter += 1
        let number = lastWaiter
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters.append(Waiter(number: number, message: message, continuation: continuation))
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            Task { await self.leave(number) }
        }
    }

    private func leave(_ number: UInt64) {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
        waiters.remove(at: index).continuation.resume(returning: false)
        sendWaiting()
    }

    /// Sends what waits, in its order, as far as there is room.
    private func sendWaiting() {
        while let first = waiters.first, transmit(first.message) {
            waiters.removeFirst().continuation.resume(returning: true)
        }
    }

    /// False: there is no room.
    private func transmit(_ message: Outgoing) -> Bool {
        guard let id = window.send(message.payload.count) else { return false }
        outgoing[id] = message
        transmit?(frame(.message, id, message.payload))
        return true
    }

    private func frame(_ kind: DataFrame.Kind, _ id: UInt64, _ payload: [UInt8] = []) -> DataFrame {
        DataFrame(kind: kind, channel: number, message: id, payload: payload)
    }

    // MARK: From the connection

    /// A connection is made on which the route is asked for. The other end may have resumed it, and send again what was not
    /// answered, before that is known here: an answer that got lost would leave it waiting for ever.
    func opened(_ transmit: @escaping (DataFrame) -> Void) {
        guard closed == nil else { return }
        transmitAnswer = transmit
    }

    /// The connection is there, or there again: what was not answered is sent again.
    func connected(_ transmit: @escaping (DataFrame) -> Void) {
        guard closed == nil else { return }
        (self.transmit, transmitAnswer) = (transmit, transmit)
        again = []
        for id in outgoing.keys.sorted() { resend(id) }
    }

    /// The connection is lost; what is under way stays so.
    func disconnected() { (transmit, transmitAnswer) = (nil, nil) }

    /// The session is over.
    func close(_ error: RoutingError) {
        guard closed == nil else { return }
        closed = error
        (transmit, transmitAnswer) = (nil, nil)
        incoming = []
        let lost = outgoing.sorted { $0.key < $1.key }
        (outgoing, window, again) = ([:], MessageWindow(), [])
        for (_, message) in lost { message.answered(.failure(error)) }
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.continuation.resume(returning: false) }
    }

    func received(_ frame: DataFrame) {
        guard closed == nil else { return }
        switch frame.kind {
        case .acknowledged: answered(frame.message, .success(()))
        case .refused:
            let refusal = Codec.refusal(frame.payload)
            if Self.passing.contains(refusal.code.rawValue) {
                sendLater(frame.message)
            } else {
                answered(frame.message, .failure(refusal))
            }
        case .message: receive(frame)
        }
    }

    private func answered(_ id: UInt64, _ result: Result<Void, RoutingError>) {
        guard window.answered(id), let message = outgoing.removeValue(forKey: id) else { return }
        message.answered(result)
        sendWaiting()
    }

    private func sendLater(_ id: UInt64) {
        guard outgoing[id] != nil else { return }
        if again.isEmpty {
            Task { [sleep] in
                await sleep(Self.pause)
                let ids = again.sorted()
                again = []
                for id in ids { resend(id) }
            }
        }
        again.insert(id)
    }

    private func resend(_ id: UInt64) {
        guard let message = outgoing[id] else { return }
        transmit?(frame(.message, id, message.payload))
    }

    // MARK: Receiving

    private func receive(_ frame: DataFrame) {
        let id = frame.message
        switch reception.receive(id, frame.payload.count) {
        case .deliver:
            incoming.append((id, frame.payload))
            startDelivering()
        case .answer(let answer): transmit(answer, of: id)
        case .pending: break
        case .tooMany: refuse(id, "tooManyMessages", "the window is full")
        case .outOfOrder: refuse(id, "outOfOrder", "another message is the next")
        }
    }

    private func refuse(_ id: UInt64, _ reason: String, _ message: String) {
        transmit(.refused(Codec.refusal(reason: reason, message: message)), of: id)
    }

    private func transmit(_ answer: MessageReception.Answer, of id: UInt64) {
        switch answer {
        case .acknowledged: transmitAnswer?(frame(.acknowledged, id))
        case .refused(let payload): transmitAnswer?(frame(.refused, id, payload))
        }
    }

    private func startDelivering() {
        guard hadDelegate, !isDelivering, !incoming.isEmpty else { return }
        isDelivering = true
        Task { await deliver() }
    }

    private func deliver() async {
        var next = 0
        while next < incoming.count {
            let (id, message) = incoming[next]
            next += 1
            if next == incoming.count { (incoming, next) = ([], 0) }
            let answer = await offer(message)
            guard closed == nil, reception.answer(id, answer) else { continue }
            transmit(answer, of: id)
        }
        isDelivering = false
    }

    private func offer(_ message: [UInt8]) async -> MessageReception.Answer {
        guard let delegate else {
            return .refused(Codec.refusal(reason: "noHandler", message: "nobody takes messages here"))
        }
        do {
            try await delegate.dataChannel(self, receive: message)
            return .acknowledged
        } catch let error as RoutingError {
            return .refused(Codec.refusal(reason: error.code.rawValue, message: error.message))
        } catch {
            return .refused(Codec.refusal(reason: "failed", message: String(describing: error)))
        }
    }
}

/// The answer to one message, and whoever waits for it.
@RouteActor private final class Reply {
    private var result: Result<Void, RoutingError>?
    private var continuation: CheckedContinuation<Result<Void, RoutingError>, Never>?

    func set(_ result: Result<Void, RoutingError>) {
        if let continuation {
            self.continuation = nil
            continuation.resume(returning: result)
        } else {
            self.result = result
        }
    }

    func value() async -> Result<Void, RoutingError> {
        if let result { return result }
        return await withCheckedContinuation { continuation = $0 }
    }
}
