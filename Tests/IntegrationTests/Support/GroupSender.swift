// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import RouteWire
import Soup

/// A sender that speaks the protocol's own words, and knows the state of its receiver.
@RouteActor final class GroupSender {
    private var socket: WebSocket?
    private(set) var state: JSONValue = .null
    /// The names of the queue's items in the order in which they became current.
    private(set) var currents: [String] = []
    private var requests: Int64 = 0
    private var waiting: [Int64: CheckedContinuation<Result<JSONValue, RouteError>, Never>] = [:]
    private let (changes, change) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let client = HTTPClient()

    /// Opens a route.
    init(_ name: String, port: UInt16) async throws {
        var limits = WebSocket.Limits()
        limits.message = 1 << 20
        socket = try await client.connect("ws://127.0.0.1:\(port)/v1/route", limits: limits) { socket in
            socket.onMessage = { [weak self] message in
                if case .text(let text) = message { self?.take(text) }
            }
            socket.onClosed = { [weak self] _, _ in self?.closed() }
        }
        try await ask(.activate(Activation(sender: SenderInfo(identifier: name, name: name))))
    }

    /// Asks and returns the answer.
    @discardableResult
    func ask(_ request: RouteRequest) async throws -> JSONValue {
        requests += 1
        let id = requests
        let result = await withCheckedContinuation { continuation in
            waiting[id] = continuation
            guard let socket, socket.isOpen else { return closed() }
            socket.send(.text(request.text(id: id)))
        }
        return try result.get()
    }

    /// Waits until the group is as wanted.
    func wait(
        _ what: String, within limit: Duration = .seconds(25), until holds: @escaping (GroupDocument?) -> Bool
    ) async throws {
        let isSo = await eventually(changes, within: limit) { [self] in holds(group) }
        guard isSo else {
            throw TestFailure("not within \(limit): \(what); the group is \(String(describing: group))")
        }
    }

    /// The same for what is played.
    func wait(
        _ what: String, within limit: Duration = .seconds(30), played: @escaping (SessionDocument?) -> Bool
    ) async throws {
        let isSo = await eventually(changes, within: limit) { [self] in played(session) }
        guard isSo else {
            throw TestFailure("not within \(limit): \(what); the session is \(String(describing: session))")
        }
    }

    /// What the receiver plays.
    var session: SessionDocument? {
        guard let state = try? StateDocument(json: state) else { return nil }
        return state.player.flatMap { state.sessions[$0] }
    }

    var group: GroupDocument? { state["group"].flatMap { try? GroupDocument(json: $0) } }

    func close() { socket?.close(code: 1000, reason: "") }

    private func closed() {
        let all = waiting
        waiting = [:]
        for continuation in all.values {
            continuation.resume(returning: .failure(RouteError(.internalError, "the connection is closed")))
        }
    }

    private func learned(_ new: JSONValue) {
        state = new
        if let current = session?.queue?.current, current != currents.last { currents.append(current) }
        change.yield()
    }

    private func take(_ text: String) {
        for message in (try? ServerMessage.decode(text)) ?? [] {
            switch message {
            case .response(let id, let result):
                if case .success(let value) = result, let whole = value["state"] {
                    learned(whole)
                }
                waiting.removeValue(forKey: id)?.resume(returning: result)
            case .stateChanged(let step):
                learned(MergePatch.apply(step.patch, to: state))
            default: break
            }
        }
    }
}
