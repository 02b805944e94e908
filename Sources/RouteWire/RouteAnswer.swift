// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The `id` of a request, which comes back with the answer.
package enum RequestIdentifier: Equatable, Hashable, Sendable {
    case number(Int64)
    case text(String)
    /// For an answer to what could not be read.
    case null

    package var json: JSONValue {
        switch self {
        case .number(let number): .integer(number)
        case .text(let text): .text(text)
        case .null: .null
        }
    }
}

/// One request as it came: what it asks, or why it cannot be taken.
package struct IncomingRequest: Equatable, Sendable {
    /// Nil: a notification, which is not answered.
    package let id: RequestIdentifier?
    package let request: Result<RouteRequest, RouteError>

    fileprivate var isNonsense: Bool {
        guard case .failure(let error) = request else { return false }
        return error.code == .parseError || error.code == .invalidRequest
    }
}

/// A text frame from a client.
package enum IncomingText: Equatable, Sendable {
    case single(IncomingRequest)
    case batch([IncomingRequest])

    /// Reads a frame. Whatever is wrong with it becomes a request that is answered with an error.
    package static func decode(_ text: String) -> IncomingText {
        let value: JSONValue
        do { value = try JSONText.decode(text, limit: WireLimits.textFrame) } catch {
            return .single(rejected(.null, RouteError(.parseError, error.description)))
        }
        guard case .array(let elements) = value else { return .single(read(value)) }
        guard !elements.isEmpty else {
            return .single(rejected(.null, RouteError(.invalidRequest, "the batch is empty")))
        }
        guard elements.count <= WireLimits.batch else {
            return .single(
                rejected(
                    .null, RouteError(.invalidRequest, "a batch has at most \(WireLimits.batch) requests")))
        }
        return .batch(elements.map(read))
    }

    /// True if nothing in the frame is a request, not even one of a method that does not exist.
    package var isNonsense: Bool {
        switch self {
        case .single(let request): request.isNonsense
        case .batch(let requests): requests.allSatisfy(\.isNonsense)
        }
    }

    private static func rejected(_ id: RequestIdentifier?, _ error: RouteError) -> IncomingRequest {
        IncomingRequest(id: id, request: .failure(error))
    }

    private static func read(_ value: JSONValue) -> IncomingRequest {
        guard case .object(let members) = value else {
            return rejected(.null, RouteError(.invalidRequest, "expected a request, found \(value.kindName)"))
        }
        let id: RequestIdentifier?
        switch members["id"] {
        case nil: id = nil
        case .some(.text(let text)) where text.utf8.count <= 128: id = .text(text)
        case .some(.integer(let number)): id = .number(number)
        default:
            return rejected(
                .null, RouteError(.invalidRequest, "id: expected an integer or at most 128 bytes of text"))
        }
        guard members["jsonrpc"] == "2.0" else {
            return rejected(id ?? .null, RouteError(.invalidRequest, "jsonrpc: expected \"2.0\""))
        }
        guard let method = members["method"]?.textValue else {
            return rejected(id ?? .null, RouteError(.invalidRequest, "method: expected text"))
        }
        do throws(RouteError) {
            return IncomingRequest(
                id: id, request: .success(try RouteRequest(method: method, params: members["params"])))
        } catch { return rejected(id, error) }
    }
}

/// Answers, as JSON-RPC has them.
package enum Response {
    package static func success(_ id: RequestIdentifier, _ result: JSONValue) -> JSONValue {
        ["jsonrpc": "2.0", "id": id.json, "result": result]
    }
    package static func failure(_ id: RequestIdentifier, _ error: RouteError) -> JSONValue {
        ["jsonrpc": "2.0", "id": id.json, "error": error.json]
    }
}

/// The answer to a request that changes something.
package enum Outcome: Equatable, Sendable {
    case accepted
    /// What was taken in place of what was asked.
    case clamped(JSONValue)
    /// Accepted, with the value that came of it.
    case value(JSONValue)

    package var json: JSONValue {
        switch self {
        case .accepted: ["outcome": "accepted"]
        case .clamped(let value): ["outcome": "clamped", "value": value]
        case .value(let value): ["outcome": "accepted", "value": value]
        }
    }

    package init(json: JSONValue) throws(RouteError) {
        switch (json["outcome"]?.textValue, json["value"]) {
        case ("accepted", nil): self = .accepted
        case ("accepted", .some(let value)): self = .value(value)
        case ("clamped", .some(let value)): self = .clamped(value)
        default: throw ParamReader.fault("result.outcome", "expected accepted or clamped")
        }
    }
}

/// The answer to `route.activate`.
package struct ActivationResult: Equatable, Sendable {
    package var route: String
    package var resumeToken: String
    package var resumed: Bool
    package var graceSeconds: Int64
    /// Those of the capabilities wanted that are granted.
    package var capabilities: [String]
    package var clock: ClockInfo
    package var version: Int64
    package var state: JSONValue

    package init(
        route: String, resumeToken: String, resumed: Bool, graceSeconds: Int64, capabilities: [String] = [],
        clock: ClockInfo, version: Int64, state: JSONValue
    ) {
        (self.route, self.resumeToken, self.resumed) = (route, resumeToken, resumed)
        (self.graceSeconds, self.capabilities, self.clock) = (graceSeconds, capabilities, clock)
        (self.version, self.state) = (version, state)
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "route": .text(route), "resumeToken": .text(resumeToken), "resumed": .bool(resumed),
            "graceSeconds": .integer(graceSeconds), "authorization": .null, "clock": clock.json,
            "version": .integer(version), "state": state,
        ]
        if !capabilities.isEmpty { members["capabilities"] = .array(capabilities.map { .text($0) }) }
        return .object(members)
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        let clockReader = try reader.object("clock")
        self.init(
            route: try reader.text("route", bytes: 1...128),
            resumeToken: try reader.text("resumeToken", bytes: 1...WireLimits.token),
            resumed: try reader.bool("resumed"),
            graceSeconds: try reader.integer("graceSeconds", in: 0 ... .max),
            capabilities: try reader.texts("capabilities", limit: 64, bytes: 1...64),
            clock: ClockInfo(
                id: try clockReader.text("id", bytes: 1...64),
                now: try clockReader.integer("now", in: .min ... .max)),
            version: try reader.integer("version", in: 0 ... .max), state: json["state"] ?? .null)
    }
}

/// A clock's identity and reading.
package struct ClockInfo: Equatable, Sendable {
    package var id: String
    package var now: Int64
    package init(id: String, now: Int64) { (self.id, self.now) = (id, now) }
    package var json: JSONValue { ["id": .text(id), "now": .integer(now)] }
}

/// A snapshot: the answer to `state.get` and `state.subscribe`, and with a session to `session.start`.
package struct StateResult: Equatable, Sendable {
    package var session: String?
    package var version: Int64
    package var state: JSONValue

    package init(session: String? = nil, version: Int64, state: JSONValue) {
        (self.session, self.version, self.state) = (session, version, state)
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = ["version": .integer(version), "state": state]
        if let session { members["session"] = .text(session) }
        return .object(members)
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        self.init(
            session: try reader.optionalText("session", bytes: 1...128),
            version: try reader.integer("version", in: 0 ... .max), state: json["state"] ?? .null)
    }
}

/// The answer to `clock.ping`.
package struct PingResult: Equatable, Sendable {
    package var id: String
    package var received: Int64
    package var sent: Int64
    package init(id: String, received: Int64, sent: Int64) {
        (self.id, self.received, self.sent) = (id, received, sent)
    }
    package var json: JSONValue {
        ["id": .text(id), "received": .integer(received), "sent": .integer(sent)]
    }
    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        self.init(
            id: try reader.text("id", bytes: 1...64),
            received: try reader.integer("received", in: .min ... .max),
            sent: try reader.integer("sent", in: .min ... .max))
    }
}
