// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// One request of the protocol, with its parameters checked. The same type is written by senders and read by receivers.
package enum RouteRequest: Equatable, Sendable {
    case activate(Activation)
    case deactivate
    case subscribe
    case unsubscribe
    case getState
    case ping
    case start(SessionStart)
    case stop(session: String?)
    case setPlaying(session: String?, Bool)
    case seek(session: String?, position: MediaTime, tolerance: MediaTime)
    case setSpeed(session: String?, Double)
    case setState(session: String?, WirePlaybackState, scanSpeed: Double?)
    case selectTrack(session: String?, TrackKind, option: String?)
    case setVolume(session: String?, Double)
    case setMuted(session: String?, Bool)
    case setMetadata(session: String?, MetadataChange)
    case queue(session: String?, QueueCommand)
    case announce(AnnouncementRequest)
    /// Nil: all of them.
    case cancelAnnouncement(String?)
    case setDeviceVolume(Double)
    case changeDeviceVolume(steps: Int64)
    /// Nil toggles.
    case setDeviceMuted(Bool?)
    case rename(String)
    /// Nanoseconds.
    case setOutputTrim(Int64)
    case group(WireGroupRequest)
    case accessory(WireAccessoryRequest)
    /// Of an application alone.
    case application(ApplicationRequest)
    /// Of a member of a group alone, on its link.
    case link(GroupLinkRequest)
}

/// What a sender says when it opens a route.
package struct Activation: Equatable, Sendable {
    package var version: Int64
    package var sender: SenderInfo
    package var capabilities: [String]
    /// The token of a route that was lost.
    package var resume: String?

    package init(
        version: Int64 = 1, sender: SenderInfo, capabilities: [String] = [], resume: String? = nil
    ) {
        (self.version, self.sender) = (version, sender)
        (self.capabilities, self.resume) = (capabilities, resume)
    }
}

/// Who a sender says it is.
package struct SenderInfo: Equatable, Sendable {
    package var identifier: String
    package var name: String
    package init(identifier: String, name: String) { (self.identifier, self.name) = (identifier, name) }
}

/// What a session is for.
package enum SessionMode: String, Sendable, CaseIterable { case player, application }

/// The uses of a timeline, by their names on the wire.
package enum WirePlaybackState: String, Sendable, CaseIterable { case normal, scanning, scrubbing }

/// What a sender asks to have played.
package struct SessionStart: Equatable, Sendable {
    package var url: String
    package var mode: SessionMode
    package var application: String?
    package var headers: [HeaderField]
    package var userAgent: String?
    package var allowsInvalidCertificate: Bool
    package var startPosition: MediaTime
    package var isPlaying: Bool
    package var title: String?
    package var subtitle: String?
    package var segments: [Segment]
    /// The sender's own name of the item.
    package var identifier: String?
    /// What follows it.
    package var items: [QueueItemRequest]
    package var repeats: WireRepeat

    package init(
        url: String, mode: SessionMode = .player, application: String? = nil, headers: [HeaderField] = [],
        userAgent: String? = nil, allowsInvalidCertificate: Bool = false, startPosition: MediaTime = .zero,
        isPlaying: Bool = true,
        title: String? = nil, subtitle: String? = nil, segments: [Segment] = [], identifier: String? = nil,
        items: [QueueItemRequest] = [], repeats: WireRepeat = .off
    ) {
        (self.url, self.mode, self.application, self.headers) = (url, mode, application, headers)
        (self.userAgent, self.startPosition, self.isPlaying) = (userAgent, startPosition, isPlaying)
        self.allowsInvalidCertificate = allowsInvalidCertificate
        (self.title, self.subtitle, self.segments) = (title, subtitle, segments)
        (self.identifier, self.items, self.repeats) = (identifier, items, repeats)
    }
}

// MARK: Writing

extension RouteRequest {
    /// The method's name.
    package var method: String {
        switch self {
        case .activate: "route.activate"
        case .deactivate: "route.deactivate"
        case .subscribe: "state.subscribe"
        case .unsubscribe: "state.unsubscribe"
        case .getState: "state.get"
        case .ping: "clock.ping"
        case .start: "session.start"
        case .stop: "session.stop"
        case .setPlaying: "playback.setPlaying"
        case .seek: "playback.seek"
        case .setSpeed: "playback.setSpeed"
        case .setState: "playback.setState"
        case .selectTrack: "playback.selectTrack"
        case .setVolume: "playback.setVolume"
        case .setMuted: "playback.setMuted"
        case .setMetadata: "playback.setMetadata"
        case .queue(_, let command): command.method
        case .announce: "announcement.play"
        case .cancelAnnouncement: "announcement.cancel"
        case .setDeviceVolume: "device.setVolume"
        case .changeDeviceVolume: "device.changeVolume"
        case .setDeviceMuted: "device.setMuted"
        case .rename: "device.rename"
        case .setOutputTrim: "device.setOutputTrim"
        case .group(let request): request.method
        case .accessory(let request): request.method
        case .application(let request): request.method
        case .link(let request): request.method
        }
    }

    /// The parameters; nil where there are none.
    package var params: JSONValue? {
        func members(_ session: String?, _ others: [String: JSONValue] = [:]) -> JSONValue {
            var members = others
            if let session { members["session"] = .text(session) }
            return .object(members)
        }
        switch self {
        case .activate(let activation):
            var members: [String: JSONValue] = [
                "version": .integer(activation.version),
                "sender": ["id": .text(activation.sender.identifier), "name": .text(activation.sender.name)],
            ]
            if !activation.capabilities.isEmpty {
                members["capabilities"] = .array(activation.capabilities.map { .text($0) })
            }
            if let resume = activation.resume { members["resume"] = .text(resume) }
            return .object(members)
        case .deactivate, .subscribe, .unsubscribe, .getState, .ping: return nil
        case .start(let start): return start.json
        case .stop(let session): return members(session)
        case .setPlaying(let session, let isPlaying): return members(session, ["playing": .bool(isPlaying)])
        case .seek(let session, let position, let tolerance):
            return members(session, ["position": position.json, "tolerance": tolerance.json])
        case .setSpeed(let session, let speed): return members(session, ["speed": .number(speed)])
        case .setState(let session, let state, let scanSpeed):
            var others: [String: JSONValue] = ["state": .text(state.rawValue)]
            if let scanSpeed { others["scanSpeed"] = .number(scanSpeed) }
            return members(session, others)
        case .selectTrack(let session, let kind, let option):
            return members(session, ["kind": .text(kind.name), "option": JSONValue(option)])
        case .setVolume(let session, let volume): return members(session, ["volume": .number(volume)])
        case .setMuted(let session, let isMuted): return members(session, ["muted": .bool(isMuted)])
        case .setMetadata(let session, let change): return members(session, change.members)
        case .queue(let session, let command): return members(session, command.members)
        case .announce(let announcement): return .object(announcement.members)
        case .cancelAnnouncement(let id): return .object(id.map { ["announcement": .text($0)] } ?? [:])
        case .setDeviceVolume(let volume): return ["volume": .number(volume)]
        case .changeDeviceVolume(let steps): return ["steps": .integer(steps)]
        case .setDeviceMuted(let isMuted): return ["muted": isMuted.map { .bool($0) } ?? "toggle"]
        case .rename(let name): return ["name": .text(name)]
        case .setOutputTrim(let trim): return ["nanoseconds": .integer(trim)]
        case .group(let request): return request.params
        case .accessory(let request): return request.params
        case .application(let request): return request.params
        case .link(let request): return request.params
        }
    }

    /// The whole request as text.
    package func text(id: Int64) -> String {
        var members: [String: JSONValue] = [
            "jsonrpc": "2.0", "id": .integer(id), "method": .text(method),
        ]
        members["params"] = params
        return JSONText.encode(.object(members))
    }
}

extension SessionStart {
    fileprivate var json: JSONValue {
        var members = itemMembers
        members["mode"] = .text(mode.rawValue)
        if let application { members["application"] = .text(application) }
        if !isPlaying { members["playing"] = false }
        if !items.isEmpty { members["items"] = .array(items.map(\.json)) }
        if repeats != .off { members["repeat"] = .text(repeats.rawValue) }
        return .object(members)
    }

    /// What is said of the item alone.
    var itemMembers: [String: JSONValue] {
        var members: [String: JSONValue] = ["url": .text(url)]
        if !headers.isEmpty {
            members["headers"] = .array(headers.map { ["name": .text($0.name), "value": .text($0.value)] })
        }
        if let userAgent { members["userAgent"] = .text(userAgent) }
        if allowsInvalidCertificate { members["allowInvalidCertificate"] = true }
        if startPosition != .zero { members["startPosition"] = startPosition.json }
        if title != nil || subtitle != nil {
            var metadata: [String: JSONValue] = [:]
            if let title { metadata["title"] = .text(title) }
            if let subtitle { metadata["subtitle"] = .text(subtitle) }
            members["metadata"] = .object(metadata)
        }
        if !segments.isEmpty { members["segments"] = .array(segments.map(\.json)) }
        if let identifier { members["identifier"] = .text(identifier) }
        return members
    }
}

// MARK: Reading

extension RouteRequest {
    /// Every method of senders; those of applications are besides in `ApplicationRequest.methods`, those of members of groups
    /// in `GroupLinkRequest.methods`.
    package static let methods =
        [
            "route.activate", "route.deactivate", "state.subscribe", "state.unsubscribe", "state.get",
            "clock.ping",
            "session.start", "session.stop", "playback.setPlaying", "playback.seek", "playback.setSpeed",
            "playback.setState", "playback.selectTrack", "playback.setVolume", "playback.setMuted",
            "announcement.play", "announcement.cancel",
            "playback.setMetadata",
            "device.setVolume", "device.changeVolume", "device.setMuted", "device.rename",
            "device.setOutputTrim",
        ] + QueueCommand.methods + WireGroupRequest.methods + WireAccessoryRequest.methods

    /// Reads a request; the error says which member is wrong and how.
    package init(method: String, params: JSONValue?) throws(RouteError) {
        let reader = try ParamReader(params, path: "params")
        func session() throws(RouteError) -> String? { try reader.optionalText("session", bytes: 1...128) }
        switch method {
        case "route.activate": self = .activate(try Activation(reader))
        case "route.deactivate": self = .deactivate
        case "state.subscribe": self = .subscribe
        case "state.unsubscribe": self = .unsubscribe
        case "state.get": self = .getState
        case "clock.ping": self = .ping
        case "session.start": self = .start(try SessionStart(reader))
        case "session.stop": self = .stop(session: try session())
        case "playback.setPlaying": self = .setPlaying(session: try session(), try reader.bool("playing"))
        case "playback.seek":
            self = .seek(
                session: try session(), position: try reader.time("position"),
                tolerance: try reader.time("tolerance", default: .zero))
        case "playback.setSpeed": self = .setSpeed(session: try session(), try reader.number("speed"))
        case "playback.setState":
            self = .setState(
                session: try session(), try reader.choice("state", WirePlaybackState.self),
                scanSpeed: try reader.optionalNumber("scanSpeed"))
        case "playback.selectTrack":
            let name = try reader.choice("kind", TrackKindName.self)
            self = .selectTrack(
                session: try session(), name.kind, option: try reader.optionalText("option", bytes: 1...256))
        case "playback.setVolume": self = .setVolume(session: try session(), try reader.number("volume"))
        case "playback.setMuted": self = .setMuted(session: try session(), try reader.bool("muted"))
        case "announcement.play": self = .announce(try AnnouncementRequest(reader))
        case "announcement.cancel":
            self = .cancelAnnouncement(try reader.optionalText("announcement", bytes: 1...128))
        case "playback.setMetadata":
            self = .setMetadata(session: try session(), try MetadataChange(reader))
        case "device.setVolume": self = .setDeviceVolume(try reader.number("volume"))
        case "device.changeVolume":
            self = .changeDeviceVolume(steps: try reader.integer("steps", in: -1_000...1_000))
        case "device.setMuted":
            self = .setDeviceMuted(
                reader.optional("muted")?.textValue == "toggle" ? nil : try reader.bool("muted"))
        case "device.setOutputTrim":
            self = .setOutputTrim(
                try reader.integer("nanoseconds", in: -1_000_000_000_000...1_000_000_000_000))
        case "device.rename": self = .rename(try reader.text("name", bytes: 1...1_024))
        default:
            if let command = try QueueCommand(method: method, reader) {
                self = .queue(session: try session(), command)
                return
            }
            if let request = try WireGroupRequest(method: method, reader) {
                self = .group(request)
                return
            }
            if let request = try WireAccessoryRequest(method: method, reader) {
                self = .accessory(request)
                return
            }
            if let request = try GroupLinkRequest(method: method, reader) {
                self = .link(request)
                return
            }
            if let request = try ApplicationRequest(method: method, reader) {
                self = .application(request)
                return
            }
            // The name is the client's; it is not echoed.
            throw RouteError(.methodNotFound, "there is no such method")
        }
    }
}

/// The kinds of tracks by their names, for reading.
private enum TrackKindName: String, CaseIterable {
    case audio, audioDescription, legible
    var kind: TrackKind {
        switch self {
        case .audio: .audio
        case .audioDescription: .audioDescription
        case .legible: .legible
        }
    }
}

extension Activation {
    fileprivate init(_ reader: ParamReader) throws(RouteError) {
        version = try reader.integer("version", in: 0...1_000)
        guard version == 1 else { throw RouteError.unsupported(version: version) }
        let who = try reader.object("sender")
        sender = SenderInfo(
            identifier: try who.text("id", bytes: 1...64),
            name: try who.text("name", bytes: 1...WireLimits.senderName))
        capabilities = try reader.texts("capabilities", limit: 16, bytes: 1...64)
        resume = try reader.optionalText("resume", bytes: 1...WireLimits.token)
    }
}

extension SessionStart {
    fileprivate init(_ reader: ParamReader) throws(RouteError) {
        try self.init(item: reader)
        if reader.optional("mode") != nil { mode = try reader.choice("mode", SessionMode.self) }
        application = try reader.optionalText("application", bytes: 0...256)
        isPlaying = try reader.bool("playing", default: true)
        for item in try reader.objects("items", limit: WireLimits.queue - 1) {
            items.append(try QueueItemRequest(item))
        }
        if reader.optional("repeat") != nil { repeats = try reader.choice("repeat", WireRepeat.self) }
    }

    /// Reads what is said of one item.
    init(item reader: ParamReader) throws(RouteError) {
        self.init(url: try reader.text("url", bytes: 1...WireLimits.url))
        for header in try reader.objects("headers", limit: WireLimits.headers) {
            headers.append(try Self.header(header))
        }
        userAgent = try reader.optionalText("userAgent", bytes: 1...1_024)
        if let userAgent, !HeaderField.isValue(userAgent) {
            throw ParamReader.fault("\(reader.path).userAgent", "expected text without control characters")
        }
        allowsInvalidCertificate = try reader.bool("allowInvalidCertificate", default: false)
        startPosition = try reader.time("startPosition", default: .zero)
        let metadata = try reader.optionalObject("metadata")
        title = try metadata?.optionalText("title", bytes: 0...1_024)
        subtitle = try metadata?.optionalText("subtitle", bytes: 0...1_024)
        identifier = try reader.optionalText("identifier", bytes: 1...WireLimits.itemIdentifier)
        for segment in try reader.objects("segments", limit: WireLimits.segments) {
            segments.append(try Segment(segment))
        }
    }

    private static func header(_ reader: ParamReader) throws(RouteError) -> HeaderField {
        let name = try reader.text("name", bytes: 1...256)
        let value = try reader.text("value", bytes: 0...WireLimits.headerBytes)
        guard HeaderField.isName(name) else {
            throw ParamReader.fault("\(reader.path).name", "expected a header name")
        }
        guard HeaderField.isValue(value) else {
            throw ParamReader.fault("\(reader.path).value", "expected text without control characters")
        }
        return HeaderField(name: name, value: value)
    }
}
