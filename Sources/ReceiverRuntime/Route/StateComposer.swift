// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SessionCore

/// Writes the core's state as the JSON that senders see (`Docs/protocols/route.md`, section 7). Parts whose values
/// did not change are taken over, and members that are null are left out, so that a sender which applies patches
/// has the same value as one that asks for all of it.
struct StateComposer {
    private let identity: ReceiverIdentity
    private let model: String
    private let type: String
    private let volumeCap: Double
    private var device: (value: ReceiverState.Device, json: JSONValue)?
    private var routes: [RouteID: (value: ReceiverState.Route, json: JSONValue)] = [:]
    private var sessions: [SessionID: (value: Session, json: JSONValue)] = [:]
    private var applications = ComposedApplications(Applications())
    /// The queue of the session that was written last: a thousand items are not written anew with every position.
    private var queue: (value: PlayQueue, json: JSONValue)?

    init(identity: ReceiverIdentity, configuration: ReceiverConfiguration) {
        (self.identity, model, type) = (identity, configuration.model, configuration.deviceType)
        let cap = configuration.volumeCap
        volumeCap = cap.isNaN ? 1 : Volume(level: cap).level
    }

    mutating func compose(
        _ state: ReceiverState, artwork: ArtworkShelf, group: JSONValue? = nil,
        accessory: JSONValue? = nil
    ) -> JSONValue {
        if device?.value != state.device { device = (state.device, json(state.device)) }
        routes = state.routes.mapValuesWithKey { id, route in
            if let known = routes[id], known.value == route { return known }
            return (route, Self.json(route))
        }
        var written: [SessionID: (value: Session, json: JSONValue)] = [:]
        for (id, session) in state.sessions {
            if let known = sessions[id], case .object(var members) = known.json,
                known.value.looks(like: session)
            {
                if known.value.position != session.position { members["position"] = session.position.json }
                written[id] = (session, .object(members))
            } else {
                if queue?.value != session.queue { queue = (session.queue, session.queue.json) }
                written[id] = (session, Self.json(session, id, artwork, queue?.json ?? .null))
            }
        }
        sessions = written
        if applications.value != state.applications {
            applications = ComposedApplications(state.applications)
        }
        // The parts are compact already, and stay as they are: what was taken over is then seen to be the same at a glance.
        var members: [String: JSONValue] = [
            "device": device?.json ?? [:],
            "clock": ["id": .text(identity.clock)],
            "player": .compact(["session": JSONValue(state.player?.text)]),
            "routes": .object(routes.keyed { $0.text }),
            "sessions": .object(
                sessions.keyed { $0.text }.merging(applications.sessions) { first, _ in first }),
            "applications": .object(applications.catalog),
            "instances": .object(applications.instances),
        ]
        let announcements = state.announcements.json
        if announcements != .null { members["announcements"] = announcements }
        members["group"] = group
        members["accessory"] = accessory
        return .object(members)
    }

    private func json(_ device: ReceiverState.Device) -> JSONValue {
        .compact([
            "id": .text(identity.device), "name": .text(device.name), "model": .text(model),
            "type": .text(type),
            "volume": .number(device.volume.level), "muted": .bool(device.volume.isMuted),
            "volumeMode": "absolute", "canMute": true, "volumeCap": .number(volumeCap),
            "output": .compact([
                "state": .text(device.output.state.rawValue), "device": .text(device.output.device),
                "reason": JSONValue(device.output.reason),
                "sampleRate": device.output.sampleRate.map { JSONValue($0) } ?? .null,
                "hardwareVolume": .bool(device.output.hasHardwareVolume),
            ]),
            "advertisement": [
                "state": .text(device.advertisement.state.rawValue), "name": .text(device.advertisement.name),
            ],
            "storageFault": JSONValue(device.storageFault),
            "confinement": device.confinement.map { .array($0.map(\.json)) } ?? .null,
            "outputTrim": device.outputTrim == 0 ? .null : .integer(device.outputTrim),
        ])
    }

    private static func json(_ route: ReceiverState.Route) -> JSONValue {
        [
            "sender": ["id": .text(route.sender.identifier), "name": .text(route.sender.name)],
            "attached": .bool(route.connection != nil),
        ]
    }

    private static func json(
        _ session: Session, _ id: SessionID, _ artwork: ArtworkShelf, _ queue: JSONValue
    ) -> JSONValue {
        let shown = JSONValue.compact([
            "route": JSONValue(session.route?.text), "mode": "player",
            "phase": .text(session.phase.rawValue), "isReady": .bool(session.isReady),
            "isPlaying": .bool(session.isPlaying), "isBuffering": .bool(session.isBuffering),
            "state": .text(session.mode.rawValue), "speed": .number(session.speed),
            "scanSpeed": .number(session.scanSpeed), "position": session.position.json,
            "timeRange": session.timeline.range.json,
            "seekableRanges": session.timeline.seekableRanges.map { .array($0.map(\.json)) } ?? .null,
            "isLive": .bool(session.timeline.isLive),
            "seekCapabilities": session.timeline.capabilities.json,
            "segments": .array(session.segments.map(\.json)), "currentSegment": session.currentSegment.json,
            "tracks": session.tracks.json, "hasAudio": .bool(session.hasAudio),
            "hasVideo": .bool(session.hasVideo), "picture": session.picture.json,
            "isMuted": .bool(session.volume.isMuted),
            "volume": .number(session.volume.level), "metadata": metadata(session, id, artwork),
            "error": session.error?.json ?? .null, "application": JSONValue(session.application?.text),
            "group": session.isGrouped ? true : .null, "isHeard": session.isHeard ? .null : false,
        ])
        // It is compact already.
        guard case .object(var members) = shown else { return shown }
        members["queue"] = queue
        return .object(members)
    }

    private static func metadata(_ session: Session, _ id: SessionID, _ artwork: ArtworkShelf) -> JSONValue {
        let pictures = session.artwork.compactMap { artwork.picture(id, key: $0) }
        return .compact([
            "title": JSONValue(session.metadata.title), "subtitle": JSONValue(session.metadata.subtitle),
            "album": JSONValue(session.metadata.album), "station": JSONValue(session.metadata.station),
            "genre": JSONValue(session.metadata.genre),
            "artwork": .array(
                pictures.map { picture in
                    .compact([
                        "url": .text(ArtworkShelf.path + picture.name), "type": .text(picture.type),
                        "width": picture.artwork.size.map { JSONValue($0.width) } ?? .null,
                        "height": picture.artwork.size.map { JSONValue($0.height) } ?? .null,
                    ])
                }),
            "videoSize": session.metadata.videoSize?.json ?? .null,
        ])
    }
}

extension JSONValue {
    /// An object without members that are null, at any depth of objects.
    static func compact(_ members: [String: JSONValue]) -> JSONValue {
        .object(members.compactMapValues { $0.compacted })
    }

    private var compacted: JSONValue? {
        switch self {
        case .null: nil
        case .object(let members): .object(members.compactMapValues { $0.compacted })
        default: self
        }
    }
}

extension Dictionary {
    fileprivate func mapValuesWithKey<Mapped>(_ transform: (Key, Value) -> Mapped) -> [Key: Mapped] {
        Dictionary<Key, Mapped>(uniqueKeysWithValues: map { ($0.key, transform($0.key, $0.value)) })
    }
}

extension Dictionary {
    fileprivate func keyed<Part>(_ name: (Key) -> String) -> [String: JSONValue]
    where Value == (value: Part, json: JSONValue) {
        Dictionary<String, JSONValue>(map { (name($0.key), $0.value.json) }) { first, _ in first }
    }
}
