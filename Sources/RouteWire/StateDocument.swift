// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The receiver's state as a client reads it (`Docs/protocols/route.md`, section 7). Unknown members are ignored.
package struct StateDocument: Equatable, Sendable {
    package var device: DeviceDocument
    package var clock: String
    /// The session that owns the player.
    package var player: String?
    package var routes: [String: RouteDocument]
    /// Those of media.
    package var sessions: [String: SessionDocument]
    package var applicationSessions: [String: ApplicationSessionDocument]
    /// What is installed, by its identifier.
    package var applications: [String: ApplicationDocument]
    package var instances: [String: InstanceDocument]
    package var announcements: AnnouncementsDocument
    /// Nil: the receiver is in no group.
    package var group: GroupDocument?
    /// Nil: the receiver has no sources but the network.
    package var accessory: AccessoryDocument?

    package init(
        device: DeviceDocument, clock: String, player: String?, routes: [String: RouteDocument],
        sessions: [String: SessionDocument], applicationSessions: [String: ApplicationSessionDocument] = [:],
        applications: [String: ApplicationDocument] = [:], instances: [String: InstanceDocument] = [:],
        announcements: AnnouncementsDocument = .init(), group: GroupDocument? = nil,
        accessory: AccessoryDocument? = nil
    ) {
        (self.device, self.clock, self.player) = (device, clock, player)
        (self.routes, self.sessions) = (routes, sessions)
        self.applicationSessions = applicationSessions
        (self.applications, self.instances) = (applications, instances)
        (self.announcements, self.group, self.accessory) = (announcements, group, accessory)
    }

    package var json: JSONValue {
        [
            "device": device.json, "clock": ["id": .text(clock)], "player": ["session": JSONValue(player)],
            "routes": .object(routes.mapValues(\.json)),
            "sessions": .object(
                sessions.mapValues(\.json).merging(applicationSessions.mapValues(\.json)) { first, _ in first
                }),
            "applications": .object(applications.mapValues(\.json)),
            "instances": .object(instances.mapValues(\.json)),
            "announcements": announcements.json,
            "group": group?.json ?? .null, "accessory": accessory?.json ?? .null,
        ]
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "state")
        device = try DeviceDocument(try reader.object("device"))
        clock = try reader.object("clock").text("id", bytes: 1...64)
        player = try reader.optionalObject("player")?.optionalText("session", bytes: 1...128)
        (routes, sessions, applicationSessions) = ([:], [:], [:])
        (applications, instances) = ([:], [:])
        announcements = try AnnouncementsDocument(try reader.optionalObject("announcements"))
        group = try reader.optionalObject("group").map { reader throws(RouteError) in
            try GroupDocument(reader)
        }
        accessory = try reader.optionalObject("accessory").map { reader throws(RouteError) in
            try AccessoryDocument(reader)
        }
        for (id, route) in json["routes"]?.objectValue ?? [:] {
            routes[id] = try RouteDocument(try ParamReader(route, path: "state.routes.\(id)"))
        }
        for (id, session) in json["sessions"]?.objectValue ?? [:] {
            let reader = try ParamReader(session, path: "state.sessions.\(id)")
            if try reader.optionalText("mode", bytes: 1...64) == "application" {
                applicationSessions[id] = try ApplicationSessionDocument(reader)
            } else {
                sessions[id] = try SessionDocument(reader)
            }
        }
        for (id, application) in json["applications"]?.objectValue ?? [:] {
            applications[id] = try ApplicationDocument(
                try ParamReader(application, path: "state.applications.\(id)"))
        }
        for (id, instance) in json["instances"]?.objectValue ?? [:] {
            instances[id] = try InstanceDocument(try ParamReader(instance, path: "state.instances.\(id)"))
        }
    }
}

/// One route in the state.
package struct RouteDocument: Equatable, Sendable {
    package var sender: SenderInfo
    package var isAttached: Bool
    package init(sender: SenderInfo, isAttached: Bool) {
        (self.sender, self.isAttached) = (sender, isAttached)
    }
    package var json: JSONValue {
        ["sender": sender.json, "attached": .bool(isAttached)]
    }
    init(_ reader: ParamReader) throws(RouteError) {
        sender = try SenderInfo(try reader.object("sender"))
        isAttached = try reader.bool("attached")
    }
}

/// The device in the state.
package struct DeviceDocument: Equatable, Sendable {
    package var id: String
    package var name: String
    package var model: String
    package var type: String
    package var volume: Volume
    package var volumeMode: String
    package var canMute: Bool
    package var volumeCap: Double
    package var output: OutputDocument
    package var advertisementState: String
    package var advertisementName: String
    /// Why name and volume cannot be written down; nil if they can.
    package var storageFault: String?
    /// Nil: the receiver does not say.
    package var confinement: [ConfinementLayer]?
    /// How much later than the card says the device is heard, in nanoseconds.
    package var outputTrim: Int64

    package init(
        id: String, name: String, model: String, type: String, volume: Volume,
        volumeMode: String = "absolute",
        canMute: Bool = true, volumeCap: Double, output: OutputDocument, advertisementState: String,
        advertisementName: String, storageFault: String? = nil,
        confinement: [ConfinementLayer]? = nil, outputTrim: Int64 = 0
    ) {
        (self.id, self.name, self.model, self.type) = (id, name, model, type)
        (self.volume, self.volumeMode, self.canMute, self.volumeCap) = (
            volume, volumeMode, canMute, volumeCap
        )
        self.output = output
        (self.advertisementState, self.advertisementName) = (advertisementState, advertisementName)
        self.storageFault = storageFault
        (self.confinement, self.outputTrim) = (confinement, outputTrim)
    }

    package var json: JSONValue {
        [
            "id": .text(id), "name": .text(name), "model": .text(model), "type": .text(type),
            "volume": .number(volume.level), "muted": .bool(volume.isMuted), "volumeMode": .text(volumeMode),
            "canMute": .bool(canMute), "volumeCap": .number(volumeCap), "output": output.json,
            "advertisement": ["state": .text(advertisementState), "name": .text(advertisementName)],
            "storageFault": JSONValue(storageFault),
            "confinement": confinement.map { .array($0.map(\.json)) } ?? .null,
            "outputTrim": outputTrim == 0 ? .null : .integer(outputTrim),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        id = try reader.text("id", bytes: 1...64)
        name = try reader.text("name", bytes: 0...1_024)
        model = try reader.optionalText("model", bytes: 0...1_024) ?? ""
        type = try reader.optionalText("type", bytes: 0...64) ?? "speaker"
        volume = Volume(level: try reader.number("volume"), isMuted: try reader.bool("muted"))
        volumeMode = try reader.optionalText("volumeMode", bytes: 1...64) ?? "absolute"
        canMute = try reader.bool("canMute", default: true)
        volumeCap = try reader.optionalNumber("volumeCap") ?? 1
        output = try OutputDocument(try reader.object("output"))
        let advertisement = try reader.optionalObject("advertisement")
        advertisementState = try advertisement?.optionalText("state", bytes: 1...64) ?? "off"
        advertisementName = try advertisement?.optionalText("name", bytes: 0...1_024) ?? ""
        storageFault = try reader.optionalText("storageFault", bytes: 0...4_096)
        confinement = try ConfinementLayer.list(reader)
        outputTrim =
            reader.optional("outputTrim") == nil ? 0 : try reader.integer("outputTrim", in: .min ... .max)
    }
}

extension ConfinementLayer {
    package var json: JSONValue {
        guard let reason else { return ["layer": .text(kind.rawValue), "on": true] }
        return ["layer": .text(kind.rawValue), "on": false, "reason": .text(reason)]
    }
}

/// The sound output in the state.
package struct OutputDocument: Equatable, Sendable {
    package var state: String
    package var device: String
    package var reason: String?
    package var sampleRate: Int32?
    package var hasHardwareVolume: Bool

    package init(
        state: String, device: String, reason: String? = nil, sampleRate: Int32? = nil,
        hasHardwareVolume: Bool = false
    ) {
        (self.state, self.device, self.reason) = (state, device, reason)
        (self.sampleRate, self.hasHardwareVolume) = (sampleRate, hasHardwareVolume)
    }

    package var json: JSONValue {
        [
            "state": .text(state), "device": .text(device), "reason": JSONValue(reason),
            "sampleRate": sampleRate.map { JSONValue($0) } ?? .null,
            "hardwareVolume": .bool(hasHardwareVolume),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        state = try reader.text("state", bytes: 1...64)
        device = try reader.optionalText("device", bytes: 0...1_024) ?? ""
        reason = try reader.optionalText("reason", bytes: 0...4_096)
        sampleRate =
            reader.optional("sampleRate") == nil
            ? nil : Int32(truncatingIfNeeded: try reader.integer("sampleRate", in: 0...10_000_000))
        hasHardwareVolume = try reader.bool("hardwareVolume", default: false)
    }
}
