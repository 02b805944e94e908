// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

private func seconds(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 1) }

struct TimelineTests {
    @Test func `a negative duration becomes zero`() {
        #expect(TimeRange(start: .zero, duration: seconds(-1)).duration == .zero)
        #expect(TimeRange(start: .zero, duration: .negativeInfinity).duration == .zero)
    }

    @Test func `a range ends exactly where one timescale can say it`() {
        let third = MediaTime(value: 1, timescale: 3)
        #expect(TimeRange(start: third, duration: third).end == MediaTime(value: 2, timescale: 3))
        #expect(TimeRange(start: third, duration: .zero).end == third)
    }

    @Test func `a range of two timescales ends at the nanosecond`() {
        let range = TimeRange(start: seconds(1), duration: MediaTime(value: 1, timescale: 3))
        #expect(range.end == MediaTime(nanoseconds: 1_333_333_333))
    }

    @Test func `the end of a range is not before its start, nor beyond Int64`() {
        let start = MediaTime(value: 1, timescale: 3)
        #expect(TimeRange(start: start, duration: MediaTime(value: 1, timescale: .max)).end == start)
        let late = MediaTime(nanoseconds: .max)
        #expect(TimeRange(start: late, duration: seconds(1)).end == .positiveInfinity)
        #expect(TimeRange(start: late, duration: late).end == .positiveInfinity)
        #expect(TimeRange(start: .zero, duration: .positiveInfinity).end == .positiveInfinity)
    }

    @Test func `a range has its start and lacks its end`() {
        let range = TimeRange(start: seconds(10), duration: seconds(5))
        #expect(range.contains(seconds(10)))
        #expect(!range.contains(seconds(15)))
        #expect(!range.contains(.indefinite))
    }

    @Test func `clamping moves to the nearest end`() {
        let range = TimeRange(start: seconds(10), duration: seconds(5))
        #expect(range.clamp(seconds(9)) == seconds(10))
        #expect(range.clamp(seconds(12)) == seconds(12))
        #expect(range.clamp(seconds(16)) == seconds(15))
        #expect(range.clamp(.negativeInfinity) == seconds(10))
        #expect(range.clamp(.positiveInfinity) == seconds(15))
        #expect(TimeRange.empty.clamp(seconds(3)) == .zero)
    }

    @Test(
        arguments: [
            (1.0, 2_000_000_000, 12_000_000_000), (0.5, 2_000_000_000, 11_000_000_000),
            (-2.0, 1_000_000_000, 8_000_000_000), (0.0, 5_000_000_000, 10_000_000_000),
        ] as [(Double, Int64, Int64)])
    func `a position moves on with its rate`(_ rate: Double, _ elapsed: Int64, _ expected: Int64) {
        let position = PlaybackPosition(position: seconds(10), clockTime: 7, rate: rate)
        #expect(position.position(atClockTime: 7 + elapsed).nanoseconds == expected)
    }

    @Test func `a position late in a stream is exact to the nanosecond`() {
        let late = MediaTime(nanoseconds: 1_152_921_504_606_846_977)
        let position = PlaybackPosition(position: late, clockTime: 0, rate: 1)
        #expect(position.position(atClockTime: 2).nanoseconds == 1_152_921_504_606_846_979)
    }

    @Test func `a position that cannot be told stays where it was read`() {
        let times: [Int64] = [.min, -1, 0, 1, .max]
        let rates = [Double.nan, .infinity, -.infinity, 1e300, -1e300, .leastNonzeroMagnitude, 32, -32]
        for clock in times {
            for now in times {
                for rate in rates {
                    for place in [seconds(0), MediaTime(nanoseconds: .max), MediaTime(nanoseconds: .min)] {
                        let position = PlaybackPosition(position: place, clockTime: clock, rate: rate)
                        #expect(position.position(atClockTime: now).isNumeric)
                    }
                }
            }
        }
        let far = PlaybackPosition(position: seconds(1), clockTime: .min, rate: 1)
        #expect(far.position(atClockTime: .max) == seconds(1))
        let nowhere = PlaybackPosition(position: .indefinite, clockTime: 0, rate: 1)
        #expect(nowhere.position(atClockTime: 1) == .indefinite)
    }

    @Test func `a level stays within 0 and 1, and mute does not touch it`() {
        #expect(Volume(level: .nan).level == 0)
        #expect(Volume(level: .infinity).level == 1)
        var volume = Volume(level: -1, isMuted: true)
        #expect(volume.level == 0)
        volume.level = 7
        #expect(volume == Volume(level: 1, isMuted: true))
        volume.isMuted = false
        #expect(volume.level == 1)
    }

    @Test func `tracks are found by their kind`() {
        var tracks = Tracks()
        for kind in TrackKind.allCases {
            tracks[kind].options = [TrackOption(identifier: "\(kind)", displayName: "")]
        }
        #expect(tracks.audio.options.first?.identifier == "audio")
        #expect(tracks.audioDescription.options.first?.identifier == "audioDescription")
        #expect(tracks.legible.options.first?.identifier == "legible")
    }

    @Test func `failures are equal by code and status`() {
        #expect(MediaFailure(.network, "a") == MediaFailure(.network, "b"))
        #expect(
            MediaFailure(.httpStatus, "a", httpStatus: 500) != MediaFailure(.httpStatus, "a", httpStatus: 503)
        )
    }
}
