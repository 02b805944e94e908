// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore

/// Feeds a receiver and checks after every event what must hold whatever happened before.
struct Watcher: Equatable {
    private(set) var state: ReceiverState
    /// What was found wrong. Empty is right.
    private(set) var faults: [String] = []
    /// The newest load that was named, to the renderer or to a timer.
    private(set) var load = LoadID(0)
    /// The newest timer that watches whether playback gets on.
    private(set) var progress: UInt64 = 0
    /// The seek that the renderer is at.
    private(set) var seek: SeekID?
    /// The load that the renderer was told to have follow.
    private(set) var next: LoadID?
    private var rendererIsUp = false
    /// True once the renderer's load is loaded.
    private var wasLoaded = false
    private var rendererLoad = LoadID(0)
    private var ended: Set<SessionID> = []
    private var isShutDown = false
    /// The newest announcement that the renderer was given, and the newest that has a time.
    private(set) var announcing = LoadID(0)
    private var announced = LoadID(0)
    /// True if the renderer that had it was ended by force.
    private var wasForced = false
    private var endedAnnouncements: Set<AnnouncementID> = []
    /// The session whose item the renderer crashed with, and that has not played for long since.
    private var shaken: SessionID?
    private var applications = ApplicationWatcher()
    /// True while so much is played that a crash may be forgotten.
    var isCalm = false

    init(_ policy: SessionPolicy) {
        state = ReceiverState(
            name: "Kitchen", volume: Volume(level: 1), output: .closed,
            advertisement: AdvertisementStatus(state: .off, name: ""), policy: policy)
    }

    mutating func apply(_ event: ReceiverEvent) {
        let before = state
        let effects = state.apply(event)
        checkCrash(event, before)
        switch event {
        case .renderer(.started): rendererIsUp = true
        case .renderer(.exited):
            rendererIsUp = false
            (seek, next, wasLoaded) = (nil, nil, false)
        case .renderer(.advanced(let load, let following)):
            if load == rendererLoad, rendererIsUp {
                (rendererLoad, seek, next, wasLoaded) = (following, nil, nil, false)
            }
        case .renderer(.loaded(let load, _)): if load == rendererLoad { wasLoaded = true }
        case .renderer(.nextFailed(let load, let following, _)):
            if load == rendererLoad, following == next { next = nil }
        case .renderer(.seekFinished(let load, let seek, _)):
            if load == rendererLoad, seek == self.seek { self.seek = nil }
        case .shutdownRequested: isShutDown = true
        default: break
        }
        checkAnswers(event, effects)
        if let named = event.answeredLoad, before.sessions.first?.value.load != named {
            expect(effects.isEmpty && state.sessions == before.sessions, "a late answer counts")
        }
        if case .graceExpired(let id, let generation) = event, let route = before.routes[id] {
            let isDue = route.connection == nil && route.generation == generation
            expect((state.routes[id] == nil) == isDue, "a grace timer is not heeded, or an old one is")
        }
        for effect in effects { check(effect, before) }
        checkEnds(before, effects)
        checkAnnouncements(event, before)
        for fault in applications.look(event, before, effects, state) { faults.append(fault) }
        checkState()
        if before.device.volume != state.device.volume || before.device.name != state.device.name {
            expect(effects.contains(.persist), "a change of the device is not written down")
        }
    }

    /// A first crash with an item is survived, a second soon after it is the item's end: the turn of another, or the
    /// end of the session.
    private mutating func checkCrash(_ event: ReceiverEvent, _ before: ReceiverState) {
        if let id = shaken, let session = state.sessions[id], session.crashes == 0 {
            let isOver = before.sessions[id]?.load != session.load || session.waiting != nil
            expect(isCalm || isOver, "a crash is forgotten")
            shaken = nil
            return
        }
        switch event {
        case .renderer(.started), .renderer(.exited): break
        default: return
        }
        // A start without an exit before tells of one that was missed.
        guard rendererIsUp, let id = before.player else { return }
        // Nothing of it was there.
        guard before.sessions[id]?.waiting == nil else { return }
        // An announcement takes the blame.
        if !before.announcements.entries.isEmpty {
            return expect(state.sessions[id]?.crashes == before.sessions[id]?.crashes, "the item is blamed")
        }
        let isOver = state.sessions[id].map { $0.crashes == 0 } ?? true
        expect(isOver == (shaken == id), "a crash is \(isOver ? "not " : "")survived")
        shaken = isOver ? nil : id
    }

    private mutating func expect(_ holds: Bool, _ fault: @autoclosure () -> String) {
        if !holds { faults.append(fault()) }
    }

    private mutating func checkAnswers(_ event: ReceiverEvent, _ effects: [ReceiverEffect]) {
        let asked: RequestID? =
            switch event {
            case .activationRequested(let request, _, _, _, _), .deactivationRequested(let request),
                .startRequested(let request, _, _), .stopRequested(let request, _),
                .playbackRequested(let request, _, _), .queueRequested(let request, _, _),
                .deviceRequested(let request, _), .announcementRequested(let request, _, _),
                .announcementCancelRequested(let request, _),
                .applicationStartRequested(let request, _, _, _),
                .helloRequested(let request), .sessionEndRequested(let request, _, _):
                request
            default: nil
            }
        var answers = 0
        for effect in effects {
            switch effect {
            case .answer(let request, _), .refuse(let request, _), .coordinate(_, .queue(let request, _)):
                answers += 1
                expect(request == asked, "an answer to something else")
            default: break
            }
        }
        expect(answers == (asked == nil ? 0 : 1), "\(answers) answers")
    }

    private mutating func check(_ effect: ReceiverEffect, _ before: ReceiverState) {
        switch effect {
        case .render(let command):
            expect(rendererIsUp, "a command while the renderer is away")
            check(command)
        case .restartRenderer:
            (rendererIsUp, wasForced) = (false, true)
            seek = nil
        case .armLoadTimer(let load):
            expect(load >= self.load, "a timer of an old load")
            self.load = max(load, self.load)
        case .armStopTimer(let load): expect(load == rendererLoad, "a stop timer of an old load")
        case .armProgressTimer(let load, let generation):
            expect(rendererIsUp && load == rendererLoad, "progress is watched of a load that is not there")
            progress = generation
        case .armSeekTimer(let load, let seek):
            expect(load == rendererLoad && seek == self.seek, "a timer of a seek that is not under way")
        case .armGraceTimer(let id, let generation):
            expect(state.routes[id]?.connection == nil, "a grace timer of an attached route")
            expect(state.routes[id]?.generation == generation, "a grace timer that ends nothing")
        case .announceRouteEnd(let connection, let id, _):
            expect(before.routes[id]?.connection == connection, "the wrong client is told of a route's end")
            expect(state.routes[id]?.connection != connection, "a route that ended is still there")
        case .storeArtwork(let id, let key, _):
            expect(state.sessions[id]?.artwork.last == key, "a picture that nobody shows")
        case .dropArtwork(let id):
            expect(before.sessions[id]?.artwork.isEmpty == false, "no pictures to drop")
        case .armAnnouncementTimer(let load, let limit):
            expect(state.announcements.entries.first != nil, "a timer of an announcement that is not there")
            expect(limit == .length || load > announced, "an announcement has its time twice")
            announced = max(announced, load)
        case .tellAnnouncementEnd(let id, _):
            expect(endedAnnouncements.insert(id).inserted, "an announcement ends twice")
            expect(!state.announcements.entries.contains { $0.id == id }, "an announcement that ended stays")
            expect(state.announcements.last != nil, "nobody knows how it ended")
        case .launch, .terminate, .kill, .armInstanceTimer, .tell, .openChannel, .closeChannel,
            .abandonChannel, .interruptChannels, .closeConnection:
            break
        case .coordinate: expect(state.isGrouped, "a group is asked where there is none")
        case .answer, .refuse, .announceEnd, .persist, .advertise: break
        }
    }

    private mutating func check(_ command: RendererCommand) {
        switch command {
        case .load(let load, _, _):
            expect(load > rendererLoad, "load identifiers do not grow")
            (rendererLoad, seek, next, wasLoaded) = (load, nil, nil, false)
            self.load = max(load, self.load)
        case .seek(let load, let seek, let place, _):
            expect(load == rendererLoad && self.seek == nil, "two seeks at a time")
            expect(place.isNumeric, "a seek to nowhere")
            self.seek = seek
        case .setPlaying(let load, _), .setSpeed(let load, _), .setScan(let load, _),
            .selectTrack(let load, _, _), .setMediaVolume(let load, _), .stop(let load),
            .bind(let load, _), .unbind(let load):
            expect(load == rendererLoad, "a command for a superseded load")
        case .setOutputVolume(let volume):
            expect(volume.level <= state.policy.volumeCap, "a volume above the cap is told")
        case .prepareNext(let load, let upcoming):
            expect(load == rendererLoad, "what follows a superseded load")
            if let upcoming {
                expect(upcoming.load > max(rendererLoad, next ?? LoadID(0)), "a number is used again")
            }
            next = upcoming?.load
        case .announce(let load, _):
            // A renderer that was ended by force had no fault in it: the next one is told the same.
            expect(load > announcing || wasForced && load == announcing, "announcement numbers do not grow")
            (announcing, wasForced) = (load, false)
        case .cancelAnnouncement(let load):
            expect(load == announcing, "an announcement is cancelled that the renderer does not have")
        case .loadCapture(let load, _, _):
            expect(load > rendererLoad, "load identifiers do not grow")
            expect(state.foreign?.load == load, "a source is read that has not the output")
            (rendererLoad, seek, next, wasLoaded) = (load, nil, nil, false)
        case .warmUp, .setGroupClock, .setOutputTrim, .setCardDrift, .setOutputDevice, .watchCapture: break
        }
    }

    /// At most one is with the renderer, the first; none is forgotten, and what plays does not notice.
    private mutating func checkAnnouncements(_ event: ReceiverEvent, _ before: ReceiverState) {
        let entries = state.announcements.entries
        expect(entries.count <= Announcements.limit, "too many announcements")
        expect(entries.dropFirst().allSatisfy { $0.phase == .waiting }, "two announcements at a time")
        expect(entries.first.map { $0.phase != .waiting } ?? true, "an announcement waits for nothing")
        expect(
            entries.allSatisfy { $0.route.map { state.routes[$0] != nil } ?? true },
            "an announcement of a route that is gone")
        for entry in before.announcements.entries where !entries.contains(where: { $0.id == entry.id }) {
            expect(endedAnnouncements.contains(entry.id), "an announcement vanishes")
        }
        if isShutDown { expect(entries.isEmpty, "an announcement outlives the shutdown") }
        switch event {
        case .announcementRequested, .announcementCancelRequested, .announcementTimedOut,
            .renderer(.announcementBegan), .renderer(.announcementEnded), .renderer(.announcementFailed):
            expect(
                state.sessions == before.sessions && state.player == before.player,
                "an announcement touches what plays")
        default: break
        }
    }

    private mutating func checkEnds(_ before: ReceiverState, _ effects: [ReceiverEffect]) {
        for effect in effects {
            guard case .announceEnd(let id, _) = effect else { continue }
            expect(ended.insert(id).inserted, "an end is announced twice")
            expect(
                before.sessions[id] != nil || before.applications.sessions[id] != nil,
                "the end of a session that was not there")
            expect(
                state.sessions[id] == nil && state.applications.sessions[id] == nil,
                "an ended session stays")
            let dropped = effects.contains(.dropArtwork(id))
            expect(dropped == (before.sessions[id]?.artwork.isEmpty == false), "pictures outlive a session")
        }
        for id in before.applications.sessions.keys {
            expect(
                state.applications.sessions[id] != nil || ended.contains(id),
                "an application's session vanishes")
        }
        for (id, session) in before.sessions {
            expect(state.sessions[id] != nil || ended.contains(id), "a session vanishes")
            if session.isReady, let now = state.sessions[id] { expect(now.isReady, "ready goes back") }
        }
    }

    private mutating func checkState() {
        expect(state.sessions.count <= 1, "more sessions than the player can play")
        expect(
            state.player.map { state.sessions[$0] != nil } ?? state.sessions.isEmpty,
            "the player has no session")
        expect(state.routes.count <= state.policy.routeLimit, "too many routes")
        expect(state.device.volume.level <= state.policy.volumeCap, "above the cap")
        var attached: Set<ConnectionID> = []
        for route in state.routes.values {
            guard let connection = route.connection else { continue }
            expect(attached.insert(connection).inserted, "two routes on a connection")
            expect(state.connections.contains(connection), "a route on a lost connection")
        }
        if isShutDown {
            expect(state.sessions.isEmpty && state.routes.isEmpty, "something outlives the shutdown")
        }
        guard let session = state.sessions.first?.value else { return }
        expect(session.route.map { state.routes[$0] != nil } ?? true, "a session of a route that is gone")
        expect(session.load == load, "a session without a load timer")
        expect(session.load >= rendererLoad || session.waiting != nil, "the renderer is ahead")
        expect(session.isGrouped || session.waiting == nil, "a session waits for no group")
        expect(
            session.waiting == nil || session.anchor == nil && !session.isSeeking,
            "a session that waits is moved")
        expect(session.speed >= 0.25 && session.speed <= 4, "speed")
        expect(session.scanSpeed.magnitude >= 2 && session.scanSpeed.magnitude <= 32, "scan speed")
        expect(session.artwork.count <= 4, "too many pictures")
        expect(session.position.position.isNumeric && session.position.rate.isFinite, "no position")
        let queue = session.queue
        expect(
            queue.entries.contains { $0.id == queue.current && $0.failure == nil },
            "no current item, or one that failed")
        expect(Set(queue.entries.map(\.id)).count == queue.entries.count, "an item is there twice")
        expect(queue.entries.count <= PlayQueue.limit, "too many items")
        expect(!queue.isHopeless || session.isReady, "a hopeless queue goes on")
        expect(!session.isGrouped || state.isGrouped, "a session of a group that the receiver is not in")
        expect(!session.isGrouped || session.mode != .scanning, "a group is scanned")
        expect(
            !session.isGrouped || next == nil || session.load != rendererLoad || session.waiting != nil,
            "something follows in a group")
        if rendererIsUp, session.load == rendererLoad, wasLoaded, !session.isGrouped {
            let follows = queue.isHopeless ? nil : queue.successor(explicitly: false)
            expect(
                (next != nil) == (follows != nil) || follows == queue.current,
                "the renderer was not told what follows")
        }
        guard session.isReady, session.timeline.range.duration.value > 0 else { return }
        let place = session.position.position
        expect(session.timeline.range.clamp(place) == place, "a position out of the range")
        let current = session.currentSegment.range
        expect(current.contains(place) || current.end.isSameMoment(as: place), "not in the current segment")
    }
}

extension ReceiverEvent {
    /// The load that an event of the renderer or of the load timer is about.
    fileprivate var answeredLoad: LoadID? {
        switch self {
        case .loadTimedOut(let load), .progressTimedOut(let load, _), .seekTimedOut(let load, _): load
        case .renderer(let event):
            switch event {
            case .loaded(let load, _), .timelineChanged(let load, _), .positionChanged(let load, _),
                .bufferingChanged(let load, _), .errorChanged(let load, _), .metadataChanged(let load, _),
                .artworkFound(let load, _), .pictureChanged(let load, _),
                .tracksChanged(let load, _), .seekFinished(let load, _, _), .ended(let load),
                .failed(let load, _), .stopped(let load), .advanced(let load, _), .nextFailed(let load, _, _),
                .readinessChanged(let load, _), .syncChanged(let load, _):
                load
            case .started, .outputChanged, .outputVolumeChanged, .exited, .confined, .announcementBegan,
                .announcementEnded, .announcementFailed, .captureActivity, .jackChanged:
                nil
            }
        default: nil
        }
    }
}
