// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a group is about, in words for people and applications.
package struct WireGroupActivity: Equatable, Sendable {
    package enum Kind: String, Sendable, CaseIterable { case listen, watch }
    package var kind: Kind
    package var title: String?
    /// What an application needs to find the item.
    package var identifier: String?

    package init(kind: Kind, title: String? = nil, identifier: String? = nil) {
        (self.kind, self.title, self.identifier) = (kind, title, identifier)
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = ["kind": .text(kind.rawValue)]
        if let title { members["title"] = .text(title) }
        if let identifier { members["identifier"] = .text(identifier) }
        return .object(members)
    }

    init(_ reader: ParamReader) throws(RouteError) {
        kind = try reader.choice("kind", Kind.self)
        title = try reader.optionalText("title", bytes: 0...1_024)
        identifier = try reader.optionalText("identifier", bytes: 0...1_024)
    }

    /// The member `activity`; nil if it is absent.
    static func optional(_ reader: ParamReader) throws(RouteError) -> WireGroupActivity? {
        guard let activity = try reader.optionalObject("activity") else { return nil }
        return try WireGroupActivity(activity)
    }
}

/// How a group waits for its members. As a request: what is nil stays as it is.
package struct WireGroupPolicy: Equatable, Sendable {
    /// Reasons of suspensions that a start waits out.
    package var waitsFor: [String]?
    /// In groups of more members than this a reason is not waited out.
    package var limits: [String: Int64]?
    package var pauseSnapsToOriginator: Bool?
    /// Nanoseconds between the telling of a start and its moment.
    package var lead: Int64?
    /// Nanoseconds that a start waits for those who are not ready.
    package var readinessLimit: Int64?
    /// Nanoseconds that a suspension is waited out.
    package var suspensionLimit: Int64?

    package init(
        waitsFor: [String]? = nil, limits: [String: Int64]? = nil, pauseSnapsToOriginator: Bool? = nil,
        lead: Int64? = nil, readinessLimit: Int64? = nil, suspensionLimit: Int64? = nil
    ) {
        (self.waitsFor, self.limits) = (waitsFor, limits)
        self.pauseSnapsToOriginator = pauseSnapsToOriginator
        (self.lead, self.readinessLimit) = (lead, readinessLimit)
        self.suspensionLimit = suspensionLimit
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = [:]
        if let waitsFor { members["waitsFor"] = .array(waitsFor.map { .text($0) }) }
        if let limits { members["limits"] = .object(limits.mapValues { .integer($0) }) }
        if let pauseSnapsToOriginator { members["pauseSnapsToOriginator"] = .bool(pauseSnapsToOriginator) }
        if let lead { members["lead"] = .integer(lead) }
        if let readinessLimit { members["readinessLimit"] = .integer(readinessLimit) }
        if let suspensionLimit { members["suspensionLimit"] = .integer(suspensionLimit) }
        return .object(members)
    }

    init(_ reader: ParamReader) throws(RouteError) {
        if reader.optional("waitsFor") != nil {
            waitsFor = try reader.texts(
                "waitsFor", limit: WireLimits.policyReasons, bytes: 1...WireLimits.suspensionReason)
        }
        if let limits = try reader.optionalObject("limits") {
            guard limits.names.count <= WireLimits.policyReasons else {
                throw ParamReader.fault(limits.path, "expected at most \(WireLimits.policyReasons) members")
            }
            var read: [String: Int64] = [:]
            for reason in limits.names where (1...WireLimits.suspensionReason).contains(reason.utf8.count) {
                guard limits.optional(reason) != nil else { continue }
                read[reason] = try limits.integer(reason, in: 0...1_000)
            }
            self.limits = read
        }
        if reader.optional("pauseSnapsToOriginator") != nil {
            pauseSnapsToOriginator = try reader.bool("pauseSnapsToOriginator")
        }
        if reader.optional("lead") != nil {
            lead = try reader.integer("lead", in: 20_000_000...5_000_000_000)
        }
        if reader.optional("readinessLimit") != nil {
            readinessLimit = try reader.integer("readinessLimit", in: 0...60_000_000_000)
        }
        if reader.optional("suspensionLimit") != nil {
            suspensionLimit = try reader.integer("suspensionLimit", in: 0...600_000_000_000)
        }
    }
}

/// Where the host of a group is.
package struct GroupHost: Equatable, Sendable {
    package var id: String
    /// In numbers; tried in this order.
    package var addresses: [String]
    package var port: UInt16

    package init(id: String, addresses: [String], port: UInt16) {
        (self.id, self.addresses, self.port) = (id, addresses, port)
    }

    package var json: JSONValue {
        [
            "id": .text(id), "addresses": .array(addresses.map { .text($0) }),
            "port": .integer(Int64(port)),
        ]
    }

    package init(json: JSONValue) throws(RouteError) { try self.init(try ParamReader(json, path: "host")) }

    init(_ reader: ParamReader) throws(RouteError) {
        id = try reader.text("id", bytes: 1...128)
        addresses = try reader.texts("addresses", limit: WireLimits.groupAddresses, bytes: 1...64)
        port = UInt16(truncatingIfNeeded: try reader.integer("port", in: 1...65_535))
    }
}

/// What a sender needs to be told of a group before it can bring others into it.
package struct GroupInvitation: Equatable, Sendable {
    package var group: String
    package var name: String
    package var ticket: String
    package var host: GroupHost

    package init(group: String, name: String, ticket: String, host: GroupHost) {
        (self.group, self.name, self.ticket, self.host) = (group, name, ticket, host)
    }
}

/// What senders ask of groups (`Docs/protocols/group.md`, section 3).
package enum WireGroupRequest: Equatable, Sendable {
    case create(name: String, activity: WireGroupActivity?, policy: WireGroupPolicy?)
    case join(GroupInvitation)
    case leave(keepsPlaying: Bool)
    case remove(member: String)
    case dissolve
    case setActivity(WireGroupActivity?)
    case setPolicy(WireGroupPolicy)
    case setVolume(Double)
    /// A pass for a player of this name.
    case admit(participant: String)

    /// The methods, in the order of the page.
    static let methods = [
        "group.create", "group.join", "group.leave", "group.remove", "group.dissolve", "group.setActivity",
        "group.setPolicy", "group.setVolume", "group.admit",
    ]

    var method: String {
        switch self {
        case .create: "group.create"
        case .join: "group.join"
        case .leave: "group.leave"
        case .remove: "group.remove"
        case .dissolve: "group.dissolve"
        case .setActivity: "group.setActivity"
        case .setPolicy: "group.setPolicy"
        case .setVolume: "group.setVolume"
        case .admit: "group.admit"
        }
    }

    var params: JSONValue? {
        switch self {
        case .create(let name, let activity, let policy):
            var members: [String: JSONValue] = ["name": .text(name)]
            members["activity"] = activity?.json
            members["policy"] = policy?.json
            return .object(members)
        case .join(let invitation):
            return [
                "group": .text(invitation.group), "name": .text(invitation.name),
                "ticket": .text(invitation.ticket), "host": invitation.host.json,
            ]
        case .leave(let keepsPlaying): return keepsPlaying ? ["keepPlaying": true] : [:]
        case .remove(let member): return ["member": .text(member)]
        case .dissolve: return nil
        case .setActivity(let activity): return ["activity": activity?.json ?? .null]
        case .setPolicy(let policy): return ["policy": policy.json]
        case .setVolume(let volume): return ["volume": .number(volume)]
        case .admit(let participant): return ["participant": .text(participant)]
        }
    }

    /// Nil for any other method.
    init?(method: String, _ reader: ParamReader) throws(RouteError) {
        switch method {
        case "group.create":
            let policy = try reader.optionalObject("policy")
            self = .create(
                name: try reader.text("name", bytes: 1...WireLimits.name),
                activity: try WireGroupActivity.optional(reader),
                policy: try policy.map { reader throws(RouteError) in try WireGroupPolicy(reader) })
        case "group.join":
            let ticket = try reader.text("ticket", bytes: 1...WireLimits.token)
            guard GroupSecret(ticket) != nil else {
                throw ParamReader.fault("params.ticket", "expected 32 bytes in base64url")
            }
            self = .join(
                GroupInvitation(
                    group: try reader.text("group", bytes: 1...128),
                    name: try reader.text("name", bytes: 1...WireLimits.name), ticket: ticket,
                    host: try GroupHost(try reader.object("host"))))
        case "group.leave": self = .leave(keepsPlaying: try reader.bool("keepPlaying", default: false))
        case "group.remove": self = .remove(member: try reader.text("member", bytes: 1...128))
        case "group.dissolve": self = .dissolve
        case "group.setActivity": self = .setActivity(try WireGroupActivity.optional(reader))
        case "group.setPolicy": self = .setPolicy(try WireGroupPolicy(try reader.object("policy")))
        case "group.setVolume": self = .setVolume(try reader.fraction("volume"))
        case "group.admit": self = .admit(participant: try reader.text("participant", bytes: 1...128))
        default: return nil
        }
    }
}

extension ParamReader {
    /// A number from 0 to 1.
    func fraction(_ key: String) throws(RouteError) -> Double {
        let number = try number(key)
        guard (0...1).contains(number) else {
            throw Self.fault("\(path).\(key)", "expected a number from 0 to 1")
        }
        return number
    }
}

/// The answer to `group.create`.
package struct GroupCreated: Equatable, Sendable {
    package var group: String
    package var ticket: String
    package var hostID: String
    package var hostName: String
    package var port: UInt16
    package var clockPort: UInt16

    package init(
        group: String, ticket: String, hostID: String, hostName: String, port: UInt16, clockPort: UInt16
    ) {
        (self.group, self.ticket, self.hostID, self.hostName) = (group, ticket, hostID, hostName)
        (self.port, self.clockPort) = (port, clockPort)
    }

    package var json: JSONValue {
        [
            "group": .text(group), "ticket": .text(ticket),
            "host": [
                "id": .text(hostID), "name": .text(hostName), "port": .integer(Int64(port)),
                "clockPort": .integer(Int64(clockPort)),
            ],
        ]
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        let host = try reader.object("host")
        group = try reader.text("group", bytes: 1...128)
        ticket = try reader.text("ticket", bytes: 1...WireLimits.token)
        hostID = try host.text("id", bytes: 1...128)
        hostName = try host.text("name", bytes: 0...1_024)
        port = UInt16(truncatingIfNeeded: try host.integer("port", in: 1...65_535))
        clockPort = UInt16(truncatingIfNeeded: try host.integer("clockPort", in: 1...65_535))
    }
}

/// The answer to `group.admit`: what a player needs in order to take part.
package struct GroupAdmission: Equatable, Sendable {
    package var group: String
    package var name: String
    /// The key of its proofs; good for the participant that it was made for, in this group.
    package var pass: GroupSecret
    /// Without addresses: the receiver that was asked.
    package var host: GroupHost

    package init(group: String, name: String, pass: GroupSecret, host: GroupHost) {
        (self.group, self.name, self.pass, self.host) = (group, name, pass, host)
    }

    package var json: JSONValue {
        ["group": .text(group), "name": .text(name), "pass": .text(pass.text), "host": host.json]
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        group = try reader.text("group", bytes: 1...128)
        name = try reader.optionalText("name", bytes: 0...1_024) ?? ""
        guard let pass = GroupSecret(try reader.text("pass", bytes: 1...WireLimits.token)) else {
            throw ParamReader.fault("result.pass", "expected 32 bytes in base64url")
        }
        self.pass = pass
        host = try GroupHost(try reader.object("host"))
    }
}
