// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RendererWire

/// One message of every kind, with every optional part there once and absent once, and the ends of the number ranges.
enum Samples {
    static let load = LoadID(.max)
    static let range = TimeRange(
        start: MediaTime(value: .min, timescale: .max), duration: MediaTime(value: .max, timescale: 1))
    static let timeline = Timeline(
        range: range, seekableRanges: [range, .empty], isLive: true, capabilities: [.seek, .scanBackward])
    static let tracks = Tracks(
        audio: TrackSelection(
            options: [
                TrackOption(
                    identifier: "audio/1", displayName: "Ελληνικά 🎧", languageTag: "el",
                    characteristics: ["original", ""]),
                TrackOption(identifier: "audio/2", displayName: ""),
            ], current: "audio/1"),
        audioDescription: TrackSelection(), legible: TrackSelection(options: [], current: nil))
    static let failure = MediaFailure(.httpStatus, "the server says no", httpStatus: 503)
    static let output = OutputStatus(
        state: .open, device: "hw:CARD=DAC,DEV=0", reason: "held by a player", sampleRate: 192_000,
        hasHardwareVolume: true)

    static let commands: [RendererCommand] = [
        .load(
            load,
            MediaItem(
                uri: "http://example.org/ä?b=c",
                headers: [
                    HeaderField(name: "Cookie", value: "a=b"), HeaderField(name: "Cookie", value: "c=d"),
                ],
                userAgent: "sender/1", allowsInvalidCertificate: true,
                startPosition: MediaTime(value: 7, timescale: 3)), playing: true),
        .load(LoadID(0), MediaItem(uri: ""), playing: false),
        .setPlaying(load, true),
        .setPlaying(load, false),
        .seek(load, SeekID(.max), to: MediaTime(value: -1, timescale: 90_000), tolerance: .positiveInfinity),
        .seek(load, SeekID(0), to: .indefinite, tolerance: .invalid),
        .seek(load, SeekID(1), to: .negativeInfinity, tolerance: .zero),
        .setSpeed(load, 0.25),
        .setScan(load, -32),
        .setScan(load, nil),
        .selectTrack(load, .audio, identifier: "audio/2"),
        .selectTrack(load, .audioDescription, identifier: nil),
        .selectTrack(load, .legible, identifier: ""),
        .setMediaVolume(load, Volume(level: 0.1, isMuted: true)),
        .setOutputVolume(.full),
        .stop(load),
        .warmUp,
        .prepareNext(
            load,
            UpcomingItem(
                load: LoadID(7),
                item: MediaItem(uri: "http://example.org/2", startPosition: MediaTime(value: 1, timescale: 2))
            )),
        .prepareNext(load, nil),
        .announce(
            load,
            Announcement(
                item: MediaItem(uri: "http://example.org/bell"), volume: Volume(level: 0.5), ducking: 12)),
        .cancelAnnouncement(load),
        .setGroupClock(ClockLine(local: .max, remote: .min, skew: -3e-5)),
        .setGroupClock(nil),
        .bind(load, PlaybackAnchor(itemTime: .min, clockTime: .max, rate: 1.5)),
        .bind(load, nil),
        .unbind(load),
        .setOutputTrim(nanoseconds: -500_000_000),
        .setCardDrift(device: "hw:CARD=Küche", partsPerMillion: -12.5),
        .setOutputDevice("plughw:CARD=Kopfhörer"),
        .setOutputDevice(nil),
        .loadCapture(
            load,
            CaptureSource(
                kind: .device(name: "hw:CARD=Line,DEV=0"), sampleRate: .max, channels: .min, format: .s24le,
                latencyNanoseconds: .max), playing: true),
        .loadCapture(load, CaptureSource(kind: .descriptor(token: .max), format: .s32le), playing: false),
        .watchCapture([]),
        .watchCapture([
            CaptureWatch(name: "hw:1", threshold: -42.5, holdMilliseconds: .max, attackMilliseconds: .min),
            CaptureWatch(name: ""),
        ]),
    ]

    static let events: [RendererEvent] =
        OutputStatus.State.allCases.map { .started(OutputStatus(state: $0, device: "")) }
        + MediaFailure.Code.allCases.map { .failed(load, MediaFailure($0, "")) }
        + [
            .started(output),
            .loaded(
                load, LoadedMedia(timeline: timeline, tracks: tracks, hasAudio: true, hasVideo: false)),
            .timelineChanged(
                load,
                Timeline(range: .empty, seekableRanges: nil, isLive: false, capabilities: [.scanForward])),
            .timelineChanged(load, .unknown),
            .positionChanged(
                load,
                PlaybackPosition(position: MediaTime(nanoseconds: 1), clockTime: .min, rate: -0.5)),
            .bufferingChanged(load, true),
            .errorChanged(load, nil),
            .errorChanged(load, MediaFailure(.network, "The media's server cannot be reached.")),
            .metadataChanged(
                load,
                Metadata(
                    title: "T\u{0}", subtitle: "S", album: "A",
                    videoSize: PixelSize(width: .max, height: .min),
                    station: "R", genre: "G")),
            .metadataChanged(load, Metadata()),
            .artworkFound(
                load,
                Artwork(
                    bytes: [0xff, 0xd8, 0], type: "image/jpeg", size: PixelSize(width: 1, height: 2))),
            .artworkFound(load, Artwork(bytes: [], type: "", size: nil)),
            .tracksChanged(load, tracks),
            .pictureChanged(load, PictureStatus(.shown)),
            .pictureChanged(load, PictureStatus(.undecodable, reason: "R")),
            .seekFinished(load, SeekID(3), failure: nil),
            .seekFinished(load, SeekID(4), failure: failure),
            .ended(load),
            .advanced(load, to: LoadID(8)),
            .nextFailed(load, next: LoadID(9), failure),
            .announcementBegan(load),
            .announcementEnded(load),
            .announcementFailed(load, failure),
            .readinessChanged(load, true),
            .syncChanged(
                load,
                SyncReport(
                    error: -120, largestError: .max, cardDrift: 50.1, clockDrift: -3, resyncs: .max,
                    underruns: 1)),
            .failed(load, failure),
            .stopped(load),
            .outputChanged(output),
            .outputVolumeChanged(Volume(level: 0.5, isMuted: false)),
            .captureActivity(name: "hw:1", isActive: true, reason: nil),
            .captureActivity(name: "", isActive: false, reason: "it is not there"),
            .jackChanged(name: "Headphone Jack", isPlugged: true),
            .exited(reason: "signal 11"),
            .confined([]),
            .confined([
                ConfinementLayer(.files), ConfinementLayer(.calls, reason: "seccomp: not permitted"),
            ]),
        ]

    static let messages: [RendererMessage] =
        [
            .hello(version: 1), .hello(version: .max), .configure([]),
            .configure([
                RendererSetting(key: "output.device", value: "default"),
                RendererSetting(key: "", value: "🎵"),
            ]),
            .ping(0), .pong(.max), .handOver(token: .max),
        ] + commands.map { .command($0) } + events.map { .event($0) }
}
