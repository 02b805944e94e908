// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a host tells a member on its link (`Docs/protocols/group.md`, section 4).
package enum GroupNotice: Equatable, Sendable {
    case command(WireGroupCommand)
    /// A merge patch of the group as members know it.
    case changed(version: Int64, base: Int64, patch: JSONValue)
    /// The device's level.
    case level(Double)
    case closed(reason: String)

    package var json: JSONValue {
        let (method, params): (JSONValue, JSONValue) =
            switch self {
            case .command(let command): ("group.command", command.json)
            case .changed(let version, let base, let patch):
                (
                    "group.changed",
                    ["version": .integer(version), "base": .integer(base), "patch": patch]
                )
            case .level(let level): ("group.level", ["volume": .number(level)])
            case .closed(let reason): ("group.closed", ["reason": .text(reason)])
            }
        return ["jsonrpc": "2.0", "method": method, "params": params]
    }

    /// Nil for any other method.
    init?(method: String, _ reader: ParamReader, _ params: JSONValue?) throws(RouteError) {
        switch method {
        case "group.command": self = .command(try WireGroupCommand(reader))
        case "group.changed":
            self = .changed(
                version: try reader.integer("version", in: 0 ... .max),
                base: try reader.integer("base", in: 0 ... .max), patch: params?["patch"] ?? .object([:]))
        case "group.level": self = .level(try reader.fraction("volume"))
        case "group.closed": self = .closed(reason: try reader.text("reason", bytes: 1...64))
        default: return nil
        }
    }
}

/// A command of the host (`Docs/protocols/group.md`, section 5).
package struct WireGroupCommand: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case play(itemTime: Int64, clockTime: Int64, rate: Double)
        case pause(anticipatedRate: Double?)
        case seek(itemTime: Int64, anticipatedRate: Double?, due: Int64?)
        case buffer(anticipatedRate: Double, due: Int64?)
    }

    package var id: Int64
    package var item: String
    package var originator: String?
    package var action: Action
    /// The member stops waiting for the readiness of the command before.
    package var overtakes: Bool

    package init(
        id: Int64, item: String, originator: String? = nil, action: Action, overtakes: Bool = false
    ) {
        (self.id, self.item, self.originator) = (id, item, originator)
        (self.action, self.overtakes) = (action, overtakes)
    }

    private enum Name: String, CaseIterable { case play, pause, seek, buffer }

    var json: JSONValue {
        var members: [String: JSONValue] = ["id": .integer(id), "item": .text(item)]
        if let originator { members["originator"] = .text(originator) }
        if overtakes { members["overtakes"] = true }
        switch action {
        case .play(let itemTime, let clockTime, let rate):
            members["kind"] = "play"
            members["itemTime"] = .integer(itemTime)
            members["clockTime"] = .integer(clockTime)
            members["rate"] = .number(rate)
        case .pause(let rate):
            members["kind"] = "pause"
            members["anticipatedRate"] = rate.map { .number($0) }
        case .seek(let itemTime, let rate, let due):
            members["kind"] = "seek"
            members["itemTime"] = .integer(itemTime)
            members["anticipatedRate"] = rate.map { .number($0) }
            members["dueTime"] = due.map { .integer($0) }
        case .buffer(let rate, let due):
            members["kind"] = "buffer"
            members["anticipatedRate"] = .number(rate)
            members["dueTime"] = due.map { .integer($0) }
        }
        return .object(members)
    }

    init(_ reader: ParamReader) throws(RouteError) {
        id = try reader.integer("id", in: 0 ... .max)
        item = try reader.groupItem()
        originator = try reader.optionalText("originator", bytes: 1...128)
        overtakes = try reader.bool("overtakes", default: false)
        func rate(_ key: String = "anticipatedRate") throws(RouteError) -> Double {
            try reader.rate(key, in: 0...WireLimits.groupRate)
        }
        func optionalRate() throws(RouteError) -> Double? {
            reader.optional("anticipatedRate") == nil ? nil : try rate()
        }
        func itemTime() throws(RouteError) -> Int64 { try reader.integer("itemTime", in: .min ... .max) }
        switch try reader.choice("kind", Name.self) {
        case .play:
            action = .play(
                itemTime: try itemTime(), clockTime: try reader.integer("clockTime", in: .min ... .max),
                rate: try rate("rate"))
        case .pause: action = .pause(anticipatedRate: try optionalRate())
        case .seek:
            action = .seek(
                itemTime: try itemTime(), anticipatedRate: try optionalRate(),
                due: try reader.optionalInteger("dueTime"))
        case .buffer:
            action = .buffer(anticipatedRate: try rate(), due: try reader.optionalInteger("dueTime"))
        }
    }
}

/// The answer to `group.attach`.
package struct GroupWelcome: Equatable, Sendable {
    package var host: String
    package var epoch: Int64
    package var nonce: GroupSecret
    package var proof: GroupSecret

    package init(host: String, epoch: Int64, nonce: GroupSecret, proof: GroupSecret) {
        (self.host, self.epoch, self.nonce, self.proof) = (host, epoch, nonce, proof)
    }

    package var json: JSONValue {
        [
            "participant": .text(host), "epoch": .integer(epoch), "nonce": .text(nonce.text),
            "proof": .text(proof.text),
        ]
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        host = try reader.text("participant", bytes: 1...128)
        epoch = try reader.integer("epoch", in: 0...WireLimits.epoch)
        guard let nonce = GroupSecret(try reader.text("nonce", bytes: 1...WireLimits.token)),
            let proof = GroupSecret(try reader.text("proof", bytes: 1...WireLimits.token))
        else { throw ParamReader.fault("result", "expected nonce and proof of 32 bytes in base64url") }
        (self.nonce, self.proof) = (nonce, proof)
    }
}

/// The answer to `group.prove`.
package struct WireGroupSnapshot: Equatable, Sendable {
    package var version: Int64
    package var group: JSONValue

    package init(version: Int64, group: JSONValue) { (self.version, self.group) = (version, group) }

    package var json: JSONValue { ["version": .integer(version), "group": group] }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        version = try reader.integer("version", in: 0 ... .max)
        group = json["group"] ?? .null
    }
}
