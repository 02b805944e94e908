// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import Testing

/// A sender in a test: it asks, applies what is pushed, and fails the test when what it knows has a gap.
final class TestSender {
    let client: FakeClient
    private(set) var version: Int64 = 0
    private(set) var state: JSONValue = .null
    private(set) var route = ""
    private(set) var resumeToken = ""
    /// Steps since the last look.
    var changes: [StateChange] = []
    var ended: [ServerMessage] = []
    private var responses: [Int64: Result<JSONValue, RouteError>] = [:]
    private var requests: Int64 = 0

    init(_ receiver: TestReceiver) { client = receiver.listener.connect() }

    /// Takes in what was sent to it, in order. An answer that holds the state replaces what it knew.
    func read() throws {
        for text in client.takeTexts() {
            for message in try ServerMessage.decode(text) { try take(message) }
        }
    }

    private func take(_ message: ServerMessage) throws {
        switch message {
        case .response(let id, let result):
            responses[id] = result
            guard case .success(let value) = result, let given = value["version"]?.integerValue else {
                return
            }
            version = given
            state = try #require(value["state"])
        case .stateChanged(let change):
            try #require(change.base == version, "a step from a version that the sender has not seen")
            #expect(change.version > change.base)
            state = MergePatch.apply(change.patch, to: state)
            version = change.version
            changes.append(change)
        case .routeEnded, .sessionEnded, .announcementEnded: ended.append(message)
        case .application, .group, .unknown: break
        }
    }

    func say(_ request: RouteRequest) -> Int64 {
        requests += 1
        client.say(request.text(id: requests))
        return requests
    }

    /// Asks and returns the answer. A state in it is taken over.
    @discardableResult
    func ask(_ request: RouteRequest) throws -> JSONValue {
        let id = say(request)
        try read()
        let response = responses.removeValue(forKey: id)
        return try #require(response, "no answer").get()
    }

    /// The reason for which a request is refused.
    func refusal(_ request: RouteRequest) throws -> RouteError.Code? {
        let id = say(request)
        try read()
        let response = responses.removeValue(forKey: id)
        guard case .failure(let error) = try #require(response) else { return nil }
        return error.code
    }

    /// The answer to what was said, once it has come.
    func answer(to id: Int64) -> Result<JSONValue, RouteError>? { responses.removeValue(forKey: id) }

    @discardableResult
    func activate(_ name: String = "Ada", id: String = "sender-1", resume: String? = nil) throws -> JSONValue
    {
        let result = try ask(
            .activate(Activation(sender: SenderInfo(identifier: id, name: name), resume: resume)))
        route = try #require(result["route"]?.textValue)
        resumeToken = try #require(result["resumeToken"]?.textValue)
        return result
    }

    /// Starts a session and returns its identifier.
    func start(_ url: String = "http://media.example/a.flac", playing: Bool = true) throws -> String {
        let result = try ask(.start(SessionStart(url: url, isPlaying: playing)))
        return try #require(result["session"]?.textValue)
    }

    /// The member at a path of the state.
    func member(_ path: String...) -> JSONValue? {
        path.reduce(state as JSONValue?) { $0?[$1] }
    }
}

/// What another sender is given when it asks for everything.
func snapshot(_ receiver: TestReceiver) throws -> JSONValue {
    let observer = TestSender(receiver)
    defer { observer.client.vanish() }
    return try #require(observer.ask(.getState)["state"])
}
