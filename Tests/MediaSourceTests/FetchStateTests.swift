// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Soup
import Testing

@testable import MediaSource

private let home = "http://a.example/x"

/// A resource of `length` bytes whose server gives parts.
private func answer(
    _ status: Int32 = 200, from start: Int64 = 0, of length: Int64? = 10_000_000, tag: String? = nil
)
    -> HTTPAnswer
{
    var headers: [HTTPHeader] = []
    if let tag { headers.append(HTTPHeader("ETag", tag)) }
    if status == 206, let length {
        headers.append(HTTPHeader("Content-Range", "bytes \(start)-\(length - 1)/\(length)"))
    }
    return HTTPAnswer(status: status, headers: headers, contentLength: length.map { $0 - start })
}

@Suite struct `The state of a fetch` {
    /// Opened, with the first `count` bytes here and the next piece asked for.
    private static func opened(_ first: HTTPAnswer = answer(), count: Int64 = 1000) -> FetchState {
        var state = FetchState(uri: home)
        _ = state.next()
        state.answered(first, now: 0)
        _ = state.next()
        state.received(pattern(0..<count), now: 0)
        _ = state.next()
        return state
    }

    @Test func `asks for the beginning, and reads on until enough lies ahead`() {
        var state = FetchState(uri: home)
        #expect(state.next() == .open(uri: home, offset: 0, guarding: nil))
        #expect(state.next() == nil)
        state.answered(answer(), now: 0)
        var place: Int64 = 0
        func fetch() {
            while state.next() == .read {
                #expect(state.next() == nil)
                state.received(pattern(place..<place + 65_536), now: 0)
                place += 65_536
            }
        }
        fetch()
        // At the beginning, little: what is needed first has the network and the processor for itself.
        #expect(place == Int64(state.limits.firstAhead))
        #expect(!state.awaitsMove)
        // The more is read in a stretch, the more.
        var read: Int64 = 0
        while read < 2 << 20, case .bytes(let bytes) = state.read(at: read, maximum: 65_536) {
            read += Int64(bytes.count)
            fetch()
            #expect(place - read <= 512 << 10)
        }
        #expect(place - read > 350_000)
        #expect(state.awaitsMove)
        _ = state.read(at: 5_000_000, maximum: 10)
        #expect(!state.awaitsMove)
    }

    @Test func `is to be looked at only while there is something to do`() {
        var state = Self.opened(answer(), count: 131_072)
        // Enough lies ahead, and goes on to do so for a while.
        #expect(state.isDue() == false)
        _ = state.read(at: 0, maximum: 4_096)
        #expect(state.isDue() == false)
        _ = state.read(at: 4_096, maximum: 32_768)
        // Asking changes nothing.
        #expect(state.isDue() == true)
        #expect(state.isDue() == true)
        #expect(state.next() == .read)
        #expect(state.isDue() == false)
        _ = state.read(at: 5_000_000, maximum: 10)
        #expect(state.isDue() == true)
        #expect(state.next() == .drop)
    }

    @Test func `knows whether places far apart cost little`() {
        func givesPlaces(_ answer: HTTPAnswer) -> Bool { Self.opened(answer).givesPlaces }
        func saying(_ ranges: String, length: Int64?) -> HTTPAnswer {
            HTTPAnswer(
                status: 200, headers: [HTTPHeader("Accept-Ranges", ranges)], contentLength: length)
        }
        #expect(givesPlaces(saying("bytes", length: 10_000_000)))
        #expect(!givesPlaces(saying("none", length: 10_000_000)))
        #expect(!givesPlaces(saying("bytes", length: nil)))
        // Nothing was said: only what is fetched whole anyhow.
        #expect(!givesPlaces(answer()))
        #expect(givesPlaces(answer(of: 900_000)))
        var state = Self.opened()
        _ = state.read(at: 5_000_000, maximum: 10)
        _ = (state.next(), state.next())
        state.answered(answer(206, from: 5_000_000), now: 0)
        #expect(state.givesPlaces)
    }

    @Test func `asks at another place when the reader goes far, and reads on when it goes near`() {
        var state = Self.opened()
        #expect(state.read(at: 5_000_000, maximum: 10) == .none)
        #expect(state.next() == .drop)
        #expect(state.next() == .open(uri: home, offset: 5_000_000, guarding: nil))
        state.answered(answer(206, from: 5_000_000), now: 0)
        #expect(state.next() == .read)
        state.received(pattern(5_000_000..<5_001_000), now: 0)
        #expect(state.read(at: 5_000_000, maximum: 3) == .bytes(pattern(5_000_000..<5_000_003)))
        #expect(state.read(at: 5_100_000, maximum: 3) == .none)
        #expect(state.next() == .read)
    }

    @Test func `a lost connection is made again at once, then later and later, with the version guarded`() {
        var state = Self.opened(answer(tag: "\"one\""))
        var rests: [Duration] = []
        for _ in 0..<3 {
            state.broke(HTTPFault(.broken, "reset"), now: 0)
            guard case .rest(let delay)? = state.next() else { break }
            rests.append(delay)
            #expect(state.next() == nil)
            state.rested()
            #expect(state.next() == .open(uri: home, offset: 1000, guarding: "\"one\""))
            // The server is there, and has nothing more.
            state.answered(answer(206, from: 1000, tag: "\"one\""), now: 0)
            _ = state.next()
        }
        #expect(rests == [.zero, .milliseconds(500), .seconds(1)])
        state.broke(HTTPFault(.broken, "reset"), now: 0)
        #expect(state.failure?.code == .network)
        #expect(state.next() == nil)
        // What is here is given first.
        #expect(state.read(at: 0, maximum: 1000) == .bytes(pattern(0..<1000)))
        #expect(state.read(at: 1000, maximum: 1) == .failed(MediaFailure(.network, "")))
    }

    @Test(arguments: [HTTPFault.Kind.connecting, .resolving, .silence, .broken])
    func `a server that is gone is tried for two minutes, counted from the first fault`(fault: HTTPFault.Kind)
        throws
    {
        var state = Self.opened()
        // Nobody has read for an hour.
        let begin: Int64 = 3_600_000_000_000
        var now = begin
        var tries = 0
        state.broke(HTTPFault(.silence, ""), now: now)
        while state.failure == nil {
            guard case .rest(let delay)? = state.next() else { break }
            #expect(state.trouble != nil)
            now += Int64(delay / .nanoseconds(1)) + 1_000_000_000
            state.rested()
            _ = state.next()
            tries += 1
            state.broke(HTTPFault(fault, "gone"), now: now)
        }
        #expect(now - begin >= 120_000_000_000 && now - begin < 126_000_000_000)
        #expect(tries > 20)
        #expect(state.failure?.code == .timeout)
        #expect(state.failure?.message.contains("within 120 seconds") == true)
    }

    @Test func `a server that is gone from the beginning is not waited for`() {
        var state = FetchState(uri: home)
        _ = state.next()
        state.broke(HTTPFault(.connecting, "no route"), now: 0)
        #expect(state.failure?.code == .network)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504] as [Int32])
    func `a busy server is asked three times more, when it likes`(status: Int32) {
        var state = FetchState(uri: home)
        var rests: [Duration] = []
        for pause in [nil, "3", "junk", "99999999"] {
            _ = state.next()
            state.answered(
                HTTPAnswer(status: status, headers: pause.map { [HTTPHeader("Retry-After", $0)] } ?? []),
                now: 0)
            if case .rest(let delay)? = state.next() { rests.append(delay) }
            state.rested()
        }
        #expect(rests == [.milliseconds(500), .seconds(3), .seconds(2)])
        #expect(state.failure?.httpStatus == status)
    }

    @Test
    func `a server that is busy later is waited for like one that is gone, and the failure has its status`() {
        var state = Self.opened()
        state.broke(HTTPFault(.broken, "reset"), now: 0)
        for turn in 0..<20 {
            _ = state.next()
            state.rested()
            _ = state.next()
            state.answered(answer(503), now: Int64(turn) * 5_000_000_000)
        }
        #expect(state.failure == nil)
        _ = state.next()
        state.rested()
        _ = state.next()
        state.answered(answer(503), now: 121_000_000_000)
        #expect(state.failure?.httpStatus == 503)
    }

    @Test(arguments: [204, 205] as [Int32])
    func `an answer without content is a failure with its status`(status: Int32) {
        var state = FetchState(uri: home)
        _ = state.next()
        state.answered(HTTPAnswer(status: status), now: 0)
        #expect(state.failure?.httpStatus == status)
    }

    @Test func `a range that is refused is the end only if the server says where that is`() {
        for (length, isEnd) in [
            ("bytes */1000", true), ("bytes */900", true), ("bytes */10000000", false), ("", false),
        ] {
            var state = Self.opened()
            state.broke(HTTPFault(.broken, "reset"), now: 0)
            _ = state.next()
            state.rested()
            _ = state.next()
            state.answered(
                HTTPAnswer(status: 416, headers: [HTTPHeader("Content-Range", length)], contentLength: 0),
                now: 0)
            #expect((state.read(at: 1000, maximum: 1) == .end) == isEnd, "\(length)")
        }
    }

    @Test func `a station's end is none, and asks for no part`() {
        let radio = HTTPAnswer(status: 200, headers: [HTTPHeader("icy-name", "A")])
        var state = Self.opened(radio)
        state.bodyEnded(now: 0)
        #expect(state.next() == .rest(.zero))
        state.rested()
        #expect(state.next() == .open(uri: home, offset: 0, guarding: nil))
        state.answered(radio, now: 0)
        _ = state.next()
        state.received([9, 8], now: 1)
        #expect(state.read(at: 1000, maximum: 2) == .bytes([9, 8]))
        // It was there for a moment only: the count goes on.
        state.bodyEnded(now: 2)
        #expect(state.next() == .rest(.milliseconds(500)))
        // A station that is there again for long begins a new count.
        state.rested()
        _ = state.next()
        state.answered(radio, now: 3)
        _ = state.next()
        state.received([7], now: 6_000_000_000)
        #expect(state.trouble == nil)
        state.bodyEnded(now: 6_000_000_001)
        #expect(state.next() == .rest(.zero))
    }

    @Test func `progress starts the count again`() {
        var state = Self.opened()
        for turn in Int64(1)...20 {
            state.broke(HTTPFault(.broken, "reset"), now: turn)
            _ = state.next()
            state.rested()
            let place = turn * 1000
            #expect(state.next() == .open(uri: home, offset: place, guarding: nil))
            state.answered(answer(206, from: place), now: turn)
            _ = state.next()
            state.received(pattern(place..<place + 1000), now: turn)
            _ = state.next()
        }
        #expect(state.failure == nil)
    }

    @Test func `a live stream goes on with what it brings now`() {
        var state = Self.opened(answer(of: nil))
        state.broke(HTTPFault(.broken, "reset"), now: 0)
        _ = state.next()
        state.rested()
        _ = state.next()
        state.answered(answer(of: nil), now: 0)
        #expect(state.next() == .read)
        state.received([1, 2, 3], now: 0)
        #expect(state.read(at: 1000, maximum: 3) == .bytes([1, 2, 3]))
        #expect(!state.isSeekable)
    }

    @Test func `an address that a redirection led to is left when it is good no more`() {
        var state = FetchState(uri: home)
        _ = state.next()
        state.answered(HTTPAnswer(status: 302, location: "http://b.example/y"), now: 0)
        #expect(state.next() == .open(uri: "http://b.example/y", offset: 0, guarding: nil))
        state.answered(answer(), now: 0)
        _ = state.next()
        state.received(pattern(0..<1000), now: 0)
        state.broke(HTTPFault(.broken, "reset"), now: 0)
        _ = state.next()
        state.rested()
        #expect(state.next() == .open(uri: "http://b.example/y", offset: 1000, guarding: nil))
        state.answered(answer(403), now: 0)
        _ = state.next()
        state.rested()
        #expect(state.next() == .open(uri: home, offset: 1000, guarding: nil))
    }

    @Test(arguments: [
        "bytes", "bytes 5", "bytes 5-", "bytes -5/9", "bytes a-b/c", "items 0-1/2",
        "bytes 9223372036854775808-1/2", "bytes 9223372036854775000-1/2",
    ])
    func `a range that makes no sense is none`(text: String) { #expect(ContentRange(text) == nil) }

    /// Walks every sequence of events to a depth: nothing traps, the cap holds, and a step is never asked for twice.
    @Test func `any order of events is borne`() {
        let events: [(inout FetchState) -> Void] = [
            { $0.answered(answer(), now: 1) }, { $0.answered(answer(206, from: 7), now: 1) },
            { $0.answered(answer(416), now: 1) },
            { $0.answered(HTTPAnswer(status: 302, location: "http://b.example/y"), now: 1) },
            { $0.received([1, 2, 3], now: 1) }, { $0.bodyEnded(now: 1) },
            { $0.broke(HTTPFault(.broken, ""), now: 1) }, { $0.rested() }, { $0.close() },
            { _ = $0.read(at: 7, maximum: 2) }, { _ = $0.read(at: .max, maximum: 2) },
        ]
        func walk(_ state: FetchState, depth: Int) {
            guard depth > 0 else { return }
            for event in events {
                var next = state
                event(&next)
                var steps: [FetchState.Step] = []
                while steps.count < 5, let step = next.next() { steps.append(step) }
                // To drop, to open, to read or to rest; then something must come first.
                if steps.count > 2 { Issue.record("\(steps)") }
                if next.isClosed, next.cache.count > 0 { Issue.record("bytes are kept after the end") }
                walk(next, depth: depth - 1)
            }
        }
        walk(FetchState(uri: home), depth: 3)
        walk(Self.opened(), depth: 3)
        walk(Self.opened(answer(of: nil)), depth: 3)
        walk(
            Self.opened(
                HTTPAnswer(
                    status: 200, headers: [HTTPHeader("icy-name", "A"), HTTPHeader("icy-metaint", "7")])),
            depth: 3)
    }
}

@Suite struct `A server that begins anew` {
    @Test func `sends the same when all of the beginning is the same`() {
        var comparison = NewBeginning(after: 9, expecting: [1, 2, 3])
        #expect(comparison.add([1, 2]) == .undecided)
        #expect(comparison.add([3, 4]) == .same([1, 2, 3, 4]))
    }

    @Test func `is live when a byte differs`() {
        var comparison = NewBeginning(after: 9, expecting: [1, 2, 3])
        #expect(comparison.add([1]) == .undecided)
        #expect(comparison.add([5]) == .live([1, 5]))
    }
}
