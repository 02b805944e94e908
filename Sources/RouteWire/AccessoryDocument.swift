// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The receiver as an accessory with several sources, in the state (`Docs/protocols/route.md`, section 7.1). Unknown members are
/// ignored.
package struct AccessoryDocument: Equatable, Sendable {
    package var capabilities: [String]
    /// Nil: it is not sensed, or not known.
    package var placement: String?
    /// Why the placement is not known although it is sensed.
    package var placementFault: String?
    /// Whether something is plugged into the jack; nil: nobody looks.
    package var isPlugged: Bool?
    /// By their addresses.
    package var sources: [String: SourceDocument]
    package var primary: String?
    package var secondary: String?
    /// The source that has the output.
    package var active: String?
    /// The newest comes last.
    package var decisions: [DecisionDocument]
    /// `ready`, `off` or `absent`.
    package var bluetooth: String
    package var bluetoothReason: String?
    package var pairing: PairingDocument
    /// Phones that are paired.
    package var known: [KnownSourceDocument]

    package init(
        capabilities: [String], placement: String? = nil, placementFault: String? = nil,
        isPlugged: Bool? = nil, sources: [String: SourceDocument] = [:], primary: String? = nil,
        secondary: String? = nil, active: String? = nil, decisions: [DecisionDocument] = [],
        bluetooth: String = "absent", bluetoothReason: String? = nil, pairing: PairingDocument = .init(),
        known: [KnownSourceDocument] = []
    ) {
        (self.capabilities, self.placement, self.placementFault) = (capabilities, placement, placementFault)
        (self.isPlugged, self.sources, self.decisions) = (isPlugged, sources, decisions)
        (self.primary, self.secondary, self.active) = (primary, secondary, active)
        (self.bluetooth, self.bluetoothReason) = (bluetooth, bluetoothReason)
        (self.pairing, self.known) = (pairing, known)
    }

    package var json: JSONValue {
        [
            "capabilities": .array(capabilities.map { .text($0) }), "placement": JSONValue(placement),
            "placementFault": JSONValue(placementFault), "jack": isPlugged.map { .bool($0) } ?? .null,
            "sources": .object(sources.mapValues(\.json)), "primary": JSONValue(primary),
            "secondary": JSONValue(secondary), "active": JSONValue(active),
            "decisions": .array(decisions.map(\.json)),
            "bluetooth": ["state": .text(bluetooth), "reason": JSONValue(bluetoothReason)],
            "pairing": pairing.json, "known": .array(known.map(\.json)),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(capabilities: try reader.texts("capabilities", limit: 64, bytes: 1...64))
        placement = try reader.optionalText("placement", bytes: 1...64)
        placementFault = try reader.optionalText("placementFault", bytes: 0...1_024)
        if reader.optional("jack") != nil { isPlugged = try reader.bool("jack") }
        for (address, source) in reader.optional("sources")?.objectValue ?? [:] {
            sources[address] = try SourceDocument(
                try ParamReader(source, path: "\(reader.path).sources.\(address)"))
        }
        primary = try reader.optionalText("primary", bytes: 1...64)
        secondary = try reader.optionalText("secondary", bytes: 1...64)
        active = try reader.optionalText("active", bytes: 1...64)
        for one in try reader.objects("decisions", limit: 64) { decisions.append(try DecisionDocument(one)) }
        let bluetooth = try reader.optionalObject("bluetooth")
        self.bluetooth = try bluetooth?.optionalText("state", bytes: 1...64) ?? "absent"
        bluetoothReason = try bluetooth?.optionalText("reason", bytes: 0...1_024)
        if let pairing = try reader.optionalObject("pairing") { self.pairing = try PairingDocument(pairing) }
        for one in try reader.objects("known", limit: 256) { known.append(try KnownSourceDocument(one)) }
    }
}

/// One source in the state.
package struct SourceDocument: Equatable, Sendable {
    /// `network`, `application`, `bluetooth`, `lineIn`, or what only a later receiver knows.
    package var kind: String
    package var name: String
    /// `connected`, `playing`, `paused`, `inCall`.
    package var state: String
    package var preference: String
    package var title: String?
    package var subtitle: String?
    /// Why it cannot be listened to.
    package var fault: String?

    package init(
        kind: String, name: String, state: String, preference: String = "normal", title: String? = nil,
        subtitle: String? = nil, fault: String? = nil
    ) {
        (self.kind, self.name, self.state, self.preference) = (kind, name, state, preference)
        (self.title, self.subtitle, self.fault) = (title, subtitle, fault)
    }

    package var json: JSONValue {
        [
            "kind": .text(kind), "name": .text(name), "state": .text(state), "preference": .text(preference),
            "title": JSONValue(title), "subtitle": JSONValue(subtitle), "fault": JSONValue(fault),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            kind: try reader.text("kind", bytes: 1...64),
            name: try reader.optionalText("name", bytes: 0...1_024) ?? "",
            state: try reader.optionalText("state", bytes: 1...64) ?? "connected",
            preference: try reader.optionalText("preference", bytes: 1...64) ?? "normal",
            title: try reader.optionalText("title", bytes: 0...4_096),
            subtitle: try reader.optionalText("subtitle", bytes: 0...4_096),
            fault: try reader.optionalText("fault", bytes: 0...1_024))
    }
}

/// One decision in the state.
package struct DecisionDocument: Equatable, Sendable {
    package var number: Int64
    /// Clock time.
    package var moment: Int64
    package var outcome: String
    package var reason: String
    /// The reason for people.
    package var message: String
    package var source: String?
    package var name: String
    package var previous: String?

    package init(
        number: Int64, moment: Int64, outcome: String, reason: String, message: String, source: String?,
        name: String, previous: String?
    ) {
        (self.number, self.moment, self.outcome, self.reason) = (number, moment, outcome, reason)
        (self.message, self.source, self.name, self.previous) = (message, source, name, previous)
    }

    package var json: JSONValue {
        [
            "number": .integer(number), "moment": .integer(moment), "outcome": .text(outcome),
            "reason": .text(reason), "message": .text(message), "source": JSONValue(source),
            "name": .text(name), "previous": JSONValue(previous),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            number: try reader.integer("number", in: 0...Int64.max),
            moment: try reader.integer("moment", in: Int64.min...Int64.max),
            outcome: try reader.text("outcome", bytes: 1...64),
            reason: try reader.text("reason", bytes: 1...64),
            message: try reader.optionalText("message", bytes: 0...1_024) ?? "",
            source: try reader.optionalText("source", bytes: 1...64),
            name: try reader.optionalText("name", bytes: 0...1_024) ?? "",
            previous: try reader.optionalText("previous", bytes: 1...64))
    }
}

/// How far the pairing of a phone has come, in the state.
package struct PairingDocument: Equatable, Sendable {
    /// `closed`, `open`, `asked`, `paired`, `failed`.
    package var state: String
    /// Clock time at which the window closes.
    package var until: Int64?
    package var source: String?
    package var name: String?
    package var passkey: String?
    package var reason: String?

    package init(
        state: String = "closed", until: Int64? = nil, source: String? = nil, name: String? = nil,
        passkey: String? = nil, reason: String? = nil
    ) {
        (self.state, self.until, self.source) = (state, until, source)
        (self.name, self.passkey, self.reason) = (name, passkey, reason)
    }

    package var json: JSONValue {
        [
            "state": .text(state), "until": until.map { .integer($0) } ?? .null, "source": JSONValue(source),
            "name": JSONValue(name), "passkey": JSONValue(passkey), "reason": JSONValue(reason),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            state: try reader.text("state", bytes: 1...64),
            until: reader.optional("until") == nil
                ? nil : try reader.integer("until", in: Int64.min...Int64.max),
            source: try reader.optionalText("source", bytes: 1...64),
            name: try reader.optionalText("name", bytes: 0...1_024),
            passkey: try reader.optionalText("passkey", bytes: 1...16),
            reason: try reader.optionalText("reason", bytes: 0...1_024))
    }
}

/// A phone that is paired, in the state.
package struct KnownSourceDocument: Equatable, Sendable {
    package var address: String
    package var name: String
    package var isConnected: Bool
    package var isTrusted: Bool

    package init(address: String, name: String, isConnected: Bool, isTrusted: Bool) {
        (self.address, self.name) = (address, name)
        (self.isConnected, self.isTrusted) = (isConnected, isTrusted)
    }

    package var json: JSONValue {
        [
            "address": .text(address), "name": .text(name), "connected": .bool(isConnected),
            "trusted": .bool(isTrusted),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            address: try reader.text("address", bytes: 1...64),
            name: try reader.optionalText("name", bytes: 0...1_024) ?? "",
            isConnected: try reader.bool("connected", default: false),
            isTrusted: try reader.bool("trusted", default: false))
    }
}
