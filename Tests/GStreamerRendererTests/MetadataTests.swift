// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import MediaModel
import Testing

@testable import GStreamerRenderer

private func tags(_ change: (inout TagValues) -> Void) -> TagValues {
    var tags = TagValues()
    change(&tags)
    return tags
}

@Suite struct `What is said of media` {
    @Test func `begins anew with each link of a chain, but for the station`() {
        var words = WordsOfMedia()
        words.learn(
            tags { ($0.organization, $0.genre, $0.isOfServer) = ("Station", "Jazz", true) },
            isTrackTitle: false)
        words.learn(
            tags { ($0.title, $0.artist, $0.album, $0.isOfStream) = ("A", "Band", "LP", true) },
            isTrackTitle: false)
        #expect(
            words.metadata
                == Metadata(title: "A", subtitle: "Band", album: "LP", station: "Station", genre: "Jazz"))
        words.beginAnew()
        #expect(words.metadata.title == "A")
        words.learn(tags { ($0.title, $0.isOfStream) = ("B", true) }, isTrackTitle: false)
        #expect(words.metadata == Metadata(title: "B", station: "Station", genre: "Jazz"))
    }

    @Test func `is the station's title before that of a tag, until it is empty`() {
        var words = WordsOfMedia()
        words.list.title = "From the list"
        #expect(words.metadata.title == "From the list")
        words.learn(tags { $0.title = "Tag" }, isTrackTitle: false)
        words.told = "Song"
        #expect(words.metadata.title == "Song")
        words.told = ""
        #expect(words.metadata.title == "Tag")
    }

    @Test func `is cleaned of what no line may hold`() {
        var words = WordsOfMedia()
        words.learn(
            tags { ($0.title, $0.artist) = ("A\u{1b}[2J\nB", "\u{202e}\u{7}") }, isTrackTitle: false)
        #expect(words.metadata == Metadata(title: "A [2J B"))
    }

    @Test func `is reported at once, and when it changes all the time, once a second`() {
        var pacer = Pacer()
        let second: Int64 = 1_000_000_000
        let passed = (0..<100).filter { _ in pacer.delay(now: 5 * second) == nil }.count
        #expect(passed == 8)
        #expect(pacer.isWaiting)
        #expect(pacer.delay(now: 5 * second) == 0)
        pacer.isWaiting = false
        #expect(pacer.delay(now: 6 * second) == nil)
        #expect(pacer.delay(now: 6 * second) == second)
        pacer.isWaiting = false
        // After a while of peace as much as ever may pass.
        #expect((0..<100).filter { _ in pacer.delay(now: 100 * second) == nil }.count == 8)
    }
}
