// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import MediaModel

/// One installed application in the state (`Docs/protocols/route.md`, section 7).
package struct ApplicationDocument: Equatable, Sendable {
    package var name: String
    package var version: String
    /// A path on the receiver.
    package var icon: String?
    package var urls: [String]
    /// `perSession` or `shared`.
    package var instance: String

    package init(name: String, version: String, icon: String? = nil, urls: [String] = [], instance: String) {
        (self.name, self.version, self.icon) = (name, version, icon)
        (self.urls, self.instance) = (urls, instance)
    }

    package var json: JSONValue {
        [
            "name": .text(name), "version": .text(version), "icon": JSONValue(icon),
            "urls": .array(urls.map { .text($0) }), "instance": .text(instance),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        name = try reader.text("name", bytes: 0...1_024)
        version = try reader.optionalText("version", bytes: 0...1_024) ?? ""
        icon = try reader.optionalText("icon", bytes: 1...1_024)
        urls = try reader.texts("urls", limit: 1_024, bytes: 1...1_024)
        instance = try reader.optionalText("instance", bytes: 1...64) ?? "perSession"
    }
}

/// One run of an application in the state.
package struct InstanceDocument: Equatable, Sendable {
    package var application: String
    /// `launching`, `running` or `ending`.
    package var phase: String
    /// The session of media that it plays.
    package var media: String?
    package var restarts: Int64
    /// Nil: not known yet.
    package var confinement: [ConfinementLayer]?

    package init(
        application: String, phase: String, media: String? = nil, restarts: Int64 = 0,
        confinement: [ConfinementLayer]? = nil
    ) {
        (self.application, self.phase, self.media) = (application, phase, media)
        (self.restarts, self.confinement) = (restarts, confinement)
    }

    package var json: JSONValue {
        [
            "application": .text(application), "phase": .text(phase), "media": JSONValue(media),
            "restarts": .integer(restarts),
            "confinement": confinement.map { .array($0.map(\.json)) } ?? .null,
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        application = try reader.text("application", bytes: 1...ApplicationID.limit)
        phase = try reader.text("phase", bytes: 1...64)
        media = try reader.optionalText("media", bytes: 1...128)
        restarts = reader.optional("restarts") == nil ? 0 : try reader.integer("restarts", in: 0 ... .max)
        confinement = try ConfinementLayer.list(reader)
    }
}

/// A session of an application in the state.
package struct ApplicationSessionDocument: Equatable, Sendable {
    package var application: String
    package var instance: String
    package var isActive: Bool
    /// Nil when its sender left and it stays.
    package var route: String?
    package var url: String
    package var channel: UInt32
    /// The session of media that its instance plays.
    package var media: String?

    package init(
        application: String, instance: String, isActive: Bool, route: String?, url: String, channel: UInt32,
        media: String? = nil
    ) {
        (self.application, self.instance, self.isActive) = (application, instance, isActive)
        (self.route, self.url, self.channel, self.media) = (route, url, channel, media)
    }

    package var json: JSONValue {
        [
            "mode": "application", "application": .text(application), "instance": .text(instance),
            "phase": isActive ? "active" : "launching", "route": JSONValue(route), "url": .text(url),
            "channel": .integer(Int64(channel)), "media": JSONValue(media),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        application = try reader.text("application", bytes: 1...ApplicationID.limit)
        instance = try reader.text("instance", bytes: 1...128)
        isActive = try reader.text("phase", bytes: 1...64) == "active"
        route = try reader.optionalText("route", bytes: 1...128)
        url = try reader.optionalText("url", bytes: 0...WireLimits.url) ?? ""
        channel = UInt32(truncatingIfNeeded: try reader.integer("channel", in: 1...Int64(UInt32.max)))
        media = try reader.optionalText("media", bytes: 1...128)
    }
}

extension ConfinementLayer {
    /// The member `confinement`; nil if it is absent.
    static func list(_ reader: ParamReader) throws(RouteError) -> [ConfinementLayer]? {
        guard reader.optional("confinement") != nil else { return nil }
        var layers: [ConfinementLayer] = []
        for layer in try reader.objects("confinement", limit: 32) {
            // A newer receiver may have walls that are not known here.
            guard let kind = ConfinementLayer.Kind(rawValue: try layer.text("layer", bytes: 1...64)) else {
                continue
            }
            let reason = try layer.optionalText("reason", bytes: 0...1_024)
            layers.append(ConfinementLayer(kind, reason: try layer.bool("on") ? nil : reason ?? ""))
        }
        return layers
    }
}

extension ApplicationFailure {
    package var json: JSONValue {
        [
            "code": .text(code.rawValue), "message": .text(message),
            "log": .array(log.map { .text($0) }),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        let name = try reader.text("code", bytes: 1...64)
        self.init(
            // What only a later receiver knows is the most general of them.
            Code(rawValue: name) ?? .crashed, try reader.text("message", bytes: 0...65_536),
            log: try reader.texts("log", limit: 64, bytes: 0...65_536))
    }
}
