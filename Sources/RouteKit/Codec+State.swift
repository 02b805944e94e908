// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire

/// The state of section 7 of the protocol. A null inside the state is carried as absence, so absent is null here.
extension Codec {
    /// `base` is put before artwork URLs that are paths.
    static func snapshot(_ value: JSONValue, base: String) -> ReceiverSnapshot {
        var snapshot = ReceiverSnapshot()
        if let device = value["device"] { snapshot.device = self.device(device) }
        snapshot.clock = value["clock"]?["id"]?.string ?? ""
        snapshot.player = value["player"]?["session"]?.string
        for (id, route) in value["routes"]?.object ?? [:] {
            snapshot.senders.append(
                ConnectedSender(
                    id: id,
                    identity: SenderIdentity(
                        name: route["sender"]?["name"]?.string ?? "",
                        identifier: route["sender"]?["id"]?.string ?? ""),
                    isAttached: route["attached"]?.bool ?? true))
        }
        snapshot.senders.sort { $0.id < $1.id }
        for (id, session) in value["sessions"]?.object ?? [:] {
            snapshot.sessions[id] = self.session(session, base: base)
        }
        return snapshot
    }

    private static func device(_ value: JSONValue) -> DeviceSnapshot {
        var device = DeviceSnapshot()
        device.id = value["id"]?.string ?? ""
        device.name = value["name"]?.string ?? ""
        device.model = value["model"]?.string ?? ""
        device.type = value["type"]?.string ?? ""
        device.volume = Volume(
            level: value["volume"]?.number ?? 0, isMuted: value["muted"]?.bool ?? false)
        device.volumeMode =
            value["volumeMode"]?.string.flatMap(Receiver.VolumeMode.init(rawValue:)) ?? .absolute
        device.canMute = value["canMute"]?.bool ?? true
        device.volumeCap = value["volumeCap"]?.number ?? 1
        if let output = value["output"] {
            device.output = OutputState(
                state: .init(rawValue: output["state"]?.string ?? ""),
                device: output["device"]?.string ?? "",
                reason: output["reason"]?.string,
                sampleRate: output["sampleRate"]?.integer.flatMap { Int(exactly: $0) },
                hasHardwareVolume: output["hardwareVolume"]?.bool ?? false)
        }
        device.advertisement = value["advertisement"].map {
            AdvertisementState(state: $0["state"]?.string ?? "", name: $0["name"]?.string ?? "")
        }
        return device
    }

    static func session(_ value: JSONValue, base: String) -> SessionSnapshot {
        var session = SessionSnapshot()
        session.route = value["route"]?.string
        session.mode = value["mode"]?.string ?? "player"
        session.isReady = value["isReady"]?.bool ?? false
        session.isPlaying = value["isPlaying"]?.bool ?? false
        session.isBuffering = value["isBuffering"]?.bool ?? false
        session.state = value["state"]?.string.flatMap(PlaybackState.init(rawValue:)) ?? .normal
        session.speed = value["speed"]?.number ?? 1
        session.scanSpeed = value["scanSpeed"]?.number ?? 2
        if let position = value["position"] {
            session.position = PlaybackPosition(
                position: position["position"].flatMap(time) ?? .zero,
                clockTime: position["clockTime"]?.integer ?? 0, rate: position["rate"]?.number ?? 0)
        }
        session.timeline = Timeline(
            range: value["timeRange"].flatMap(range) ?? .empty,
            seekableRanges: value["seekableRanges"]?.array?.compactMap(range),
            isLive: value["isLive"]?.bool ?? false, capabilities: capabilities(value["seekCapabilities"]))
        session.segments = value["segments"]?.array?.compactMap(segment) ?? []
        session.currentSegment =
            value["currentSegment"].flatMap(segment) ?? Segment(range: session.timeline.range)
        for kind in TrackKind.allCases {
            if let tracks = value["tracks"]?[name(of: kind)] { session.tracks[kind] = selection(tracks) }
        }
        session.hasAudio = value["hasAudio"]?.bool ?? false
        session.hasVideo = value["hasVideo"]?.bool ?? false
        session.volume = Volume(
            level: value["volume"]?.number ?? 1, isMuted: value["isMuted"]?.bool ?? false)
        if let metadata = value["metadata"] {
            session.metadata = Metadata(
                title: metadata["title"]?.string, subtitle: metadata["subtitle"]?.string,
                album: metadata["album"]?.string, videoSize: metadata["videoSize"].flatMap(size))
            session.artwork = metadata["artwork"]?.array?.compactMap { artwork($0, base: base) } ?? []
        }
        session.error = value["error"].flatMap(failure)
        return session
    }

    static func time(_ value: JSONValue) -> MediaTime? {
        if let name = value["name"]?.string { return MediaTime(named: name) }
        guard let count = value["value"]?.integer,
            let scale = value["timescale"]?.integer.flatMap({ Int32(exactly: $0) }), scale >= 1
        else { return nil }
        return MediaTime(value: count, timescale: scale)
    }

    private static func range(_ value: JSONValue) -> TimeRange? {
        guard let start = value["start"].flatMap(time), let duration = value["duration"].flatMap(time) else {
            return nil
        }
        return TimeRange(start: start, duration: duration)
    }

    private static func segment(_ value: JSONValue) -> Segment? {
        guard let range = value["range"].flatMap(range) else { return nil }
        return Segment(
            range: range, kind: value["type"]?.string.flatMap(Segment.Kind.init(rawValue:)) ?? .other,
            isMarked: value["isMarked"]?.bool ?? false,
            requiresLinearPlayback: value["requiresLinearPlayback"]?.bool ?? false,
            identifier: value["identifier"]?.string)
    }

    private static func selection(_ value: JSONValue) -> TrackSelection {
        TrackSelection(
            options: (value["options"]?.array ?? []).compactMap { option in
                option["id"]?.string.map {
                    TrackOption(
                        identifier: $0, displayName: option["name"]?.string ?? $0,
                        languageTag: option["language"]?.string,
                        characteristics: option["characteristics"]?.array?.compactMap(\.string) ?? [])
                }
            }, current: value["current"]?.string)
    }

    private static func capabilities(_ value: JSONValue?) -> SeekCapabilities {
        var capabilities: SeekCapabilities = []
        for name in value?.array ?? [] {
            switch name.string {
            case "seek": capabilities.insert(.seek)
            case "scanForward": capabilities.insert(.scanForward)
            case "scanBackward": capabilities.insert(.scanBackward)
            default: break
            }
        }
        return capabilities
    }

    private static func artwork(_ value: JSONValue, base: String) -> ArtworkReference? {
        guard let url = value["url"]?.string else { return nil }
        return ArtworkReference(
            url: url.hasPrefix("/") ? base + url : url, type: value["type"]?.string ?? "", size: size(value))
    }

    private static func size(_ value: JSONValue) -> PixelSize? {
        guard let width = value["width"]?.integer.flatMap({ Int32(exactly: $0) }),
            let height = value["height"]?.integer.flatMap({ Int32(exactly: $0) })
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    static func failure(_ value: JSONValue) -> MediaFailure? {
        guard let code = value["code"]?.string else { return nil }
        return MediaFailure(
            MediaFailure.Code(rawValue: code) ?? .internalFailure, value["message"]?.string ?? code,
            httpStatus: value["httpStatus"]?.integer.flatMap { Int32(exactly: $0) })
    }
}
