// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

private func url(_ name: String) -> String { "http://media.example/\(name)?key=secret" }

private func items(_ names: String...) -> [QueueItemRequest] { names.map { QueueItemRequest(url: url($0)) } }

extension TestRooms {
    /// What a room plays, as its senders see it.
    func session(_ index: Int) throws -> (id: String, document: SessionDocument)? {
        let state = try StateDocument(json: snapshot(rooms[index]))
        return state.player.flatMap { id in state.sessions[id].map { (id, $0) } }
    }

    /// The names of the queue's items in a room, in order, the current one in brackets.
    func queue(_ index: Int) throws -> [String]? {
        try session(index)?.document.queue.map { queue in
            queue.order.map {
                let name = queue.items[$0]?.name ?? ""
                return $0 == queue.current ? "[\(name)]" : name
            }
        }
    }

    func queues(_ count: Int) throws -> Set<[String]?> { Set(try (0..<count).map { try queue($0) }) }

    /// What the renderer of a room has, by the last part of its address.
    func loaded(_ index: Int) -> String? {
        for case .load(_, let item, _) in rooms[index].renderer.commands.reversed() {
            return item.uri.split(separator: "/" as Character).last?.split(separator: "?" as Character).first
                .map { String($0) }
        }
        return nil
    }

    /// Asks at a room, and returns the answer when all has been said.
    func ask(_ index: Int, _ command: QueueCommand) throws -> Result<JSONValue, RouteError> {
        let id = senders[index].say(.queue(session: nil, command))
        settle()
        return try #require(senders[index].answer(to: id))
    }

    /// Starts an album of three at a room, and lets it play for a second.
    func playAlbum(at index: Int, _ repeats: WireRepeat = .off) throws {
        try senders[index].ask(
            .start(SessionStart(url: url("a"), items: items("b", "c"), repeats: repeats)))
        settle()
        pass(1)
    }

    /// The item of a room has been played to its end.
    func end(_ index: Int) throws {
        rooms[index].renderer.report(.ended(try #require(rooms[index].renderer.currentLoad)))
        settle()
    }

    /// Has the renderer of a room make nothing of these items.
    func spoil(_ index: Int, _ names: Set<String>) {
        let script = rooms[index].renderer.script
        rooms[index].renderer.script = { command in
            guard case .load(let load, let item, _) = command,
                let name = item.uri.split(separator: "/" as Character).last?.first,
                names.contains(String(name))
            else { return script(command) }
            return [.failed(load, MediaFailure(.notFound, "gone"))]
        }
    }
}

struct GroupQueueTests {
    @Test(arguments: [0, 1])
    func `an album is played from its first item to its last on all members, in one session`(
        starter: Int
    ) throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: starter)
        let sessions = try (0..<2).map { try #require(try rooms.session($0)?.id) }
        for name in ["a", "b", "c"] {
            for index in 0..<2 {
                #expect(try rooms.queue(index) == ["a", "b", "c"].map { $0 == name ? "[\($0)]" : $0 })
                #expect(rooms.loaded(index) == name)
                let session = try #require(try rooms.session(index))
                #expect(session.id == sessions[index])
                #expect(session.document.isPlaying && session.document.isGrouped)
            }
            #expect(rooms.place(0) == rooms.place(1))
            #expect(try #require(rooms.place(0)) > 0)
            // Nothing follows before all have heard the end.
            try rooms.end(0)
            #expect(rooms.loaded(0) == name)
            try rooms.end(1)
            rooms.pass(1)
        }
        for (room, sender) in zip(rooms.rooms, rooms.senders) {
            #expect(room.shell.state.player == nil)
            guard case .sessionEnded(_, "finished", _, _, _) = sender.ended.last else {
                Issue.record("the session has not finished")
                continue
            }
        }
    }

    @Test(arguments: [0, 1])
    func `the queue is changed and moved in by a sender of any member`(asked: Int) throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 1 - asked)
        func expect(_ names: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
            rooms.pass(1)
            #expect(try rooms.queues(2) == [names], sourceLocation: sourceLocation)
            let current = names.first { $0.hasPrefix("[") }?.dropFirst().dropLast()
            for index in 0..<2 {
                #expect(rooms.loaded(index) == current.map { String($0) }, sourceLocation: sourceLocation)
            }
            #expect(rooms.place(0) == rooms.place(1), sourceLocation: sourceLocation)
            #expect(try rooms.session(asked)?.document.isPlaying == true, sourceLocation: sourceLocation)
        }
        let names = try rooms.ask(asked, .insert(items("x", "y"), .next)).get()["value"]
        #expect(names == ["4", "5"])
        try expect("[a]", "x", "y", "b", "c")
        _ = try rooms.ask(asked, .next(from: nil)).get()
        try expect("a", "[x]", "y", "b", "c")
        // Somebody else was quicker: nothing happens.
        _ = try rooms.ask(asked, .next(from: "1")).get()
        try expect("a", "[x]", "y", "b", "c")
        _ = try rooms.ask(asked, .remove(["4"])).get()
        try expect("a", "[y]", "b", "c")
        _ = try rooms.ask(asked, .previous(from: nil)).get()
        try expect("[a]", "y", "b", "c")
        _ = try rooms.ask(asked, .move("3", .start)).get()
        try expect("c", "[a]", "y", "b")
        _ = try rooms.ask(asked, .jump("2")).get()
        try expect("c", "a", "y", "[b]")
        _ = try rooms.ask(asked, .clear).get()
        try expect("[b]")
        guard case .failure(let error) = try rooms.ask(asked, .jump("77")) else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .itemUnknown)
        _ = try rooms.ask(asked, .next(from: nil)).get()
        for room in rooms.rooms { #expect(room.shell.state.player == nil) }
    }

    @Test func `behind its first seconds previous begins the item again`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 0)
        _ = try rooms.ask(1, .next(from: nil)).get()
        rooms.pass(5)
        let load = rooms.rooms[1].renderer.currentLoad
        _ = try rooms.ask(1, .previous(from: nil)).get()
        rooms.pass(1)
        #expect(try rooms.queues(2) == [["a", "[b]", "c"]])
        #expect(rooms.rooms[1].renderer.currentLoad == load)
        let place = try #require(rooms.place(1))
        #expect(place > 0 && place < 3_000_000_000)
        #expect(rooms.place(0) == place)
    }

    @Test func `an item or all are repeated for as long as that is wanted`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 1, .all)
        func over() throws {
            for index in 0..<2 { try rooms.end(index) }
            rooms.pass(1)
        }
        for name in ["b", "c", "a", "b"] {
            try over()
            #expect(rooms.loaded(0) == name && rooms.loaded(1) == name)
        }
        _ = try rooms.ask(0, .setRepeat(.one)).get()
        #expect(try rooms.session(1)?.document.queue?.repeats == .one)
        let load = rooms.rooms[1].renderer.currentLoad
        try over()
        #expect(rooms.loaded(0) == "b" && rooms.loaded(1) == "b")
        #expect(rooms.rooms[1].renderer.currentLoad != load)
        #expect(rooms.place(0) == rooms.place(1))
        _ = try rooms.ask(0, .setRepeat(.off)).get()
        try over()
        #expect(rooms.loaded(0) == "c")
    }

    @Test func `speed and pause are kept from item to item`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 0)
        try rooms.senders[1].ask(.setSpeed(session: nil, 1.5))
        rooms.settle()
        for index in 0..<2 { try rooms.end(index) }
        rooms.pass(1)
        #expect(rooms.anchor(0)?.rate == 1.5)
        #expect(rooms.anchor(1)?.rate == 1.5)
        try rooms.senders[0].ask(.setPlaying(session: nil, false))
        rooms.settle()
        _ = try rooms.ask(1, .next(from: nil)).get()
        rooms.pass(1)
        #expect(rooms.loaded(0) == "c" && rooms.loaded(1) == "c")
        #expect(rooms.anchor(0) == nil && rooms.anchor(1) == nil)
        #expect(try rooms.session(0)?.document.isPlaying == false)
        try rooms.senders[0].ask(.setPlaying(session: nil, true))
        rooms.settle()
        rooms.pass(1)
        #expect(rooms.anchor(1)?.rate == 1.5)
    }

    @Test func `who cannot play an item waits for the next one, in the same session`() throws {
        let rooms = try TestRooms.grouped(2)
        rooms.spoil(1, ["b"])
        try rooms.playAlbum(at: 1)
        let session = try rooms.session(1)?.id
        for index in 0..<2 { try rooms.end(index) }
        rooms.pass(1)
        #expect(rooms.loaded(0) == "b")
        #expect(rooms.anchor(0) != nil)
        #expect(try rooms.state(0)?.members["room-1"]?.suspensions == ["coordinatedPlaybackNotPossible"])
        #expect(try rooms.session(1)?.document.error?.code == .notFound)
        // It is nobody else's fault.
        #expect(try rooms.session(0)?.document.queue?.items["2"]?.error == nil)
        try rooms.end(0)
        rooms.pass(1)
        #expect(try rooms.queues(2) == [["a", "b", "[c]"]])
        #expect(rooms.place(0) == rooms.place(1))
        #expect(try rooms.session(1)?.id == session)
        #expect(try rooms.session(1)?.document.error == nil)
        #expect(try rooms.state(0)?.members["room-1"]?.suspensions == [])
    }

    @Test func `an item that nobody can play is marked and passed over`() throws {
        let rooms = try TestRooms.grouped(2)
        for index in 0..<2 { rooms.spoil(index, ["b"]) }
        try rooms.playAlbum(at: 1)
        _ = try rooms.ask(0, .next(from: nil)).get()
        rooms.pass(1)
        #expect(try rooms.queues(2) == [["a", "b", "[c]"]])
        #expect(rooms.place(0) == rooms.place(1))
        for index in 0..<2 {
            let queue = try #require(try rooms.session(index)?.document.queue)
            #expect(queue.items["2"]?.error?.code == .notFound)
        }
    }

    @Test func `five items in a row that nobody can play end it`() throws {
        let rooms = try TestRooms.grouped(2)
        for index in 0..<2 { rooms.spoil(index, ["b", "x"]) }
        try rooms.senders[1].ask(
            .start(SessionStart(url: url("a"), items: items("b", "x1", "x2", "x3", "x4", "z"))))
        rooms.settle()
        rooms.pass(1)
        for index in 0..<2 { try rooms.end(index) }
        rooms.pass(1)
        for index in 0..<2 {
            #expect(rooms.loaded(index) == "x4")
            #expect(rooms.rooms[index].shell.state.player == nil)
        }
        // The group is there for the next.
        try rooms.playAlbum(at: 0)
        #expect(rooms.place(0) == rooms.place(1))
    }

    @Test func `when the host is lost the next has the queue whole`() throws {
        let rooms = try TestRooms.grouped(3)
        try rooms.playAlbum(at: 1)
        _ = try rooms.ask(2, .insert(items("x"), .end)).get()
        for index in 0..<3 { try rooms.end(index) }
        rooms.pass(1)
        let session = try rooms.session(2)?.id
        rooms.network.cut(TestRooms.port(0))
        rooms.settle()
        rooms.pass(2)
        for index in [1, 2] { #expect(try rooms.queue(index) == ["a", "[b]", "c", "x"]) }
        for index in [1, 2] { try rooms.end(index) }
        rooms.pass(1)
        for index in [1, 2] {
            #expect(try rooms.queue(index) == ["a", "b", "[c]", "x"])
            #expect(rooms.loaded(index) == "c")
        }
        #expect(rooms.place(1) == rooms.place(2))
        #expect(try rooms.session(2)?.id == session)
        let names = try rooms.ask(2, .insert(items("y"), .end)).get()["value"]
        #expect(names == ["5"])
    }

    @Test func `an end that the lost host has heard is not lost with it`() throws {
        let rooms = try TestRooms.grouped(3)
        try rooms.playAlbum(at: 1)
        for index in [1, 2] { try rooms.end(index) }
        rooms.network.cut(TestRooms.port(0))
        rooms.settle()
        rooms.pass(2)
        for index in [1, 2] {
            #expect(try rooms.queue(index) == ["a", "[b]", "c"])
            #expect(rooms.loaded(index) == "b")
        }
        #expect(rooms.place(1) == rooms.place(2))
        #expect(try #require(rooms.place(2)) > 0)
    }

    @Test func `a queue that plays becomes the group's, and is shown to who joins`() throws {
        let rooms = try TestRooms(2)
        try rooms.senders[0].ask(
            .start(SessionStart(url: url("a"), items: items("b", "c"), repeats: .all)))
        rooms.settle()
        _ = try rooms.ask(0, .next(from: nil)).get()
        _ = try rooms.ask(0, .remove(["1"])).get()
        let session = try rooms.session(0)?.id
        let load = rooms.rooms[0].renderer.currentLoad
        try rooms.create()
        try rooms.join(1)
        rooms.pass(1)
        #expect(try rooms.queues(2) == [["[b]", "c"]])
        #expect(try rooms.session(0)?.id == session)
        #expect(rooms.rooms[0].renderer.currentLoad == load)
        #expect(try rooms.session(1)?.document.queue?.repeats == .all)
        #expect(rooms.place(0) == rooms.place(1))
        // Names go on where they were.
        #expect(try rooms.ask(1, .insert(items("x"), .end)).get()["value"] == ["4"])
    }

    @Test func `who leaves and plays on keeps the queue`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 0)
        try rooms.senders[1].ask(.group(.leave(keepsPlaying: true)))
        rooms.settle()
        #expect(try rooms.queue(1) == ["[a]", "b", "c"])
        // Alone, what follows is made ready, as ever.
        #expect(
            rooms.rooms[1].renderer.commands.contains {
                if case .prepareNext(_, .some(let next)) = $0 { next.item.uri == url("b") } else { false }
            })
        try rooms.end(1)
        #expect(rooms.loaded(1) == "b")
        #expect(rooms.loaded(0) == "a")
        _ = try rooms.ask(1, .next(from: nil)).get()
        #expect(try rooms.queue(1) == ["a", "b", "[c]"])
        #expect(try rooms.queue(0) == ["[a]", "b", "c"])
    }

    @Test func `who leaves between two items goes on to the next`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 0)
        try rooms.end(1)
        try rooms.senders[1].ask(.group(.leave(keepsPlaying: true)))
        rooms.settle()
        #expect(try rooms.queue(1) == ["a", "[b]", "c"])
        #expect(rooms.loaded(1) == "b")
    }

    @Test func `a request to a queue that has given way to another one hits nothing`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 0)
        // The member has not heard of it when it is asked.
        try rooms.senders[0].ask(.start(SessionStart(url: url("x"), items: items("y", "z"))))
        guard case .failure(let error) = try rooms.ask(1, .remove(["2"])) else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .itemUnknown)
        #expect(try rooms.queues(2) == [["[x]", "y", "z"]])
    }

    @Test func `while the host is sought a request is refused`() throws {
        let rooms = try TestRooms.grouped(3)
        try rooms.playAlbum(at: 0)
        rooms.network.cut(TestRooms.port(0))
        let id = rooms.senders[2].say(.queue(session: nil, .next(from: nil)))
        rooms.settle()
        guard case .failure(let error) = rooms.senders[2].answer(to: id) else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .groupUnavailable)
    }

    @Test func `a group that was cut in two takes the queue of the host that stays`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 0)
        rooms.network.cut(TestRooms.port(0))
        rooms.settle()
        rooms.pass(2)
        _ = try rooms.ask(0, .insert(items("old"), .end)).get()
        _ = try rooms.ask(1, .insert(items("new"), .end)).get()
        _ = try rooms.ask(1, .next(from: nil)).get()
        rooms.network.heal(TestRooms.port(0))
        rooms.pass(12)
        #expect(try rooms.state(0)?.host == "room-1")
        #expect(try rooms.queues(2) == [["a", "[b]", "c", "new"]])
        #expect(rooms.loaded(0) == "b")
        #expect(rooms.place(0) == rooms.place(1))
    }

    @Test func `a queue that cannot be told to members is refused, and what was there stays`() throws {
        let rooms = try TestRooms.grouped(2)
        try rooms.playAlbum(at: 0)
        let long = (0..<6).map {
            QueueItemRequest(url: url("long\($0)") + String(repeating: "x", count: 8_000))
        }
        var refusals = 0
        for _ in 0..<14 {
            if case .failure(let error) = try rooms.ask(1, .insert(long, .end)) {
                #expect(error.code == .limitReached)
                refusals += 1
            }
        }
        #expect(refusals == 4)
        #expect(try rooms.queue(0)?.count == 63)
        #expect(try rooms.queues(2).count == 1)
        #expect(try rooms.state(1)?.view?.phase == .joined)
        // Alone there is room for it; then it cannot become a group's.
        try rooms.senders[1].ask(.group(.leave(keepsPlaying: true)))
        rooms.settle()
        _ = try rooms.ask(1, .insert(long, .end)).get()
        #expect(
            try rooms.senders[1].refusal(.group(.create(name: "Own", activity: nil, policy: nil)))
                == .limitReached)
        #expect(try rooms.state(1) == nil)
    }
}
