// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel

/// A request that only applications make (`Docs/protocols/application.md`, section 3).
package enum ApplicationRequest: Equatable, Sendable {
    case hello(version: Int64 = 1, library: String? = nil)
    /// With `failure`, the words for the sender.
    case endSession(session: String, failure: String? = nil)

    /// Every one of these methods.
    package static let methods = ["application.hello", "application.endSession"]
    /// The longest words of an application for a failure, in bytes.
    package static let messageLimit = 1_024

    var method: String {
        switch self {
        case .hello: "application.hello"
        case .endSession: "application.endSession"
        }
    }

    var params: JSONValue {
        switch self {
        case .hello(let version, let library):
            var members: [String: JSONValue] = ["version": .integer(version)]
            if let library { members["library"] = .text(library) }
            return .object(members)
        case .endSession(let session, let failure):
            var members: [String: JSONValue] = ["session": .text(session)]
            if let failure { members["error"] = ["message": .text(failure)] }
            return .object(members)
        }
    }

    /// Nil for any other method.
    init?(method: String, _ reader: ParamReader) throws(RouteError) {
        switch method {
        case "application.hello":
            let version = try reader.integer("version", in: 0...1_000)
            guard version == 1 else { throw RouteError.unsupported(version: version) }
            self = .hello(version: version, library: try reader.optionalText("library", bytes: 1...128))
        case "application.endSession":
            let failure = try reader.optionalObject("error")
            self = .endSession(
                session: try reader.text("session", bytes: 1...128),
                failure: try failure?.text("message", bytes: 0...Self.messageLimit))
        default: return nil
        }
    }
}

extension RouteError {
    static func unsupported(version: Int64) -> RouteError {
        RouteError(
            .versionUnsupported, "version \(version) of the protocol is not spoken here; version 1 is",
            details: ["supported": [1]])
    }
}

/// The answer to `application.hello`.
package struct HelloResult: Equatable, Sendable {
    package var application: String
    package var instance: String
    /// Names of what it may do.
    package var permissions: [String]
    package var limits: ApplicationManifest.Limits
    /// Where it may keep files; nil without permission.
    package var storage: String?
    package var clock: ClockInfo
    package var version: Int64
    package var state: JSONValue

    package init(
        application: String, instance: String, permissions: [String], limits: ApplicationManifest.Limits,
        storage: String?, clock: ClockInfo, version: Int64, state: JSONValue
    ) {
        (self.application, self.instance, self.permissions) = (application, instance, permissions)
        (self.limits, self.storage, self.clock) = (limits, storage, clock)
        (self.version, self.state) = (version, state)
    }

    package var json: JSONValue {
        [
            "application": .text(application), "instance": .text(instance),
            "permissions": .array(permissions.map { .text($0) }),
            "limits": [
                "memory": .integer(Int64(limits.memory)), "storage": .integer(Int64(limits.storage)),
                "processes": .integer(Int64(limits.processes)), "message": .integer(Int64(limits.message)),
                "idleSeconds": .integer(Int64(limits.idleSeconds)),
            ],
            "storage": JSONValue(storage), "clock": clock.json, "version": .integer(version), "state": state,
        ]
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        let clockReader = try reader.object("clock")
        application = try reader.text("application", bytes: 1...ApplicationID.limit)
        instance = try reader.text("instance", bytes: 1...128)
        permissions = try reader.texts("permissions", limit: 64, bytes: 1...64)
        limits = .init()
        if let bounds = try reader.optionalObject("limits") {
            func bound(_ key: String, _ standard: Int) throws(RouteError) -> Int {
                bounds.optional(key) == nil
                    ? standard : Int(try bounds.integer(key, in: 0...(1 << 40)))
            }
            limits.memory = try bound("memory", limits.memory)
            limits.storage = try bound("storage", limits.storage)
            limits.processes = try bound("processes", limits.processes)
            limits.message = try bound("message", limits.message)
            limits.idleSeconds = try bound("idleSeconds", limits.idleSeconds)
        }
        storage = try reader.optionalText("storage", bytes: 1...4_096)
        clock = ClockInfo(
            id: try clockReader.text("id", bytes: 1...64),
            now: try clockReader.integer("now", in: .min ... .max))
        version = try reader.integer("version", in: 0 ... .max)
        state = json["state"] ?? .null
    }
}
