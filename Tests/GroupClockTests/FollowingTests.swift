// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing
import Timing

@testable import GroupClock

/// A follower's thread without a thread: a network that takes 0.2 ms each way, and a clock that is 7 s ahead.
private struct Course {
    var following = Following(rate: .unknown)
    var now: Int64 = 1_000_000_000_000
    var isPlaying = true
    var isAnswered = true
    /// Nanoseconds there and back.
    var trip: Int64 = 400_000
    private(set) var requests: [Int64] = []
    private(set) var reports: [ClockReport] = []
    private var mark: UInt64 = 100

    mutating func run(for duration: Int64) {
        let end = now + duration
        while now < end {
            if let report = following.report(at: now, isPlaying: isPlaying) { reports.append(report) }
            if following.nextRequest <= now {
                mark += 1
                following.sent(mark, at: now, isPlaying: isPlaying)
                requests.append(now)
                if isAnswered {
                    now += trip
                    following.received(mark: mark, remote: now + 7_000_000_000 - trip / 2, at: now)
                }
            }
            now = min(max(now + 1, min(following.nextRequest, following.nextReport)), end)
        }
    }

    var state: ClockReport.State? { reports.last?.state }
}

private let second: Int64 = 1_000_000_000

struct FollowingTests {
    @Test func `a quick network is good within half a second`() throws {
        var course = Course()
        course.run(for: second)
        let good = try #require(course.reports.first { $0.state == .synchronised })
        #expect(good.age < second / 2)
        let line = try #require(good.line)
        #expect(abs(line.remote(at: line.local) - line.local - 7 * second) < 20_000)
    }

    @Test(arguments: [
        (ClockRate.unknown, 1_100, 1_300), (ClockRate(partsPerMillion: 1, deviation: 1), 600, 800),
    ])
    func `a slow network is good after a second, or sooner where the rate is remembered`(
        rate: ClockRate, least: Int64, most: Int64
    ) throws {
        var course = Course()
        course.following = Following(rate: rate)
        course.trip = 10_000_000
        course.run(for: 2 * second)
        let good = try #require(course.reports.first { $0.state == .synchronised })
        #expect((least...most).contains(good.age / 1_000_000))
    }

    @Test func `requests are many at first and fewer when more is known`() {
        var course = Course()
        course.run(for: second)
        #expect((100...200).contains(course.requests.count))
        course.run(for: 89 * second)
        let late = course.requests.count { $0 > course.now - 10 * second }
        #expect((150...250).contains(late))
    }

    @Test func `requests are seldom while nothing plays`() {
        var course = Course()
        course.isPlaying = false
        course.run(for: 30 * second)
        let late = course.requests.count { $0 > course.now - 10 * second }
        #expect((15...40).contains(late))
        #expect(course.state == .synchronised)
    }

    @Test func `the distances of requests vary`() {
        var course = Course()
        course.run(for: 30 * second)
        let late = course.requests.suffix(200)
        let distances = zip(late.dropFirst(), late).map(-)
        #expect((distances.max() ?? 0) > 2 * (distances.min() ?? 0))
    }

    @Test func `a clock that is silent is lost and found again`() throws {
        var course = Course()
        course.run(for: 5 * second)
        course.isAnswered = false
        course.run(for: 10 * second)
        #expect(course.state == .lost)
        // The line goes on.
        let line = try #require(course.reports.last?.line)
        #expect(abs(line.remote(at: course.now) - course.now - 7 * second) < 100_000)
        course.isAnswered = true
        course.run(for: second)
        #expect(course.state == .synchronised)
        let states = course.reports.map(\.state)
        #expect(states.count { $0 == .lost } < 110)
    }

    @Test func `nothing is told while nobody answers`() {
        var course = Course()
        course.isAnswered = false
        course.run(for: 10 * second)
        #expect(course.reports.isEmpty)
        #expect((150...250).contains(course.requests.count))
    }

    @Test func `only the first answer to a request counts, and none that comes late`() {
        var following = Following(rate: .unknown)
        for index: Int64 in 1...200 {
            let now = index * 10_000_000
            let mark = UInt64(index)
            following.sent(mark, at: now, isPlaying: true)
            following.received(mark: mark &+ 1_000, remote: 5, at: now + 100_000)
            following.received(mark: mark, remote: now + second, at: now + 200_000)
            following.received(mark: mark, remote: 5, at: now + 300_000)
        }
        let now = 201 * Int64(10_000_000)
        following.sent(999, at: now, isPlaying: true)
        following.received(mark: 999, remote: 5, at: now + 2 * second)
        let report = following.report(at: now + 1, isPlaying: true)
        let line = report?.line
        #expect(abs((line?.remote(at: now) ?? 0) - now - second) < 1_000_000)
    }

    @Test func `reports come ten times a second while something plays`() {
        var course = Course()
        course.run(for: 20 * second)
        let late = course.reports.count { ($0.line?.local ?? 0) > course.now - 10 * second }
        #expect((90...110).contains(late))
    }
}

struct ClockPacketTests {
    @Test func `an answer keeps the mark`() {
        var bytes = [UInt8](repeating: 0, count: 17)
        ClockPacket.request(0x0102_0304_0506_0708, into: &bytes)
        #expect(bytes[..<8] == [1, 2, 3, 4, 5, 6, 7, 8])
        let isAnswer = ClockPacket.answer(&bytes, count: 16, time: 0x1122_3344_5566_7788)
        #expect(isAnswer)
        let read = ClockPacket.read(bytes, count: 16)
        #expect(read?.mark == 0x0102_0304_0506_0708)
        #expect(read?.time == 0x1122_3344_5566_7788)
    }

    @Test func `an answer is not answered`() {
        var bytes = [UInt8](repeating: 0, count: 17)
        ClockPacket.request(1, into: &bytes)
        let first = ClockPacket.answer(&bytes, count: 16, time: 5)
        let second = ClockPacket.answer(&bytes, count: 16, time: 6)
        #expect(first && !second)
    }

    @Test(arguments: [0, 15, 17]) func `other lengths are nothing`(count: Int) {
        var bytes = [UInt8](repeating: 255, count: 17)
        let isAnswered = ClockPacket.answer(&bytes, count: count, time: 5)
        #expect(!isAnswered)
        #expect(ClockPacket.read([UInt8](repeating: 0, count: 17), count: count) == nil)
    }

    @Test func `a time beyond the clock's range is no answer`() {
        #expect(ClockPacket.read([UInt8](repeating: 255, count: 16), count: 16) == nil)
    }
}

struct ClockRateMemoryTests {
    @Test func `a machine that was met is remembered with a little doubt`() {
        let memory = ClockRateMemory(["a": ClockRate(partsPerMillion: 12, deviation: 0.5)])
        #expect(memory.rate(of: "a").partsPerMillion == 12)
        #expect(abs(memory.rate(of: "a").deviation - 1.118) < 0.001)
        #expect(memory.rate(of: "b") == .unknown)
    }

    @Test func `no more than the limit are remembered, the last ones`() {
        let memory = ClockRateMemory()
        var saved: [String: ClockRate] = [:]
        memory.onChange = { saved = $0 }
        for index in 0..<100 { memory.learn(ClockRate(partsPerMillion: 1, deviation: 1), of: "\(index)") }
        memory.learn(ClockRate(partsPerMillion: 2, deviation: 1), of: "40")
        memory.learn(ClockRate(partsPerMillion: 1, deviation: 1), of: "100")
        #expect(saved.count == ClockRateMemory.limit)
        #expect(saved["40"]?.partsPerMillion == 2)
        #expect(saved["36"] == nil)
        #expect(saved == memory.rates)
    }

    @Test func `what is no number is not taken from a file`() {
        let memory = ClockRateMemory(["a": ClockRate(partsPerMillion: .nan, deviation: 1)])
        #expect(memory.rates.isEmpty)
    }
}
