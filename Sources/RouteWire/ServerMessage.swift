// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import MediaModel

/// Who caused a change.
package enum WireOrigin: Equatable, Sendable {
    case sender(route: String, name: String)
    case application(instance: String, name: String)
    case device, content, local, group, switching
    /// Steps of several origins were joined.
    case several

    package var json: JSONValue {
        switch self {
        case .sender(let route, let name): ["kind": "sender", "route": .text(route), "name": .text(name)]
        case .application(let instance, let name):
            ["kind": "application", "instance": .text(instance), "name": .text(name)]
        case .device: ["kind": "device"]
        case .content: ["kind": "content"]
        case .local: ["kind": "local"]
        case .group: ["kind": "group"]
        case .switching: ["kind": "switching"]
        case .several: ["kind": "several"]
        }
    }

    init(_ reader: ParamReader) throws(RouteError) {
        switch try reader.text("kind", bytes: 1...32) {
        case "sender":
            self = .sender(
                route: try reader.text("route", bytes: 1...128),
                name: try reader.text("name", bytes: 0...1_024))
        case "application":
            self = .application(
                instance: try reader.text("instance", bytes: 1...128),
                name: try reader.text("name", bytes: 0...1_024))
        case "device": self = .device
        case "content": self = .content
        case "local": self = .local
        case "group": self = .group
        case "switching": self = .switching
        // A kind that a later receiver has is some origin other than this sender: that is all one needs to know.
        default: self = .several
        }
    }
}

/// A step of the state from `base` to `version`.
package struct StateChange: Equatable, Sendable {
    package var version: Int64
    package var base: Int64
    package var origin: WireOrigin
    package var patch: JSONValue
    package init(version: Int64, base: Int64, origin: WireOrigin, patch: JSONValue) {
        (self.version, self.base, self.origin, self.patch) = (version, base, origin, patch)
    }
}

/// Notifications, as a receiver sends them.
package enum Notification {
    fileprivate static func make(_ method: String, _ params: JSONValue) -> JSONValue {
        ["jsonrpc": "2.0", "method": .text(method), "params": params]
    }

    package static func stateChanged(_ change: StateChange) -> JSONValue {
        make(
            "state.changed",
            [
                "version": .integer(change.version), "base": .integer(change.base),
                "origin": change.origin.json,
                "patch": change.patch,
            ])
    }

    package static func routeEnded(route: String, reason: String, message: String) -> JSONValue {
        make("route.ended", ["route": .text(route), "reason": .text(reason), "message": .text(message)])
    }

    package static func sessionEnded(
        session: String, reason: String, by: String?, error: MediaFailure?,
        application: ApplicationFailure? = nil
    ) -> JSONValue {
        var params: [String: JSONValue] = ["session": .text(session), "reason": .text(reason)]
        if let by { params["by"] = .text(by) }
        if let error { params["error"] = error.json }
        if let application { params["application"] = application.json }
        return make("session.ended", .object(params))
    }
}

extension Notification {
    package static func announcementEnded(
        announcement: String, reason: String, by: String?, error: MediaFailure?
    ) -> JSONValue {
        var params: [String: JSONValue] = ["announcement": .text(announcement), "reason": .text(reason)]
        if let by { params["by"] = .text(by) }
        if let error { params["error"] = error.json }
        return make("announcement.ended", .object(params))
    }
}

/// What a client receives.
package enum ServerMessage: Equatable, Sendable {
    case response(id: Int64, Result<JSONValue, RouteError>)
    case stateChanged(StateChange)
    case routeEnded(route: String, reason: String, message: String)
    case sessionEnded(
        session: String, reason: String, by: String?, error: MediaFailure?,
        application: ApplicationFailure? = nil)
    case announcementEnded(announcement: String, reason: String, by: String?, error: MediaFailure?)
    /// To an application.
    case application(ApplicationNotice)
    /// To a member of a group.
    case group(GroupNotice)
    /// Something that a later receiver says, or an answer to no request of ours.
    case unknown

    /// Reads a frame: one message, or several of a batch.
    package static func decode(_ text: String) throws(RouteError) -> [ServerMessage] {
        let value: JSONValue
        do { value = try JSONText.decode(text, limit: WireLimits.serverFrame) } catch {
            throw RouteError(.parseError, error.description)
        }
        guard case .array(let elements) = value else { return [try read(value)] }
        var messages: [ServerMessage] = []
        for element in elements { messages.append(try read(element)) }
        return messages
    }

    private static func read(_ value: JSONValue) throws(RouteError) -> ServerMessage {
        guard let method = value["method"]?.textValue else {
            guard let id = value["id"]?.integerValue else { return .unknown }
            if let error = value["error"] { return .response(id: id, .failure(RouteError(json: error))) }
            return .response(id: id, .success(value["result"] ?? .null))
        }
        let reader = try ParamReader(value["params"], path: "params")
        switch method {
        case "state.changed":
            return .stateChanged(
                StateChange(
                    version: try reader.integer("version", in: 0 ... .max),
                    base: try reader.integer("base", in: 0 ... .max),
                    origin: try WireOrigin(try reader.object("origin")),
                    patch: value["params"]?["patch"] ?? .object([:])))
        case "route.ended":
            return .routeEnded(
                route: try reader.text("route", bytes: 1...128),
                reason: try reader.text("reason", bytes: 1...64),
                message: try reader.text("message", bytes: 0...4_096))
        case "session.ended":
            let failure = try reader.optionalObject("error")
            var error: MediaFailure?
            if let failure { error = try MediaFailure(failure) }
            let fault = try reader.optionalObject("application")
            var application: ApplicationFailure?
            if let fault { application = try ApplicationFailure(fault) }
            return .sessionEnded(
                session: try reader.text("session", bytes: 1...128),
                reason: try reader.text("reason", bytes: 1...64),
                by: try reader.optionalText("by", bytes: 0...1_024), error: error, application: application)
        case "announcement.ended":
            var error: MediaFailure?
            if let failure = try reader.optionalObject("error") { error = try MediaFailure(failure) }
            return .announcementEnded(
                announcement: try reader.text("announcement", bytes: 1...128),
                reason: try reader.text("reason", bytes: 1...64),
                by: try reader.optionalText("by", bytes: 0...1_024), error: error)
        default:
            if let notice = try GroupNotice(method: method, reader, value["params"]) { return .group(notice) }
            return try ApplicationNotice(method: method, reader).map { .application($0) } ?? .unknown
        }
    }
}
