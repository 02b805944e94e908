// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteWire

/// The requests to one receiver that have no answer yet, over the connections that come and go.
///
/// Answers may come in any order; one that comes too late is dropped. Requests wait here while there is no connection
/// or while as many are under way as the protocol allows; their time runs meanwhile.
@RouteActor final class RequestQueue {
    typealias Completion = @RouteActor (Result<JSONValue, RoutingError>) -> Void

    /// As many as a receiver takes from one connection.
    static let inFlightLimit = 32
    /// As many as wait here. More is refused at once: the program asks faster than the receiver answers.
    static let waitingLimit = 64

    private struct Pending {
        let method: String
        let completion: Completion
        let timer: EventSource
    }

    private var pending: [Int64: Pending] = [:]
    private var waiting: [(id: Int64, text: String)] = []
    private var inFlight: Set<Int64> = []
    private var next: Int64 = 1
    private var transmit: ((String) -> Void)?
    private var isOpen = false
    private var closed: RoutingError?
    private let timeout: Duration

    init(timeout: Duration) { self.timeout = timeout }

    /// Sends a request, or keeps it until it can be sent. `urgent` requests belong to the opening of a connection and go
    /// before those that wait for it.
    func send(
        _ request: RouteRequest, urgent: Bool = false, completion: @escaping Completion
    ) {
        if let closed { return complete(completion, .failure(closed)) }
        let id = next
        next += 1
        let text = request.text(id: id)
        guard text.utf8.count <= WireLimits.textFrame else {
            let error = RoutingError(.tooLong, family: .connection, "the request is too long")
            return complete(completion, .failure(error))
        }
        guard urgent || waiting.count < Self.waitingLimit else {
            let error = RoutingError(
                .tooMuchAtOnce, family: .connection, "\(waiting.count) requests wait to be sent already")
            return complete(completion, .failure(error))
        }
        let timer = EventSource.after(timeout) { [weak self] in self?.expire(id) }
        pending[id] = Pending(method: request.method, completion: completion, timer: timer)
        if urgent, let transmit {
            inFlight.insert(id)
            transmit(text)
        } else {
            waiting.append((id, text))
            flush()
        }
    }

    /// Sends a request and waits.
    func send(_ request: RouteRequest, urgent: Bool = false) async throws -> JSONValue {
        try await withCheckedThrowingContinuation { continuation in
            send(request, urgent: urgent) { continuation.resume(with: $0) }
        }
    }

    /// A connection is there; only urgent requests are sent until `open`.
    func connected(_ transmit: @escaping (String) -> Void) { self.transmit = transmit }

    /// The connection is ready for what waits.
    func open() {
        isOpen = true
        flush()
    }

    /// The connection is gone. What was under way fails, as nobody knows what became of it; what waits goes on waiting.
    func disconnected() {
        (transmit, isOpen) = (nil, false)
        let lost = inFlight
        inFlight = []
        for id in lost.sorted() {
            finish(
                id,
                .failure(
                    RoutingError(
                        .connectionLost, family: .connection, "the connection was lost before the answer came"
                    )))
        }
    }

    /// Nothing is sent any more; everything fails with `error`.
    func close(_ error: RoutingError) {
        guard closed == nil else { return }
        closed = error
        (transmit, isOpen) = (nil, false)
        (waiting, inFlight) = ([], [])
        for id in pending.keys.sorted() { finish(id, .failure(error)) }
    }

    /// An answer came.
    func answered(_ id: Int64, _ result: Result<JSONValue, RoutingError>) {
        inFlight.remove(id)
        finish(id, result)
        flush()
    }

    private func expire(_ id: Int64) {
        guard let method = pending[id]?.method else { return }
        waiting.removeAll { $0.id == id }
        // It still counts as in flight until its late answer: the receiver counts it too.
        finish(
            id,
            .failure(RoutingError(.timeout, family: .connection, "no answer to \(method) within \(timeout)")))
    }

    private func finish(_ id: Int64, _ result: Result<JSONValue, RoutingError>) {
        guard let request = pending.removeValue(forKey: id) else { return }
        request.timer.destroy()
        request.completion(result)
    }

    private func flush() {
        while isOpen, let transmit, !waiting.isEmpty, inFlight.count < Self.inFlightLimit {
            let (id, text) = waiting.removeFirst()
            inFlight.insert(id)
            transmit(text)
        }
    }

    /// Answers later, so that no completion runs inside the call that asked.
    private func complete(_ completion: @escaping Completion, _ result: Result<JSONValue, RoutingError>) {
        Task { @RouteActor in completion(result) }
    }
}
