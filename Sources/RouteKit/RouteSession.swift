// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel

/// One URL, or a queue that begins with it, to be played once at a receiver. Add it to a route, then start it.
@RouteActor public final class RouteSession {
    /// What is to become of the URL.
    public enum LaunchMode: Sendable, Equatable {
        /// The receiver's own player plays it.
        case player
        /// An application at the receiver takes it; empty is no certain one.
        case application(String)
    }

    /// What a receiver is told beside the URL.
    public struct Options: Sendable, Equatable {
        /// Request headers for fetching the media, at most 16 of 4 KiB each.
        public var headers: [HeaderField] = []
        /// In place of the receiver's own.
        public var userAgent: String?
        /// True to take any certificate of the URL's host, also one that is expired or signed by nobody who is trusted: whoever
        /// is between receiver and host can then listen and pretend to be it. Other hosts are checked as ever.
        public var allowsInvalidCertificate = false
        /// Where to begin; nil is the start, or the live edge.
        public var startPosition: MediaTime?
        /// False: begin paused.
        public var isPlaying = true
        /// What is better known here than in the media.
        public var title: String?
        /// What stands below the title.
        public var subtitle: String?
        /// Parts of the timeline with a meaning of their own, at most 64.
        public var segments: [Segment] = []
        /// Our own name of the first item, at most 256 bytes; everybody sees it.
        public var identifier: String?
        /// What follows, at most 999 items.
        public var following: [QueueItem] = []
        /// What happens after an item, or after the last one.
        public var repeatMode = RepeatMode.off
        /// The defaults.
        public init() {}
    }

    /// Where the session is in its one life.
    public enum State: Sendable, Equatable {
        /// Not started.
        case idle
        /// The receiver was asked.
        case starting
        /// The receiver took it on.
        case started
        /// Over, or never begun.
        case ended
    }

    /// What is played, or handed to the application.
    public let url: String
    /// What is to become of the URL.
    public let mode: LaunchMode
    /// What the receiver is told; read by `start`.
    public var options: Options
    /// Where the session is in its life.
    public private(set) var state = State.idle
    /// The running session; nil before the start.
    public private(set) var mediaSession: MediaSession?
    private weak var route: Route?

    /// A session for a URL.
    public init(url: String, mode: LaunchMode = .player, options: Options = Options()) {
        (self.url, self.mode, self.options) = (url, mode, options)
    }

    func attach(to route: Route) -> Bool {
        guard self.route == nil, state == .idle else { return false }
        self.route = route
        return true
    }

    /// Asks the receiver to begin. Works once.
    ///
    /// In player mode it returns when the receiver has taken the session on, before the media is ready; `playbackControl.isReady`
    /// and `MediaSession.ended()` tell the rest. In application mode it returns when the application runs and has the session; it throws
    /// `applicationFailed` with the application's or the receiver's words if that comes to nothing.
    public func start() async throws -> MediaSession {
        guard state == .idle else {
            throw RoutingError(.alreadyStarted, family: .session, "a session is started once")
        }
        guard let route else {
            throw RoutingError(.notAttached, family: .session, "the session was not added to a route")
        }
        state = .starting
        do {
            let control = try await begin(on: route)
            let channel = route.link.channel(of: control.sessionID)
            let session = MediaSession(control: control, dataChannel: channel)
            let wasStopped = state == .ended
            mediaSession = session
            state = .started
            if control.end != nil { route.forget(self) }
            if wasStopped { await stop() }
            if case .application = mode { try await route.link.untilActive(control) }
            return session
        } catch {
            state = .ended
            throw error
        }
    }

    /// Starts with as many items as one request holds; the rest follows. A queue that is not taken as a whole is not
    /// played.
    private func begin(on route: Route) async throws -> PlaybackControl {
        let parts = try Codec.parts(options.following)
        var first = options
        first.following = parts.first ?? []
        let control = try await route.link.start(url: url, mode: mode, options: first)
        do {
            let rest = parts.dropFirst().flatMap { $0 }
            if !rest.isEmpty { try await control.queue.insert(rest) }
        } catch {
            try? await route.link.stop(session: control.sessionID)
            throw error
        }
        return control
    }

    /// Ends the session. No effect for one that has ended; one that is starting is ended as soon as it has a name.
    public func stop() async {
        switch state {
        case .idle, .starting, .ended: state = .ended
        case .started:
            state = .ended
            guard let mediaSession, mediaSession.endReason == nil else { return }
            try? await route?.link.stop(session: mediaSession.playbackControl.sessionID)
        }
    }
}

/// A session that a receiver took on.
@RouteActor public final class MediaSession {
    /// The session as an object that mirrors the receiver and takes commands. Of an application's session it is what the application plays;
    /// while that is nothing, commands are refused with `noSession`.
    public let playbackControl: PlaybackControl
    /// Messages to the application; nil in player mode.
    public let dataChannel: SessionDataChannel?
    /// Why it is over; nil while it lasts.
    public var endReason: SessionEnd? { playbackControl.end }

    init(control: PlaybackControl, dataChannel: SessionDataChannel? = nil) {
        (playbackControl, self.dataChannel) = (control, dataChannel)
    }

    /// Waits for the end and says why. Nil if the waiting task is cancelled.
    public func ended() async -> SessionEnd? {
        let updates = playbackControl.updates()
        if let reason = endReason { return reason }
        for await _ in updates {
            if let reason = endReason { return reason }
        }
        return endReason
    }
}
