// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Soup
import Testing

@testable import MediaSource

/// A text as it stands between the sound.
private func block(_ text: String) -> [UInt8] {
    let units = (text.utf8.count + 15) / 16
    return [UInt8(units)] + text.utf8 + [UInt8](repeating: 0, count: units * 16 - text.utf8.count)
}

@Suite struct `What a station sends` {
    @Test func `is taken apart alike, however it is cut into pieces`() {
        let whole = pattern(0..<40)
        let parts: [[UInt8]] = [
            Array(whole[0..<10]), block("StreamTitle='A';"), Array(whole[10..<20]), [0],
            Array(whole[20..<30]),
            block("StreamTitle='';StreamUrl='b';"), Array(whole[30..<40]), [0],
        ]
        let bytes = Array(parts.joined())
        for size in [1, 2, 3, 7, 16, 17, 1000] {
            var stream = StationStream(interval: 10)
            var sound: [UInt8] = []
            var titles: [String] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let found = stream.take(Array(bytes[start..<min(start + size, bytes.count)]))
                titles += found.titles.map { "\($0.title)@\(sound.count + $0.place)" }
                sound += found.sound
            }
            #expect(sound == whole)
            #expect(titles == ["A@10", "@30"])
        }
    }

    @Test func `may hold the longest text that a byte can announce, and any byte there`() {
        var stream = StationStream(interval: 1)
        let text = [UInt8](repeating: 0xff, count: StationStream.longestText)
        let found = stream.take([1, 255] + text + [2, 0, 3])
        #expect(found.sound == [1, 2, 3])
        #expect(found.titles.isEmpty)
    }

    @Test(arguments: [
        ("StreamTitle='A - B';StreamUrl='http://x/';", "A - B"), ("StreamTitle='It's';", "It's"),
        ("StreamTitle='a';b';", "a';b"), ("StreamTitle='a'; StreamUrl='';", "a"), ("StreamTitle='';", ""),
        ("StreamTitle='", ""), ("StreamTitle='a", "a"), ("StreamTitle='a'", "a"), ("StreamTitle=a;b", "a"),
        ("StreamTitle=", ""), ("STREAMTITLE='a';", "a"), ("StreamUrl='';StreamTitle='a';", "a"),
        ("StreamTitle='a\u{1}\r\nb';", "a b"), ("StreamTitle='''';", "''"), ("StreamTitle=';';", ";"),
    ])
    func `has the title that was meant`(text: String, title: String) {
        #expect(StationStream.title(in: Array(text.utf8)) == title)
        #expect(StationStream.title(in: text.utf8 + [0, 0, 0x41]) == title)
    }

    @Test(arguments: ["", "StreamUrl='a';", "XStreamTitle='a';", "StreamTitle", "\u{0}StreamTitle='a';"])
    func `need not have a title`(text: String) {
        #expect(StationStream.title(in: Array(text.utf8)) == nil)
    }

    @Test func `tells the same title once, and forgets the oldest of too many`() {
        var shelf = TitleShelf()
        shelf.add("a", at: 10)
        shelf.add("a", at: 20)
        #expect(shelf.title(at: 10) == "a")
        #expect(shelf.title(at: 20) == nil)
        #expect(shelf.next(after: 9) == 10)
        for number in 0..<100 { shelf.add("\(number)", at: Int64(100 + number)) }
        #expect(shelf.title(at: 10) == nil)
        #expect(shelf.next(after: 0) == Int64(200 - TitleShelf.limit))
        shelf.add("new", at: 199)
        #expect(shelf.title(at: 199) == "new")
    }
}

@Suite struct `The fetch of a station` {
    private static let second: Int64 = 1_000_000_000
    private static func answer(interval: String = "10", _ more: [HTTPHeader] = []) -> HTTPAnswer {
        HTTPAnswer(
            status: 200,
            headers: [HTTPHeader("icy-metaint", interval), HTTPHeader("icy-name", "S")] + more)
    }

    private static func opened(_ answer: HTTPAnswer = answer()) -> FetchState {
        var state = FetchState(uri: "http://a.example/")
        _ = state.next()
        state.answered(answer, now: 0)
        _ = state.next()
        return state
    }

    @Test func `gives sound alone, in pieces that end where a title begins`() {
        var state = Self.opened()
        state.received(pattern(0..<10) + block("StreamTitle='A';") + pattern(10..<15), now: 0)
        #expect(state.facts?.isEndless == true)
        #expect(state.title(at: 0) == nil)
        #expect(state.read(at: 0, maximum: 100) == .bytes(pattern(0..<10)))
        #expect(state.title(at: 10) == "A")
        #expect(state.read(at: 10, maximum: 100) == .bytes(pattern(10..<15)))
    }

    @Test func `goes on behind what is here on another connection, which counts from its beginning`() {
        var state = Self.opened()
        state.received(pattern(0..<10) + [0] + pattern(10..<14), now: 0)
        state.bodyEnded(now: 10 * Self.second)
        #expect(state.next() == .rest(.zero))
        state.rested()
        // No place is asked for: there is none.
        #expect(state.next() == .open(uri: "http://a.example/", offset: 0, guarding: nil))
        state.answered(
            Self.answer(interval: "3", [HTTPHeader("ETag", "\"other\"")]), now: 10 * Self.second)
        #expect(state.next() == .read)
        state.received(pattern(14..<17) + block("StreamTitle='B';") + pattern(17..<18), now: 10 * Self.second)
        #expect(state.read(at: 0, maximum: 100) == .bytes(pattern(0..<17)))
        #expect(state.title(at: 17) == "B")
        #expect(state.failure == nil)
    }

    @Test
    func `asks a station that hangs up at once with growing pauses, and one that is away for two minutes`() {
        var state = Self.opened()
        var pauses: [Duration] = []
        var now: Int64 = 0
        for turn in 0..<6 {
            state.received(pattern(Int64(turn)..<Int64(turn) + 1), now: now)
            state.bodyEnded(now: now)
            if case .rest(let pause)? = state.next() { pauses.append(pause) }
            state.rested()
            _ = state.next()
            state.answered(Self.answer(), now: now)
            _ = state.next()
        }
        #expect(pauses == [.zero, .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(4)])
        state.bodyEnded(now: now)
        while state.failure == nil, now < 200 * Self.second {
            now += 4 * Self.second
            state.rested()
            _ = state.next()
            state.answered(HTTPAnswer(status: 404), now: now)
        }
        #expect(state.failure?.httpStatus == 404)
        #expect((120 * Self.second...130 * Self.second).contains(now))
    }

    @Test(arguments: ["0", "-1", "x", "", "99999999999"])
    func `without a sensible interval has no texts`(interval: String) {
        var state = Self.opened(Self.answer(interval: interval))
        state.received(pattern(0..<100), now: 0)
        #expect(state.read(at: 0, maximum: 100) == .bytes(pattern(0..<100)))
    }

    @Test func `that has a length ends there`() {
        var answer = Self.answer()
        answer.contentLength = 28
        var state = Self.opened(answer)
        #expect(state.facts?.isEndless == false)
        state.received(pattern(0..<10) + [1] + [UInt8](repeating: 0, count: 16) + pattern(10..<11), now: 0)
        state.bodyEnded(now: 0)
        #expect(state.read(at: 11, maximum: 100) == .end)
    }
}
