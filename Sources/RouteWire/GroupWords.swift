// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Where an item stands on a group's clock.
package struct WireGroupTimeline: Equatable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        case paused
        /// It stands until those who take part are ready for the rate.
        case waiting
        /// At `clockTime` its `itemTime` is heard.
        case playing
    }

    package var state: State
    package var itemTime: Int64
    /// Nanoseconds of the group's clock; nil unless it plays.
    package var clockTime: Int64?
    /// What is asked for; 0 while it is paused.
    package var rate: Double

    package init(state: State, itemTime: Int64, clockTime: Int64? = nil, rate: Double = 0) {
        (self.state, self.itemTime, self.rate) = (state, itemTime, rate)
        self.clockTime = state == .playing ? clockTime ?? 0 : nil
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "state": .text(state.rawValue), "itemTime": .integer(itemTime), "rate": .number(rate),
        ]
        members["clockTime"] = clockTime.map { .integer($0) }
        return .object(members)
    }

    init(_ reader: ParamReader) throws(RouteError) {
        let state = try reader.choice("state", State.self)
        self.init(
            state: state, itemTime: try reader.integer("itemTime", in: .min ... .max),
            clockTime: state == .playing ? try reader.integer("clockTime", in: .min ... .max) : nil,
            rate: try reader.rate("rate", in: 0...WireLimits.groupRate))
    }
}

/// Where somebody who goes over to an item would have it begin.
package struct WireGroupProposal: Equatable, Sendable {
    package var itemTime: Int64
    /// 0: paused.
    package var rate: Double
    /// When the place is heard, on the group's clock; nil: when all are ready.
    package var clockTime: Int64?

    package init(itemTime: Int64, rate: Double = 0, clockTime: Int64? = nil) {
        (self.itemTime, self.rate, self.clockTime) = (itemTime, rate, clockTime)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["itemTime": .integer(itemTime), "rate": .number(rate)]
        members["clockTime"] = clockTime.map { .integer($0) }
        return .object(members)
    }

    /// The member `proposal`; nil if it is null or absent.
    static func optional(_ reader: ParamReader) throws(RouteError) -> WireGroupProposal? {
        guard let reader = try reader.optionalObject("proposal") else { return nil }
        return WireGroupProposal(
            itemTime: try reader.integer("itemTime", in: .min ... .max),
            rate: try reader.rate("rate", in: 0...WireLimits.groupRate),
            clockTime: try reader.optionalInteger("clockTime"))
    }
}

extension ParamReader {
    func optionalInteger(_ key: String) throws(RouteError) -> Int64? {
        optional(key) == nil ? nil : try integer(key, in: .min ... .max)
    }

    func groupItem(_ key: String = "item") throws(RouteError) -> String {
        try text(key, bytes: 1...WireLimits.groupItem)
    }

    func rate(_ key: String, in range: ClosedRange<Double>) throws(RouteError) -> Double {
        let number = try number(key)
        guard range.contains(number) else {
            throw Self.fault(
                "\(path).\(key)", "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// The item of a group: its name there, and, for receivers, where its media is.
package struct WireGroupItem: Equatable, Sendable {
    package var identifier: String
    package var title: String?
    package var subtitle: String?
    /// Nil: only players that know the item by its name play it.
    package var media: QueueItemRequest?

    package init(
        identifier: String, title: String? = nil, subtitle: String? = nil, media: QueueItemRequest? = nil
    ) {
        (self.identifier, self.title, self.subtitle, self.media) = (identifier, title, subtitle, media)
    }

    package var json: JSONValue {
        if let media, case .object(var members) = media.json {
            members["group"] = .text(identifier)
            return .object(members)
        }
        var members: [String: JSONValue] = ["group": .text(identifier)]
        var words: [String: JSONValue] = [:]
        if let title { words["title"] = .text(title) }
        if let subtitle { words["subtitle"] = .text(subtitle) }
        if !words.isEmpty { members["metadata"] = .object(words) }
        return .object(members)
    }

    init(_ reader: ParamReader) throws(RouteError) {
        identifier = try reader.groupItem("group")
        if reader.optional("url") != nil {
            let media = try QueueItemRequest(reader)
            (self.media, title, subtitle) = (media, media.title, media.subtitle)
        } else {
            let words = try reader.optionalObject("metadata")
            title = try words?.optionalText("title", bytes: 0...1_024)
            subtitle = try words?.optionalText("subtitle", bytes: 0...1_024)
        }
    }

    package init(json: JSONValue) throws(RouteError) { try self.init(try ParamReader(json, path: "item")) }

    /// The member `item`; nil if it is null or absent.
    static func optional(_ reader: ParamReader) throws(RouteError) -> WireGroupItem? {
        guard let item = try reader.optionalObject("item") else { return nil }
        return try WireGroupItem(item)
    }
}

/// What a member asks of the host, for its senders or for itself.
package enum GroupAsk: Equatable, Sendable {
    /// Nil: nothing is to be played. The proposal counts if the group has no timing of the item yet.
    case item(
        WireGroupItem?, WireGroupProposal?, following: [QueueItemRequest] = [], repeats: WireRepeat = .off)
    /// What a sender asks of the group's queue, if it is still this one.
    case queue(QueueCommand, of: String)
    /// 0 pauses; `itemTime` is then where the one who asks stopped.
    case rate(Double, item: String, itemTime: Int64?, immediately: Bool)
    case seek(itemTime: Int64, item: String, resumesImmediately: Bool)
    case policy(WireGroupPolicy)
    case activity(WireGroupActivity?)
    case name(String)
    case remove(member: String)
    case dissolve
    case volume(Double)

    private enum Kind: String, CaseIterable {
        case item, queue, rate, seek, policy, activity, name, remove, dissolve, volume
    }

    package var json: JSONValue {
        switch self {
        case .item(let item, let proposal, let following, let repeats):
            var members: [String: JSONValue] = ["kind": "item"]
            members["item"] = item?.json
            members["proposal"] = proposal?.json
            if !following.isEmpty { members["items"] = .array(following.map(\.json)) }
            if repeats != .off { members["repeat"] = .text(repeats.rawValue) }
            return .object(members)
        case .queue(let command, let queue):
            return .object([
                "kind": "queue", "queue": .text(queue), "method": .text(command.method),
                "params": .object(command.members),
            ])
        case .rate(let rate, let item, let itemTime, let immediately):
            var members: [String: JSONValue] = [
                "kind": "rate", "rate": .number(rate), "of": .text(item), "immediately": .bool(immediately),
            ]
            members["itemTime"] = itemTime.map { .integer($0) }
            return .object(members)
        case .seek(let itemTime, let item, let resumes):
            return [
                "kind": "seek", "itemTime": .integer(itemTime), "of": .text(item),
                "resumeImmediately": .bool(resumes),
            ]
        case .policy(let policy): return ["kind": "policy", "policy": policy.json]
        case .activity(let activity): return ["kind": "activity", "activity": activity?.json ?? .null]
        case .name(let name): return ["kind": "name", "name": .text(name)]
        case .remove(let member): return ["kind": "remove", "member": .text(member)]
        case .dissolve: return ["kind": "dissolve"]
        case .volume(let volume): return ["kind": "volume", "volume": .number(volume)]
        }
    }

    init(_ reader: ParamReader) throws(RouteError) {
        switch try reader.choice("kind", Kind.self) {
        case .item:
            var following: [QueueItemRequest] = []
            for item in try reader.objects("items", limit: WireLimits.queue) {
                following.append(try QueueItemRequest(item))
            }
            self = .item(
                try WireGroupItem.optional(reader), try WireGroupProposal.optional(reader),
                following: following,
                repeats: reader.optional("repeat") == nil
                    ? .off : try reader.choice("repeat", WireRepeat.self))
        case .queue:
            let method = try reader.text("method", bytes: 1...64)
            let params = try ParamReader(reader.optional("params"), path: "\(reader.path).params")
            guard let command = try QueueCommand(method: method, params) else {
                throw ParamReader.fault("\(reader.path).method", "expected a method of the queue")
            }
            self = .queue(command, of: try reader.groupItem("queue"))
        case .rate:
            self = .rate(
                try reader.rate("rate", in: 0...WireLimits.groupRate), item: try reader.groupItem("of"),
                itemTime: try reader.optionalInteger("itemTime"),
                immediately: try reader.bool("immediately", default: false))
        case .seek:
            self = .seek(
                itemTime: try reader.integer("itemTime", in: .min ... .max),
                item: try reader.groupItem("of"),
                resumesImmediately: try reader.bool("resumeImmediately", default: false))
        case .policy: self = .policy(try WireGroupPolicy(try reader.object("policy")))
        case .activity: self = .activity(try WireGroupActivity.optional(reader))
        case .name: self = .name(try reader.text("name", bytes: 1...WireLimits.name))
        case .remove: self = .remove(member: try reader.text("member", bytes: 1...128))
        case .dissolve: self = .dissolve
        case .volume: self = .volume(try reader.fraction("volume"))
        }
    }
}

extension SyncReport {
    package var json: JSONValue {
        [
            "error": .integer(error), "largestError": .integer(largestError),
            "cardDrift": .number(cardDrift), "clockDrift": .number(clockDrift),
            "resyncs": .integer(Int64(resyncs)), "underruns": .integer(Int64(underruns)),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        let count = 0...Int64(UInt32.max)
        self.init(
            error: try reader.integer("error", in: .min ... .max),
            largestError: try reader.integer("largestError", in: .min ... .max),
            cardDrift: try reader.number("cardDrift"), clockDrift: try reader.number("clockDrift"),
            resyncs: UInt32(truncatingIfNeeded: try reader.integer("resyncs", in: count)),
            underruns: UInt32(truncatingIfNeeded: try reader.integer("underruns", in: count)))
    }

    /// The member `sync`; nil if it is null or absent.
    static func optional(_ reader: ParamReader) throws(RouteError) -> SyncReport? {
        guard let sync = try reader.optionalObject("sync") else { return nil }
        return try SyncReport(sync)
    }
}
