// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import Testing

@testable import SessionCore

extension ApplicationManifest {
    /// One instance for each session, started again after a crash.
    static let echo = made("org.example.echo", urls: ["echo:*"]) { $0.restart = .onFailure }

    /// One for all, which plays and stays.
    static let party = made("org.example.party", urls: ["echo:party*"]) {
        $0.instance = .shared
        $0.hasRouteChannel = true
        $0.permissions = [.player, .volume]
        $0.whenSenderLost = .stay
    }

    private static func made(
        _ id: String, urls: [String], _ change: (inout ApplicationManifest) -> Void
    ) -> ApplicationManifest {
        guard let id = ApplicationID(id) else { fatalError("the test's name") }
        var manifest = ApplicationManifest(
            id: id, name: id.text, version: "1", content: .program(path: "run", arguments: []))
        manifest.patterns = urls.compactMap { URLPattern($0) }
        change(&manifest)
        return manifest
    }
}

/// The hand of an application.
extension Scene {
    static func withApplications(_ policy: SessionPolicy = .init()) -> Scene {
        var scene = Scene(policy)
        scene.happens(.catalogChanged([.echo, .party]))
        scene.joins(1, .anna)
        scene.joins(2, .ben)
        return scene
    }

    @discardableResult
    mutating func opens(
        _ connection: UInt64, _ name: String? = "org.example.echo", url: String = "x:y", as fresh: String,
        instance: String
    ) -> [ReceiverEffect] {
        happens(
            .applicationStartRequested(
                request(connection), ApplicationStart(application: name, url: url),
                fresh: SessionID(fresh), instance: InstanceID(instance)))
    }

    @discardableResult
    mutating func greets(_ connection: UInt64, _ instance: String) -> [ReceiverEffect] {
        happens(.applicationConnected(ConnectionID(connection), InstanceID(instance)))
        return happens(.helloRequested(request(connection)))
    }

    @discardableResult
    mutating func exits(_ instance: String, _ cause: ApplicationExit.Cause) -> [ReceiverEffect] {
        happens(.instanceExited(InstanceID(instance), ApplicationExit(cause, log: ["a", "b"])))
    }

    @discardableResult
    mutating func fires(_ timer: InstanceTimer, _ instance: String) -> [ReceiverEffect] {
        let id = InstanceID(instance)
        return happens(
            .instanceTimedOut(
                id, timer, generation: state.applications.instances[id]?.timers[timer] ?? 0))
    }

    func instance(_ name: String) -> ApplicationInstance? { state.applications.instances[InstanceID(name)] }
}

struct ApplicationTests {
    private let session = SessionID("s")

    @Test func `an application is launched, greeted and told of its session`() {
        var scene = Scene.withApplications()
        let started = scene.opens(1, as: "s", instance: "i")
        #expect(started.contains(.launch(InstanceID("i"), ApplicationManifest.echo.id)))
        #expect(started.answer == .started(session))
        #expect(scene.state.player == nil)
        let greeted = scene.greets(9, "i")
        #expect(greeted.answer == .greeted(InstanceID("i")))
        #expect(greeted.contains(.tell(InstanceID("i"), .opened(session))))
        #expect(scene.state.applications.sessions[session]?.phase == .active)
    }

    @Test func `the longest pattern claims a URL, and a name is unknown or known`() {
        var scene = Scene.withApplications()
        scene.opens(1, nil, url: "echo:party", as: "s", instance: "i")
        #expect(scene.instance("i")?.manifest.id == ApplicationManifest.party.id)
        #expect(scene.opens(1, nil, url: "other:", as: "t", instance: "j").refusal == .applicationUnknown)
        #expect(scene.opens(1, "org.example.none", as: "t", instance: "j").refusal == .applicationUnknown)
        #expect(scene.opens(1, "", url: "echo:a", as: "t", instance: "j").answer != nil)
        #expect(scene.opens(1, url: "a b", as: "u", instance: "k").refusal == .invalidURL)
    }

    @Test func `a shared instance is joined, waits idle and ends`() {
        var scene = Scene.withApplications()
        scene.opens(1, "org.example.party", as: "s", instance: "i")
        scene.greets(9, "i")
        let joined = scene.opens(2, "org.example.party", as: "t", instance: "j")
        #expect(joined.contains(.tell(InstanceID("i"), .opened(SessionID("t")))))
        #expect(scene.state.applications.instances.count == 1)
        scene.stops(1, session)
        #expect(scene.instance("i")?.timers[.idle] == nil)
        scene.stops(2, SessionID("t"))
        #expect(scene.instance("i")?.timers[.idle] != nil)
        let ending = scene.fires(.idle, "i")
        #expect(scene.instance("i")?.phase == .ending)
        #expect(ending.contains { if case .tell(_, .ending) = $0 { true } else { false } })
        #expect(scene.fires(.end, "i").contains(.terminate(InstanceID("i"))))
        #expect(scene.fires(.kill, "i").contains(.kill(InstanceID("i"), limit: nil)))
        scene.exits("i", .signal(9))
        #expect(scene.state.applications.instances.isEmpty)
    }

    @Test func `no hello in time fails the session with the last lines of the log`() {
        var scene = Scene.withApplications()
        scene.opens(1, as: "s", instance: "i")
        #expect(scene.fires(.launch, "i").contains(.kill(InstanceID("i"), limit: nil)))
        let ended = scene.exits("i", .signal(9)).ends
        guard case .applicationFailed(let failure) = ended.first else {
            Issue.record("\(ended)")
            return
        }
        #expect(failure.code == .launchTimeout && failure.log == ["a", "b"])
    }

    @Test func `a host that owes the exit keeps nobody waiting`() {
        var scene = Scene.withApplications()
        scene.opens(1, as: "s", instance: "i")
        scene.fires(.launch, "i")
        #expect(scene.fires(.kill, "i").ends.count == 1)
        #expect(scene.state.applications.sessions.isEmpty)
        scene.exits("i", .signal(9))
        #expect(scene.state.applications.instances.isEmpty)
    }

    @Test func `a crash is made good three times, and by a minute of running`() {
        var scene = Scene.withApplications()
        scene.opens(1, as: "s", instance: "i")
        for client in 10..<13 as Range<UInt64> {
            scene.greets(client, "i")
            let effects = scene.exits("i", .signal(11))
            #expect(effects.contains(.interruptChannels(InstanceID("i"))))
            #expect(effects.contains(.launch(InstanceID("i"), ApplicationManifest.echo.id)))
            #expect(scene.state.applications.sessions[session]?.phase == .launching)
        }
        scene.greets(20, "i")
        scene.fires(.calm, "i")
        scene.exits("i", .status(1))
        #expect(scene.instance("i")?.restarts == 4)
        for client in 21..<23 as Range<UInt64> {
            scene.greets(client, "i")
            scene.exits("i", .status(1))
        }
        scene.greets(30, "i")
        let ends = scene.exits("i", .status(1)).ends
        #expect(ends == [.applicationFailed(ApplicationFailure(.crashed, ends.words, log: ["a", "b"]))])
    }

    @Test func `an exit with 0 finishes the sessions, one by a limit is not made good`() {
        var scene = Scene.withApplications()
        scene.opens(1, as: "s", instance: "i")
        scene.greets(9, "i")
        #expect(scene.exits("i", .status(0)).ends == [.finished])
        scene.opens(1, as: "t", instance: "j")
        scene.greets(10, "j")
        let ends = scene.exits("j", .limit("memory")).ends
        #expect(ends == [.applicationFailed(ApplicationFailure(.limitExceeded, "memory", log: ["a", "b"]))])
    }

    @Test func `an application plays with permission, and what it plays is all it may touch`() {
        var scene = Scene.withApplications()
        scene.opens(1, as: "s", instance: "i")
        scene.greets(9, "i")
        #expect(scene.starts(9).refusal == .notPermitted)
        scene.opens(1, "org.example.party", as: "p", instance: "j")
        scene.greets(10, "j")
        #expect(scene.asks(10, .setPlaying(false)).refusal == .noSession)
        scene.starts(2)
        let bens = scene.state.player
        #expect(
            scene.happens(.playbackRequested(scene.request(10), bens, .setPlaying(false))).refusal
                == .notPermitted)
        #expect(scene.starts(10).ends == [.preempted(by: "org.example.party")])
        let media = scene.state.player
        #expect(scene.instance("j")?.media == media && scene.session?.route == nil)
        #expect(scene.asks(10, .setPlaying(false)).answer == .accepted)
        // The sender means it by its own session, and by the session of another application nothing.
        #expect(
            scene.happens(.playbackRequested(scene.request(1), SessionID("p"), .setPlaying(true))).answer
                == .accepted)
        #expect(
            scene.happens(.playbackRequested(scene.request(1), session, .setPlaying(true))).refusal
                == .noSession)
        #expect(scene.state.lastOrigin == .sender(RouteID("route 1"), name: Sender.anna.name))
        scene.happens(.deviceRequested(scene.request(10), .setVolume(0.25)))
        #expect(scene.state.device.volume.level == 0.25)
        #expect(scene.state.lastOrigin == .application(InstanceID("j"), name: "org.example.party"))
        #expect(scene.happens(.deviceRequested(scene.request(9), .setVolume(1))).refusal == .notPermitted)
        #expect(scene.happens(.deviceRequested(scene.request(10), .rename("x"))).refusal == .routeRequired)
        // It ends with its instance, and the application is not there to be told.
        #expect(scene.exits("j", .status(0)).ends == [.finished, .finished])
        #expect(scene.state.player == nil)
    }

    @Test func `a sender that starts takes the player from an application, which is told`() {
        var scene = Scene.withApplications()
        scene.opens(1, "org.example.party", as: "p", instance: "j")
        scene.greets(10, "j")
        scene.starts(10)
        let media = scene.state.player
        let effects = scene.starts(2)
        let reason = EndReason.preempted(by: Sender.ben.name)
        #expect(media.map { effects.contains(.tell(InstanceID("j"), .mediaEnded($0, reason))) } == true)
        #expect(scene.instance("j")?.media == nil)
        #expect(scene.state.applications.sessions.count == 1)
    }

    @Test func `where takeover is refused an application's media counts as another sender's`() {
        var scene = Scene.withApplications(.init(takeover: .refuse))
        scene.opens(1, "org.example.party", as: "p", instance: "j")
        scene.greets(10, "j")
        scene.starts(10)
        #expect(scene.starts(1).refusal == .sessionBusy)
        #expect(scene.starts(10).answer != nil)
    }

    @Test func `a lost sender is told, and what becomes of its session is the manifest's choice`() {
        var scene = Scene.withApplications()
        scene.opens(1, as: "s", instance: "i")
        scene.opens(1, "org.example.party", as: "p", instance: "j")
        scene.greets(9, "i")
        scene.greets(10, "j")
        let lost = scene.loses(1)
        #expect(lost.contains(.tell(InstanceID("i"), .attached(session, false))))
        let generation = scene.state.routes[RouteID("route 1")]?.generation ?? 0
        let effects = scene.happens(.graceExpired(RouteID("route 1"), generation: generation))
        #expect(effects.ends == [.routeEnded])
        #expect(scene.state.applications.sessions.keys.map(\.text) == ["p"])
        #expect(scene.state.applications.sessions[SessionID("p")]?.route == nil)
        #expect(effects.contains(.abandonChannel(2)))
    }

    @Test func `an application refuses a session with its own words`() {
        var scene = Scene.withApplications()
        scene.opens(1, as: "s", instance: "i")
        scene.opens(2, as: "t", instance: "j")
        scene.greets(9, "i")
        let other = scene.happens(.sessionEndRequested(scene.request(9), SessionID("t"), failure: nil))
        #expect(other.refusal == .notPermitted)
        let effects = scene.happens(.sessionEndRequested(scene.request(9), session, failure: "No."))
        #expect(effects.ends == [.applicationFailed(ApplicationFailure(.refused, "No."))])
        #expect(effects.contains(.closeChannel(1)))
        #expect(scene.happens(.sessionEndRequested(scene.request(1), session, failure: nil)).refusal != nil)
    }

    @Test func `sessions and instances are limited`() {
        var scene = Scene.withApplications()
        for number in 0..<16 { scene.opens(1, as: "s\(number)", instance: "i\(number)") }
        #expect(scene.opens(1, as: "t", instance: "j").refusal == .limitReached)
        #expect(scene.opens(2, as: "t", instance: "j").refusal == .limitReached)
        scene.exits("i0", .status(1))
        #expect(scene.opens(2, as: "t", instance: "j").answer != nil)
    }

    @Test func `what was not said before hello is not permitted, and hello is said once`() {
        var scene = Scene.withApplications()
        scene.opens(1, "org.example.party", as: "p", instance: "j")
        scene.happens(.applicationConnected(ConnectionID(10), InstanceID("j")))
        #expect(scene.starts(10).refusal == .notPermitted)
        #expect(scene.activates(10, .ben).refusal == .notPermitted)
        scene.happens(.helloRequested(scene.request(10)))
        let twice = scene.happens(.helloRequested(scene.request(10)))
        #expect(twice.refusal == .notPermitted && twice.contains(.kill(InstanceID("j"), limit: nil)))
        #expect(scene.happens(.helloRequested(scene.request(1))).refusal == .notPermitted)
        // A second client of an instance is sent away.
        #expect(
            scene.happens(.applicationConnected(ConnectionID(11), InstanceID("j")))
                == [.closeConnection(ConnectionID(11))])
    }

    @Test func `words and segments can be replaced while an item plays`() {
        var scene = Scene.playing()
        scene.reports(.metadataChanged(scene.load, Metadata(title: "Its", album: "LP")))
        let cut = Segment(range: span(10, 20), requiresLinearPlayback: true)
        #expect(scene.asks(.setMetadata(Metadata(title: "New"), segments: [cut])).answer == .accepted)
        #expect(scene.session?.metadata == Metadata(title: "New", album: "LP"))
        #expect(scene.session?.segments.count == 3)
        #expect(scene.session.flatMap { $0.queue[$0.queue.current]?.given.metadata.title } == "New")
        scene.asks(.setMetadata(Metadata(), segments: nil))
        #expect(scene.session?.metadata == Metadata(title: "Its", album: "LP"))
        #expect(scene.session?.segments.count == 3)
        scene.asks(.setMetadata(nil, segments: []))
        #expect(scene.session?.segments == [])
    }
}

extension [EndReason] {
    fileprivate var words: String {
        if case .applicationFailed(let failure) = first { failure.message } else { "" }
    }
}
