// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import Playlists

struct PlaylistWalkTests {
    private let gone = MediaFailure(.notFound, "not found", httpStatus: 404)

    private func list(_ urls: [String], title: String? = nil) -> Playlist {
        Playlist(format: .m3u, title: title, entries: urls.map { .init(urls: [$0]) })
    }

    private func opened(_ step: PlaylistWalk.Step) throws -> PlaylistWalk.Item {
        guard case .open(let item) = step else {
            Issue.record("\(step)")
            throw gone
        }
        return item
    }

    @Test func `media that is no playlist ends as it ends`() {
        var walk = PlaylistWalk("http://h/a")
        #expect(walk.current?.url == "http://h/a")
        #expect(walk.apply(.startedPlaying(0)) == .none)
        #expect(walk.apply(.ended(0)) == .finished)
        #expect(walk.current == nil)
        var other = PlaylistWalk("http://h/a")
        #expect(other.apply(.failed(0, gone)) == .failed(gone))
        #expect(other.apply(.ended(0)) == .none)
    }

    @Test func `entries come in order, and after a failure the next`() throws {
        var walk = PlaylistWalk("http://h/l")
        let one = try opened(
            walk.apply(.foundPlaylist(0, list(["http://h/1", "http://h/2", "http://h/3"]), at: "http://h/l")))
        #expect((one.url, one.number, one.depth) == ("http://h/1", 1, 1))
        let two = try opened(walk.apply(.failed(1, gone)))
        #expect(two.url == "http://h/2")
        #expect(walk.apply(.startedPlaying(2)) == .none)
        #expect(try opened(walk.apply(.ended(2))).url == "http://h/3")
        #expect(walk.apply(.ended(3)) == .finished)
        #expect(walk.failures == 1)
    }

    @Test func `events about earlier items are dropped`() throws {
        var walk = PlaylistWalk("http://h/l")
        _ = walk.apply(.foundPlaylist(0, list(["http://h/1", "http://h/2"]), at: "http://h/l"))
        _ = walk.apply(.failed(1, gone))
        let before = walk
        for event in [
            .failed(1, gone), .ended(1), .startedPlaying(0), .foundPlaylist(1, list(["x"]), at: "y"),
            .ended(7),
        ] as [PlaylistWalk.Event] {
            #expect(walk.apply(event) == .none)
            #expect(walk == before)
        }
    }

    @Test func `another place of the content is tried before the next entry, and only after a failure`()
        throws
    {
        var walk = PlaylistWalk("http://h/l")
        let two = Playlist(format: .asx, entries: [.init(urls: ["a", "b", "c"]), .init(urls: ["d", "e"])])
        #expect(try opened(walk.apply(.foundPlaylist(0, two, at: "http://h/l"))).url == "a")
        #expect(try opened(walk.apply(.failed(1, gone))).url == "b")
        _ = walk.apply(.startedPlaying(2))
        #expect(try opened(walk.apply(.ended(2))).url == "d")
        #expect(try opened(walk.apply(.failed(3, gone))).url == "e")
        #expect(walk.apply(.ended(4)) == .finished)
    }

    @Test func `a playlist inside is walked where it stands, and gives its titles to what has none`() throws {
        var walk = PlaylistWalk("http://h/l", title: "asked")
        var outer = list(["http://h/a", "http://h/in", "http://h/z"], title: "Outer")
        outer.entries[1].title = "Station"
        outer.entries[1].userAgent = "Player"
        let first = try opened(walk.apply(.foundPlaylist(0, outer, at: "http://h/l")))
        #expect((first.title, first.playlistTitle) == ("asked", "Outer"))
        #expect(try opened(walk.apply(.ended(1))).title == "Station")
        var inner = list(["http://h/1", "http://h/2"])
        inner.entries[1].title = "Own"
        let one = try opened(walk.apply(.foundPlaylist(2, inner, at: "http://h/in")))
        #expect((one.url, one.title, one.playlistTitle) == ("http://h/1", "Station", "Outer"))
        #expect((one.userAgent, one.depth) == ("Player", 2))
        #expect(try opened(walk.apply(.ended(3))).title == "Own")
        #expect(try opened(walk.apply(.ended(4))).url == "http://h/z")
    }

    @Test func `when a playlist inside has nothing that plays its entry's other place is tried`() throws {
        var walk = PlaylistWalk("http://h/l")
        let outer = Playlist(format: .asx, entries: [.init(urls: ["http://h/in", "http://h/other"])])
        _ = walk.apply(.foundPlaylist(0, outer, at: "http://h/l"))
        _ = walk.apply(.foundPlaylist(1, list(["http://h/1"]), at: "http://h/in"))
        #expect(try opened(walk.apply(.failed(2, gone))).url == "http://h/other")
        #expect(walk.apply(.ended(3)) == .finished)
    }

    @Test func `a list of dead entries fails with the first cause, and says how many`() {
        var walk = PlaylistWalk("http://h/l")
        _ = walk.apply(.foundPlaylist(0, list(["http://h/1", "http://h/2"]), at: "http://h/l"))
        _ = walk.apply(.failed(1, gone))
        guard case .failed(let failure) = walk.apply(.failed(2, MediaFailure(.timeout, "x"))) else {
            Issue.record("it goes on")
            return
        }
        #expect(failure == gone)
        #expect(failure.message == "nothing in the playlist plays; 2 failed, first: not found")
    }

    @Test func `the one station of a list fails with its own words`() {
        var walk = PlaylistWalk("http://h/l")
        _ = walk.apply(.foundPlaylist(0, list(["http://h/dead", "http://h/live"]), at: "http://h/l"))
        _ = walk.apply(.failed(1, gone))
        _ = walk.apply(.startedPlaying(2))
        let cut = MediaFailure(.network, "the connection was cut")
        guard case .failed(let failure) = walk.apply(.failed(2, cut)) else {
            Issue.record("it goes on")
            return
        }
        #expect((failure, failure.message) == (cut, cut.message))
    }

    @Test func `thousands of dead entries are not tried`() {
        var walk = PlaylistWalk("http://h/l")
        _ = walk.apply(.foundPlaylist(0, list((1...1_000).map { "http://h/\($0)" }), at: "http://h/l"))
        var step = PlaylistWalk.Step.none
        var count = 0
        while let number = walk.current?.number {
            step = walk.apply(.failed(number, gone))
            count += 1
        }
        #expect(count == 10)
        #expect(step == .failed(gone))
        // What plays in between begins the count anew.
        var other = PlaylistWalk("http://h/l")
        _ = other.apply(.foundPlaylist(0, list((1...30).map { "http://h/\($0)" }), at: "http://h/l"))
        while let number = other.current?.number {
            step = other.apply(number % 9 == 0 ? .ended(number) : .failed(number, gone))
        }
        #expect(step == .finished)
        #expect(other.failures == 27)
    }

    @Test func `a loop is named, without query and user, and the next entry is opened`() throws {
        var walk = PlaylistWalk("http://h/l.m3u")
        _ = walk.apply(
            .foundPlaylist(0, list(["http://h/in?x=1", "http://h/2"]), at: "http://me:pw@g/final.m3u?key=1"))
        // Back to the address after the redirect: known before it is opened.
        let loop = list(["http://me:pw@g/final.m3u?key=1#x"])
        #expect(try opened(walk.apply(.foundPlaylist(1, loop, at: "http://h/in"))).url == "http://h/2")
        // Known only by the redirect.
        guard
            case .failed(let failure) = walk.apply(
                .foundPlaylist(2, list(["http://h/3"]), at: "http://h/l.m3u"))
        else {
            Issue.record("it goes on")
            return
        }
        #expect(failure.code == .unsupportedFormat)
        #expect(failure.message.hasSuffix("the playlist leads back to itself: http://g/final.m3u"))
    }

    @Test func `a playlist that names only itself fails at once`() {
        var walk = PlaylistWalk("http://h/l")
        let step = walk.apply(.foundPlaylist(0, list(["http://h/l"]), at: "http://h/l"))
        #expect(step == .failed(MediaFailure(.unsupportedFormat, "")))
    }

    @Test func `nesting has a depth`() {
        var walk = PlaylistWalk("http://h/0")
        var step = PlaylistWalk.Step.none
        var depth = 0
        while let item = walk.current {
            step = walk.apply(
                .foundPlaylist(item.number, list(["http://h/\(item.number + 1)"]), at: item.url))
            depth = max(depth, item.depth)
        }
        #expect(step == .failed(MediaFailure(.unsupportedFormat, "")))
        #expect(depth == 5)
    }

    @Test func `playlists that lead nowhere are not opened without end`() {
        var walk = PlaylistWalk("http://h/0")
        var opened = 0
        let wide = { (depth: Int, number: Int) in
            list(depth == 4 ? [] : (0..<1_000).map { "http://h/\(number)/\($0)" })
        }
        while let item = walk.current {
            opened += 1
            _ = walk.apply(.foundPlaylist(item.number, wide(item.depth, item.number), at: item.url))
        }
        #expect(opened <= 21)
    }

    @Test func `an empty playlist fails by itself, and is passed over in another`() throws {
        var walk = PlaylistWalk("http://h/l")
        #expect(
            walk.apply(.foundPlaylist(0, list([]), at: "http://h/l"))
                == .failed(MediaFailure(.unsupportedFormat, "")))
        var other = PlaylistWalk("http://h/l")
        _ = other.apply(.foundPlaylist(0, list(["http://h/in", "http://h/2"]), at: "http://h/l"))
        #expect(try opened(other.apply(.foundPlaylist(1, list([]), at: "http://h/in"))).url == "http://h/2")
    }

    @Test func `a local file is marked`() throws {
        var walk = PlaylistWalk("http://h/l")
        let item = try opened(walk.apply(.foundPlaylist(0, list(["file:///etc/passwd"]), at: "http://h/l")))
        #expect(item.isLocalFile)
    }

    /// Every sequence of events to a depth: the walk stays inside its bounds and always comes to an end.
    @Test func `every sequence of events ends`() {
        var limits = PlaylistWalk.Limits()
        (limits.depth, limits.failures, limits.playlists) = (2, 4, 3)
        var ends = 0
        func walkOn(_ walk: PlaylistWalk, _ last: PlaylistWalk.Step, _ steps: Int) {
            guard let item = walk.current else {
                ends += 1
                switch last {
                case .finished, .failed: break
                case .open, .none: Issue.record("over without an outcome")
                }
                return
            }
            #expect(item.depth <= 2)
            guard steps > 0 else {
                Issue.record("no end")
                return
            }
            for event in [
                .failed(item.number, gone), .ended(item.number),
                .foundPlaylist(
                    item.number, list(["http://h/a\(item.number)", "http://h/l", "http://h/b"]), at: item.url),
            ] as [PlaylistWalk.Event] {
                var next = walk
                let step = next.apply(event)
                if case .open(let opened) = step { #expect(opened == next.current) }
                walkOn(next, step, steps - 1)
            }
        }
        walkOn(PlaylistWalk("http://h/l", limits: limits), .none, 40)
        #expect(ends > 30)
    }
}
