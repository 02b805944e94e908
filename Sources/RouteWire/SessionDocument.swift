// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// One session in the state (`Docs/protocols/route.md`, section 7).
package struct SessionDocument: Equatable, Sendable {
    package var route: String?
    package var mode: String
    package var isLoading: Bool
    package var isReady: Bool
    package var isPlaying: Bool
    package var isBuffering: Bool
    package var state: WirePlaybackState
    package var speed: Double
    package var scanSpeed: Double
    package var position: PlaybackPosition
    package var timeline: Timeline
    package var segments: [Segment]
    package var currentSegment: Segment
    package var tracks: Tracks
    package var hasAudio: Bool
    package var hasVideo: Bool
    package var picture: PictureStatus
    package var volume: Volume
    package var metadata: Metadata
    package var artwork: [ArtworkReference]
    package var error: MediaFailure?
    /// Nil from a receiver that has no queues.
    package var queue: QueueDocument?
    /// The instance of an application that plays it.
    package var application: String?
    /// True: it is the group's.
    package var isGrouped: Bool
    /// False: another source has the output, such as a phone by Bluetooth.
    package var isHeard: Bool

    package init(
        route: String?, mode: String = "player", isLoading: Bool, isReady: Bool, isPlaying: Bool,
        isBuffering: Bool, state: WirePlaybackState, speed: Double, scanSpeed: Double,
        position: PlaybackPosition, timeline: Timeline, segments: [Segment], currentSegment: Segment,
        tracks: Tracks, hasAudio: Bool, hasVideo: Bool, picture: PictureStatus = .init(), volume: Volume,
        metadata: Metadata, artwork: [ArtworkReference], error: MediaFailure?, queue: QueueDocument? = nil,
        application: String? = nil, isGrouped: Bool = false, isHeard: Bool = true
    ) {
        (self.route, self.mode, self.isLoading, self.isReady) = (route, mode, isLoading, isReady)
        (self.isPlaying, self.isBuffering, self.state) = (isPlaying, isBuffering, state)
        (self.speed, self.scanSpeed, self.position) = (speed, scanSpeed, position)
        (self.timeline, self.segments, self.currentSegment) = (timeline, segments, currentSegment)
        (self.tracks, self.hasAudio, self.hasVideo, self.picture) = (tracks, hasAudio, hasVideo, picture)
        (self.volume, self.metadata, self.artwork, self.error) = (volume, metadata, artwork, error)
        (self.queue, self.application) = (queue, application)
        (self.isGrouped, self.isHeard) = (isGrouped, isHeard)
    }

    package var json: JSONValue {
        [
            "route": JSONValue(route), "mode": .text(mode), "phase": isLoading ? "loading" : "active",
            "isReady": .bool(isReady), "isPlaying": .bool(isPlaying), "isBuffering": .bool(isBuffering),
            "state": .text(state.rawValue), "speed": .number(speed), "scanSpeed": .number(scanSpeed),
            "position": position.json, "timeRange": timeline.range.json,
            "seekableRanges": timeline.seekableRanges.map { .array($0.map(\.json)) } ?? .null,
            "isLive": .bool(timeline.isLive), "seekCapabilities": timeline.capabilities.json,
            "segments": .array(segments.map(\.json)), "currentSegment": currentSegment.json,
            "tracks": tracks.json, "hasAudio": .bool(hasAudio), "hasVideo": .bool(hasVideo),
            "picture": picture.json,
            "volume": .number(volume.level), "isMuted": .bool(volume.isMuted), "metadata": metadataJSON,
            "error": error?.json ?? .null, "queue": queue?.json ?? .null,
            "application": JSONValue(application), "group": isGrouped ? true : .null,
            "isHeard": isHeard ? .null : false,
        ]
    }

    private var metadataJSON: JSONValue {
        [
            "title": JSONValue(metadata.title), "subtitle": JSONValue(metadata.subtitle),
            "album": JSONValue(metadata.album), "station": JSONValue(metadata.station),
            "genre": JSONValue(metadata.genre), "artwork": .array(artwork.map(\.json)),
            "videoSize": metadata.videoSize?.json ?? .null,
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        route = try reader.optionalText("route", bytes: 1...128)
        application = try reader.optionalText("application", bytes: 1...128)
        isGrouped = try reader.bool("group", default: false)
        isHeard = try reader.bool("isHeard", default: true)
        mode = try reader.optionalText("mode", bytes: 1...64) ?? "player"
        isLoading = try reader.optionalText("phase", bytes: 1...64) == "loading"
        isReady = try reader.bool("isReady")
        isPlaying = try reader.bool("isPlaying")
        isBuffering = try reader.bool("isBuffering", default: false)
        // A state that only a later receiver knows is shown as the usual one.
        state =
            try reader.optionalText("state", bytes: 1...64).flatMap { WirePlaybackState(rawValue: $0) }
            ?? .normal
        speed = try reader.optionalNumber("speed") ?? 1
        scanSpeed = try reader.optionalNumber("scanSpeed") ?? 2
        position = try PlaybackPosition(try reader.object("position"))
        var ranges: [TimeRange]?
        if reader.optional("seekableRanges") != nil {
            var list: [TimeRange] = []
            for range in try reader.objects("seekableRanges", limit: 1_024) {
                list.append(
                    TimeRange(start: try range.time("start"), duration: try range.time("duration")))
            }
            ranges = list
        }
        timeline = Timeline(
            range: try reader.range("timeRange"), seekableRanges: ranges,
            isLive: try reader.bool("isLive", default: false),
            capabilities: SeekCapabilities(
                names: try reader.texts("seekCapabilities", limit: 16, bytes: 1...64)))
        segments = []
        for segment in try reader.objects("segments", limit: 1_024) {
            segments.append(try Segment(segment, isTolerant: true))
        }
        currentSegment = try Segment(try reader.object("currentSegment"), isTolerant: true)
        tracks = try Tracks(try reader.optionalObject("tracks"))
        hasAudio = try reader.bool("hasAudio", default: false)
        hasVideo = try reader.bool("hasVideo", default: false)
        picture = try PictureStatus(try reader.optionalObject("picture"))
        volume = Volume(
            level: try reader.optionalNumber("volume") ?? 1,
            isMuted: try reader.bool("isMuted", default: false))
        let words = try reader.optionalObject("metadata")
        let size = try words?.optionalObject("videoSize")
        var videoSize: PixelSize?
        if let size { videoSize = try PixelSize(size) }
        metadata = Metadata(
            title: try words?.optionalText("title", bytes: 0...65_536),
            subtitle: try words?.optionalText("subtitle", bytes: 0...65_536),
            album: try words?.optionalText("album", bytes: 0...65_536), videoSize: videoSize,
            station: try words?.optionalText("station", bytes: 0...65_536),
            genre: try words?.optionalText("genre", bytes: 0...65_536))
        artwork = []
        for picture in try words?.objects("artwork", limit: 64) ?? [] {
            artwork.append(try ArtworkReference(picture))
        }
        let failure = try reader.optionalObject("error")
        error = nil
        if let failure { error = try MediaFailure(failure) }
        let items = try reader.optionalObject("queue")
        queue = nil
        if let items { queue = try QueueDocument(items) }
    }
}

/// Where a picture can be fetched.
package struct ArtworkReference: Equatable, Sendable {
    /// A path on the receiver.
    package var url: String
    package var type: String
    package var size: PixelSize?

    package init(url: String, type: String, size: PixelSize?) {
        (self.url, self.type, self.size) = (url, type, size)
    }

    package var json: JSONValue {
        [
            "url": .text(url), "type": .text(type), "width": size.map { JSONValue($0.width) } ?? .null,
            "height": size.map { JSONValue($0.height) } ?? .null,
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        url = try reader.text("url", bytes: 1...1_024)
        type = try reader.text("type", bytes: 1...128)
        size = reader.optional("width") == nil ? nil : try PixelSize(reader)
    }
}
