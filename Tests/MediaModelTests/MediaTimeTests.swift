// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

private func time(_ value: Int64, _ timescale: Int32) -> MediaTime {
    MediaTime(value: value, timescale: timescale)
}

private let extremes: [MediaTime] = {
    let values: [Int64] = [
        .min, .min + 1, -9_223_372_037, -1, 0, 1, 9_223_372_036, 10_000_000_000, .max - 1, .max,
    ]
    let scales: [Int32] = [1, 2, 3, 44_100, 90_000, 1_000_000_000, .max]
    return values.flatMap { value in scales.map { time(value, $0) } } + [
        .positiveInfinity, .negativeInfinity, .indefinite, .invalid,
    ]
}()

struct MediaTimeTests {
    @Test func `a timescale below 1 makes the time invalid`() {
        #expect(time(1, 0) == .invalid)
        #expect(time(1, .min) == .invalid)
    }

    @Test(
        arguments: [
            (time(1, 1), 1_000_000_000), (time(-3, 2), -1_500_000_000), (time(1, 3), 333_333_333),
            (time(2, 3), 666_666_667), (time(-2, 3), -666_666_667), (time(1, 2_000_000_000), 1),
            (time(-1, 2_000_000_000), -1), (time(1, 2_000_000_001), 0), (time(90_001, 90_000), 1_000_011_111),
        ] as [(MediaTime, Int64)])
    func `nanoseconds are rounded to the nearest, halves away from zero`(_ time: MediaTime, _ count: Int64) {
        #expect(time.nanoseconds == count)
    }

    @Test(
        arguments: [
            (time(10_000_000_000, 1), Int64.max), (time(.max, 1), .max), (time(-10_000_000_000, 1), .min),
            (time(.min, 1), .min), (time(.max, 1_000_000_000), .max), (time(.min, 1_000_000_000), .min),
            (time(.max, .max), 4_294_967_298_000_000_000),
            (time(9_223_372_036, 1), 9_223_372_036_000_000_000), (time(.max, 999_999_999), .max),
        ] as [(MediaTime, Int64)])
    func `nanoseconds saturate at the ends of Int64`(_ time: MediaTime, _ count: Int64) {
        #expect(time.nanoseconds == count)
    }

    @Test(arguments: extremes)
    func `nothing that can be asked of an extreme time traps`(_ one: MediaTime) {
        #expect(one.isNumeric == (one.nanoseconds != nil))
        #expect(one.isNumeric == (one.name == nil))
        #expect(!one.description.isEmpty)
        #expect(one.seconds.isNaN == (one == .indefinite || one == .invalid))
        for other in extremes {
            #expect(!(one < other && other < one))
            #expect(one.isSameMoment(as: other) == other.isSameMoment(as: one))
            let range = TimeRange(start: one, duration: other)
            #expect(!(range.duration < .zero))
            #expect(!one.isNumeric || !(range.end < one))
            if range.end.isNumeric, one.isNumeric {
                for moment in extremes where moment.isNumeric {
                    let clamped = range.clamp(moment)
                    #expect(!(clamped < range.start) && !(range.end < clamped))
                }
            }
        }
    }

    @Test func `times of different timescales are ordered by their moment`() {
        #expect(time(1, 3) < time(333_333_334, 1_000_000_000))
        #expect(time(333_333_333, 1_000_000_000) < time(1, 3))
        #expect(time(.min, 1) < time(.min, 2))
        #expect(time(.max - 1, .max) < time(.max, .max))
        #expect(time(.max, 2) < time(.max, 1))
        #expect(time(-1, 3) < time(-1, 4))
    }

    @Test func `the same moment is the same, whatever its timescale`() {
        #expect(time(1, 2).isSameMoment(as: time(2, 4)))
        #expect(time(1, 2) != time(2, 4))
        #expect(time(0, 7).isSameMoment(as: .zero))
        #expect(MediaTime.positiveInfinity.isSameMoment(as: .positiveInfinity))
    }

    @Test func `infinities lie beyond all numbers and the nameless come last`() {
        #expect(MediaTime.negativeInfinity < time(.min, 1))
        #expect(time(.max, 1) < .positiveInfinity)
        #expect(MediaTime.positiveInfinity < .indefinite)
        #expect(MediaTime.indefinite < .invalid)
    }

    @Test func `each name of a time that is no number comes back as that time`() {
        for one: MediaTime in [.positiveInfinity, .negativeInfinity, .indefinite, .invalid] {
            #expect(one.name.flatMap { MediaTime(named: $0) } == one)
        }
        #expect(MediaTime(named: "nan") == nil)
        #expect(MediaTime.zero.name == nil)
    }

    @Test func `a time is described in minutes, seconds and milliseconds`() {
        #expect(time(185_250, 1000).description == "3:05.250")
        #expect(time(-7, 1000).description == "-0:00.007")
        #expect(time(36_000, 10).description == "60:00.000")
        #expect(MediaTime.indefinite.description == "indefinite")
    }
}
