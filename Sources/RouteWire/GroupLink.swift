// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Who comes into a group.
package struct GroupAttachment: Equatable, Sendable {
    package enum Kind: String, Sendable, CaseIterable { case receiver, player }
    package var group: String
    package var participant: String
    package var name: String
    package var kind: Kind
    package var nonce: GroupSecret
    /// It proves itself by a pass, not by the ticket. Players only.
    package var hasPass: Bool
    /// Where others reach it, if it can be a host.
    package var port: UInt16?
    /// The newest that it knows of.
    package var epoch: Int64
    package var volume: Volume?

    package init(
        group: String, participant: String, name: String, kind: Kind, nonce: GroupSecret,
        hasPass: Bool = false, port: UInt16? = nil, epoch: Int64 = 0, volume: Volume? = nil
    ) {
        (self.group, self.participant, self.name, self.kind) = (group, participant, name, kind)
        (self.nonce, self.hasPass) = (nonce, hasPass)
        (self.port, self.epoch, self.volume) = (port, epoch, volume)
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "version": 1, "group": .text(group), "participant": .text(participant), "name": .text(name),
            "kind": .text(kind.rawValue), "nonce": .text(nonce.text), "epoch": .integer(epoch),
        ]
        if hasPass { members["pass"] = true }
        if let port { members["port"] = .integer(Int64(port)) }
        members.merge(volume?.groupMembers ?? [:]) { first, _ in first }
        return .object(members)
    }

    fileprivate init(_ reader: ParamReader) throws(RouteError) {
        let version = try reader.integer("version", in: 0...1_000)
        guard version == 1 else { throw RouteError.unsupported(version: version) }
        group = try reader.text("group", bytes: 1...128)
        participant = try reader.text("participant", bytes: 1...128)
        name = try reader.text("name", bytes: 0...WireLimits.senderName)
        kind = try reader.choice("kind", Kind.self)
        nonce = try reader.secret("nonce")
        hasPass = try reader.bool("pass", default: false)
        guard !hasPass || kind == .player else {
            throw ParamReader.fault("params.pass", "expected a player")
        }
        if reader.optional("port") != nil {
            port = UInt16(truncatingIfNeeded: try reader.integer("port", in: 1...65_535))
        }
        epoch = reader.optional("epoch") == nil ? 0 : try reader.integer("epoch", in: 0...WireLimits.epoch)
        volume = try Volume.group(reader)
    }
}

extension Volume {
    fileprivate var groupMembers: [String: JSONValue] {
        ["volume": .number(level), "muted": .bool(isMuted)]
    }

    /// The members `volume` and `muted`; nil without the first.
    fileprivate static func group(_ reader: ParamReader) throws(RouteError) -> Volume? {
        guard reader.optional("volume") != nil else { return nil }
        return Volume(
            level: try reader.fraction("volume"), isMuted: try reader.bool("muted", default: false))
    }
}

extension ParamReader {
    fileprivate func secret(_ key: String) throws(RouteError) -> GroupSecret {
        guard let secret = GroupSecret(try text(key, bytes: 1...WireLimits.token)) else {
            throw Self.fault("\(path).\(key)", "expected 32 bytes in base64url")
        }
        return secret
    }
}

/// What a member is doing when it has proved itself.
package struct GroupPresence: Equatable, Sendable {
    package struct Suspension: Equatable, Sendable {
        package var id: Int64
        package var reason: String
        package init(id: Int64, reason: String) { (self.id, self.reason) = (id, reason) }
    }

    package var item: String?
    package var proposal: WireGroupProposal?
    package var isReady: Bool
    package var suspensions: [Suspension]

    package init(
        item: String? = nil, proposal: WireGroupProposal? = nil, isReady: Bool = false,
        suspensions: [Suspension] = []
    ) {
        (self.item, self.proposal, self.isReady) = (item, proposal, isReady)
        self.suspensions = suspensions
    }

    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["ready": .bool(isReady)]
        if let item { members["item"] = .text(item) }
        members["proposal"] = proposal?.json
        if !suspensions.isEmpty {
            members["suspensions"] = .array(
                suspensions.map { ["suspension": .integer($0.id), "reason": .text($0.reason)] })
        }
        return members
    }

    fileprivate init(_ reader: ParamReader) throws(RouteError) {
        item = reader.optional("item") == nil ? nil : try reader.groupItem()
        proposal = try WireGroupProposal.optional(reader)
        isReady = try reader.bool("ready", default: false)
        suspensions = []
        for reader in try reader.objects("suspensions", limit: WireLimits.suspensions) {
            suspensions.append(
                Suspension(
                    id: try reader.integer("suspension", in: 0 ... .max),
                    reason: try reader.text("reason", bytes: 1...WireLimits.suspensionReason)))
        }
    }
}

/// What a member made of a command.
package enum GroupOutcome: String, Sendable, CaseIterable { case done, suspended, ignored }

/// What members say on their link (`Docs/protocols/group.md`, section 4).
package enum GroupLinkRequest: Equatable, Sendable {
    case attach(GroupAttachment)
    case prove(GroupSecret, GroupPresence)
    case ask(GroupAsk)
    case completed(command: Int64, GroupOutcome)
    /// It is on another item from now on, or on none.
    case moved(item: String?, WireGroupProposal?)
    case ready(Bool)
    case suspend(Int64, reason: String)
    case resume(Int64, itemTime: Int64?)
    /// Here it stood still when it had paused.
    case stopped(item: String, itemTime: Int64)
    /// It has played its item to the end.
    case finished(item: String)
    /// It has drifted off and wants to be told anew.
    case reapply
    case report(Volume?, SyncReport?)

    /// Every one of these methods.
    package static let methods = [
        "group.attach", "group.prove", "group.ask", "group.completed", "group.moved", "group.ready",
        "group.suspend", "group.resume", "group.stopped", "group.finished", "group.reapply", "group.report",
    ]

    package var method: String {
        switch self {
        case .attach: "group.attach"
        case .prove: "group.prove"
        case .ask: "group.ask"
        case .completed: "group.completed"
        case .moved: "group.moved"
        case .ready: "group.ready"
        case .suspend: "group.suspend"
        case .resume: "group.resume"
        case .stopped: "group.stopped"
        case .finished: "group.finished"
        case .reapply: "group.reapply"
        case .report: "group.report"
        }
    }

    var params: JSONValue {
        switch self {
        case .attach(let attachment): return attachment.json
        case .prove(let proof, let presence):
            var members = presence.members
            members["proof"] = .text(proof.text)
            return .object(members)
        case .ask(let ask): return ["ask": ask.json]
        case .completed(let command, let outcome):
            return ["command": .integer(command), "outcome": .text(outcome.rawValue)]
        case .moved(let item, let proposal):
            var members: [String: JSONValue] = ["item": JSONValue(item)]
            members["proposal"] = proposal?.json
            return .object(members)
        case .ready(let isReady): return ["ready": .bool(isReady)]
        case .suspend(let suspension, let reason):
            return ["suspension": .integer(suspension), "reason": .text(reason)]
        case .resume(let suspension, let itemTime):
            var members: [String: JSONValue] = ["suspension": .integer(suspension)]
            if let itemTime { members["itemTime"] = .integer(itemTime) }
            return .object(members)
        case .stopped(let item, let itemTime):
            return ["item": .text(item), "itemTime": .integer(itemTime)]
        case .finished(let item): return ["item": .text(item)]
        case .reapply: return .object([:])
        case .report(let volume, let sync):
            var members = volume?.groupMembers ?? [:]
            members["sync"] = sync?.json
            return .object(members)
        }
    }

    /// The whole message; without an `id` it is a notification.
    package func text(id: Int64?) -> String {
        var members: [String: JSONValue] = [
            "jsonrpc": "2.0", "method": .text(method), "params": params,
        ]
        if let id { members["id"] = .integer(id) }
        return JSONText.encode(.object(members))
    }

    /// Nil for any other method.
    init?(method: String, _ reader: ParamReader) throws(RouteError) {
        func number(_ key: String) throws(RouteError) -> Int64 { try reader.integer(key, in: 0 ... .max) }
        switch method {
        case "group.attach": self = .attach(try GroupAttachment(reader))
        case "group.prove": self = .prove(try reader.secret("proof"), try GroupPresence(reader))
        case "group.ask": self = .ask(try GroupAsk(try reader.object("ask")))
        case "group.completed":
            self = .completed(
                command: try number("command"), try reader.choice("outcome", GroupOutcome.self))
        case "group.moved":
            self = .moved(
                item: reader.optional("item") == nil ? nil : try reader.groupItem(),
                try WireGroupProposal.optional(reader))
        case "group.ready": self = .ready(try reader.bool("ready"))
        case "group.suspend":
            self = .suspend(
                try number("suspension"),
                reason: try reader.text("reason", bytes: 1...WireLimits.suspensionReason))
        case "group.resume":
            self = .resume(try number("suspension"), itemTime: try reader.optionalInteger("itemTime"))
        case "group.stopped":
            self = .stopped(
                item: try reader.groupItem(), itemTime: try reader.integer("itemTime", in: .min ... .max))
        case "group.finished": self = .finished(item: try reader.groupItem())
        case "group.reapply": self = .reapply
        case "group.report":
            self = .report(try Volume.group(reader), try SyncReport.optional(reader))
        default: return nil
        }
    }
}
