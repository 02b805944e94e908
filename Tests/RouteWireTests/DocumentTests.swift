// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import RouteWire

/// Values with every member set, for round trips.
enum Fixtures {
    static let segment = Segment(
        range: TimeRange(start: .zero, duration: MediaTime(value: 60, timescale: 1)), kind: .intro,
        isMarked: true,
        requiresLinearPlayback: true, identifier: "intro")

    static let session = SessionDocument(
        route: "r1", isLoading: false, isReady: true, isPlaying: true, isBuffering: false, state: .scanning,
        speed: 1.25, scanSpeed: -4,
        position: PlaybackPosition(
            position: MediaTime(value: 90_001, timescale: 90_000), clockTime: 5_000_000_000, rate: -4),
        timeline: Timeline(
            range: TimeRange(start: .zero, duration: MediaTime(nanoseconds: 61_000_000_001)),
            seekableRanges: [TimeRange(start: .zero, duration: MediaTime(value: 30, timescale: 1))],
            isLive: true,
            capabilities: [.seek, .scanBackward]),
        segments: [segment], currentSegment: segment,
        tracks: Tracks(
            audio: TrackSelection(
                options: [
                    TrackOption(
                        identifier: "a1", displayName: "Deutsch", languageTag: "de", characteristics: ["main"]
                    )
                ], current: "a1"),
            legible: TrackSelection(options: [TrackOption(identifier: "s1", displayName: "CC")], current: nil)
        ),
        hasAudio: true, hasVideo: false,
        picture: PictureStatus(.noDisplay, reason: "The X server has gone."),
        volume: Volume(level: 0.5, isMuted: true),
        metadata: Metadata(
            title: "Ä \"quoted\" 🎵", subtitle: "b", album: "c", videoSize: PixelSize(width: 640, height: 360),
            station: "d", genre: "e"),
        artwork: [
            ArtworkReference(url: "/v1/artwork/1", type: "image/png", size: PixelSize(width: 8, height: 9)),
            ArtworkReference(url: "/v1/artwork/2", type: "image/png", size: nil),
        ], error: MediaFailure(.httpStatus, "no", httpStatus: 500),
        queue: QueueDocument(
            current: "2", order: ["2", "1"],
            items: [
                "1": QueueItemDocument(
                    name: "a.mp3", error: MediaFailure(.notFound, "gone", httpStatus: 404)),
                "2": QueueItemDocument(name: "b", title: "T", subtitle: "S", identifier: "i"),
            ], repeats: .all), application: "i1", isGrouped: true, isHeard: false)

    static let accessory = AccessoryDocument(
        capabilities: ["audioSwitching", "placement"], placement: "onHead", placementFault: "it sticks",
        isPlugged: true,
        sources: [
            "A0:B1:C2:D3:E4:F5": SourceDocument(
                kind: "bluetooth", name: "Phone", state: "playing", preference: "preferred", title: "T",
                subtitle: "S"),
            "02:00:00:00:00:01": SourceDocument(
                kind: "lineIn", name: "Turntable", state: "unavailable", fault: "It is gone."),
        ], primary: "A0:B1:C2:D3:E4:F5", secondary: "02:00:00:00:00:01", active: "A0:B1:C2:D3:E4:F5",
        decisions: [
            DecisionDocument(
                number: 7, moment: -5, outcome: "heard", reason: "started", message: "It started.",
                source: "A0:B1:C2:D3:E4:F5", name: "Phone", previous: "02:00:00:00:00:01"),
            DecisionDocument(
                number: 8, moment: 9, outcome: "noted", reason: "announced", message: "", source: nil,
                name: "",
                previous: nil),
        ], bluetooth: "off", bluetoothReason: "It is switched off.",
        pairing: PairingDocument(
            state: "asked", until: 5, source: "A0:B1:C2:D3:E4:F5", name: "Phone", passkey: "004711",
            reason: "r"),
        known: [
            KnownSourceDocument(
                address: "A0:B1:C2:D3:E4:F5", name: "Phone", isConnected: true, isTrusted: false)
        ])

    static let state = StateDocument(
        device: DeviceDocument(
            id: "d", name: "Den", model: "Linnet", type: "speaker", volume: Volume(level: 0.3),
            volumeCap: 0.9,
            output: OutputDocument(state: "open", device: "hw:0", sampleRate: 48_000),
            advertisementState: "registered", advertisementName: "Den #2",
            storageFault: "no space", outputTrim: 80_000_000),
        clock: "c", player: "s1",
        routes: ["r1": RouteDocument(sender: SenderInfo(identifier: "i", name: "n"), isAttached: false)],
        sessions: ["s1": session],
        announcements: AnnouncementsDocument(
            queue: [
                AnnouncementDocument(id: "a", route: "r1", sender: "n", name: "bell", phase: "playing"),
                AnnouncementDocument(id: "b", route: nil, sender: "", name: "", phase: "waiting"),
            ],
            last: EndedAnnouncementDocument(
                id: "c", sender: "n", name: "bell", reason: "failed", error: MediaFailure(.network, "x"))),
        group: GroupFixtures.seen, accessory: accessory)
}

struct DocumentTests {
    @Test func `the state is read as it was written`() throws {
        let text = JSONText.encode(Fixtures.state.json)
        let read = try StateDocument(json: try JSONText.decode(text, limit: 1 << 20))
        #expect(read == Fixtures.state)
    }

    @Test func `a state whose nulls went with a merge patch is the same state`() throws {
        let patched = MergePatch.apply(Fixtures.state.json, to: [:])
        #expect(try StateDocument(json: patched) == Fixtures.state)
    }

    @Test func `unknown members of the state are ignored`() throws {
        let more = MergePatch.apply(["later": ["x": 1], "device": ["y": [2]]], to: Fixtures.state.json)
        #expect(try StateDocument(json: more) == Fixtures.state)
    }

    @Test func `a state with a wrong type is refused with the place`() {
        let wrong = MergePatch.apply(["device": ["volume": "loud"]], to: Fixtures.state.json)
        do throws(RouteError) {
            _ = try StateDocument(json: wrong)
            Issue.record("taken")
        } catch {
            #expect(error.details["path"] == "state.device.volume")
        }
    }

    @Test func `notifications and answers are read as they were written`() throws {
        let change = StateChange(
            version: 8, base: 7, origin: .sender(route: "r", name: "n"), patch: ["device": ["volume": 0.5]])
        let failure = MediaFailure(.notFound, "gone", httpStatus: 404)
        let rows: [(JSONValue, ServerMessage)] = [
            (Notification.stateChanged(change), .stateChanged(change)),
            (
                Notification.routeEnded(route: "r", reason: "shutdown", message: "m"),
                .routeEnded(route: "r", reason: "shutdown", message: "m")
            ),
            (
                Notification.sessionEnded(session: "s", reason: "failed", by: nil, error: failure),
                .sessionEnded(session: "s", reason: "failed", by: nil, error: failure)
            ),
            (
                Notification.sessionEnded(session: "s", reason: "preempted", by: "Tablet", error: nil),
                .sessionEnded(session: "s", reason: "preempted", by: "Tablet", error: nil)
            ),
            (
                Response.success(.number(3), ["outcome": "accepted"]),
                .response(id: 3, .success(["outcome": "accepted"]))
            ),
            (
                Response.failure(.number(4), RouteError(.noSession, "nothing plays")),
                .response(id: 4, .failure(RouteError(.noSession, "nothing plays")))
            ),
            (["jsonrpc": "2.0", "method": "later.thing"], .unknown),
        ]
        for (json, message) in rows { #expect(try ServerMessage.decode(JSONText.encode(json)) == [message]) }
        #expect(try ServerMessage.decode(JSONText.encode(.array(rows.map(\.0)))) == rows.map(\.1))
    }

    @Test func `results are read as they were written`() throws {
        let activation = ActivationResult(
            route: "r", resumeToken: "t", resumed: true, graceSeconds: 30, clock: ClockInfo(id: "c", now: -5),
            version: 9, state: ["a": 1])
        #expect(try ActivationResult(json: activation.json) == activation)
        let started = StateResult(session: "s", version: 2, state: [:])
        #expect(try StateResult(json: started.json) == started)
        let ping = PingResult(id: "c", received: .min, sent: .max)
        #expect(try PingResult(json: ping.json) == ping)
        for outcome in [Outcome.accepted, .clamped(["value": 1]), .value(false)] {
            #expect(try Outcome(json: outcome.json) == outcome)
        }
    }
}

struct DescriptionTests {
    private static let description = ReceiverDescription(
        id: "5f0c", name: "Den", model: "Linnet", software: "1.0", type: "tv", httpPort: 7_380,
        clockPort: 7_381,
        clock: ClockInfo(id: "c", now: 1))

    @Test func `the description is read as it was written`() throws {
        #expect(try ReceiverDescription(json: Self.description.json) == Self.description)
    }

    @Test func `the TXT record carries the description`() throws {
        var expected = Self.description
        expected.software = ""
        expected.clock = nil
        let read = ReceiverDescription(textEntries: Self.description.textEntries, name: "Den", port: 7_380)
        #expect(read == expected)
    }

    @Test func `of a TXT record unknown and odd entries are ignored`() throws {
        let read = try #require(
            ReceiverDescription(
                textEntries: ["", "=", "zz", "ID=x", "id=y", "cp=99999", "ns=many"], name: "n", port: 1))
        #expect(read.id == "x")
        #expect(read.clockPort == nil)
        #expect(read.sessionLimit == 1)
        #expect(ReceiverDescription(textEntries: ["v=1"], name: "n", port: 1) == nil)
    }

    @Test func `a TXT entry is cut at 255 bytes and at a character`() throws {
        var long = Self.description
        long.model = String(repeating: "ä", count: 200)
        let entry = try #require(long.textEntries.first { $0.hasPrefix("md=") })
        #expect(entry == "md=" + String(repeating: "ä", count: 126))
    }
}

struct DataFrameTests {
    private static let frames = [
        DataFrame(kind: .message, message: 1, endpoint: "org.linnet.echo", payload: [1, 0, 255]),
        DataFrame(kind: .message, channel: .max, message: .max, endpoint: "", payload: []),
        DataFrame(kind: .acknowledged, message: 7),
        DataFrame(kind: .refused, message: 8, payload: Array("{}".utf8)),
    ]

    @Test(arguments: frames)
    func `a frame written is the frame read`(_ frame: DataFrame) throws {
        #expect(try DataFrame(decoding: try #require(frame.bytes)) == frame)
    }

    @Test func `a frame cut short in its header or name is refused`() throws {
        let bytes = try #require(Self.frames[0].bytes)
        for count in 0..<(16 + 15) {
            #expect(throws: DataFrame.Failure.self) { try DataFrame(decoding: Array(bytes[..<count])) }
        }
    }

    @Test func `wrong versions, kinds, ids, names and sizes are refused`() throws {
        let good = try #require(Self.frames[0].bytes)
        func with(_ index: Int, _ value: UInt8) -> [UInt8] {
            var bytes = good
            bytes[index] = value
            return bytes
        }
        for bytes in [with(0, 2), with(1, 9), with(15, 0), with(2, 1), with(16, 0xff)] {
            #expect(throws: DataFrame.Failure.self) { try DataFrame(decoding: bytes) }
        }
        let long = DataFrame(
            kind: .message, message: 1, payload: Array(repeating: 0, count: DataFrame.payloadLimit))
        #expect(try DataFrame(decoding: try #require(long.bytes)) == long)
        var longer = long
        longer.payload.append(0)
        #expect(longer.bytes == nil)
        let rest = try #require(long.bytes) + [0]
        #expect(throws: DataFrame.Failure.self) { try DataFrame(decoding: rest) }
    }
}
