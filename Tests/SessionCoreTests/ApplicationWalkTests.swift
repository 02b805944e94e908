// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import SeededNumbers
import SessionCore
import Testing

/// What can happen around applications, told without knowing what the receiver thinks.
private enum Step: CaseIterable {
    case annaOpens, annaShares, annaStops, annaIsLost, annaResumes, annaLeaves, annaPlays, annaSeeks
    case annaWrites, graceExpires
    case benOpens, benShares, benLeaves, benIsLost, benJoins
    case connects, hello, plays, stops, ends, refuses, silent, violates
    case exits, crashes, breaksLimit, confined
    case launchTimer, idleTimer, endTimer, killTimer, calmTimer, oldTimer
    case started, exited, loaded, played, catalog, shutDown

    /// The steps of the random walks: what builds up comes more often than what ends.
    static let weighted: [Step] =
        allCases
        + Array(
            repeating: [
                .annaResumes, .benJoins, .annaShares, .benShares, .connects, .hello, .plays, .plays, .loaded,
            ],
            count: 8
        ).flatMap(\.self)

    static let essential: [Step] = [
        .annaOpens, .annaShares, .annaStops, .annaIsLost, .annaLeaves, .annaWrites, .graceExpires, .connects,
        .hello, .plays, .annaPlays, .ends, .silent, .violates, .exits, .crashes, .launchTimer, .idleTimer,
        .endTimer, .killTimer, .oldTimer,
    ]
}

private struct Walker {
    var watcher: Watcher
    private var connections: UInt64 = 0
    private var requests: UInt64 = 0
    private var names = 0
    private var anna: UInt64 = 0
    private var ben: UInt64 = 0
    private var clients: [InstanceID: UInt64] = [:]

    init(_ policy: SessionPolicy) {
        watcher = Watcher(policy)
        watcher.apply(.catalogChanged([.echo, .party]))
        watcher.apply(.renderer(.started(.closed)))
        anna = joins(.anna, nil)
        ben = joins(.ben, nil)
    }

    private mutating func request(_ connection: UInt64) -> RequestID {
        requests += 1
        return RequestID(connection: ConnectionID(connection), number: requests)
    }

    /// Whether whatever happens next goes the same way from here as from there.
    func isWhere(_ other: Walker) -> Bool {
        anna == other.anna && ben == other.ben && clients == other.clients && watcher == other.watcher
    }

    private mutating func name() -> String {
        names += 1
        return "\(names)"
    }

    private mutating func joins(_ sender: Sender, _ resume: ResumeToken?) -> UInt64 {
        // Nobody has any number of connections; an old one breaks.
        if connections > 32 { watcher.apply(.connectionLost(ConnectionID(connections - 32))) }
        connections += 1
        watcher.apply(.connectionOpened(ConnectionID(connections)))
        watcher.apply(
            .activationRequested(
                request(connections), sender, resume: resume, fresh: RouteID(name()),
                token: ResumeToken("t" + name())))
        return connections
    }

    private mutating func opens(_ connection: UInt64, _ application: ApplicationManifest) {
        watcher.apply(
            .applicationStartRequested(
                request(connection), ApplicationStart(application: application.id.text, url: "x:y"),
                fresh: SessionID(name()), instance: InstanceID(name())))
    }

    private mutating func exits(_ id: InstanceID, _ cause: ApplicationExit.Cause) {
        watcher.apply(.instanceExited(id, ApplicationExit(cause, log: ["last"])))
    }

    private mutating func fires(_ timer: InstanceTimer, _ id: InstanceID, late: UInt64 = 0) {
        let generation = watcher.state.applications.instances[id]?.timers[timer] ?? 0
        watcher.apply(.instanceTimedOut(id, timer, generation: generation &- late))
    }

    mutating func take(_ step: Step, _ chance: Int = 0) {
        let state = watcher.state
        let instances = state.applications.instances.keys.sorted { $0.text < $1.text }
        let instance = instances.isEmpty ? InstanceID("none") : instances[chance % instances.count]
        let client = clients[instance] ?? 0
        let sessions = state.applications.sessions.keys.sorted { $0.text < $1.text }
        let session = sessions.isEmpty ? SessionID("none") : sessions[chance % sessions.count]
        switch step {
        case .annaOpens: opens(anna, .echo)
        case .annaShares: opens(anna, .party)
        case .annaStops: watcher.apply(.stopRequested(request(anna), session))
        case .annaIsLost: watcher.apply(.connectionLost(ConnectionID(anna)))
        case .annaResumes:
            let token = state.routes.values.first { $0.sender == .anna }?.token
            anna = joins(.anna, token)
        case .annaLeaves: watcher.apply(.deactivationRequested(request(anna)))
        case .annaPlays: play(anna)
        case .annaSeeks:
            watcher.apply(
                .playbackRequested(request(anna), session, .seek(to: seconds(3), tolerance: .zero)))
        case .annaWrites:
            watcher.apply(
                .routeChannelRequested(
                    ConnectionID(anna), ApplicationManifest.party.id, instance: InstanceID(name())))
        case .graceExpires:
            let lost = state.routes.filter { $0.value.connection == nil }.min { $0.key.text < $1.key.text }
            guard let lost else { return }
            watcher.apply(.graceExpired(lost.key, generation: lost.value.generation))
        case .benOpens: opens(ben, .echo)
        case .benShares: opens(ben, .party)
        case .benLeaves: watcher.apply(.deactivationRequested(request(ben)))
        case .benIsLost: watcher.apply(.connectionLost(ConnectionID(ben)))
        case .benJoins: ben = joins(.ben, nil)
        case .connects:
            connections += 1
            if state.applications.instances[instance]?.connection == nil { clients[instance] = connections }
            watcher.apply(.applicationConnected(ConnectionID(connections), instance))
        case .hello: watcher.apply(.helloRequested(request(client)))
        case .plays: play(client)
        case .stops: watcher.apply(.stopRequested(request(client), nil))
        case .ends: watcher.apply(.sessionEndRequested(request(client), session, failure: nil))
        case .refuses: watcher.apply(.sessionEndRequested(request(client), session, failure: "No."))
        case .silent: watcher.apply(.connectionLost(ConnectionID(client)))
        case .violates:
            watcher.apply(
                .instanceViolated(instance, ApplicationFailure(.protocolViolation, "It spoke nonsense.")))
        case .exits: exits(instance, .status(0))
        case .crashes: exits(instance, .signal(11))
        case .breaksLimit: exits(instance, .limit("memory"))
        case .confined: watcher.apply(.instanceConfined(instance, [ConfinementLayer(.files)]))
        case .launchTimer: fires(.launch, instance)
        case .idleTimer: fires(.idle, instance)
        case .endTimer: fires(.end, instance)
        case .killTimer: fires(.kill, instance)
        case .calmTimer: fires(.calm, instance)
        case .oldTimer: for timer in InstanceTimer.allCases { fires(timer, instance, late: 1) }
        case .started: watcher.apply(.renderer(.started(.closed)))
        case .exited: watcher.apply(.renderer(.exited(reason: "")))
        case .loaded:
            let media = LoadedMedia(timeline: .file, hasAudio: true, hasVideo: false)
            watcher.apply(.renderer(.loaded(watcher.load, media)))
        case .played: watcher.apply(.renderer(.ended(watcher.load)))
        case .catalog: watcher.apply(.catalogChanged(chance % 3 == 0 ? [] : [.echo, .party]))
        case .shutDown: watcher.apply(.shutdownRequested)
        }
    }

    private mutating func play(_ connection: UInt64) {
        watcher.apply(
            .startRequested(
                request(connection), SessionRequest(item: MediaItem(uri: "http://a/b")),
                fresh: SessionID(name())))
    }
}

struct ApplicationWalkTests {
    private func firstFault(_ walker: Walker, depth: Int, _ path: [Step]) -> String? {
        guard depth > 0 else { return nil }
        // What goes on from a place that was reached before by fewer or as many steps was walked from there.
        var places = [walker]
        for step in Step.essential {
            var next = walker
            next.take(step)
            guard next.watcher.faults.isEmpty else { return "\(path + [step]): \(next.watcher.faults)" }
            guard !places.contains(where: next.isWhere) else { continue }
            places.append(next)
            if let fault = firstFault(next, depth: depth - 1, path + [step]) { return fault }
        }
        return nil
    }

    @Test(
        arguments: [
            [], [.annaOpens], [.annaShares, .connects, .hello], [.annaOpens, .connects, .hello, .plays],
            [.annaShares, .benShares, .connects, .hello, .annaIsLost],
            [.annaOpens, .connects, .hello, .crashes, .connects], [.annaWrites, .connects, .hello],
        ] as [[Step]])
    private func `every sequence of events around an application keeps the rules`(_ prefix: [Step]) {
        var walker = Walker(.init())
        for step in prefix { walker.take(step) }
        #expect(walker.watcher.faults.isEmpty)
        #expect(firstFault(walker, depth: 3, prefix) == nil)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a long random walk around applications keeps the rules`(_ seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var walker = Walker(seed == 1 ? .init() : .init(takeover: .refuse, keepsPlaying: false))
        var (ran, played) = (0, 0)
        for count in 0..<20_000 {
            var step = Step.weighted[Int(random.next() % UInt64(Step.weighted.count))]
            if step == .shutDown { step = .connects }
            walker.take(step, Int(random.next() % 64))
            let state = walker.watcher.state
            if state.applications.instances.contains(where: { $0.value.phase == .running }) { ran += 1 }
            if state.sessions.contains(where: { $0.value.application != nil }) { played += 1 }
            guard walker.watcher.faults.isEmpty else {
                Issue.record("seed \(seed), step \(count), \(step): \(walker.watcher.faults)")
                return
            }
        }
        // The walk is worth something only if it gets somewhere.
        #expect(ran > 500)
        #expect(played > 50)
        walker.take(.shutDown)
        #expect(walker.watcher.faults.isEmpty)
        #expect(walker.watcher.state.applications.sessions.isEmpty)
    }
}
