// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What senders ask of the receiver as an accessory with several sources (`Docs/protocols/route.md`, section 5.5).
package enum WireAccessoryRequest: Equatable, Sendable {
    /// Names of capabilities.
    case register([String])
    /// The registration, as it was answered.
    case current(String)
    case update(String, AccessoryChange)
    /// Sources by their addresses.
    case take(String)
    /// Nil: the one that is heard.
    case yield(String?)
    case prefer(String, WireSourcePreference)
    case forget(String)
    /// Opens the window in which phones may be paired; 0 closes it.
    case pair(seconds: Int64)
    case confirm(String, Bool)
    case disconnect(String)

    /// The methods, in the order of the page.
    static let methods = [
        "accessory.register", "accessory.current", "accessory.update", "sources.take", "sources.yield",
        "sources.prefer", "sources.forget", "sources.pair", "sources.confirm", "sources.disconnect",
    ]

    var method: String {
        switch self {
        case .register: "accessory.register"
        case .current: "accessory.current"
        case .update: "accessory.update"
        case .take: "sources.take"
        case .yield: "sources.yield"
        case .prefer: "sources.prefer"
        case .forget: "sources.forget"
        case .pair: "sources.pair"
        case .confirm: "sources.confirm"
        case .disconnect: "sources.disconnect"
        }
    }

    var params: JSONValue? {
        switch self {
        case .register(let capabilities): return ["capabilities": .array(capabilities.map { .text($0) })]
        case .current(let registration): return ["registration": .text(registration)]
        case .update(let registration, let change):
            var members = change.members
            members["registration"] = .text(registration)
            return .object(members)
        case .take(let source), .forget(let source), .disconnect(let source): return ["source": .text(source)]
        case .yield(let source): return .object(source.map { ["source": .text($0)] } ?? [:])
        case .prefer(let source, let preference):
            return ["source": .text(source), "preference": .text(preference.rawValue)]
        case .pair(let seconds): return ["seconds": .integer(seconds)]
        case .confirm(let source, let isWanted): return ["source": .text(source), "accept": .bool(isWanted)]
        }
    }

    /// Nil for any other method.
    init?(method: String, _ reader: ParamReader) throws(RouteError) {
        func source() throws(RouteError) -> String { try reader.text("source", bytes: 17...17) }
        func registration() throws(RouteError) -> String { try reader.text("registration", bytes: 1...128) }
        switch method {
        case "accessory.register":
            guard reader.optional("capabilities") != nil else {
                throw ParamReader.fault("\(reader.path).capabilities", "expected a list, found nothing")
            }
            self = .register(try reader.texts("capabilities", limit: 16, bytes: 1...64))
        case "accessory.current": self = .current(try registration())
        case "accessory.update": self = .update(try registration(), try AccessoryChange(reader))
        case "sources.take": self = .take(try source())
        case "sources.yield": self = .yield(try reader.optionalText("source", bytes: 17...17))
        case "sources.prefer":
            self = .prefer(try source(), try reader.choice("preference", WireSourcePreference.self))
        case "sources.forget": self = .forget(try source())
        case "sources.pair":
            self = .pair(
                seconds: reader.optional("seconds") == nil
                    ? WireLimits.pairingSeconds : try reader.integer("seconds", in: 0...600))
        case "sources.confirm": self = .confirm(try source(), try reader.bool("accept"))
        case "sources.disconnect": self = .disconnect(try source())
        default: return nil
        }
    }
}

/// What a person wants of a source, by its names on the wire.
package enum WireSourcePreference: String, Sendable, CaseIterable { case normal, preferred, manual }

/// The changed members of an accessory's configuration; what is nil stays.
package struct AccessoryChange: Equatable, Sendable {
    package var capabilities: [String]?
    package var placement: String?
    /// The address of the source that is to be heard.
    package var primary: String?

    package init(capabilities: [String]? = nil, placement: String? = nil, primary: String? = nil) {
        (self.capabilities, self.placement, self.primary) = (capabilities, placement, primary)
    }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let capabilities { members["capabilities"] = .array(capabilities.map { .text($0) }) }
        if let placement { members["placement"] = .text(placement) }
        if let primary { members["primary"] = .text(primary) }
        return members
    }

    init(_ reader: ParamReader) throws(RouteError) {
        if reader.optional("capabilities") != nil {
            capabilities = try reader.texts("capabilities", limit: 16, bytes: 1...64)
        }
        placement = try reader.optionalText("placement", bytes: 1...64)
        primary = try reader.optionalText("primary", bytes: 17...17)
    }
}

/// The answer to `accessory.register`, `accessory.current` and `accessory.update`.
package struct AccessoryAnswer: Equatable, Sendable {
    package var registration: String
    package var capabilities: [String]
    package var placement: String?
    package var primary: String?
    package var secondary: String?

    package init(
        registration: String, capabilities: [String], placement: String?, primary: String?, secondary: String?
    ) {
        (self.registration, self.capabilities, self.placement) = (registration, capabilities, placement)
        (self.primary, self.secondary) = (primary, secondary)
    }

    package var json: JSONValue {
        [
            "registration": .text(registration), "capabilities": .array(capabilities.map { .text($0) }),
            "placement": JSONValue(placement), "primary": JSONValue(primary),
            "secondary": JSONValue(secondary),
        ]
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "result")
        registration = try reader.text("registration", bytes: 1...128)
        capabilities = try reader.texts("capabilities", limit: 64, bytes: 1...64)
        placement = try reader.optionalText("placement", bytes: 1...64)
        primary = try reader.optionalText("primary", bytes: 1...64)
        secondary = try reader.optionalText("secondary", bytes: 1...64)
    }
}
