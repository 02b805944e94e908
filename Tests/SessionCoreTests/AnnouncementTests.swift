// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore
import Testing

private let bell = Announcement(item: MediaItem(uri: "http://example.org/bell.wav?key=secret"))
private let gone = MediaFailure(.notFound, "gone")

extension Scene {
    @discardableResult
    fileprivate mutating func announces(
        _ id: String = "bell", _ connection: UInt64 = 1, _ announcement: Announcement = bell
    ) -> [ReceiverEffect] {
        happens(.announcementRequested(request(connection), announcement, fresh: AnnouncementID(id)))
    }

    @discardableResult
    fileprivate mutating func cancels(_ id: String?, _ connection: UInt64 = 1) -> [ReceiverEffect] {
        happens(.announcementCancelRequested(request(connection), id.map { AnnouncementID($0) }))
    }

    fileprivate var phases: [Announcements.Phase] { state.announcements.entries.map(\.phase) }
}

extension [ReceiverEffect] {
    /// The number of the announcement that the renderer is told.
    fileprivate var announced: LoadID? {
        commands.compactMap { if case .announce(let load, _) = $0 { load } else { nil } }.first
    }
    fileprivate var cancelled: LoadID? {
        commands.compactMap { if case .cancelAnnouncement(let load) = $0 { load } else { nil } }.first
    }
    fileprivate var announcementEnds: [AnnouncementEnd] {
        compactMap { if case .tellAnnouncementEnd(_, let end) = $0 { end } else { nil } }
    }
    fileprivate var limit: AnnouncementLimit? {
        compactMap { if case .armAnnouncementTimer(_, let limit) = $0 { limit } else { nil } }.first
    }
}

struct AnnouncementTests {
    @Test func `one is told to the renderer, and what plays is not touched`() throws {
        var scene = Scene.playing()
        let before = scene.session
        let effects = scene.announces()
        #expect(effects.answer == .announced(AnnouncementID("bell")))
        #expect(effects.limit == .beginning)
        let load = try #require(effects.announced)
        #expect(scene.phases == [.loading])
        #expect(scene.state.announcements.entries.first?.name == "bell.wav")
        #expect(scene.state.announcements.entries.first?.sender == Sender.anna.name)
        #expect(scene.reports(.announcementBegan(load)).limit == .length)
        #expect(scene.phases == [.playing])
        #expect(scene.reports(.announcementEnded(load)).announcementEnds == [.finished])
        #expect(scene.phases.isEmpty)
        #expect(scene.state.announcements.last?.end == .finished)
        #expect(scene.session == before)
    }

    @Test func `it needs a route, and no session`() {
        var scene = Scene()
        scene.happens(.connectionOpened(ConnectionID(1)))
        #expect(scene.announces().refusal == .routeRequired)
        scene.activates(1, .anna)
        #expect(scene.announces().announced != nil)
        #expect(scene.player == nil)
    }

    @Test func `its address is looked at as that of any item`() {
        var scene = Scene.playing()
        func announce(_ uri: String) -> Announcement { Announcement(item: MediaItem(uri: uri)) }
        #expect(scene.announces("a", 1, announce("file:///bell")).refusal == .unsupportedScheme)
        #expect(scene.announces("a", 1, announce("bell")).refusal == .invalidURL)
        #expect(scene.phases.isEmpty)
    }

    @Test func `several are heard one after the other, at most eight of them`() throws {
        var scene = Scene.playing()
        var load = try #require(scene.announces("0").announced)
        for number in 1..<Announcements.limit {
            #expect(scene.announces("\(number)").commands.isEmpty)
        }
        #expect(scene.announces("more").refusal == .limitReached)
        for _ in 1..<Announcements.limit {
            scene.reports(.announcementBegan(load))
            let effects = scene.reports(.announcementEnded(load))
            let next = try #require(effects.announced)
            #expect(next > load && effects.limit == .beginning)
            load = next
        }
        #expect(scene.reports(.announcementEnded(load)).commands.isEmpty)
        #expect(scene.phases.isEmpty)
    }

    @Test func `the failure of one is told, and the next one's turn`() throws {
        var scene = Scene.playing()
        let load = try #require(scene.announces("first").announced)
        scene.announces("second")
        let effects = scene.reports(.announcementFailed(load, gone))
        #expect(effects.announcementEnds == [.failed(gone)])
        #expect(effects.announced != nil)
        #expect(scene.session?.error == nil)
        #expect(scene.reports(.announcementEnded(load)).isEmpty, "it is over")
    }

    @Test func `anybody with a route may cancel one, or all`() throws {
        var scene = Scene.playing()
        scene.joins(2, .ben)
        let load = try #require(scene.announces("first").announced)
        scene.announces("second")
        scene.announces("third")
        let one = scene.cancels("second", 2)
        #expect(one.announcementEnds == [.cancelled(by: Sender.ben.name)] && one.commands.isEmpty)
        #expect(one.answer == .accepted)
        let all = scene.cancels(nil, 2)
        #expect(all.cancelled == load && all.announcementEnds.count == 2 && all.announced == nil)
        #expect(scene.cancels("first", 2).answer == .accepted, "it is over already")
    }

    @Test func `one that is not heard in time has failed, with the reason`() throws {
        var scene = Scene.playing()
        var load = try #require(scene.announces().announced)
        #expect(scene.happens(.announcementTimedOut(load, .length)).isEmpty, "nothing of it was heard")
        var effects = scene.happens(.announcementTimedOut(load, .beginning))
        #expect(effects.cancelled == load)
        #expect(effects.announcementEnds == [.failed(MediaFailure(.timeout, ""))])
        scene.reports(.outputChanged(.lost))
        load = try #require(scene.announces().announced)
        effects = scene.happens(.announcementTimedOut(load, .beginning))
        #expect(effects.announcementEnds == [.failed(MediaFailure(.output, ""))])
        scene = Scene(rendererIsUp: false)
        scene.joins(1, .anna)
        effects = scene.announces()
        #expect(effects.commands.isEmpty && effects.limit == .beginning)
        load = LoadID(1)
        effects = scene.happens(.announcementTimedOut(load, .beginning))
        #expect(effects.announcementEnds == [.failed(MediaFailure(.rendererUnavailable, ""))])
    }

    @Test func `one that is too long is cut off`() throws {
        var scene = Scene.playing()
        let load = try #require(scene.announces().announced)
        scene.reports(.announcementBegan(load))
        #expect(scene.happens(.announcementTimedOut(load, .beginning)).isEmpty)
        let effects = scene.happens(.announcementTimedOut(load, .length))
        #expect(effects.cancelled == load)
        #expect(effects.announcementEnds == [.failed(MediaFailure(.timeout, ""))])
    }

    @Test func `one that is heard does not wait for a lost output`() throws {
        var scene = Scene.playing()
        let load = try #require(scene.announces("first").announced)
        #expect(scene.reports(.outputChanged(.lost)).announcementEnds.isEmpty, "it may be back in time")
        scene.reports(.outputChanged(.closed))
        scene.reports(.announcementBegan(load))
        let effects = scene.reports(.outputChanged(.lost))
        #expect(effects.announcementEnds == [.failed(MediaFailure(.output, ""))])
        #expect(scene.session != nil)
    }

    @Test func `a crash ends it, and the item is not blamed`() throws {
        var scene = Scene.playing()
        for _ in 0..<3 {
            let load = try #require(scene.announces("first").announced)
            scene.reports(.announcementBegan(load))
            scene.announces("second")
            let effects = scene.reports(.exited(reason: "signal 11"))
            #expect(effects.announcementEnds == [.failed(MediaFailure(.rendererCrashed, ""))])
            #expect(effects.ends.isEmpty && effects.announced == nil)
            let started = scene.reports(.started(.closed))
            #expect(started.announced != nil, "the one that waited")
            #expect(started.commands.contains { if case .load = $0 { true } else { false } })
            scene.loads()
            scene.cancels(nil)
        }
        #expect(scene.session?.crashes == 0)
    }

    @Test func `one that was not heard survives a restart that is not its fault`() throws {
        var scene = Scene.playing()
        scene.stops(1)
        let load = try #require(scene.announces().announced)
        scene.happens(.stopTimedOut(scene.load))
        scene.reports(.exited(reason: "killed"))
        #expect(scene.reports(.started(.closed)).announced == load)
        #expect(scene.phases == [.loading])
    }

    @Test func `a route that is ended takes its own with it, a lost one leaves them`() throws {
        var scene = Scene.playing()
        scene.joins(2, .ben)
        let load = try #require(scene.announces("anna's", 1).announced)
        scene.announces("ben's", 2)
        let effects = scene.happens(.deactivationRequested(scene.request(1)))
        #expect(effects.announcementEnds == [.routeEnded] && effects.cancelled == load)
        #expect(scene.phases == [.loading])
        scene.loses(2)
        let route = try #require(scene.state.routes.first)
        scene.happens(.graceExpired(route.key, generation: route.value.generation))
        #expect(scene.phases == [.loading])
        #expect(scene.state.announcements.entries.first?.route == nil)
    }

    @Test func `the shutdown ends all`() {
        var scene = Scene.playing()
        scene.announces("first")
        scene.announces("second")
        #expect(scene.happens(.shutdownRequested).announcementEnds == [.shutdown, .shutdown])
        #expect(scene.announces().refusal == .limitReached)
    }

    @Test func `the origin is the sender, then the media`() throws {
        var scene = Scene.playing()
        let load = try #require(scene.announces().announced)
        let route = try #require(scene.route)
        #expect(scene.state.lastOrigin == .sender(route, name: Sender.anna.name))
        scene.reports(.announcementBegan(load))
        #expect(scene.state.lastOrigin == .content)
    }

    @Test func `levels stay within their ranges`() {
        let item = MediaItem(uri: "http://a/b")
        #expect(Announcement(item: item, ducking: .nan).ducking == Announcement.usualDucking)
        #expect(Announcement(item: item, ducking: 600).ducking == 60)
        #expect(Announcement(item: item, ducking: -1).ducking == 0)
    }
}
