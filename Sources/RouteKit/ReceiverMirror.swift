// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire

/// A receiver's state as far as it is known here, and the objects that show it.
@RouteActor final class ReceiverMirror {
    let device = DeviceControl(performer: nil)
    let group = GroupControl()
    let sources = SourceControl()
    /// The whole state in the protocol's words; nil before the first.
    private(set) var state: StateDocument?
    private(set) var version: Int64 = -1
    /// Who caused the last change that the media did not cause.
    private(set) var lastOrigin: ChangeOrigin?
    /// Where relative artwork URLs belong.
    var base = ""
    weak var performer: (any CommandPerformer)? {
        didSet { if let performer { device.attach(to: performer) } }
    }

    private let clock: RemoteClock
    private let announcer = Announcer()
    private var document = JSONValue.null
    private var controls: [String: PlaybackControl] = [:]
    /// Announcements of ours that are not over.
    var announcements: [String: RouteAnnouncement] = [:]
    /// Ends that were told before anybody asked for the session. A few: a session may fail before its start is known.
    private var ends: [(session: String, reason: SessionEnd)] = []
    private static let rememberedEnds = 16

    init(clock: RemoteClock) { self.clock = clock }

    /// The session that owns the player.
    var player: PlaybackControl? { state?.player.flatMap { control($0) } }

    /// Numbers of the channels of applications' sessions, kept until the end of the session is told, which comes after the state.
    private(set) var channels: [String: UInt32] = [:]

    func knows(channel: UInt32) -> Bool { channels.values.contains(channel) }

    /// Everybody with a route.
    var senders: [ConnectedSender] {
        (state?.routes ?? [:]).map { ConnectedSender(id: $0, $1) }.sorted { $0.id < $1.id }
    }

    /// What is installed, in the order of the names.
    var applications: [InstalledApplication] {
        (state?.applications ?? [:]).map { id, document in
            InstalledApplication(
                id: id, name: document.name, version: document.version, icon: document.icon.map { base + $0 },
                patterns: document.urls, isShared: document.instance == "shared")
        }
        .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    func updates() -> AsyncStream<Void> { announcer.stream() }
    func announce() { announcer.announce() }

    /// The object for a session that the state knows.
    func control(_ session: String) -> PlaybackControl? {
        if let control = controls[session] { return control }
        guard let state, let snapshot = snapshot(of: session, in: state) else { return nil }
        return make(session, snapshot)
    }

    /// What is known of a session; of an application's, what its application plays.
    private func snapshot(of session: String, in state: StateDocument) -> SessionSnapshot? {
        if let document = state.sessions[session] { return SessionSnapshot(document, base: base) }
        guard let document = state.applicationSessions[session] else { return nil }
        var snapshot = document.media.flatMap { state.sessions[$0] }.map { SessionSnapshot($0, base: base) }
        snapshot?.route = document.route
        if let snapshot { return snapshot }
        var nothing = SessionSnapshot()
        (nothing.route, nothing.isPlaying) = (document.route, false)
        return nothing
    }

    /// Takes over the answer to a start and makes the session's object. The session may be over already.
    func started(_ answer: JSONValue) -> Result<PlaybackControl, RoutingError> {
        guard let result = try? StateResult(json: answer), let session = result.session else {
            return .failure(.badAnswer)
        }
        replace(version: result.version, document: result.state, isFresh: false)
        if let control = control(session) { return .success(control) }
        guard let control = make(session, SessionSnapshot()) else { return .failure(.badAnswer) }
        if let end = ends.first(where: { $0.session == session }) { control.finish(end.reason) }
        return .success(control)
    }

    private func make(_ session: String, _ state: SessionSnapshot) -> PlaybackControl? {
        guard let performer else { return nil }
        let control = PlaybackControl(sessionID: session, snapshot: state, performer: performer, clock: clock)
        controls[session] = control
        return control
    }

    /// Takes over a whole state. `isFresh`: it opens a connection, so a session that is missing ended unheard, and the
    /// versions may have begun anew. False: it makes no sense.
    @discardableResult
    func replace(version: Int64, document: JSONValue, isFresh: Bool) -> Bool {
        guard isFresh || version > self.version else { return true }
        guard take(document, version: version, origin: isFresh ? nil : .several) else { return false }
        mirrorAnnouncements(isFresh: isFresh)
        guard isFresh else { return true }
        for (session, control) in controls
        where state?.sessions[session] == nil && state?.applicationSessions[session] == nil {
            control.finish(.lost)
            controls[session] = nil
        }
        return true
    }

    /// Takes over a step. False: there is a gap before it, or it makes no sense; the whole state is needed.
    func apply(_ step: StateChange) -> Bool {
        guard step.version > version else { return true }
        guard step.base == version else { return false }
        return take(
            MergePatch.apply(step.patch, to: document), version: step.version,
            origin: ChangeOrigin(step.origin))
    }

    private func take(_ document: JSONValue, version: Int64, origin: ChangeOrigin?) -> Bool {
        guard let state = try? StateDocument(json: document) else { return false }
        (self.document, self.version, self.state) = (document, version, state)
        // While something plays the media's own news come each second, and would hide everybody else's.
        if origin != .content { lastOrigin = origin }
        for (session, document) in state.applicationSessions { channels[session] = document.channel }
        clock.identify(state.clock)
        device.mirror(DeviceSnapshot(state.device), origin: origin)
        group.mirror(state.group, base: base)
        sources.mirror(state.accessory)
        for (session, control) in controls {
            if let snapshot = snapshot(of: session, in: state) { control.mirror(snapshot) }
        }
        mirrorAnnouncements(isFresh: false)
        announcer.announce()
        return true
    }

    func ended(_ session: String, _ reason: SessionEnd) {
        channels[session] = nil
        if let control = controls.removeValue(forKey: session) {
            control.finish(reason)
        } else {
            if ends.count == Self.rememberedEnds { ends.removeFirst() }
            ends.append((session, reason))
        }
        announcer.announce()
    }

    func finish(_ reason: SessionEnd) {
        for control in controls.values { control.finish(reason) }
        controls = [:]
        for announcement in announcements.values {
            let end: AnnouncementEnd =
                switch reason {
                case .shutdown: .shutdown
                case .routeEnded: .routeEnded
                default: .lost
                }
            announcement.finish(end)
        }
        announcements = [:]
        device.finish()
        group.finish()
        sources.finish()
        announcer.finish()
    }
}
