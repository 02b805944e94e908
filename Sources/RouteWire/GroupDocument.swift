// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// A group as its host tells its members, and, without what is theirs alone, as senders see it in the state
/// (`Docs/protocols/group.md`, sections 4 and 6). Unknown members are ignored.
package struct GroupDocument: Equatable, Sendable {
    package enum Phase: String, Sendable, CaseIterable { case waiting, joined, invalidated }

    package var id: String
    package var name: String
    /// Counts hosts up.
    package var epoch: Int64
    package var host: String
    package var clock: GroupClockDocument?
    package var activity: WireGroupActivity?
    package var policy: WireGroupPolicy
    /// Of the loudest member.
    package var volume: Double?
    package var item: WireGroupItem?
    /// What the group plays one after the other; `item` is its current item.
    package var queue: WireGroupQueue?
    /// By the names of items in the group.
    package var timelines: [String: WireGroupTimeline]
    package var members: [String: GroupMemberDocument]
    /// What only the state says.
    package var view: View?

    /// How one receiver sees its group.
    package struct View: Equatable, Sendable {
        package var isHost: Bool
        package var phase: Phase
        /// Why it is over.
        package var reason: String?
        /// True once the host's clock is read well enough to play by it.
        package var isClockKnown: Bool
        package init(isHost: Bool, phase: Phase, reason: String? = nil, isClockKnown: Bool = false) {
            (self.isHost, self.phase, self.reason) = (isHost, phase, reason)
            self.isClockKnown = isClockKnown
        }
    }

    package init(
        id: String, name: String, epoch: Int64 = 0, host: String, clock: GroupClockDocument? = nil,
        activity: WireGroupActivity? = nil, policy: WireGroupPolicy = .init(), volume: Double? = nil,
        item: WireGroupItem? = nil, queue: WireGroupQueue? = nil,
        timelines: [String: WireGroupTimeline] = [:], members: [String: GroupMemberDocument] = [:],
        view: View? = nil
    ) {
        (self.id, self.name, self.epoch, self.host) = (id, name, epoch, host)
        (self.clock, self.activity, self.policy, self.volume) = (clock, activity, policy, volume)
        (self.item, self.queue) = (item, queue)
        (self.timelines, self.members, self.view) = (timelines, members, view)
    }

    /// As members are told it, or, with a view, as it stands in the state: there the item's address is left out, which may
    /// hold secrets, and the queue, which is the session's.
    package var json: JSONValue {
        var clock = clock?.members
        var result: [String: JSONValue] = [
            "id": .text(id), "name": .text(name), "epoch": .integer(epoch), "host": .text(host),
            "policy": policy.json, "members": .object(members.mapValues(\.json)),
            "timelines": .object(timelines.mapValues(\.json)),
        ]
        result["activity"] = activity?.json
        result["volume"] = volume.map { .number($0) }
        if let view {
            result["isHost"] = .bool(view.isHost)
            result["state"] = .text(view.phase.rawValue)
            if let reason = view.reason { result["reason"] = .text(reason) }
            clock?["isKnown"] = .bool(view.isClockKnown)
            result["item"] = item.map {
                WireGroupItem(identifier: $0.identifier, title: $0.title, subtitle: $0.subtitle).json
            }
        } else {
            result["item"] = item?.json
            result["queue"] = queue?.json
        }
        result["clock"] = clock.map { .object($0) }
        return .object(result)
    }

    package init(json: JSONValue) throws(RouteError) {
        try self.init(try ParamReader(json, path: "group"))
        if let queue = json["queue"], !queue.isNull { self.queue = try WireGroupQueue(json: queue) }
    }

    /// The same with a queue that is known already: a long one takes a while to read.
    package init(json: JSONValue, keeping queue: WireGroupQueue?) throws(RouteError) {
        try self.init(try ParamReader(json, path: "group"))
        self.queue = queue
    }

    init(_ reader: ParamReader) throws(RouteError) {
        id = try reader.text("id", bytes: 1...128)
        name = try reader.optionalText("name", bytes: 0...1_024) ?? ""
        epoch = reader.optional("epoch") == nil ? 0 : try reader.integer("epoch", in: 0...WireLimits.epoch)
        host = try reader.text("host", bytes: 1...128)
        let clockReader = try reader.optionalObject("clock")
        clock = try clockReader.map { reader throws(RouteError) in try GroupClockDocument(reader) }
        activity = try WireGroupActivity.optional(reader)
        policy =
            try reader.optionalObject("policy").map { reader throws(RouteError) in
                try WireGroupPolicy(reader)
            } ?? WireGroupPolicy()
        volume = reader.optional("volume") == nil ? nil : try reader.fraction("volume")
        item = try WireGroupItem.optional(reader)
        timelines = [:]
        if let list = try reader.optionalObject("timelines") {
            guard list.names.count <= WireLimits.groupItems else {
                throw ParamReader.fault(list.path, "expected at most \(WireLimits.groupItems) members")
            }
            for item in list.names where list.optional(item) != nil {
                timelines[item] = try WireGroupTimeline(try list.object(item))
            }
        }
        members = [:]
        if let list = try reader.optionalObject("members") {
            guard list.names.count <= WireLimits.groupMembers else {
                throw ParamReader.fault(list.path, "expected at most \(WireLimits.groupMembers) members")
            }
            for id in list.names where list.optional(id) != nil {
                members[id] = try GroupMemberDocument(try list.object(id))
            }
        }
        guard let phase = try reader.optionalText("state", bytes: 1...64) else { return }
        view = View(
            isHost: try reader.bool("isHost", default: false), phase: Phase(rawValue: phase) ?? .waiting,
            reason: try reader.optionalText("reason", bytes: 1...64),
            isClockKnown: try clockReader?.bool("isKnown", default: false) ?? false)
    }
}

/// The clock that a group follows.
package struct GroupClockDocument: Equatable, Sendable {
    /// Changes with the host's boot, and with the host.
    package var id: String
    /// UDP, at the host's address.
    package var port: UInt16
    package init(id: String, port: UInt16) { (self.id, self.port) = (id, port) }

    fileprivate var members: [String: JSONValue] { ["id": .text(id), "port": .integer(Int64(port))] }

    fileprivate init(_ reader: ParamReader) throws(RouteError) {
        id = try reader.text("id", bytes: 1...128)
        port = UInt16(truncatingIfNeeded: try reader.integer("port", in: 1...65_535))
    }
}

/// One member of a group.
package struct GroupMemberDocument: Equatable, Sendable {
    package var name: String
    package var kind: GroupAttachment.Kind
    /// Counts members up, in the order in which they came.
    package var joined: Int64
    /// Those from which it spoke.
    package var addresses: [String]
    package var port: UInt16?
    /// The name of the item that it is on.
    package var item: String?
    package var isReady: Bool
    package var suspensions: [String]
    package var volume: Volume?
    package var sync: SyncReport?

    package init(
        name: String, kind: GroupAttachment.Kind = .receiver, joined: Int64 = 0, addresses: [String] = [],
        port: UInt16? = nil, item: String? = nil, isReady: Bool = false, suspensions: [String] = [],
        volume: Volume? = nil, sync: SyncReport? = nil
    ) {
        (self.name, self.kind, self.joined) = (name, kind, joined)
        (self.addresses, self.port, self.item) = (addresses, port, item)
        (self.isReady, self.suspensions) = (isReady, suspensions)
        (self.volume, self.sync) = (volume, sync)
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .text(name), "kind": .text(kind.rawValue), "joined": .integer(joined),
            "addresses": .array(addresses.map { .text($0) }), "isReady": .bool(isReady),
            "suspensions": .array(suspensions.map { .text($0) }),
        ]
        if let port { members["port"] = .integer(Int64(port)) }
        if let item { members["item"] = .text(item) }
        if let volume {
            members["volume"] = .number(volume.level)
            members["muted"] = .bool(volume.isMuted)
        }
        members["sync"] = sync?.json
        return .object(members)
    }

    fileprivate init(_ reader: ParamReader) throws(RouteError) {
        name = try reader.optionalText("name", bytes: 0...1_024) ?? ""
        kind =
            try reader.optionalText("kind", bytes: 1...64).flatMap { GroupAttachment.Kind(rawValue: $0) }
            ?? .player
        joined = reader.optional("joined") == nil ? 0 : try reader.integer("joined", in: 0 ... .max)
        addresses = try reader.texts("addresses", limit: WireLimits.groupAddresses, bytes: 1...64)
        if reader.optional("port") != nil {
            port = UInt16(truncatingIfNeeded: try reader.integer("port", in: 1...65_535))
        }
        item = reader.optional("item") == nil ? nil : try reader.groupItem()
        isReady = try reader.bool("isReady", default: false)
        suspensions = try reader.texts(
            "suspensions", limit: WireLimits.suspensions, bytes: 1...WireLimits.suspensionReason)
        if reader.optional("volume") != nil {
            volume = Volume(
                level: try reader.fraction("volume"), isMuted: try reader.bool("muted", default: false))
        }
        sync = try SyncReport.optional(reader)
    }
}
