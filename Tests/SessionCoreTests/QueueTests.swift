// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore
import Testing

private func item(_ name: String) -> QueueItem {
    QueueItem(item: MediaItem(uri: "http://example.org/\(name)"), metadata: Metadata(title: name))
}

private let broken = MediaFailure(.notFound, "gone")

extension Scene {
    /// Anna's session with these items, the first of them loaded.
    fileprivate static func queue(_ names: String..., repeats: RepeatMode = .off) -> Scene {
        var scene = Scene()
        scene.joins(1, .anna)
        var request = SessionRequest(
            item: MediaItem(uri: "http://example.org/\(names[0])"), metadata: Metadata(title: names[0]))
        request.following = names.dropFirst().map(item)
        request.repeats = repeats
        scene.happens(.startRequested(scene.request(1), request, fresh: SessionID("s")))
        scene.loads()
        return scene
    }

    @discardableResult
    fileprivate mutating func asks(queue wanted: QueueRequest, _ connection: UInt64 = 1) -> [ReceiverEffect] {
        happens(.queueRequested(request(connection), nil, wanted))
    }

    fileprivate var titles: [String] { session?.queue.entries.map { $0.given.metadata.title ?? "" } ?? [] }
    fileprivate var current: String? {
        session.flatMap { $0.queue[$0.queue.current]?.given.metadata.title }
    }
    fileprivate func id(_ name: String) -> QueueItemID {
        session?.queue.entries.first { $0.given.metadata.title == name }?.id ?? QueueItemID(0)
    }
}

extension [ReceiverEffect] {
    /// What the renderer is told to load, by its name.
    fileprivate var loaded: String? {
        commands.compactMap { if case .load(_, let item, _) = $0 { item.uri.name } else { nil } }.first
    }
    /// What is told to follow; nil if nothing is told.
    fileprivate var upcoming: UpcomingItem? {
        commands.compactMap { if case .prepareNext(_, let next) = $0 { next } else { nil } }.first
    }
    fileprivate var isFollowCancelled: Bool {
        commands.contains { if case .prepareNext(_, nil) = $0 { true } else { false } }
    }
}

extension String {
    fileprivate var name: String { split(separator: "/").last.map { String($0) } ?? "" }
}

struct QueueTests {
    @Test func `a session of one URL is a queue of one, and nothing is told to follow`() {
        var scene = Scene()
        scene.joins(1, .anna)
        scene.starts(1)
        #expect(scene.loads().upcoming == nil)
        #expect(scene.session?.queue.entries.count == 1)
        #expect(scene.reports(.ended(scene.load)).ends == [.finished])
    }

    @Test func `the item that follows is told when the current one is loaded`() {
        var scene = Scene()
        scene.joins(1, .anna)
        var request = SessionRequest(item: MediaItem(uri: "http://a/a"))
        request.following = [item("b")]
        let started = scene.happens(.startRequested(scene.request(1), request, fresh: SessionID("s")))
        #expect(started.upcoming == nil)
        #expect(scene.loads().upcoming?.item.uri.name == "b")
    }

    @Test func `the renderer goes on by itself, and the session shows the next item`() throws {
        var scene = Scene.queue("a", "b", "c")
        scene.reaches(seconds(99))
        scene.asks(.setSpeed(2))
        scene.asks(queue: .setRepeat(.all))
        scene.asks(queue: .setRepeat(.off))
        let next = try #require(scene.session).load
        let told = scene.asks(queue: .insert([item("x")], .next)).upcoming
        #expect(told?.item.uri.name == "x")
        let effects = scene.reports(.advanced(next, to: try #require(told).load))
        #expect(scene.current == "x")
        #expect(scene.session?.metadata.title == "x")
        #expect(scene.session?.position.position == .zero)
        #expect(scene.session?.isReady == true)
        #expect(scene.session?.timeline == .unknown)
        #expect(scene.session?.isBuffering == false)
        let load = try #require(told).load
        #expect(effects.commands.contains(.setPlaying(load, true)))
        #expect(effects.contains(.armLoadTimer(load)))
        let loaded = scene.reports(
            .loaded(load, LoadedMedia(timeline: .file, hasAudio: true, hasVideo: false)))
        #expect(loaded.commands.contains(.setSpeed(load, 2)))
        #expect(loaded.upcoming?.item.uri.name == "b")
    }

    @Test func `a renderer that knows nothing of queues is given each item in its turn`() {
        var scene = Scene.queue("a", "b")
        let effects = scene.reports(.ended(scene.load))
        #expect(effects.loaded == "b")
        #expect(scene.session?.isBuffering == true)
        scene.loads()
        #expect(scene.session?.isBuffering == false)
        #expect(scene.reports(.ended(scene.load)).ends == [.finished])
    }

    @Test
    func `what followed a moment ago and does not any more is replaced when the renderer goes on to it`()
        throws
    {
        var scene = Scene.queue("a", "b")
        let (load, old) = (scene.load, LoadID(scene.load.number + 1))
        let told = scene.asks(queue: .insert([item("c")], .next)).upcoming
        #expect(told?.load != old)
        #expect(scene.reports(.advanced(load, to: old)).loaded == "c")
        #expect(scene.current == "c")
    }

    @Test func `edits name items, so two senders who edit at once both get what they meant`() {
        var scene = Scene.queue("a", "b", "c", "d")
        scene.joins(2, .ben)
        let (b, d) = (scene.id("b"), scene.id("d"))
        scene.asks(queue: .remove([b]), 2)
        #expect(scene.asks(queue: .remove([b])).answer == .accepted)
        #expect(scene.titles == ["a", "c", "d"])
        #expect(scene.asks(queue: .move(d, .next)).answer == .accepted)
        #expect(scene.titles == ["a", "d", "c"])
        #expect(scene.asks(queue: .move(b, .end)).refusal == .itemUnknown)
        #expect(scene.asks(queue: .insert([item("x")], .after(b))).refusal == .itemUnknown)
        #expect(scene.asks(queue: .jump(b)).refusal == .itemUnknown)
        #expect(
            scene.asks(queue: .insert([item("x"), item("y")], .after(d))).answer
                == .inserted([
                    QueueItemID(5), QueueItemID(6),
                ]))
        #expect(scene.titles == ["a", "d", "x", "y", "c"])
        #expect(scene.state.lastOrigin == .sender(RouteID("route 1"), name: Sender.anna.name))
    }

    @Test func `two senders who ask for the next of the same item skip one`() {
        var scene = Scene.queue("a", "b", "c")
        scene.joins(2, .ben)
        let a = scene.id("a")
        #expect(scene.asks(queue: .next(from: a)).loaded == "b")
        let second = scene.asks(queue: .next(from: a), 2)
        #expect(second.answer == .accepted)
        #expect(second.loaded == nil)
        #expect(scene.asks(queue: .next(from: nil), 2).loaded == "c")
    }

    @Test func `next behind the last item ends the session, or begins anew with repeat`() {
        var scene = Scene.queue("a", "b", repeats: .all)
        scene.asks(queue: .next(from: nil))
        #expect(scene.asks(queue: .next(from: nil)).loaded == "a")
        scene.asks(queue: .setRepeat(.off))
        scene.asks(queue: .jump(scene.id("b")))
        #expect(scene.asks(queue: .next(from: nil)).ends == [.finished])
    }

    @Test func `previous begins the item again behind three seconds, and goes back before`() throws {
        var scene = Scene.queue("a", "b")
        scene.asks(queue: .next(from: nil))
        scene.loads()
        scene.reaches(MediaTime(value: 3001, timescale: 1000))
        let again = scene.asks(queue: .previous(from: nil))
        #expect(again.commands == [.seek(scene.load, scene.seek, to: .zero, tolerance: .zero)])
        scene.reports(.seekFinished(scene.load, scene.seek, failure: nil))
        scene.reaches(seconds(3))
        #expect(scene.asks(queue: .previous(from: nil)).loaded == "a")
        // There is none before.
        scene.loads()
        #expect(
            scene.asks(queue: .previous(from: nil)).commands.first
                == .seek(
                    scene.load, scene.seek, to: .zero, tolerance: .zero))
        // What cannot be moved on is loaded again; on a live stream there is no beginning to go back to.
        scene.asks(queue: .jump(scene.id("b")))
        scene.loads(.radio)
        scene.reaches(seconds(500))
        #expect(scene.asks(queue: .previous(from: nil)).loaded == "a")
    }

    @Test func `repeat one has an item follow itself, and next goes on all the same`() throws {
        var scene = Scene.queue("a", "b", repeats: .one)
        let load = scene.load
        let told = scene.asks(queue: .setRepeat(.off)).upcoming
        #expect(told?.item.uri.name == "b")
        let own = try #require(scene.asks(queue: .setRepeat(.one)).upcoming)
        #expect(own.item.uri.name == "a")
        scene.reports(.advanced(load, to: own.load))
        #expect(scene.current == "a")
        #expect(scene.asks(queue: .next(from: nil)).loaded == "b")
    }

    @Test func `a next item that fails is marked and passed over, and the current one plays on`() throws {
        var scene = Scene.queue("a", "b", "c")
        let next = LoadID(scene.load.number + 1)
        let before = scene.session?.position
        let effects = scene.reports(.nextFailed(scene.load, next: next, broken))
        #expect(effects.upcoming?.item.uri.name == "c")
        #expect(scene.session?.queue[scene.id("b")]?.failure == broken)
        #expect(scene.session?.error == nil)
        #expect(scene.session?.position == before)
        #expect(scene.reports(.ended(scene.load)).loaded == "c")
        // Only a jump tries it once more.
        scene.loads()
        #expect(scene.asks(queue: .previous(from: nil)).loaded == "a")
        #expect(scene.asks(queue: .jump(scene.id("b"))).loaded == "b")
        #expect(scene.session?.queue[scene.id("b")]?.failure == nil)
    }

    @Test func `a current item that fails makes room for the next`() {
        var scene = Scene.queue("a", "b")
        #expect(scene.reports(.failed(scene.load, broken)).loaded == "b")
        #expect(scene.session?.queue[scene.id("a")]?.failure == broken)
        #expect(scene.reports(.failed(scene.load, broken)).ends == [.failed(broken)])
    }

    @Test func `five failures in a row end the session`() {
        var scene = Scene.queue("a", "b", "c", "d", "e", "f", "g", repeats: .all)
        for _ in 1...4 { #expect(scene.reports(.failed(scene.load, broken)).ends == []) }
        #expect(scene.reports(.failed(scene.load, broken)).ends == [.failed(broken)])
    }

    @Test func `an item that is loaded ends a row of failures`() {
        var scene = Scene.queue("a", "b", "c", "d", "e", "f", "g", "h")
        for _ in 1...4 { scene.reports(.failed(scene.load, broken)) }
        scene.loads()
        for _ in 1...2 { #expect(scene.reports(.failed(scene.load, broken)).ends == []) }
        #expect(scene.current == "g")
    }

    @Test
    func `when all that followed has failed, the session ends with that failure after the current item`() {
        var scene = Scene.queue("a", "b")
        scene.reports(.nextFailed(scene.load, next: LoadID(scene.load.number + 1), broken))
        #expect(scene.session != nil)
        #expect(scene.reports(.ended(scene.load)).ends == [.failed(broken)])
    }

    @Test func `the second crash with one item is that item's failure, and the next item has its own count`()
    {
        var scene = Scene.queue("a", "b")
        for _ in 1...2 {
            scene.reports(.exited(reason: ""))
            scene.reports(.started(.closed))
        }
        #expect(scene.current == "b")
        scene.loads()
        scene.reports(.exited(reason: ""))
        #expect(scene.current == "b")
        #expect(scene.reports(.started(.closed)).loaded == "b")
    }

    @Test func `an item that does not load in time is passed over`() {
        var scene = Scene.queue("a", "b", "c")
        scene.asks(queue: .next(from: nil))
        #expect(scene.happens(.loadTimedOut(scene.load)).loaded == "c")
    }

    @Test func `removing the current item goes to the next, and removing all ends the session`() {
        var scene = Scene.queue("a", "b", "c")
        #expect(scene.asks(queue: .remove([scene.id("a"), scene.id("b")])).loaded == "c")
        #expect(scene.titles == ["c"])
        #expect(scene.asks(queue: .remove([scene.id("c")])).ends == [.stopped])
    }

    @Test func `clearing leaves the current item alone, and nothing follows it any more`() {
        var scene = Scene.queue("a", "b", "c")
        #expect(scene.asks(queue: .clear).isFollowCancelled)
        #expect(scene.titles == ["a"])
    }

    @Test func `each item brings its own segments and metadata`() {
        var scene = Scene.queue("a")
        let segment = Segment(range: span(10, 20), requiresLinearPlayback: true)
        var other = item("b")
        (other.segments, other.item.startPosition) = ([segment], seconds(5))
        scene.asks(queue: .insert([other], .end))
        scene.asks(queue: .next(from: nil))
        #expect(scene.session?.position.position == seconds(5))
        scene.loads()
        #expect(scene.session?.segments.count == 3)
        scene.reaches(seconds(12))
        #expect(scene.asks(.seek(to: seconds(50), tolerance: .zero)).refusal == .linearPlayback)
        #expect(scene.asks(queue: .previous(from: nil)).refusal == .linearPlayback)
    }

    @Test func `what is beyond the limits is refused as a whole`() {
        var scene = Scene.queue("a")
        let many = (0..<999).map { item("\($0)") }
        #expect(scene.asks(queue: .insert(many, .end)).answer != nil)
        #expect(scene.asks(queue: .insert([item("x")], .end)).refusal == .limitReached)
        #expect(scene.titles.count == 1000)
        scene.asks(queue: .clear)
        let wordy = (0..<300).map {
            QueueItem(
                item: MediaItem(uri: "http://a/\($0)"),
                metadata: Metadata(title: String(repeating: "\"", count: 500)))
        }
        #expect(scene.asks(queue: .insert(wordy, .end)).refusal == .limitReached)
        let long = (0..<600).map { _ in
            QueueItem(item: MediaItem(uri: "http://a/" + String(repeating: "b", count: 8000)))
        }
        #expect(scene.asks(queue: .insert(long, .end)).refusal == .limitReached)
        #expect(
            scene.asks(queue: .insert([QueueItem(item: MediaItem(uri: "gopher://a/b"))], .end)).refusal
                == .unsupportedScheme)
        #expect(scene.titles == ["a"])
    }

    @Test func `the words for a failure are cut`() {
        var scene = Scene.queue("a", "b")
        let wordy = MediaFailure(.decode, String(repeating: "w", count: 10_000))
        scene.reports(.failed(scene.load, wordy))
        #expect(scene.session?.queue[scene.id("a")]?.failure?.message.utf8.count == 256)
    }

    @Test(arguments: [
        ("http://a/b/My%20song.mp3?token=secret#x", "My song.mp3"), ("http://user:pass@host", "host"),
        ("http://host:80/", "host:80"), ("http://a/%ff%zz", "%ff%zz"), ("http://a/%0a%41", "A"),
    ])
    func `an item without a title is named by its address, without what may be secret`(
        _ uri: String, _ name: String
    ) throws {
        let queue = try PlayQueue([QueueItem(item: MediaItem(uri: uri))])
        #expect(queue.entries.first?.name == name)
    }

    @Test func `only a route may change a queue, and only while something plays`() {
        var scene = Scene()
        scene.happens(.connectionOpened(ConnectionID(1)))
        #expect(scene.asks(queue: .clear).refusal == .routeRequired)
        scene.activates(1, .anna)
        #expect(scene.asks(queue: .clear).refusal == .noSession)
    }
}
