// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

private func items(_ count: Int, title: Int = 10) -> [QueueItemRequest] {
    (0..<count).map {
        QueueItemRequest(
            url: "http://media.example/\($0)?token=secret", title: String(repeating: "t", count: title))
    }
}

/// The commands that said what follows.
private func told(_ receiver: TestReceiver) -> [UpcomingItem?] {
    receiver.renderer.commands.compactMap {
        if case .prepareNext(_, let upcoming) = $0 { .some(upcoming) } else { nil }
    }
}

@Suite("The queue on the wire") struct QueueWireTests {
    private let receiver: TestReceiver
    private let sender: TestSender
    private let session: String

    init() throws {
        receiver = try TestReceiver.running()
        sender = TestSender(receiver)
        try sender.activate()
        session = try sender.start()
        receiver.settle()
        try sender.read()
        sender.changes = []
    }

    private var order: [String] {
        sender.member("sessions", session, "queue", "order")?.arrayValue?.compactMap(\.textValue) ?? []
    }

    @Test func `a URL alone is a queue of one`() throws {
        #expect(order == ["1"])
        #expect(sender.member("sessions", session, "queue", "current") == "1")
        #expect(sender.member("sessions", session, "queue", "items", "1", "name") == "a.flac")
        #expect(told(receiver).isEmpty)
    }

    @Test func `an insert is answered with names, and the step holds the new items alone`() throws {
        try sender.ask(.queue(session: nil, .insert(items(500), .end)))
        sender.changes = []
        let answer = try sender.ask(.queue(session: nil, .insert(items(2), .next)))
        #expect(answer["value"] == .array(["502", "503"]))
        let patch = try #require(sender.changes.last?.patch)
        let changed = patch["sessions"]?[session]?["queue"]
        #expect(changed?["items"]?.objectValue?.count == 2)
        #expect(Array(order.prefix(3)) == ["1", "502", "503"])
        #expect(JSONText.encode(patch).utf8.count < 8_192)
        #expect(told(receiver).last??.item.uri == "http://media.example/0?token=secret")
        // What was asked for with the URL is nobody else's business.
        #expect(!JSONText.encode(sender.state).contains("secret"))
        #expect(try snapshot(receiver) == sender.state)
    }

    @Test func `the fullest queue fits the frame of a state, and a position is still a small step`() throws {
        for _ in 0..<9 {
            #expect(try sender.refusal(.queue(session: nil, .insert(items(111, title: 240), .end))) == nil)
        }
        #expect(order.count == 1_000)
        #expect(try sender.refusal(.queue(session: nil, .insert(items(1), .end))) == .limitReached)
        let text = JSONText.encode(try sender.ask(.getState))
        #expect(text.utf8.count < WireLimits.serverFrame / 2, "\(text.utf8.count)")
        sender.changes = []
        let load = try #require(receiver.renderer.currentLoad)
        receiver.renderer.report(
            .positionChanged(
                load,
                PlaybackPosition(position: MediaTime(value: 5, timescale: 1), clockTime: 9, rate: 1)))
        try sender.read()
        let step = try #require(sender.changes.last?.patch)
        #expect(JSONText.encode(step).utf8.count < 400)
    }

    @Test func `the renderer's going on is pushed as one step that content caused`() throws {
        try sender.ask(.queue(session: nil, .insert(items(1), .end)))
        sender.changes = []
        let next = try #require(told(receiver).last ?? nil)
        let load = try #require(receiver.renderer.currentLoad)
        receiver.renderer.report(.advanced(load, to: next.load))
        try sender.read()
        #expect(sender.changes.count == 1)
        #expect(sender.changes.last?.origin == .content)
        #expect(sender.member("sessions", session, "queue", "current") == "2")
        #expect(sender.member("sessions", session, "metadata", "title") == "tttttttttt")
        #expect(sender.member("sessions", session, "isReady") == true)
    }

    @Test func `an item that fails shows why, and leaves the session alone`() throws {
        try sender.ask(.queue(session: nil, .insert(items(1), .end)))
        let next = try #require(told(receiver).last ?? nil)
        let load = try #require(receiver.renderer.currentLoad)
        receiver.renderer.report(
            .nextFailed(load, next: next.load, MediaFailure(.notFound, "gone", httpStatus: 404)))
        try sender.read()
        #expect(sender.member("sessions", session, "queue", "items", "2", "error", "httpStatus") == 404)
        #expect(sender.member("sessions", session, "error") == nil)
        #expect(try sender.ask(.queue(session: nil, .jump("2")))["outcome"] == "accepted")
        #expect(sender.member("sessions", session, "queue", "items", "2", "error") == nil)
    }

    @Test(arguments: ["2", "0", "x", "01", "-1", "18446744073709551616", "+1"])
    func `a name that is no item's is refused`(_ name: String) throws {
        #expect(try sender.refusal(.queue(session: nil, .jump(name))) == .itemUnknown)
        #expect(try sender.refusal(.queue(session: nil, .move("1", .after(name)))) == .itemUnknown)
    }

    @Test func `a session is started with its whole queue`() throws {
        let result = try sender.ask(
            .start(
                SessionStart(url: "http://media.example/a", identifier: "a", items: items(3), repeats: .one)))
        let session = try #require(result["session"]?.textValue)
        #expect(sender.member("sessions", session, "queue", "order") == .array(["1", "2", "3", "4"]))
        #expect(sender.member("sessions", session, "queue", "items", "1", "identifier") == "a")
        #expect(sender.member("sessions", session, "queue", "repeat") == "one")
        receiver.settle()
        #expect(told(receiver).last??.item.uri == "http://media.example/a")
    }
}
