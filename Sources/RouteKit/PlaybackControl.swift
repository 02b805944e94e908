// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel
public import Observation

/// Is told of refusals.
@RouteActor public protocol PlaybackControlDelegate: AnyObject {
    /// The receiver said no, or could not be asked. The property shows the receiver's value again.
    func playbackControl(_ control: PlaybackControl, refused refusal: Refusal<PlaybackCommand>)
}

/// One session at a receiver, as an object: its properties mirror the receiver's state, and writing one sends a
/// command.
///
/// A written value shows at once. It stays until the receiver answers; then what the receiver says is shown.
/// Of several writes to one property the last counts. A refusal is left in `lastRefusal`, and told to the
/// delegate. It belongs to `RouteActor`, as everything here does.
@RouteActor @Observable public final class PlaybackControl {
    /// The session's name on the wire.
    @ObservationIgnored public let sessionID: String
    /// What plays, what follows, and what became of it.
    @ObservationIgnored public let queue: QueueControl
    /// Is told of refusals.
    @ObservationIgnored public weak var delegate: (any PlaybackControlDelegate)?

    /// The route that owns the session; nil when its sender left and playing goes on.
    public private(set) var route: String?
    /// False until enough is loaded to play; then true for good.
    public private(set) var isReady = false
    /// True while the receiver waits for media. `isPlaying` stays as it is.
    public private(set) var isBuffering = false
    /// False: another source of the receiver has the output, such as a phone by Bluetooth, and the session waits for it.
    public private(set) var isHeard = true
    /// Where playback was, when, and how fast it went on. `position(at:)` makes a position of it.
    public private(set) var playbackPosition = PlaybackPosition.zero
    /// The timeline: its range, what can be sought in it, whether it is live.
    public private(set) var timeline = Timeline.unknown
    /// The parts of the timeline; may be empty.
    public private(set) var segments: [Segment] = []
    /// The part that plays.
    public private(set) var currentSegment = Segment(range: .empty)
    /// True if there is sound.
    public private(set) var hasAudio = false
    /// True if there are pictures.
    public private(set) var hasVideo = false
    /// Whether the pictures are shown, and why not.
    public private(set) var picture = PictureStatus()
    /// Titles and the size of the picture.
    public private(set) var metadata = Metadata()
    /// Cover pictures, served by the receiver.
    public private(set) var artwork: [ArtworkReference] = []
    /// A fault that may clear. One that ends the session is in `end`.
    public private(set) var error: MediaFailure?
    /// Why the session is over; nil while it lasts.
    public private(set) var end: SessionEnd?
    /// The last refusal since the session began.
    public private(set) var lastRefusal: Refusal<PlaybackCommand>?

    // What the writable properties show: the receiver's value, or one that is on its way.
    private var playing = true
    private var speed = 1.0
    private var shownState = PlaybackState.normal
    private var shownScanSpeed = 2.0
    private var level = Volume.full
    private var tracks = Tracks()

    @ObservationIgnored private var remote = SessionSnapshot()
    /// The newest write of each field that is not answered.
    @ObservationIgnored private var pending: [Field: UInt64] = [:]
    @ObservationIgnored private var writes: UInt64 = 0
    @ObservationIgnored private weak var performer: (any CommandPerformer)?
    @ObservationIgnored private let clock: RemoteClock
    /// When the newest position came, for as long as the offset of the clocks is unknown.
    @ObservationIgnored private var positionArrived: Int64 = 0
    @ObservationIgnored private var announcer = Announcer()

    init(sessionID: String, snapshot: SessionSnapshot, performer: any CommandPerformer, clock: RemoteClock) {
        (self.sessionID, self.performer, self.clock) = (sessionID, performer, clock)
        queue = QueueControl(session: sessionID, performer: performer)
        mirror(snapshot)
    }

    // MARK: Writable

    /// The intent to play; true in stalls.
    public var isPlaying: Bool {
        get { playing }
        set { send(.setPlaying(newValue)) }
    }
    /// The speed, with the pitch kept; stays over pauses and scans.
    public var playbackSpeed: Double {
        get { speed }
        set { send(.setSpeed(newValue)) }
    }
    /// What the timeline is used for.
    public var state: PlaybackState {
        get { shownState }
        set { send(.setState(newValue, scanSpeed: newValue == .scanning ? shownScanSpeed : nil)) }
    }
    /// How fast a scan goes; backward if negative. Its magnitude is 2 to 32.
    public var scanSpeed: Double {
        get { shownScanSpeed }
        set { send(.setState(shownState, scanSpeed: newValue)) }
    }
    /// The session's mute, which leaves the level alone.
    public var isMuted: Bool {
        get { level.isMuted }
        set { send(.setMuted(newValue)) }
    }
    /// The session's volume, 0 to 1; the device's stands beside it.
    public var volume: Double {
        get { level.level }
        set { send(.setVolume(newValue)) }
    }
    /// The spoken language or the mix that is heard.
    public var currentAudioOption: TrackOption? {
        get { current(.audio) }
        set { send(.selectTrack(.audio, identifier: newValue?.identifier)) }
    }
    /// The description that is heard on top; nil is none.
    public var currentAudioDescriptionOption: TrackOption? {
        get { current(.audioDescription) }
        set { send(.selectTrack(.audioDescription, identifier: newValue?.identifier)) }
    }
    /// The subtitles that are shown; nil is off.
    public var currentLegibleOption: TrackOption? {
        get { current(.legible) }
        set { send(.selectTrack(.legible, identifier: newValue?.identifier)) }
    }

    // MARK: Readable

    /// What can be heard, best first.
    public var audioOptions: [TrackOption] { tracks.audio.options }
    /// Descriptions that can be heard on top.
    public var audioDescriptionOptions: [TrackOption] { tracks.audioDescription.options }
    /// Subtitles that can be shown.
    public var legibleOptions: [TrackOption] { tracks.legible.options }
    /// The timeline's range.
    public var timeRange: TimeRange { timeline.range }
    /// Where one can seek to; nil is everywhere in `timeRange`, empty is nowhere.
    public var seekableTimeRanges: [TimeRange]? { timeline.seekableRanges }
    /// True for a live stream.
    public var containsLiveStreamingContent: Bool { timeline.isLive }
    /// The ways in which the timeline can be moved on.
    public var supportedSeekCapabilities: SeekCapabilities { timeline.capabilities }

    /// Where playback is at a moment of the local clock, by the receiver's last word and the offset of its clock.
    public func position(at instant: ContinuousClock.Instant = .now) -> MediaTime {
        guard playbackPosition.rate != 0 else { return playbackPosition.position }
        let local = LocalClock.nanoseconds(at: instant)
        let remote =
            clock.remote(fromLocal: local) ?? playbackPosition.clockTime &+ (local &- positionArrived)
        let place = playbackPosition.position(atClockTime: remote)
        return timeRange.duration.value > 0 && !timeline.isLive ? timeRange.clamp(place) : place
    }

    /// A value after each change of anything here, the latest only; ends with the session.
    public func updates() -> AsyncStream<Void> {
        announcer.stream()
    }

    // MARK: Commands

    /// Moves to a position. Tolerance zero is exact, infinity the quickest place nearby. The outcome shows in
    /// `playbackPosition`, a refusal in `lastRefusal`.
    public func seek(to position: MediaTime, tolerance: MediaTime = .zero) {
        send(.seek(to: position, tolerance: tolerance))
    }

    /// Sends a command and waits for the receiver's answer. Writing a property does the same without waiting.
    @discardableResult public func perform(_ command: PlaybackCommand) async throws -> WriteOutcome {
        try await withCheckedThrowingContinuation { continuation in
            send(command) { continuation.resume(with: $0) }
        }
    }

    private func send(
        _ command: PlaybackCommand,
        then: (@RouteActor (Result<WriteOutcome, RoutingError>) -> Void)? = nil
    ) {
        guard end == nil, let performer else {
            let error = RoutingError(.ended, family: .session, "the session is over")
            refused(command, error)
            then?(.failure(error))
            return
        }
        writes += 1
        let number = writes
        if let field = Field(command) { pending[field] = number }
        show(command)
        performer.perform(command, session: sessionID) { [weak self] result in
            self?.answered(command, number, result)
            then?(result)
        }
        announcer.announce()
    }

    private func answered(
        _ command: PlaybackCommand, _ number: UInt64, _ result: Result<WriteOutcome, RoutingError>
    ) {
        if let field = Field(command), pending[field] == number {
            pending[field] = nil
            // Frames keep their order, so every later state knows of an accepted write: it is the truth until then.
            if case .success(let outcome) = result { remote.take(command, outcome) }
            mirror(remote)
        }
        if case .failure(let error) = result { refused(command, error) }
    }

    private func refused(_ command: PlaybackCommand, _ error: RoutingError) {
        let refusal = Refusal(command: command, error: error)
        lastRefusal = refusal
        announcer.announce()
        delegate?.playbackControl(self, refused: refusal)
    }

    // MARK: Mirroring

    /// Takes over what the receiver says. Fields with a write on its way keep the written value.
    func mirror(_ snapshot: SessionSnapshot) {
        if snapshot.position != remote.position { positionArrived = LocalClock.now }
        remote = snapshot
        set(\.route, snapshot.route)
        set(\.isReady, snapshot.isReady)
        set(\.isBuffering, snapshot.isBuffering)
        set(\.isHeard, snapshot.isHeard)
        set(\.playbackPosition, snapshot.position)
        set(\.timeline, snapshot.timeline)
        set(\.segments, snapshot.segments)
        set(\.currentSegment, snapshot.currentSegment)
        set(\.hasAudio, snapshot.hasAudio)
        set(\.hasVideo, snapshot.hasVideo)
        set(\.picture, snapshot.picture)
        set(\.metadata, snapshot.metadata)
        set(\.artwork, snapshot.artwork)
        set(\.error, snapshot.error)
        queue.mirror(snapshot.queue)
        if pending[.playing] == nil { set(\.playing, snapshot.isPlaying) }
        if pending[.speed] == nil { set(\.speed, snapshot.speed) }
        if pending[.state] == nil {
            set(\.shownState, snapshot.state)
            set(\.shownScanSpeed, snapshot.scanSpeed)
        }
        var volume = snapshot.volume
        if pending[.volume] != nil { volume.level = level.level }
        if pending[.muted] != nil { volume.isMuted = level.isMuted }
        set(\.level, volume)
        var choice = snapshot.tracks
        for kind in TrackKind.allCases where pending[.track(kind)] != nil {
            choice[kind].current = tracks[kind].current
        }
        set(\.tracks, choice)
        announcer.announce()
    }

    /// The session is over; nothing changes any more.
    func finish(_ reason: SessionEnd) {
        guard end == nil else { return }
        end = reason
        queue.finish()
        announcer.announce()
        announcer.finish()
    }

    /// Shows a written value before the receiver knows of it.
    private func show(_ command: PlaybackCommand) {
        switch command {
        case .setPlaying(let value): set(\.playing, value)
        case .setSpeed(let value): set(\.speed, value)
        case .setState(let value, let scan):
            set(\.shownState, value)
            if let scan { set(\.shownScanSpeed, scan) }
        case .setVolume(let value): set(\.level, Volume(level: value, isMuted: level.isMuted))
        case .setMuted(let value): set(\.level, Volume(level: level.level, isMuted: value))
        case .selectTrack(let kind, let identifier):
            var choice = tracks
            choice[kind].current = identifier
            set(\.tracks, choice)
        case .seek: break
        }
    }

    private func current(_ kind: TrackKind) -> TrackOption? {
        let selection = tracks[kind]
        return selection.current.flatMap { id in selection.options.first { $0.identifier == id } }
    }

    /// Writes only what differs, so that observers are told only of changes.
    private func set<Value: Equatable>(
        _ path: ReferenceWritableKeyPath<PlaybackControl, Value>, _ value: Value
    ) {
        if self[keyPath: path] != value { self[keyPath: path] = value }
    }

    /// What a command writes.
    private enum Field: Hashable {
        case playing, speed, state, volume, muted
        case track(TrackKind)

        init?(_ command: PlaybackCommand) {
            switch command {
            case .setPlaying: self = .playing
            case .setSpeed: self = .speed
            case .setState: self = .state
            case .setVolume: self = .volume
            case .setMuted: self = .muted
            case .selectTrack(let kind, _): self = .track(kind)
            case .seek: return nil
            }
        }
    }
}

extension SessionSnapshot {
    /// What an accepted command made of the session.
    mutating func take(_ command: PlaybackCommand, _ outcome: WriteOutcome) {
        let number: Double? = if case .clampedNumber(let value) = outcome { value } else { nil }
        switch command {
        case .setPlaying(let value): isPlaying = value
        case .setSpeed(let value): speed = number ?? value
        case .setState(let value, let scan):
            state = value
            if let scan { scanSpeed = number ?? scan }
        case .setVolume(let value): volume.level = number ?? value
        case .setMuted(let value): volume.isMuted = value
        case .selectTrack(let kind, let identifier): tracks[kind].current = identifier
        case .seek: break
        }
    }
}
