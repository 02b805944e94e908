// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a receiver says of itself before anybody connects: the TXT record and `GET /v1/receiver` carry the same facts
/// (`Docs/protocols/route.md`, sections 2 and 8).
package struct ReceiverDescription: Equatable, Sendable {
    package static let protocolIdentifier = "media-device-protocol.org.linnet.route"

    package var versions: [Int64] = [1]
    package var id: String
    package var name: String
    package var model: String
    package var software: String
    /// `speaker` or `tv`.
    package var type: String
    package var capabilities: [String] = ["url"]
    package var volumeMode = "absolute"
    package var canMute = true
    package var sessionLimit: Int64 = 1
    package var canGroup = false
    package var httpPort: UInt16
    package var clockPort: UInt16?
    package var access = "open"
    package var clock: ClockInfo?

    package init(
        id: String, name: String, model: String, software: String, type: String, httpPort: UInt16,
        clockPort: UInt16? = nil, clock: ClockInfo? = nil
    ) {
        (self.id, self.name, self.model, self.software) = (id, name, model, software)
        (self.type, self.httpPort, self.clockPort, self.clock) = (type, httpPort, clockPort, clock)
    }

    package var json: JSONValue {
        var ports: [String: JSONValue] = ["http": .integer(Int64(httpPort))]
        if let clockPort { ports["clock"] = .integer(Int64(clockPort)) }
        return [
            "protocol": .text(Self.protocolIdentifier), "versions": .array(versions.map { .integer($0) }),
            "id": .text(id), "name": .text(name), "model": .text(model), "software": .text(software),
            "type": .text(type), "capabilities": .array(capabilities.map { .text($0) }),
            "volumeMode": .text(volumeMode), "canMute": .bool(canMute),
            "sessionLimit": .integer(sessionLimit),
            "canGroup": .bool(canGroup), "ports": .object(ports), "access": .text(access),
            "clock": clock?.json ?? .null,
        ]
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "receiver")
        guard try reader.text("protocol", bytes: 1...256) == Self.protocolIdentifier else {
            throw ParamReader.fault("receiver.protocol", "expected \(Self.protocolIdentifier)")
        }
        let ports = try reader.object("ports")
        self.init(
            id: try reader.text("id", bytes: 1...64), name: try reader.text("name", bytes: 0...1_024),
            model: try reader.optionalText("model", bytes: 0...1_024) ?? "",
            software: try reader.optionalText("software", bytes: 0...1_024) ?? "",
            type: try reader.optionalText("type", bytes: 0...64) ?? "speaker",
            httpPort: UInt16(truncatingIfNeeded: try ports.integer("http", in: 1...65_535)),
            clockPort: ports.optional("clock") == nil
                ? nil : UInt16(truncatingIfNeeded: try ports.integer("clock", in: 1...65_535)))
        versions = (json["versions"]?.arrayValue ?? []).compactMap(\.integerValue)
        capabilities = try reader.texts("capabilities", limit: 64, bytes: 1...64)
        volumeMode = try reader.optionalText("volumeMode", bytes: 1...64) ?? "absolute"
        canMute = try reader.bool("canMute", default: true)
        sessionLimit =
            reader.optional("sessionLimit") == nil ? 1 : try reader.integer("sessionLimit", in: 0...1_000)
        canGroup = try reader.bool("canGroup", default: false)
        access = try reader.optionalText("access", bytes: 1...64) ?? "open"
        if let now = try reader.optionalObject("clock") {
            clock = ClockInfo(
                id: try now.text("id", bytes: 1...64), now: try now.integer("now", in: .min ... .max))
        }
    }

    /// TXT entries, in order.
    package var textEntries: [String] {
        var entries = [
            "v=\(versions.map(String.init).joined(separator: ","))", "id=\(id)", "md=\(model)", "dt=\(type)",
            "cf=\(capabilities.joined(separator: ","))", "vm=\(volumeMode)", "mu=\(canMute ? 1 : 0)",
            "ns=\(sessionLimit)", "gr=\(canGroup ? 1 : 0)",
        ]
        if let clockPort { entries.append("cp=\(clockPort)") }
        entries.append("ap=\(access)")
        // RFC 6763, section 6.1: an entry has at most 255 bytes.
        return entries.map { entry in
            var entry = entry
            while entry.utf8.count > 255 { entry.removeLast() }
            return entry
        }
    }

    /// Reads a service as it was found: unknown keys are ignored, missing ones have their usual values; nil without an `id`.
    package init?(textEntries: [String], name: String, port: UInt16) {
        var values: [String: String] = [:]
        for entry in textEntries {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // RFC 6763, section 6.4: keys are case-insensitive and the first counts.
            let key = parts[0].lowercased()
            if values[key] == nil { values[key] = parts.count > 1 ? String(parts[1]) : "" }
        }
        guard let id = values["id"], !id.isEmpty else { return nil }
        self.init(
            id: id, name: name, model: values["md"] ?? "", software: "", type: values["dt"] ?? "speaker",
            httpPort: port, clockPort: values["cp"].flatMap { UInt16($0) })
        func list(_ key: String) -> [String]? { values[key]?.split(separator: ",").map(String.init) }
        versions = list("v")?.compactMap { Int64($0) } ?? [1]
        capabilities = list("cf") ?? ["url"]
        volumeMode = values["vm"] ?? "absolute"
        canMute = values["mu"] != "0"
        sessionLimit = values["ns"].flatMap { Int64($0) } ?? 1
        canGroup = values["gr"] == "1"
        access = values["ap"] ?? "open"
    }
}
