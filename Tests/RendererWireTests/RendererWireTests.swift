// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import RendererWire

struct RendererWireTests {
    private static let load = LoadID(.max)
    private static let status = OutputStatus(
        state: .busy, device: "hw:CARD=X", reason: "mpd (412)", sampleRate: 48_000, hasHardwareVolume: true)
    private static let timeline = Timeline(
        range: TimeRange(start: .zero, duration: MediaTime(value: -1, timescale: 3)),
        seekableRanges: [.empty], isLive: true, capabilities: [.seek, .scanForward])
    private static let tracks = Tracks(
        audio: TrackSelection(
            options: [
                TrackOption(
                    identifier: "a", displayName: "A", languageTag: "de", characteristics: ["x", "y"])
            ],
            current: "a"))

    static let messages: [RendererMessage] =
        [
            .hello(version: 1), .configure([RendererSetting(key: "output.device", value: "ä")]),
            .configure([]),
            .ping(.max), .pong(0),
        ]
        + [
            RendererCommand.load(
                load,
                MediaItem(
                    uri: "http://a", headers: [HeaderField(name: "n", value: "v")], userAgent: "u",
                    startPosition: .positiveInfinity), playing: true),
            .load(load, MediaItem(uri: ""), playing: false), .setPlaying(load, false),
            .seek(load, SeekID(3), to: MediaTime(value: .min, timescale: .max), tolerance: .indefinite),
            .setSpeed(load, 0.25), .setScan(load, -8), .setScan(load, nil),
            .selectTrack(load, .legible, identifier: nil), .selectTrack(load, .audio, identifier: "a"),
            .setMediaVolume(load, Volume(level: 0.1, isMuted: true)), .setOutputVolume(.full), .stop(load),
            .warmUp,
        ].map { .command($0) }
        + [
            RendererEvent.started(status),
            .loaded(load, LoadedMedia(timeline: timeline, tracks: tracks, hasAudio: true, hasVideo: false)),
            .timelineChanged(load, .unknown),
            .positionChanged(load, PlaybackPosition(position: .zero, clockTime: .min, rate: -1.5)),
            .bufferingChanged(load, true),
            .metadataChanged(
                load, Metadata(title: "t", album: "", videoSize: PixelSize(width: -1, height: .max))),
            .artworkFound(load, Artwork(bytes: [0, 255], type: "image/png", size: nil)),
            .tracksChanged(load, tracks),
            .seekFinished(load, SeekID(0), failure: nil),
            .seekFinished(load, SeekID(1), failure: MediaFailure(.decode, "x")), .ended(load),
            .failed(load, MediaFailure(.httpStatus, "y", httpStatus: 503)), .stopped(load),
            .outputChanged(status),
            .outputVolumeChanged(Volume(level: 0)), .exited(reason: "signal 11"),
        ].map { .event($0) }

    private func all(_ decoder: inout FrameDecoder) throws -> [RendererMessage] {
        var result: [RendererMessage] = []
        while let message = try decoder.next() { result.append(message) }
        return result
    }

    @Test(arguments: messages)
    func `a message written is the message read`(_ message: RendererMessage) throws {
        var decoder = FrameDecoder()
        decoder.push(try #require(message.frame))
        #expect(try all(&decoder) == [message])
    }

    @Test func `messages come whole however their bytes come`() throws {
        let bytes = Self.messages.flatMap { $0.frame ?? [] }
        var decoder = FrameDecoder()
        decoder.push(bytes)
        #expect(try all(&decoder) == Self.messages)
        var single = FrameDecoder()
        var result: [RendererMessage] = []
        for byte in bytes {
            single.push([byte])
            result += try all(&single)
        }
        #expect(result == Self.messages)
    }

    @Test(arguments: messages)
    func `a body cut short is refused and never read as something else`(_ message: RendererMessage) throws {
        let body = Array(try #require(message.frame).dropFirst(4))
        for count in 1..<body.count {
            var decoder = FrameDecoder()
            decoder.push([0, 0, UInt8(count >> 8), UInt8(count & 0xff)] + body[..<count])
            #expect(throws: FrameFailure.self) { try decoder.next() }
        }
    }

    @Test func `frames that are empty or too long are refused at their header`() {
        for header: [UInt8] in [[0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff], [0, 0x41, 0, 1]] {
            var decoder = FrameDecoder()
            decoder.push(header)
            #expect(throws: FrameFailure.self) { try decoder.next() }
        }
    }

    @Test func `a picture over the limit makes no frame`() {
        func frame(_ count: Int) -> [UInt8]? {
            let artwork = Artwork(bytes: Array(repeating: 0, count: count), type: "image/png", size: nil)
            return RendererMessage.event(.artworkFound(Self.load, artwork)).frame
        }
        #expect(frame(Artwork.maximumBytes) != nil)
        #expect(frame(Artwork.maximumBytes + 65_536) == nil)
    }

    @Test func `random bodies never trap`() {
        var state: UInt64 = 88_172_645_463_325_252
        for _ in 0..<50_000 {
            var body: [UInt8] = []
            for _ in 0..<(state % 40 + 1) {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                // Small numbers are kinds, counts and booleans; they lead further into the decoder.
                body.append(state % 3 == 0 ? UInt8(truncatingIfNeeded: state >> 8) : UInt8(state >> 8 & 15))
            }
            var decoder = FrameDecoder()
            decoder.push([0, 0, 0, UInt8(body.count)] + body)
            if let message = try? decoder.next() {
                var again = FrameDecoder()
                again.push(message.frame ?? [])
                // NaN is not equal to itself, so bytes are compared.
                #expect((try? again.next())??.frame == message.frame)
            }
        }
    }
}
