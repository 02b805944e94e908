// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

/// Several receivers on one network without wires, each with a sender and a clock of its own.
final class TestRooms {
    let network = FakeNetwork()
    let rooms: [TestReceiver]
    let senders: [TestSender]
    private(set) var group = ""
    private(set) var ticket = ""
    /// Loads that the renderers make nothing of.
    var isReady = true

    init(_ count: Int) throws {
        var rooms: [TestReceiver] = []
        for index in 0..<count {
            var configuration = ReceiverConfiguration(
                name: "Room \(index)", software: "linnet test", port: Self.port(index))
            configuration.clockPort = 8000 + UInt16(index)
            let saved = SavedState(
                identifier: "room-\(index)", volume: Volume(level: 0.25 * Double(index + 1)))
            // The clocks of machines have nothing to do with each other.
            let clock = ManualClock(now: 1_000_000_000_000 * Int64(index + 1), identifier: "clock-\(index)")
            let room = TestReceiver(
                configuration: configuration, saved: saved, network: network, clock: clock)
            rooms.append(room)
        }
        self.rooms = rooms
        var senders: [TestSender] = []
        for room in rooms {
            _ = try room.shell.start()
            senders.append(TestSender(room))
        }
        self.senders = senders
        let play = FakeRenderer.playing(MediaTime(value: 180, timescale: 1))
        for room in rooms {
            room.renderer.script = { [unowned self] command in
                if case .bind(let load, _) = command { return isReady ? [.readinessChanged(load, true)] : [] }
                return play(command)
            }
        }
        settle()
        for sender in senders { try sender.activate() }
        settle()
    }

    static func port(_ index: Int) -> UInt16 { 7000 + UInt16(index) }

    /// Lets everything happen that needs no time.
    func settle() {
        repeat { for room in rooms { room.settle() } } while network.deliver()
        for room in rooms { room.settle() }
        for sender in senders { try? sender.read() }
    }

    /// Lets time pass everywhere, in small steps.
    func pass(_ seconds: Double) {
        for _ in 0..<Int(seconds * 10) {
            for room in rooms { room.clock.advance(by: .milliseconds(100)) }
            settle()
        }
    }

    @discardableResult
    func create(at index: Int = 0) throws -> GroupCreated {
        let created = try GroupCreated(
            json: senders[index].ask(.group(.create(name: "Down", activity: nil, policy: nil))))
        (group, ticket) = (created.group, created.ticket)
        settle()
        return created
    }

    func invitation(to index: Int = 0, ticket: String? = nil) -> RouteRequest {
        .group(
            .join(
                GroupInvitation(
                    group: group, name: "Down", ticket: ticket ?? self.ticket,
                    host: GroupHost(
                        id: "room-\(index)", addresses: ["192.0.2.9"], port: Self.port(index)))))
    }

    func join(_ index: Int) throws {
        try senders[index].ask(invitation())
        settle()
    }

    /// A group of all, with room 0 as the host.
    static func grouped(_ count: Int) throws -> TestRooms {
        let rooms = try TestRooms(count)
        try rooms.create()
        for index in 1..<count { try rooms.join(index) }
        return rooms
    }

    func state(_ index: Int) throws -> GroupDocument? {
        try StateDocument(json: snapshot(rooms[index])).group
    }

    /// What the renderer was bound to last, on the clock of the machine.
    func anchor(_ index: Int) -> PlaybackAnchor? {
        for case .bind(_, let anchor) in rooms[index].renderer.commands.reversed() { return anchor }
        return nil
    }

    func line(_ index: Int) -> ClockLine? {
        for case .setGroupClock(let line) in rooms[index].renderer.commands.reversed() { return line }
        return nil
    }

    /// The place in the item that is heard now, as the renderer would compute it.
    func place(_ index: Int) -> Int64? {
        guard let anchor = anchor(index), let line = line(index) else { return nil }
        return anchor.itemTime(at: line.remote(at: rooms[index].clock.now))
    }
}

struct GroupTests {
    @Test func `a sender makes a group, and the receiver is its host`() throws {
        let rooms = try TestRooms(1)
        let created = try rooms.create()
        #expect(created.hostID == "room-0")
        #expect(created.port == 7000)
        #expect(created.clockPort == 8000)
        #expect(GroupSecret(created.ticket) != nil)
        let group = try #require(try rooms.state(0))
        #expect(group.view == .init(isHost: true, phase: .joined, isClockKnown: true))
        #expect(group.members.keys.sorted() == ["room-0"])
        // The ticket is shown to nobody.
        let shown = JSONText.encode(try snapshot(rooms.rooms[0]))
        #expect(!shown.contains(created.ticket))
    }

    @Test func `a receiver with the ticket joins, and both show the same group`() throws {
        let rooms = try TestRooms.grouped(2)
        let (host, member) = (try #require(try rooms.state(0)), try #require(try rooms.state(1)))
        #expect(member.view?.phase == .joined)
        #expect(member.view?.isHost == false)
        #expect(member.view?.isClockKnown == true)
        #expect(host.members.keys.sorted() == ["room-0", "room-1"])
        #expect(member.members["room-1"] == host.members["room-1"])
        #expect(member.members["room-1"]?.volume?.level == 0.5)
        #expect(host.epoch == member.epoch)
        // Nothing that was said had the ticket in it.
        #expect(!rooms.network.said.contains { $0.contains(rooms.ticket) })
    }

    @Test func `a stranger without the ticket stays outside, and says so`() throws {
        let rooms = try TestRooms(2)
        try rooms.create()
        let wrong = try #require(GroupSecret(bytes: Array(repeating: 9, count: 32)))
        try rooms.senders[1].ask(rooms.invitation(ticket: wrong.text))
        rooms.settle()
        #expect(try rooms.state(0)?.members.count == 1)
        let state = try #require(try rooms.state(1))
        #expect(state.view?.phase == .invalidated)
        #expect(state.view?.reason == "refused")
    }

    @Test func `who cannot prove the ticket to a host is refused and cut`() throws {
        let rooms = try TestRooms(1)
        try rooms.create()
        let stranger = rooms.rooms[0].listener.connect()
        let nonce = try #require(GroupSecret(bytes: Array(repeating: 1, count: 32)))
        func say(_ request: GroupLinkRequest) throws -> ServerMessage? {
            stranger.say(request.text(id: 1))
            return try stranger.takeTexts().first.flatMap { try ServerMessage.decode($0).first }
        }
        guard case .response(_, .failure(let early)) = try say(.ask(.dissolve)) else {
            Issue.record("taken")
            return
        }
        #expect(early.code == .authorizationFailed)
        let attachment = GroupAttachment(
            group: rooms.group, participant: "x", name: "X", kind: .receiver, nonce: nonce, port: 1)
        guard case .response(_, .success(let json)) = try say(.attach(attachment)) else {
            Issue.record("not answered")
            return
        }
        let welcome = try GroupWelcome(json: json)
        // The host's own proof is none of a member's.
        guard case .response(_, .failure(let late)) = try say(.prove(welcome.proof, GroupPresence())) else {
            Issue.record("taken")
            return
        }
        #expect(late.code == .authorizationFailed)
        #expect(stranger.closing?.code == 1008)
        #expect(try rooms.state(0)?.members.count == 1)
    }

    @Test func `a connection that does not prove itself in time is cut`() throws {
        let rooms = try TestRooms(1)
        try rooms.create()
        let stranger = rooms.rooms[0].listener.connect()
        let nonce = try #require(GroupSecret(bytes: Array(repeating: 1, count: 32)))
        stranger.say(
            GroupLinkRequest.attach(
                GroupAttachment(
                    group: rooms.group, participant: "x", name: "X", kind: .player, nonce: nonce)
            ).text(id: 1))
        rooms.pass(6)
        #expect(stranger.closing?.code == 1008)
    }

    @Test(arguments: [0, 1])
    func `what a sender starts at one member begins at all at the same moment`(starter: Int) throws {
        let rooms = try TestRooms.grouped(3)
        let session = try rooms.senders[starter].start("http://media.example/a.flac?key=secret")
        rooms.settle()
        rooms.pass(1)
        let places = try (0..<3).map { try #require(rooms.place($0)) }
        #expect(Set(places).count == 1)
        #expect(places[0] > 0)
        for index in 0..<3 {
            let state = try StateDocument(json: snapshot(rooms.rooms[index]))
            let own = try #require(state.player.flatMap { state.sessions[$0] })
            #expect(own.isGrouped)
            #expect(own.isPlaying)
            let shown = JSONText.encode(state.group?.json ?? .null)
            #expect(!shown.contains("secret"))
            guard
                case .load(_, let item, playing: false) = rooms.rooms[index].renderer.commands.last(where: {
                    if case .load = $0 { true } else { false }
                })
            else {
                Issue.record("room \(index) loads nothing")
                continue
            }
            #expect(item.uri == "http://media.example/a.flac?key=secret")
            let loads = rooms.rooms[index].renderer.commands.filter {
                if case .load = $0 { true } else { false }
            }
            #expect(loads.count == 1)
        }
        #expect(rooms.senders[starter].member("player", "session")?.textValue == session)
    }

    @Test func `pause, seek and speed of any sender move all`() throws {
        let rooms = try TestRooms.grouped(2)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        try rooms.senders[1].ask(.setPlaying(session: nil, false))
        rooms.settle()
        #expect(rooms.anchor(0) == nil)
        #expect(rooms.anchor(1) == nil)
        #expect(rooms.senders[0].member("sessions")?.objectValue?.values.first?["isPlaying"] == false)
        try rooms.senders[0].ask(
            .seek(session: nil, position: MediaTime(value: 60, timescale: 1), tolerance: .zero))
        rooms.settle()
        try rooms.senders[1].ask(.setPlaying(session: nil, true))
        rooms.settle()
        rooms.pass(1)
        let places = try (0..<2).map { try #require(rooms.place($0)) }
        #expect(places[0] == places[1])
        #expect(places[0] > 60_000_000_000 && places[0] < 62_000_000_000)
        try rooms.senders[1].ask(.setSpeed(session: nil, 1.5))
        rooms.settle()
        #expect(rooms.anchor(0)?.rate == 1.5)
        #expect(rooms.anchor(1)?.rate == 1.5)
    }

    @Test func `who joins while it plays falls in where the others are`() throws {
        let rooms = try TestRooms(2)
        try rooms.create()
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(3)
        rooms.rooms[0].renderer.forgetCommands()
        try rooms.join(1)
        rooms.pass(1)
        let place = try #require(rooms.place(1))
        #expect(place > 3_000_000_000)
        // The one who played was not touched.
        #expect(!rooms.rooms[0].renderer.commands.contains { if case .bind = $0 { true } else { false } })
    }

    @Test func `what plays already becomes the group's, where it is`() throws {
        let rooms = try TestRooms(1)
        _ = try rooms.senders[0].start()
        rooms.settle()
        let load = try #require(rooms.rooms[0].renderer.currentLoad)
        rooms.rooms[0].renderer.report(
            .positionChanged(
                load,
                PlaybackPosition(
                    position: MediaTime(value: 7, timescale: 1), clockTime: rooms.rooms[0].clock.now, rate: 1)
            ))
        try rooms.create()
        #expect(rooms.place(0) == 7_000_000_000)
        #expect(rooms.rooms[0].renderer.currentLoad == load)
        let group = try #require(try rooms.state(0))
        #expect(group.item.flatMap { group.timelines[$0.identifier] }?.state == .playing)
    }

    @Test func `leaving stops what plays, or keeps it playing`() throws {
        for keeps in [true, false] {
            let rooms = try TestRooms.grouped(2)
            _ = try rooms.senders[0].start()
            rooms.settle()
            rooms.pass(1)
            try rooms.senders[1].ask(.group(.leave(keepsPlaying: keeps)))
            rooms.settle()
            #expect(try rooms.state(1) == nil)
            #expect(try rooms.state(0)?.members.keys.sorted() == ["room-0"])
            let state = try StateDocument(json: snapshot(rooms.rooms[1]))
            #expect((state.player != nil) == keeps)
            let unbound = rooms.rooms[1].renderer.commands.contains {
                if case .unbind = $0 { true } else { false }
            }
            #expect(unbound == keeps)
            #expect(rooms.anchor(0) != nil)
        }
    }

    @Test func `when the host is lost the next goes on with the same line in the item`() throws {
        let rooms = try TestRooms.grouped(3)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(2)
        let group = rooms.group
        let before = try #require(rooms.place(1))
        rooms.rooms[2].renderer.forgetCommands()
        rooms.network.cut(TestRooms.port(0))
        rooms.settle()
        rooms.pass(5)
        let state = try #require(try rooms.state(1))
        #expect(state.id == group)
        #expect(state.view?.isHost == true)
        #expect(state.epoch == 2)
        #expect(try rooms.state(2)?.host == "room-1")
        #expect(try rooms.state(2)?.view?.phase == .joined)
        #expect(rooms.place(1) == before + 5_000_000_000)
        #expect(rooms.place(2) == before + 5_000_000_000)
        // It never stood.
        #expect(
            !rooms.rooms[2].renderer.commands.contains { if case .bind(_, nil) = $0 { true } else { false } })
    }

    @Test func `a member keeps the old clock until it can read the new host's`() throws {
        let rooms = try TestRooms.grouped(3)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        let (line, anchor) = (rooms.line(2), rooms.anchor(2))
        rooms.network.areClocksSilent = true
        rooms.network.cut(TestRooms.port(0))
        rooms.settle()
        rooms.pass(1)
        #expect(try rooms.state(2)?.host == "room-1")
        #expect(rooms.line(2) == line)
        #expect(rooms.anchor(2) == anchor)
        rooms.network.areClocksSilent = false
        rooms.pass(1)
        #expect(rooms.anchor(2) != anchor)
        #expect(rooms.place(2) == rooms.place(1))
    }

    @Test func `who was given up by a host that is there comes back to it`() throws {
        let rooms = try TestRooms.grouped(3)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        rooms.network.cut(TestRooms.port(1))
        rooms.network.heal(TestRooms.port(1))
        rooms.settle()
        rooms.pass(1)
        for index in 0..<3 {
            let state = try #require(try rooms.state(index))
            #expect(state.host == "room-0")
            #expect(state.epoch == 1)
            #expect(state.view?.phase == .joined)
            #expect(state.members.count == 3)
        }
        #expect(rooms.place(1) == rooms.place(0))
    }

    @Test func `where the one who paused stood is where the group goes on`() throws {
        let rooms = try TestRooms.grouped(2)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        try rooms.senders[1].ask(.setPlaying(session: nil, false))
        rooms.settle()
        func timeline(_ index: Int) throws -> WireGroupTimeline? {
            let group = try rooms.state(index)
            return group?.item.flatMap { group?.timelines[$0.identifier] }
        }
        #expect(try timeline(0)?.state == .paused)
        let place = MediaTime(value: 1_234, timescale: 1_000)
        for index in [0, 1] {
            let load = try #require(rooms.rooms[index].renderer.currentLoad)
            let position = PlaybackPosition(
                position: index == 1 ? place : MediaTime(value: 9, timescale: 1),
                clockTime: rooms.rooms[index].clock.now, rate: 0)
            rooms.rooms[index].renderer.report(.positionChanged(load, position))
            rooms.settle()
        }
        #expect(try timeline(0)?.itemTime == 1_234_000_000)
        #expect(try timeline(1)?.itemTime == 1_234_000_000)
    }

    @Test func `the host's clock is read often only while the group plays`() throws {
        let rooms = try TestRooms.grouped(2)
        #expect(rooms.network.readersInUse == [])
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        #expect(rooms.network.readersInUse == [TestRooms.port(1)])
        try rooms.senders[1].ask(.setPlaying(session: nil, false))
        rooms.settle()
        #expect(rooms.network.readersInUse == [])
    }

    @Test func `a group that was cut in two becomes one again`() throws {
        let rooms = try TestRooms.grouped(2)
        rooms.network.cut(TestRooms.port(0))
        rooms.settle()
        rooms.pass(2)
        #expect(try rooms.state(0)?.view?.isHost == true)
        #expect(try rooms.state(1)?.view?.isHost == true)
        rooms.network.heal(TestRooms.port(0))
        rooms.pass(12)
        #expect(try rooms.state(0)?.host == "room-1")
        #expect(try rooms.state(0)?.view?.phase == .joined)
        #expect(try rooms.state(1)?.members.keys.sorted() == ["room-0", "room-1"])
    }

    @Test func `parts that were cut off while one looked for the other find each other later`() throws {
        let rooms = try TestRooms.grouped(2)
        rooms.network.cut(TestRooms.port(0))
        rooms.settle()
        rooms.pass(2)
        rooms.network.interruptions = 4
        rooms.network.heal(TestRooms.port(0))
        rooms.pass(30)
        #expect(rooms.network.interruptions == 0)
        #expect(try rooms.state(0)?.host == "room-1")
        #expect(try rooms.state(0)?.view?.phase == .joined)
        #expect(try rooms.state(1)?.members.keys.sorted() == ["room-0", "room-1"])
    }

    @Test func `a host that cannot be reached ends the wait`() throws {
        let rooms = try TestRooms(2)
        try rooms.create()
        rooms.network.cut(TestRooms.port(0))
        try rooms.senders[1].ask(rooms.invitation())
        rooms.settle()
        #expect(try rooms.state(1)?.view?.phase == .waiting)
        rooms.pass(12)
        #expect(try rooms.state(1)?.view?.reason == "unreachable")
        // Another group is not kept away by that.
        rooms.network.heal(TestRooms.port(0))
        try rooms.join(1)
        #expect(try rooms.state(1)?.view?.phase == .joined)
    }

    @Test func `a member that is slow is left behind and joins when it is ready`() throws {
        let rooms = try TestRooms.grouped(2)
        let load = { try #require(rooms.rooms[1].renderer.currentLoad) }
        let script = rooms.rooms[1].renderer.script
        rooms.rooms[1].renderer.script = { if case .bind = $0 { [] } else { script($0) } }
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(2)
        #expect(rooms.anchor(0) == nil)
        rooms.pass(10)
        #expect(rooms.anchor(0) != nil)
        rooms.rooms[1].renderer.report(.readinessChanged(try load(), true))
        rooms.settle()
        rooms.pass(1)
        #expect(rooms.place(1) == rooms.place(0))
    }

    @Test func `the group's volume keeps the proportions and mutes as they are`() throws {
        let rooms = try TestRooms.grouped(3)
        try rooms.senders[1].ask(.setDeviceMuted(true))
        rooms.settle()
        // 0.25, 0.5, 0.75
        _ = rooms.senders[2].say(.group(.setVolume(0.375)))
        rooms.settle()
        func levels() -> [Double] { rooms.rooms.map { $0.shell.state.device.volume.level } }
        #expect(levels() == [0.125, 0.25, 0.375])
        #expect(rooms.rooms[1].shell.state.device.volume.isMuted)
        try rooms.senders[0].ask(.group(.setVolume(0)))
        rooms.settle()
        #expect(levels() == [0, 0, 0])
        try rooms.senders[0].ask(.group(.setVolume(0.75)))
        rooms.settle()
        #expect(levels() == [0.25, 0.5, 0.75])
        #expect(try rooms.state(1)?.volume == 0.75)
    }

    @Test func `how exactly each plays is seen by all once a second`() throws {
        let rooms = try TestRooms.grouped(2)
        _ = try rooms.senders[0].start()
        rooms.settle()
        let load = try #require(rooms.rooms[1].renderer.currentLoad)
        let report = SyncReport(error: 1_500, largestError: 4_000, cardDrift: 3)
        rooms.rooms[1].renderer.report(.syncChanged(load, report))
        rooms.settle()
        rooms.pass(2)
        #expect(try rooms.state(0)?.members["room-1"]?.sync == report)
        #expect(try rooms.state(1)?.members["room-1"]?.sync == report)
    }

    @Test func `the trim is set live, kept, and told to a new renderer`() throws {
        let rooms = try TestRooms(1)
        let room = rooms.rooms[0]
        #expect(try rooms.senders[0].ask(.setOutputTrim(900_000_000))["outcome"] == "clamped")
        #expect(room.renderer.commands.contains(.setOutputTrim(nanoseconds: 500_000_000)))
        // It is written down a moment later.
        rooms.pass(5)
        #expect(room.store.saved?.outputTrim == 500_000)
        #expect(rooms.senders[0].member("device", "outputTrim") == 500_000_000)
        room.renderer.forgetCommands()
        room.renderer.restart(reason: "test")
        rooms.settle()
        #expect(room.renderer.commands.contains(.setOutputTrim(nanoseconds: 500_000_000)))
    }

    @Test func `a new renderer is told the clock before what is bound to it`() throws {
        let rooms = try TestRooms.grouped(2)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        let anchor = try #require(rooms.anchor(1))
        rooms.rooms[1].renderer.forgetCommands()
        rooms.rooms[1].renderer.restart(reason: "test")
        rooms.settle()
        let commands = rooms.rooms[1].renderer.commands
        let clock = try #require(
            commands.firstIndex { if case .setGroupClock(.some) = $0 { true } else { false } })
        let bind = try #require(commands.firstIndex { if case .bind(_, .some) = $0 { true } else { false } })
        #expect(clock < bind)
        rooms.pass(1)
        #expect(rooms.anchor(1) == anchor)
    }

    @Test func `who is in a group is not taken into another one, and who is in none is told so`() throws {
        let rooms = try TestRooms.grouped(2)
        #expect(
            try rooms.senders[1].refusal(.group(.create(name: "Other", activity: nil, policy: nil)))
                == .groupBusy)
        let other = try #require(GroupSecret(bytes: Array(repeating: 3, count: 32)))
        #expect(try rooms.senders[1].refusal(rooms.invitation(ticket: other.text)) == .groupBusy)
        #expect(try rooms.senders[1].refusal(rooms.invitation()) == nil)
        try rooms.senders[1].ask(.group(.leave(keepsPlaying: false)))
        #expect(try rooms.senders[1].refusal(.group(.setVolume(1))) == .groupUnknown)
    }

    @Test func `a dissolved group is over for all, a removed member's for it alone`() throws {
        let rooms = try TestRooms.grouped(3)
        _ = try rooms.senders[0].start()
        rooms.settle()
        _ = rooms.senders[1].say(.group(.remove(member: "room-2")))
        rooms.settle()
        #expect(try rooms.state(2)?.view?.reason == "removed")
        #expect(try rooms.state(1)?.members.count == 2)
        _ = rooms.senders[1].say(.group(.dissolve))
        rooms.settle()
        #expect(try rooms.state(0) == nil)
        #expect(try rooms.state(1)?.view?.reason == "dissolved")
        for room in rooms.rooms { #expect(room.shell.state.player == nil) }
    }

    @Test func `stopping at one member stops all, and the next item follows`() throws {
        let rooms = try TestRooms.grouped(2)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        try rooms.senders[1].ask(.stop(session: nil))
        rooms.settle()
        for room in rooms.rooms { #expect(room.shell.state.player == nil) }
        _ = try rooms.senders[1].start("http://media.example/b.flac")
        rooms.settle()
        rooms.pass(1)
        #expect(rooms.place(0) == rooms.place(1))
        #expect(try rooms.state(0)?.view?.phase == .joined)
    }

    @Test func `the group goes on when one member cannot play the item`() throws {
        let rooms = try TestRooms.grouped(2)
        let script = rooms.rooms[1].renderer.script
        rooms.rooms[1].renderer.script = { command in
            if case .load(let load, _, _) = command {
                return [.failed(load, MediaFailure(.notFound, "gone"))]
            }
            return script(command)
        }
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        #expect(rooms.anchor(0) != nil)
        #expect(
            try rooms.state(0)?.members["room-1"]?.suspensions == ["coordinatedPlaybackNotPossible"])
    }

    @Test func `when an item has ended everywhere the group plays nothing`() throws {
        let rooms = try TestRooms.grouped(2)
        _ = try rooms.senders[0].start()
        rooms.settle()
        rooms.pass(1)
        for room in rooms.rooms { room.renderer.report(.ended(try #require(room.renderer.currentLoad))) }
        rooms.settle()
        #expect(try rooms.state(0)?.item == nil)
        #expect(try rooms.state(1)?.item == nil)
        for room in rooms.rooms { #expect(room.shell.state.player == nil) }
    }

    @Test func `a receiver that goes away hands its group over`() throws {
        let rooms = try TestRooms.grouped(2)
        rooms.rooms[0].shell.shutDown {}
        rooms.settle()
        rooms.pass(1)
        #expect(try rooms.state(1)?.view?.isHost == true)
    }
}
