// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire

/// What comes when a connection opens.
struct Greeting {
    var route: String?
    var resumeToken: String?
    var graceTime: Duration?
    var version: Int64
    var state: JSONValue
}

/// Between this library's words and those of the protocol. What a receiver sends is never trusted: what is missing or of
/// the wrong kind becomes a default or an error.
enum Codec {
    enum Incoming {
        case answer(Int64, Result<JSONValue, RoutingError>)
        case notification(String, JSONValue)
    }

    // MARK: Requests

    /// The text of a request; nil if it is longer than a receiver takes.
    static func request(id: Int64, method: String, params: JSONValue?) -> String? {
        var message: [String: JSONValue] = [
            "jsonrpc": .string("2.0"), "id": .integer(id), "method": .string(method),
        ]
        if let params { message["params"] = params }
        let text = JSONValue.object(message).text
        return text.utf8.count <= 65_536 ? text : nil
    }

    static func activation(_ sender: SenderIdentity, resume token: String?) -> JSONValue {
        var params: [String: JSONValue] = [
            "version": .integer(1),
            "sender": .object(["id": .string(sender.identifier), "name": .string(sender.name)]),
        ]
        if let token { params["resume"] = .string(token) }
        return .object(params)
    }

    static func session(_ session: String?) -> JSONValue {
        .object(session.map { ["session": .string($0)] } ?? [:])
    }

    static func request(for command: PlaybackCommand, session: String) -> (String, JSONValue) {
        var params: [String: JSONValue] = ["session": .string(session)]
        let method: String
        switch command {
        case .setPlaying(let value):
            (method, params["playing"]) = ("playback.setPlaying", .bool(value))
        case .seek(let position, let tolerance):
            (method, params["position"]) = ("playback.seek", time(position))
            params["tolerance"] = time(tolerance)
        case .setSpeed(let value):
            (method, params["speed"]) = ("playback.setSpeed", .number(value))
        case .setState(let value, let scan):
            (method, params["state"]) = ("playback.setState", .string(value.rawValue))
            if let scan { params["scanSpeed"] = .number(scan) }
        case .selectTrack(let kind, let identifier):
            (method, params["kind"]) = ("playback.selectTrack", .string(name(of: kind)))
            params["option"] = identifier.map { .string($0) } ?? .null
        case .setVolume(let value):
            (method, params["volume"]) = ("playback.setVolume", .number(value))
        case .setMuted(let value):
            (method, params["muted"]) = ("playback.setMuted", .bool(value))
        }
        return (method, .object(params))
    }

    static func request(for command: DeviceCommand) -> (String, JSONValue) {
        switch command {
        case .setVolume(let value): ("device.setVolume", .object(["volume": .number(value)]))
        case .changeVolume(let steps):
            ("device.changeVolume", .object(["steps": .integer(Int64(steps))]))
        case .setMuted(let value): ("device.setMuted", .object(["muted": .bool(value)]))
        case .toggleMute: ("device.setMuted", .object(["muted": .string("toggle")]))
        case .rename(let name): ("device.rename", .object(["name": .string(name)]))
        }
    }

    static func start(
        url: String, mode: RouteSession.LaunchMode, options: RouteSession.Options
    ) throws(RoutingError) -> JSONValue {
        guard url.utf8.count <= 8192, options.headers.count <= 16, options.segments.count <= 64,
            options.headers.allSatisfy({ $0.name.utf8.count + $0.value.utf8.count <= 4096 })
        else {
            throw RoutingError(
                .tooLong, family: .session,
                "a session has a URL of at most 8 KiB, 16 headers of 4 KiB each and 64 segments")
        }
        var params: [String: JSONValue] = ["url": .string(url), "playing": .bool(options.isPlaying)]
        switch mode {
        case .player: params["mode"] = .string("player")
        case .application(let id):
            params["mode"] = .string("application")
            params["application"] = .string(id)
        }
        if !options.headers.isEmpty {
            params["headers"] = .array(
                options.headers.map { .object(["name": .string($0.name), "value": .string($0.value)]) })
        }
        if let agent = options.userAgent { params["userAgent"] = .string(agent) }
        if let position = options.startPosition { params["startPosition"] = time(position) }
        var metadata: [String: JSONValue] = [:]
        if let title = options.title { metadata["title"] = .string(title) }
        if let subtitle = options.subtitle { metadata["subtitle"] = .string(subtitle) }
        if !metadata.isEmpty { params["metadata"] = .object(metadata) }
        if !options.segments.isEmpty { params["segments"] = .array(options.segments.map(segment)) }
        return .object(params)
    }

    // MARK: Words

    static func time(_ time: MediaTime) -> JSONValue {
        if let name = time.name { return .object(["name": .string(name)]) }
        return .object(["value": .integer(time.value), "timescale": .integer(Int64(time.timescale))])
    }

    static func segment(_ segment: Segment) -> JSONValue {
        var members: [String: JSONValue] = [
            "range": .object([
                "start": time(segment.range.start), "duration": time(segment.range.duration),
            ]),
            "type": .string(segment.kind.rawValue), "isMarked": .bool(segment.isMarked),
            "requiresLinearPlayback": .bool(segment.requiresLinearPlayback),
        ]
        if let identifier = segment.identifier { members["identifier"] = .string(identifier) }
        return .object(members)
    }

    static func name(of kind: TrackKind) -> String {
        switch kind {
        case .audio: "audio"
        case .audioDescription: "audioDescription"
        case .legible: "legible"
        }
    }
}
