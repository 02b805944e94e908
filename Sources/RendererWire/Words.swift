// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

// The words of `MediaModel` as bytes, both ways, in the order of their members.

extension ByteWriter {
    mutating func put(_ time: MediaTime) {
        if let name = time.name {
            put(UInt8(1))
            put(name)
        } else {
            put(UInt8(0))
            put(time.value)
            put(time.timescale)
        }
    }
    mutating func put(_ range: TimeRange) {
        put(range.start)
        put(range.duration)
    }
    mutating func put(_ position: PlaybackPosition) {
        put(position.position)
        put(position.clockTime)
        put(position.rate)
    }
    mutating func put(_ timeline: Timeline) {
        put(timeline.range)
        optional(timeline.seekableRanges) { $1.list($0) { $1.put($0) } }
        put(timeline.isLive)
        put(timeline.capabilities.rawValue)
    }
    mutating func put(_ item: MediaItem) {
        put(item.uri)
        list(item.headers) {
            $1.put($0.name)
            $1.put($0.value)
        }
        optional(item.userAgent) { $1.put($0) }
        put(item.allowsInvalidCertificate)
        put(item.startPosition)
    }
    mutating func put(_ size: PixelSize) {
        put(size.width)
        put(size.height)
    }
    mutating func put(_ metadata: Metadata) {
        optional(metadata.title) { $1.put($0) }
        optional(metadata.subtitle) { $1.put($0) }
        optional(metadata.album) { $1.put($0) }
        optional(metadata.videoSize) { $1.put($0) }
        optional(metadata.station) { $1.put($0) }
        optional(metadata.genre) { $1.put($0) }
    }
    mutating func put(_ artwork: Artwork) {
        put(artwork.bytes)
        put(artwork.type)
        optional(artwork.size) { $1.put($0) }
    }
    mutating func put(_ tracks: Tracks) {
        for kind in TrackKind.allCases {
            list(tracks[kind].options) {
                $1.put($0.identifier)
                $1.put($0.displayName)
                $1.optional($0.languageTag) { $1.put($0) }
                $1.list($0.characteristics) { $1.put($0) }
            }
            optional(tracks[kind].current) { $1.put($0) }
        }
    }
    mutating func put(_ failure: MediaFailure) {
        put(failure.code.rawValue)
        put(failure.message)
        optional(failure.httpStatus) { $1.put($0) }
    }
    mutating func put(_ volume: Volume) {
        put(volume.level)
        put(volume.isMuted)
    }
    mutating func put(_ status: PictureStatus) {
        put(status.state.rawValue)
        optional(status.reason) { $1.put($0) }
    }
    mutating func put(_ status: OutputStatus) {
        put(status.state.rawValue)
        put(status.device)
        optional(status.reason) { $1.put($0) }
        optional(status.sampleRate) { $1.put($0) }
        put(status.hasHardwareVolume)
    }
    mutating func put(_ layer: ConfinementLayer) {
        put(layer.kind.rawValue)
        optional(layer.reason) { $1.put($0) }
    }
    mutating func put(_ line: ClockLine) {
        put(line.local)
        put(line.remote)
        put(line.skew)
    }
    mutating func put(_ anchor: PlaybackAnchor) {
        put(anchor.itemTime)
        put(anchor.clockTime)
        put(anchor.rate)
    }
    mutating func put(_ source: CaptureSource) {
        switch source.kind {
        case .device(let name):
            put(UInt8(0))
            put(name)
        case .descriptor(let token):
            put(UInt8(1))
            put(token)
        }
        put(source.sampleRate)
        put(source.channels)
        put(source.format.rawValue)
        put(source.latencyNanoseconds)
    }
    mutating func put(_ watch: CaptureWatch) {
        put(watch.name)
        put(watch.threshold)
        put(watch.holdMilliseconds)
        put(watch.attackMilliseconds)
    }
    mutating func put(_ report: SyncReport) {
        put(report.error)
        put(report.largestError)
        put(report.cardDrift)
        put(report.clockDrift)
        put(report.resyncs)
        put(report.underruns)
    }
}

extension ByteReader {
    mutating func time() throws(FrameFailure) -> MediaTime {
        guard try bool() else {
            let value: Int64 = try integer()
            return MediaTime(value: value, timescale: try integer())
        }
        guard let time = MediaTime(named: try text()) else { throw FrameFailure("a time's name is unknown") }
        return time
    }
    mutating func range() throws(FrameFailure) -> TimeRange {
        TimeRange(start: try time(), duration: try time())
    }
    mutating func position() throws(FrameFailure) -> PlaybackPosition {
        PlaybackPosition(position: try time(), clockTime: try integer(), rate: try double())
    }
    mutating func timeline() throws(FrameFailure) -> Timeline {
        Timeline(
            range: try range(),
            seekableRanges: try optional { reader throws(FrameFailure) in
                try reader.list { reader throws(FrameFailure) in try reader.range() }
            }, isLive: try bool(), capabilities: SeekCapabilities(rawValue: try byte()))
    }
    mutating func optionalText() throws(FrameFailure) -> String? {
        try optional { reader throws(FrameFailure) in try reader.text() }
    }
    mutating func item() throws(FrameFailure) -> MediaItem {
        MediaItem(
            uri: try text(),
            headers: try list { reader throws(FrameFailure) in
                HeaderField(name: try reader.text(), value: try reader.text())
            }, userAgent: try optionalText(), allowsInvalidCertificate: try bool(),
            startPosition: try time())
    }
    mutating func size() throws(FrameFailure) -> PixelSize {
        PixelSize(width: try integer(), height: try integer())
    }
    mutating func optionalSize() throws(FrameFailure) -> PixelSize? {
        try optional { reader throws(FrameFailure) in try reader.size() }
    }
    mutating func metadata() throws(FrameFailure) -> Metadata {
        Metadata(
            title: try optionalText(), subtitle: try optionalText(), album: try optionalText(),
            videoSize: try optionalSize(), station: try optionalText(), genre: try optionalText())
    }
    mutating func artwork() throws(FrameFailure) -> Artwork {
        Artwork(bytes: try data(), type: try text(), size: try optionalSize())
    }
    mutating func tracks() throws(FrameFailure) -> Tracks {
        var tracks = Tracks()
        for kind in TrackKind.allCases {
            tracks[kind].options = try list { reader throws(FrameFailure) in
                TrackOption(
                    identifier: try reader.text(), displayName: try reader.text(),
                    languageTag: try reader.optionalText(),
                    characteristics: try reader.list { reader throws(FrameFailure) in try reader.text() })
            }
            tracks[kind].current = try optionalText()
        }
        return tracks
    }
    mutating func failure() throws(FrameFailure) -> MediaFailure {
        MediaFailure(
            try choice(named: MediaFailure.Code.self), try text(),
            httpStatus: try optional { reader throws(FrameFailure) in try reader.integer() })
    }
    mutating func volume() throws(FrameFailure) -> Volume {
        Volume(level: try double(), isMuted: try bool())
    }
    mutating func status() throws(FrameFailure) -> OutputStatus {
        OutputStatus(
            state: try choice(named: OutputStatus.State.self), device: try text(), reason: try optionalText(),
            sampleRate: try optional { reader throws(FrameFailure) in try reader.integer() },
            hasHardwareVolume: try bool())
    }
    mutating func picture() throws(FrameFailure) -> PictureStatus {
        PictureStatus(try choice(named: PictureStatus.State.self), reason: try optionalText())
    }
    mutating func confinementLayer() throws(FrameFailure) -> ConfinementLayer {
        ConfinementLayer(try choice(named: ConfinementLayer.Kind.self), reason: try optionalText())
    }
    mutating func clockLine() throws(FrameFailure) -> ClockLine {
        ClockLine(local: try integer(), remote: try integer(), skew: try double())
    }
    mutating func anchor() throws(FrameFailure) -> PlaybackAnchor {
        PlaybackAnchor(itemTime: try integer(), clockTime: try integer(), rate: try double())
    }
    mutating func syncReport() throws(FrameFailure) -> SyncReport {
        SyncReport(
            error: try integer(), largestError: try integer(), cardDrift: try finite(),
            clockDrift: try finite(), resyncs: try integer(), underruns: try integer())
    }
    mutating func captureSource() throws(FrameFailure) -> CaptureSource {
        let kind: CaptureSource.Kind
        switch try byte() {
        case 0: kind = .device(name: try text())
        case 1: kind = .descriptor(token: try integer())
        case let number: throw FrameFailure("a source of kind \(number) is unknown")
        }
        return CaptureSource(
            kind: kind, sampleRate: try integer(), channels: try integer(),
            format: try choice(named: CaptureSource.Format.self), latencyNanoseconds: try integer())
    }
    mutating func captureWatch() throws(FrameFailure) -> CaptureWatch {
        CaptureWatch(
            name: try text(), threshold: try finite(), holdMilliseconds: try integer(),
            attackMilliseconds: try integer())
    }
    mutating func finite() throws(FrameFailure) -> Double {
        let number = try double()
        guard number.isFinite else { throw FrameFailure("a number is none") }
        return number
    }
    mutating func load() throws(FrameFailure) -> LoadID { LoadID(try integer()) }
    mutating func seek() throws(FrameFailure) -> SeekID { SeekID(try integer()) }
}
