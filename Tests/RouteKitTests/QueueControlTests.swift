// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Testing

@testable import RouteKit

@RouteActor struct QueueControlTests {
    private static func queue(_ names: [String], current: String, _ mode: WireRepeat = .off) -> QueueDocument
    {
        let items = names.map { ($0, QueueItemDocument(name: "\($0).flac")) }
        return QueueDocument(
            current: current, order: names, items: Dictionary(items) { first, _ in first }, repeats: mode)
    }

    /// A route to a scripted receiver, and a session on it.
    private func session(
        _ receiver: ScriptedReceiver, _ change: (inout RouteSession.Options) -> Void = { _ in }
    ) async throws -> (RouteController, MediaSession) {
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)
        let route = try await controller.activate(receiver.receiver)
        let session = RouteSession(url: "http://example.org/1.flac")
        change(&session.options)
        route.addSession(session)
        return (controller, try await session.start())
    }

    @Test func `mirrors the receiver's queue, item by item`() async throws {
        let receiver = try ScriptedReceiver()
        let (controller, media) = try await session(receiver)
        let queue = media.playbackControl.queue
        #expect(queue.items.isEmpty)
        receiver.change {
            $0.sessions[ScriptedReceiver.session]?.queue = Self.queue(["1", "2", "3"], current: "1", .all)
        }
        #expect(await reached(queue.updates()) { queue.items.map(\.name) == ["1.flac", "2.flac", "3.flac"] })
        #expect(queue.current?.id == "1")
        #expect(queue.repeatMode == .all)
        receiver.change {
            $0.sessions[ScriptedReceiver.session]?.queue?.items["2"]?.error = MediaFailure(.notFound, "gone")
            $0.sessions[ScriptedReceiver.session]?.queue?.order = ["3", "2", "1"]
        }
        #expect(await reached(queue.updates()) { queue.items.map(\.id) == ["3", "2", "1"] })
        #expect(queue.items[1].error?.code == .notFound)
        _ = controller
    }

    @Test func `asks for edits by the names of items, and next by the item that is shown`() async throws {
        let receiver = try ScriptedReceiver()
        receiver.replies["queue.insert"] = { _ in .result(Outcome.value(.array(["7", "8"])).json) }
        let (controller, media) = try await session(receiver)
        let queue = media.playbackControl.queue
        receiver.change {
            $0.sessions[ScriptedReceiver.session]?.queue = Self.queue(["1", "2"], current: "1")
        }
        #expect(await reached(queue.updates()) { queue.items.count == 2 })
        var item = RouteKit.QueueItem(url: "http://example.org/3.flac")
        item.title = "Three"
        #expect(try await queue.insert([item, item], at: .after("1")) == ["7", "8"])
        try await queue.remove(["2"])
        try await queue.move("1", to: .end)
        try await queue.jump(to: "2")
        try await queue.next()
        try await queue.previous()
        try await queue.clear()
        let asked = receiver.asked.compactMap { asked -> RouteWire.QueueCommand? in
            if case .queue(ScriptedReceiver.session, let command) = asked.request { command } else { nil }
        }
        let wire = QueueItemRequest(url: "http://example.org/3.flac", title: "Three")
        #expect(
            asked == [
                .insert([wire, wire], .after("1")), .remove(["2"]), .move("1", .end), .jump("2"),
                .next(from: "1"), .previous(from: "1"), .clear,
            ])
        _ = controller
    }

    @Test func `a list that is too long for one request goes in several, each after the one before`()
        async throws
    {
        let receiver = try ScriptedReceiver()
        var count = 0
        receiver.replies["queue.insert"] = { request in
            guard case .queue(_, .insert(let items, _)) = request else { return .silence }
            count += items.count
            return .result(Outcome.value(.array(items.indices.map { .text("\(count)-\($0)") })).json)
        }
        let (controller, media) = try await session(receiver) { options in
            options.following = (0..<20).map { number in
                RouteKit.QueueItem(
                    url: "http://example.org/\(number)" + String(repeating: "x", count: 8_000))
            }
        }
        guard case .start(let start)? = receiver.requests("session.start").first?.request else { return }
        let asked = receiver.requests("queue.insert").map(\.request)
        #expect(start.items.count == 6 && asked.count == 3)
        #expect(start.items.count + count == 20)
        guard case .queue(_, .insert(_, .after(let name))) = asked[1] else {
            Issue.record("not after the last of the part before")
            return
        }
        #expect(name == "6-5")
        _ = (controller, media)
    }

    @Test func `a refusal is thrown and kept, and the mode of repeat is the receiver's again`() async throws {
        let receiver = try ScriptedReceiver()
        receiver.replies["queue.setRepeat"] = { _ in .refusal(RouteError(.routeRequired, "no")) }
        receiver.replies["queue.jump"] = { _ in .refusal(RouteError(.itemUnknown, "gone")) }
        let (controller, media) = try await session(receiver)
        let queue = media.playbackControl.queue
        queue.repeatMode = .one
        #expect(queue.repeatMode == .one)
        await #expect(throws: RoutingError(.itemUnknown, family: .playback, "")) {
            try await queue.jump(to: "9")
        }
        #expect(queue.repeatMode == .off)
        #expect(queue.lastRefusal?.command == .jump(to: "9"))
        _ = controller
    }

    @Test func `a session that is over takes no more edits`() async throws {
        let receiver = try ScriptedReceiver()
        let (controller, media) = try await session(receiver)
        receiver.tell(
            Notification.sessionEnded(
                session: ScriptedReceiver.session, reason: "finished", by: nil, error: nil))
        #expect(await media.ended() == .finished)
        await #expect(throws: RoutingError(.ended, family: .session, "")) {
            try await media.playbackControl.queue.next()
        }
        _ = controller
    }
}
