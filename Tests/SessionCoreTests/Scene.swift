// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore

extension Sender {
    static let anna = Sender(identifier: "anna", name: "Anna's phone")
    static let ben = Sender(identifier: "ben", name: "Ben's laptop")
}

extension OutputStatus {
    static let closed = OutputStatus(state: .closed, device: "default:CARD=Test")
    static let lost = OutputStatus(state: .lost, device: "default:CARD=Test", reason: "unplugged")
}

func seconds(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 1) }

func span(_ start: Int64, _ end: Int64) -> TimeRange {
    TimeRange(start: seconds(start), duration: seconds(end - start))
}

extension Timeline {
    /// A file of a hundred seconds.
    static let file = Timeline(
        range: span(0, 100), seekableRanges: nil, isLive: false,
        capabilities: [.seek, .scanForward, .scanBackward])
    /// A radio station without a window.
    static let radio = Timeline(range: span(500, 500), seekableRanges: [], isLive: true, capabilities: [])
    /// The last minute of a live stream.
    static let window = Timeline(
        range: span(500, 560), seekableRanges: nil, isLive: true, capabilities: [.seek, .scanForward])
}

/// A receiver and the hands that feed it, so that a test reads as a story. Calls return the effects of the event.
struct Scene {
    var state: ReceiverState
    private var requests: UInt64 = 0
    private var identifiers = 0
    /// The load that the renderer was given last.
    private(set) var load = LoadID(0)
    /// The seek that the renderer was given last.
    private(set) var seek = SeekID(0)
    /// The newest timer that watches whether playback gets on; 0 before there was one.
    private(set) var progress: UInt64 = 0

    /// A receiver whose renderer is up, unless told otherwise.
    init(
        _ policy: SessionPolicy = .init(), level: Double = 0.5, rendererIsUp: Bool = true
    ) {
        state = ReceiverState(
            name: "Kitchen", volume: Volume(level: level), output: .closed,
            advertisement: AdvertisementStatus(state: .waiting, name: "Kitchen"), policy: policy)
        if rendererIsUp { happens(.renderer(.started(.closed))) }
    }

    /// Anna's connection 1 with her route, her session loaded, playing a file.
    static func playing(
        _ policy: SessionPolicy = .init(), _ timeline: Timeline = .file, segments: [Segment] = []
    ) -> Scene {
        var scene = Scene(policy)
        scene.joins(1, .anna)
        scene.starts(1, segments: segments)
        scene.loads(timeline)
        return scene
    }

    @discardableResult
    mutating func happens(_ event: ReceiverEvent) -> [ReceiverEffect] {
        let effects = state.apply(event)
        for effect in effects {
            if case .render(.load(let load, _, _)) = effect { self.load = load }
            if case .render(.seek(_, let seek, _, _)) = effect { self.seek = seek }
            if case .armProgressTimer(_, let generation) = effect { progress = generation }
        }
        // Timers that only watch are none of most stories.
        return effects.filter {
            switch $0 {
            case .armProgressTimer, .armSeekTimer: false
            default: true
            }
        }
    }

    /// A fresh request of a connection.
    mutating func request(_ connection: UInt64) -> RequestID {
        requests += 1
        return RequestID(connection: ConnectionID(connection), number: requests)
    }

    /// Opens a connection and activates a route on it.
    @discardableResult
    mutating func joins(_ connection: UInt64, _ sender: Sender, resume: ResumeToken? = nil)
        -> [ReceiverEffect]
    {
        happens(.connectionOpened(ConnectionID(connection)))
        return activates(connection, sender, resume: resume)
    }

    @discardableResult
    mutating func activates(
        _ connection: UInt64, _ sender: Sender, resume: ResumeToken? = nil
    ) -> [ReceiverEffect] {
        identifiers += 1
        return happens(
            .activationRequested(
                request(connection), sender, resume: resume, fresh: RouteID("route \(identifiers)"),
                token: ResumeToken("token \(identifiers)")))
    }

    @discardableResult
    mutating func loses(_ connection: UInt64) -> [ReceiverEffect] {
        happens(.connectionLost(ConnectionID(connection)))
    }

    @discardableResult
    mutating func starts(
        _ connection: UInt64, _ uri: String = "http://example.org/a.flac", at start: MediaTime = .zero,
        playing: Bool = true, metadata: Metadata = .init(), segments: [Segment] = []
    ) -> [ReceiverEffect] {
        identifiers += 1
        return happens(
            .startRequested(
                request(connection),
                SessionRequest(
                    item: MediaItem(uri: uri, startPosition: start), isPlaying: playing, metadata: metadata,
                    segments: segments), fresh: SessionID("session \(identifiers)")))
    }

    @discardableResult
    mutating func stops(_ connection: UInt64, _ session: SessionID? = nil) -> [ReceiverEffect] {
        happens(.stopRequested(request(connection), session))
    }

    @discardableResult
    mutating func asks(_ wanted: PlaybackRequest) -> [ReceiverEffect] { asks(1, wanted) }

    @discardableResult
    mutating func asks(_ connection: UInt64, _ wanted: PlaybackRequest) -> [ReceiverEffect] {
        happens(.playbackRequested(request(connection), nil, wanted))
    }

    @discardableResult
    mutating func asks(device wanted: DeviceRequest) -> [ReceiverEffect] {
        happens(.deviceRequested(request(1), wanted))
    }

    /// The renderer has loaded what it was given last.
    @discardableResult
    mutating func loads(_ timeline: Timeline = .file, tracks: Tracks = .init()) -> [ReceiverEffect] {
        happens(
            .renderer(
                .loaded(
                    load, LoadedMedia(timeline: timeline, tracks: tracks, hasAudio: true, hasVideo: false))))
    }

    @discardableResult
    mutating func reaches(_ position: MediaTime, rate: Double = 1) -> [ReceiverEffect] {
        happens(
            .renderer(
                .positionChanged(load, PlaybackPosition(position: position, clockTime: 1, rate: rate))))
    }

    /// The time is over in which playback should have got on.
    @discardableResult
    mutating func standsStill() -> [ReceiverEffect] {
        happens(.progressTimedOut(load, generation: progress))
    }

    @discardableResult
    mutating func reports(_ event: RendererEvent) -> [ReceiverEffect] { happens(.renderer(event)) }

    /// The session that plays.
    var session: Session? { state.player.flatMap { state.sessions[$0] } }
    /// Its name.
    var player: SessionID? { state.player }
    /// The only route.
    var route: RouteID? { state.routes.count == 1 ? state.routes.first?.key : nil }
}

extension [ReceiverEffect] {
    var answer: Answer? {
        compactMap { if case .answer(_, let answer) = $0 { answer } else { nil } }.first
    }
    var refusal: Refusal.Code? {
        compactMap { if case .refuse(_, let refusal) = $0 { refusal.code } else { nil } }.first
    }
    var commands: [RendererCommand] {
        compactMap { if case .render(let command) = $0 { command } else { nil } }
    }
    var ends: [EndReason] {
        compactMap { if case .announceEnd(_, let reason) = $0 { reason } else { nil } }
    }
    var token: ResumeToken? {
        if case .activated(_, let token, _) = answer { token } else { nil }
    }
}
