// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire

/// A receiver's state as far as it is known here, and the objects that show it.
@RouteActor final class ReceiverMirror {
    let device = DeviceControl(performer: nil)
    private(set) var snapshot = ReceiverSnapshot()
    private(set) var version: Int64 = -1
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
    /// Ends that were told before anybody asked for the session. A few: a session may fail before its start is known.
    private var ends: [(session: String, reason: SessionEnd)] = []
    private static let rememberedEnds = 16

    init(clock: RemoteClock) { self.clock = clock }

    /// The session that owns the player.
    var player: PlaybackControl? { snapshot.player.flatMap { control($0) } }

    func updates() -> AsyncStream<Void> { announcer.stream() }
    func announce() { announcer.announce() }

    /// The object for a session that the state knows.
    func control(_ session: String) -> PlaybackControl? {
        if let control = controls[session] { return control }
        guard let state = snapshot.sessions[session] else { return nil }
        return make(session, state)
    }

    /// The object for a session that was just started. It may be over already.
    func started(_ session: String) -> PlaybackControl? {
        if let control = control(session) { return control }
        guard let control = make(session, SessionSnapshot()) else { return nil }
        if let end = ends.first(where: { $0.session == session }) { control.finish(end.reason) }
        return control
    }

    private func make(_ session: String, _ state: SessionSnapshot) -> PlaybackControl? {
        guard let performer else { return nil }
        let control = PlaybackControl(sessionID: session, snapshot: state, performer: performer, clock: clock)
        controls[session] = control
        return control
    }

    /// Takes over a whole state. `isFresh`: it opens a connection, so a session that is missing ended unheard, and the
    /// versions may have begun anew.
    func replace(version: Int64, document: JSONValue, isFresh: Bool) {
        guard isFresh || version > self.version else { return }
        take(document, version: version, origin: isFresh ? nil : .several)
        if isFresh {
            for (session, control) in controls where snapshot.sessions[session] == nil {
                control.finish(.lost)
                controls[session] = nil
            }
        }
    }

    /// Takes over a step. False: there is a gap before it, or it makes no sense; the whole state is needed.
    func apply(_ params: JSONValue) -> Bool {
        guard let step = Codec.step(params) else { return false }
        guard step.version > version else { return true }
        guard step.base == version else { return false }
        var next = document
        next.merge(step.patch)
        take(next, version: step.version, origin: step.origin)
        return true
    }

    private func take(_ document: JSONValue, version: Int64, origin: ChangeOrigin?) {
        (self.document, self.version, lastOrigin) = (document, version, origin)
        snapshot = Codec.snapshot(document, base: base)
        clock.identify(snapshot.clock)
        device.mirror(snapshot.device, origin: origin)
        for (session, state) in snapshot.sessions { controls[session]?.mirror(state) }
        announcer.announce()
    }

    func ended(_ session: String, _ reason: SessionEnd) {
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
        device.finish()
        announcer.finish()
    }
}
