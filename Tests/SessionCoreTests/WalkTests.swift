// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SeededNumbers
import SessionCore
import Testing

/// What can happen, told from one of two senders or from the renderer, about what is newest or about what is past.
private enum Step: CaseIterable {
    case annaJoins, annaResumes, annaIsLost, annaLeaves, annaStarts, annaStops
    case benJoins, benIsLost, benStarts
    case graceExpires, oldGraceExpires
    case play, seek, seekFar, scan, scanBack, normal, speed, mute
    case started, exited, loaded, loadedLate, timeline, reaches, playsOn, seekFinished, ended, failedLate
    case stopped, stoppedLate, loadTimesOut, loadTimesOutLate, stopTimesOut, stopTimesOutLate
    case standsStill, standsStillLate, seekTimesOut
    case picture, louder, mixer
    case adds, removes, moves, jumps, next, previous, repeats, advances, advancesLate, nextFails, fails
    case announces, announcesMuch, cancels, cancelsOne, announceBegins, announceEnds, announceFails,
        announceLate
    case announceBeginsLate, announceTooLong, outputLost
    case groupJoins, groupLeaves, groupLeavesPlaying, groupIsReached, groupIsOut, groupItem, groupItemEnds,
        groupAdvances, groupRepeats, groupQueue,
        groupPlays,
        groupPauses, groupRuns, groupStands, groupSeeks, groupEndsOther, groupLevel
    case shutDown

    /// The steps of the exhaustive walks: each kind once.
    static let essential: [Step] = [
        .annaResumes, .annaIsLost, .annaLeaves, .annaStarts, .annaStops, .benStarts, .graceExpires, .seek,
        .scan,
        .started, .exited, .loaded, .loadedLate, .reaches, .seekFinished, .ended, .stopped,
        .loadTimesOut,
        .stopTimesOut, .stopTimesOutLate, .standsStill, .seekTimesOut, .picture, .shutDown,
    ]

    /// The steps of the walks around announcements.
    static let announcing: [Step] = [
        .annaStarts, .annaStops, .annaIsLost, .annaLeaves, .benStarts, .graceExpires, .announces, .cancels,
        .cancelsOne, .announceBegins, .announceEnds, .announceFails, .announceLate, .announceBeginsLate,
        .announceTooLong, .outputLost, .started, .exited, .loaded, .stopTimesOut, .standsStill, .shutDown,
    ]

    /// The steps of the walks around a group.
    static let grouping: [Step] = [
        .groupJoins, .groupLeaves, .groupLeavesPlaying, .groupIsReached, .groupIsOut, .groupItem,
        .groupItemEnds, .groupAdvances, .groupRepeats, .groupQueue,
        .groupPlays, .groupPauses, .groupRuns, .groupStands, .groupSeeks, .groupEndsOther, .annaStarts,
        .annaStops,
        .annaLeaves, .play, .seek, .scan, .adds, .loaded, .ended, .fails, .exited, .started, .stopTimesOut,
        .seekFinished, .standsStill, .announces, .shutDown,
    ]

    /// The steps of the walks around a queue.
    static let queueing: [Step] = [
        .annaStarts, .annaStops, .adds, .removes, .moves, .jumps, .next, .previous, .repeats, .advances,
        .advancesLate, .nextFails, .fails, .loaded, .ended, .exited, .started, .loadTimesOut, .reaches, .seek,
    ]
}

/// Two senders and a renderer, who act without knowing what the receiver thinks.
private struct Walker {
    var watcher: Watcher
    private var connections: UInt64 = 0
    private var requests: UInt64 = 0
    private var identifiers = 0
    private var anna: UInt64 = 0
    private var ben: UInt64 = 0

    init(_ policy: SessionPolicy) { watcher = Watcher(policy) }

    private mutating func request(_ connection: UInt64) -> RequestID {
        requests += 1
        return RequestID(connection: ConnectionID(connection), number: requests)
    }

    private mutating func joins(_ sender: Sender, _ resume: ResumeToken?) -> UInt64 {
        connections += 1
        identifiers += 1
        // Nobody has any number of connections; the oldest breaks, if it has not yet.
        if connections > 8 { watcher.apply(.connectionLost(ConnectionID(connections - 8))) }
        watcher.apply(.connectionOpened(ConnectionID(connections)))
        watcher.apply(
            .activationRequested(
                request(connections), sender, resume: resume, fresh: RouteID("r\(identifiers)"),
                token: ResumeToken("t\(identifiers)")))
        return connections
    }

    private mutating func starts(_ connection: UInt64) {
        identifiers += 1
        let segments = [Segment(range: span(40, 50), requiresLinearPlayback: true)]
        watcher.apply(
            .startRequested(
                request(connection),
                SessionRequest(item: MediaItem(uri: "http://a/b"), segments: segments),
                fresh: SessionID("s\(identifiers)")))
    }

    private mutating func asks(_ wanted: PlaybackRequest) {
        watcher.apply(.playbackRequested(request(anna), nil, wanted))
    }

    /// Whether whatever happens next goes the same way from here as from there; how much was counted so far is no
    /// matter.
    func isWhere(_ other: Walker) -> Bool {
        anna == other.anna && ben == other.ben && watcher == other.watcher
    }

    private var old: LoadID { LoadID(watcher.load.number &- 1) }

    mutating func take(_ step: Step, _ chance: Int64 = 30) {
        let load = watcher.load
        // A dictionary's order differs from run to run; the walk must not.
        let routes = watcher.state.routes.sorted { $0.key.text < $1.key.text }
        func pick(_ choices: [(key: RouteID, value: ReceiverState.Route)]) -> (
            key: RouteID, value: ReceiverState.Route
        )? {
            choices.isEmpty ? nil : choices[Int(chance) % choices.count]
        }
        let detached = pick(routes.filter { $0.value.connection == nil })
        switch step {
        case .annaJoins: anna = joins(.anna, nil)
        case .annaResumes:
            let token = pick(routes.filter { $0.value.sender == .anna })?.value.token
            anna = joins(.anna, token ?? ResumeToken("none"))
        case .annaIsLost: watcher.apply(.connectionLost(ConnectionID(anna)))
        case .annaLeaves: watcher.apply(.deactivationRequested(request(anna)))
        case .annaStarts: starts(anna)
        case .annaStops: watcher.apply(.stopRequested(request(anna), nil))
        case .benJoins: ben = joins(.ben, nil)
        case .benIsLost: watcher.apply(.connectionLost(ConnectionID(ben)))
        case .benStarts: starts(ben)
        case .graceExpires:
            guard let detached else { return }
            watcher.apply(.graceExpired(detached.key, generation: detached.value.generation))
        case .oldGraceExpires:
            guard let route = pick(routes) else { return }
            watcher.apply(.graceExpired(route.key, generation: route.value.generation &- 1))
        case .play: asks(.setPlaying(chance % 2 == 0))
        case .seek: asks(.seek(to: seconds(chance), tolerance: .zero))
        case .seekFar: asks(.seek(to: .positiveInfinity, tolerance: .positiveInfinity))
        case .scan: asks(.setMode(.scanning, scanSpeed: Double(chance)))
        case .scanBack: asks(.setMode(.scanning, scanSpeed: -Double(chance)))
        case .normal: asks(.setMode(.normal, scanSpeed: nil))
        case .speed: asks(.setSpeed(Double(chance) / 20))
        case .mute: asks(.setMuted(chance % 2 == 0))
        case .started: watcher.apply(.renderer(.started(.closed)))
        case .exited: watcher.apply(.renderer(.exited(reason: "")))
        case .loaded: loads(load, .file)
        case .loadedLate: loads(old, .radio)
        case .timeline: watcher.apply(.renderer(.timelineChanged(load, chance % 3 == 0 ? .window : .file)))
        case .reaches:
            let position = PlaybackPosition(position: seconds(chance * 2 - 20), clockTime: chance, rate: 1)
            watcher.apply(.renderer(.positionChanged(load, position)))
        case .playsOn:
            // More than the thirty seconds that make good for a crash.
            let place = watcher.state.sessions.first?.value.position.position ?? .zero
            watcher.isCalm = true
            for second in stride(from: Int64(1_000), through: 1_032, by: 2) {
                let position = PlaybackPosition(position: place, clockTime: second * 1_000_000_000, rate: 1)
                watcher.apply(.renderer(.positionChanged(load, position)))
            }
            watcher.isCalm = false
        case .seekFinished:
            watcher.apply(.renderer(.seekFinished(load, watcher.seek ?? SeekID(0), failure: nil)))
        case .ended: watcher.apply(.renderer(.ended(load)))
        case .failedLate: watcher.apply(.renderer(.failed(old, MediaFailure(.network, ""))))
        case .stopped: watcher.apply(.renderer(.stopped(load)))
        case .stoppedLate: watcher.apply(.renderer(.stopped(old)))
        case .loadTimesOut: watcher.apply(.loadTimedOut(load))
        case .loadTimesOutLate: watcher.apply(.loadTimedOut(old))
        case .stopTimesOut: watcher.apply(.stopTimedOut(load))
        case .stopTimesOutLate: watcher.apply(.stopTimedOut(old))
        case .standsStill:
            watcher.apply(.progressTimedOut(load, generation: watcher.progress))
        case .standsStillLate:
            watcher.apply(.progressTimedOut(old, generation: watcher.progress))
            watcher.apply(.progressTimedOut(load, generation: watcher.progress &- 1))
        case .seekTimesOut: watcher.apply(.seekTimedOut(load, watcher.seek ?? SeekID(0)))
        case .picture:
            watcher.apply(
                .renderer(.artworkFound(load, Artwork(bytes: [], type: "image/png", size: nil))))
        case .adds:
            // Long queues show nothing that short ones do not.
            guard (watcher.state.sessions.first?.value.queue.entries.count ?? 0) < 8 else { return }
            edits(.insert([item("x\(chance)"), item("y")], chance % 2 == 0 ? .next : .end))
        case .removes: edits(.remove([chosen(chance)]))
        case .moves: edits(.move(chosen(chance), .after(chosen(chance / 2))))
        case .jumps: edits(.jump(chosen(chance)))
        case .next: edits(.next(from: chance % 5 == 0 ? QueueItemID(UInt64(chance)) : nil))
        case .previous: edits(.previous(from: nil))
        case .repeats: edits(.setRepeat(RepeatMode.allCases[Int(chance / 10) % 3]))
        case .advances: if let next = watcher.next { watcher.apply(.renderer(.advanced(load, to: next))) }
        case .advancesLate:
            watcher.apply(.renderer(.advanced(old, to: load)))
        case .nextFails:
            guard let next = watcher.next else { return }
            watcher.apply(.renderer(.nextFailed(load, next: next, MediaFailure(.network, ""))))
        case .fails: watcher.apply(.renderer(.failed(load, MediaFailure(.decode, ""))))
        case .louder: watcher.apply(.deviceRequested(request(anna), .changeVolume(steps: chance - 40)))
        case .mixer: watcher.apply(.renderer(.outputVolumeChanged(Volume(level: Double(chance) / 60))))
        case .announces: announces(chance % 2 == 0 ? anna : ben)
        case .announcesMuch: for _ in 0..<Announcements.limit { announces(anna) }
        case .cancels: watcher.apply(.announcementCancelRequested(request(anna), nil))
        case .cancelsOne:
            let id = watcher.state.announcements.entries.last?.id ?? AnnouncementID("none")
            watcher.apply(.announcementCancelRequested(request(anna), id))
        case .announceBegins: watcher.apply(.renderer(.announcementBegan(watcher.announcing)))
        case .announceEnds: watcher.apply(.renderer(.announcementEnded(watcher.announcing)))
        case .announceFails:
            let failure = MediaFailure(.notFound, "")
            watcher.apply(.renderer(.announcementFailed(watcher.announcing, failure)))
        case .announceLate: watcher.apply(.renderer(.announcementEnded(LoadID(0))))
        case .announceBeginsLate: watcher.apply(.announcementTimedOut(watcher.announcing, .beginning))
        case .announceTooLong: watcher.apply(.announcementTimedOut(watcher.announcing, .length))
        case .outputLost: watcher.apply(.renderer(.outputChanged(.lost)))
        case .groupJoins, .groupLeaves, .groupLeavesPlaying, .groupIsReached, .groupIsOut, .groupItem,
            .groupItemEnds, .groupAdvances, .groupRepeats, .groupQueue,
            .groupPlays, .groupPauses, .groupRuns, .groupStands, .groupSeeks, .groupEndsOther, .groupLevel:
            takeGroup(step, chance)
        case .shutDown: watcher.apply(.shutdownRequested)
        }
    }

    /// A queue as a group's host tells it: of one item, or the second or third of three.
    private static func groupQueue(_ chance: Int64) -> PlayQueue {
        let names = ["http://a/group", "http://a/b", "http://a/c"]
        let items = names.prefix(chance % 4 == 1 ? 1 : 3).map { QueueItem(item: MediaItem(uri: $0)) }
        guard var queue = try? PlayQueue(Array(items)) else { fatalError("three items are a queue") }
        _ = queue.go(to: QueueItemID(UInt64(chance % 3) + 1))
        return queue
    }

    /// What the group decides, about what plays here, or about what is past.
    private mutating func takeGroup(_ step: Step, _ chance: Int64) {
        let session = watcher.state.player ?? SessionID("none")
        let anchor = PlaybackAnchor(itemTime: chance * 1_000_000_000, clockTime: chance, rate: 1)
        switch step {
        case .groupJoins: watcher.apply(.groupJoined)
        case .groupLeaves: watcher.apply(.groupLeft(keepsPlaying: false))
        case .groupLeavesPlaying: watcher.apply(.groupLeft(keepsPlaying: true))
        case .groupIsReached: watcher.apply(.groupReachable(true))
        case .groupIsOut: watcher.apply(.groupReachable(false))
        case .groupItem:
            identifiers += 1
            watcher.apply(
                .groupItemChanged(Self.groupQueue(chance), fresh: SessionID("s\(identifiers)"), by: "All"))
        case .groupAdvances: watcher.apply(.groupAdvanced(session, Self.groupQueue(chance)))
        case .groupRepeats:
            guard let queue = watcher.state.sessions[session]?.queue else { return }
            watcher.apply(.groupAdvanced(session, queue))
        case .groupQueue:
            guard var queue = watcher.state.sessions[session]?.queue else { return }
            // What is asked of a queue does not fail here.
            _ = try? queue.apply(.insert([QueueItem(item: MediaItem(uri: "http://a/more"))], .next))
            watcher.apply(.groupQueueChanged(session, queue))
        case .groupItemEnds: watcher.apply(.groupItemEnded(session))
        case .groupPlays: watcher.apply(.groupRateChanged(session, 1.5))
        case .groupPauses: watcher.apply(.groupRateChanged(session, 0))
        case .groupRuns: watcher.apply(.groupAnchored(session, anchor))
        case .groupStands: watcher.apply(.groupAnchored(session, nil))
        case .groupSeeks: watcher.apply(.groupSought(session, seconds(chance)))
        case .groupEndsOther: watcher.apply(.groupItemEnded(SessionID("other")))
        default: watcher.apply(.groupLevelChanged(Double(chance) / 60))
        }
    }

    private mutating func announces(_ connection: UInt64) {
        identifiers += 1
        watcher.apply(
            .announcementRequested(
                request(connection), Announcement(item: MediaItem(uri: "http://a/bell")),
                fresh: AnnouncementID("a\(identifiers)")))
    }

    private func item(_ name: String) -> QueueItem { QueueItem(item: MediaItem(uri: "http://a/\(name)")) }

    /// One of the items, or one that is gone.
    private func chosen(_ chance: Int64) -> QueueItemID {
        let entries = watcher.state.sessions.first?.value.queue.entries ?? []
        return entries.isEmpty ? QueueItemID(0) : entries[Int(chance) % entries.count].id
    }

    private mutating func edits(_ wanted: QueueRequest) {
        watcher.apply(.queueRequested(request(anna), nil, wanted))
    }

    private mutating func loads(_ load: LoadID, _ timeline: Timeline) {
        watcher.apply(
            .renderer(.loaded(load, LoadedMedia(timeline: timeline, hasAudio: true, hasVideo: false))))
    }
}

struct WalkTests {
    private static let policies: [SessionPolicy] = [
        .init(volumeCap: 0.75), .init(takeover: .refuse, keepsPlaying: false, routeLimit: 2),
    ]

    /// Takes every sequence of steps from here; the first one that goes wrong, or nil.
    private func firstFault(_ walker: Walker, _ steps: [Step], depth: Int, _ path: [Step]) -> String? {
        guard depth > 0 else { return nil }
        // What goes on from a place that was reached before by fewer or as many steps was walked from there.
        var places = [walker]
        for step in steps {
            var next = walker
            next.take(step)
            guard next.watcher.faults.isEmpty else { return "\(path + [step]): \(next.watcher.faults)" }
            guard !places.contains(where: next.isWhere) else { continue }
            places.append(next)
            if let fault = firstFault(next, steps, depth: depth - 1, path + [step]) { return fault }
        }
        return nil
    }

    @Test(
        arguments: [
            ([], 3), ([.started, .annaJoins, .benJoins, .annaStarts, .loaded], 4),
            ([.annaJoins, .benJoins, .annaStarts], 3),
            ([.started, .annaJoins, .benJoins, .annaStarts, .loaded, .seek, .picture, .exited], 3),
            ([.started, .annaJoins, .benJoins, .annaStarts, .annaStops, .benStarts], 3),
        ] as [([Step], Int)])
    private func `every sequence of events keeps the rules`(_ prefix: [Step], _ depth: Int) {
        for (policy, depth) in zip(Self.policies, [depth, 3]) {
            var walker = Walker(policy)
            for step in prefix { walker.take(step) }
            #expect(walker.watcher.faults.isEmpty)
            #expect(firstFault(walker, Step.essential, depth: depth, prefix) == nil)
        }
    }

    @Test(
        arguments: [
            ([.started, .annaJoins, .annaStarts, .loaded], 3),
            ([.started, .annaJoins, .annaStarts, .adds, .loaded, .repeats], 3),
            ([.started, .annaJoins, .annaStarts, .adds, .adds, .loaded, .advances, .picture], 3),
        ] as [([Step], Int)])
    private func `every sequence of events around a queue keeps the rules`(_ prefix: [Step], _ depth: Int) {
        var walker = Walker(Self.policies[0])
        for step in prefix { walker.take(step) }
        #expect(walker.watcher.faults.isEmpty)
        #expect(firstFault(walker, Step.queueing, depth: depth, prefix) == nil)
    }

    @Test(
        arguments: [
            ([.started, .annaJoins, .benJoins, .announces], 3),
            ([.started, .annaJoins, .annaStarts, .loaded, .announces, .announces, .announceBegins], 3),
            ([.annaJoins, .annaStarts, .announces], 3),
            ([.started, .annaJoins, .annaStarts, .loaded, .announcesMuch, .exited], 3),
        ] as [([Step], Int)])
    private func `every sequence of events around announcements keeps the rules`(
        _ prefix: [Step], _ depth: Int
    ) {
        for (policy, depth) in zip(Self.policies, [depth, 2]) {
            var walker = Walker(policy)
            for step in prefix { walker.take(step) }
            #expect(walker.watcher.faults.isEmpty)
            #expect(firstFault(walker, Step.announcing, depth: depth, prefix) == nil)
        }
    }

    @Test(
        arguments: [
            ([.started, .annaJoins], 2), ([.started, .annaJoins, .annaStarts, .loaded], 2),
            ([.started, .annaJoins, .annaStarts, .loaded, .groupJoins, .groupIsReached], 3),
            ([.started, .annaJoins, .groupJoins, .groupIsReached, .groupItem, .loaded, .groupRuns], 3),
            ([.started, .annaJoins, .annaStarts, .adds, .loaded, .groupJoins, .groupSeeks, .exited], 2),
        ] as [([Step], Int)])
    private func `every sequence of events around a group keeps the rules`(_ prefix: [Step], _ depth: Int) {
        for (policy, depth) in zip(Self.policies, [depth, 2]) {
            var walker = Walker(policy)
            for step in prefix { walker.take(step) }
            #expect(walker.watcher.faults.isEmpty)
            #expect(firstFault(walker, Step.grouping, depth: depth, prefix) == nil)
        }
    }

    @Test func `every sequence around a crash keeps the rules`() {
        let steps: [Step] = [
            .started, .exited, .loaded, .playsOn, .reaches, .seek, .annaStarts, .annaStops, .ended,
            .stopTimesOut,
            .standsStill,
        ]
        var walker = Walker(Self.policies[0])
        for step in [.started, .annaJoins, .annaStarts, .loaded, .exited] as [Step] { walker.take(step) }
        #expect(walker.watcher.faults.isEmpty)
        #expect(firstFault(walker, steps, depth: 4, []) == nil)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a long random walk keeps the rules`(_ seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var walker = Walker(Self.policies[Int(seed % 2)])
        var played = 0
        for count in 0..<50_000 {
            var step = Step.allCases[Int(random.next() % UInt64(Step.allCases.count))]
            if step == .shutDown { step = .annaStarts }
            walker.take(step, Int64(random.next() % 80))
            if walker.watcher.state.sessions.first?.value.isReady == true { played += 1 }
            guard walker.watcher.faults.isEmpty else {
                Issue.record("seed \(seed), step \(count), \(step): \(walker.watcher.faults)")
                return
            }
        }
        // The walk is worth something only if it gets somewhere.
        #expect(played > 500)
        walker.take(.shutDown)
        #expect(walker.watcher.faults.isEmpty)
    }
}
