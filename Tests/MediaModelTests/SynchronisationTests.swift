// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

struct SynchronisationTests {
    @Test(arguments: [-0.01, -5e-5, 0, 5e-5, 0.01])
    func `a line leads there and back`(skew: Double) {
        let line = ClockLine(local: 1_000_000_000_000, remote: 77_000_000, skew: skew)
        for local in stride(from: Int64(900_000_000_000), through: 1_100_000_000_000, by: 7_000_000_001) {
            #expect((line.local(at: line.remote(at: local)) - local).magnitude <= 1)
        }
        #expect(line.remote(at: 1_001_000_000_000) == 1_077_000_000 + Int64((skew * 1e9).rounded()))
    }

    @Test func `readings at the ends of the numbers saturate`() {
        let line = ClockLine(local: .min, remote: .max, skew: .nan)
        #expect(line.skew == 0)
        #expect(line.remote(at: .max) == .max)
        #expect(line.local(at: .min) == .min)
        #expect(ClockLine(local: 0, remote: 0, skew: 3).skew == ClockLine.skewLimit)
        let anchor = PlaybackAnchor(itemTime: .max, clockTime: .min, rate: .infinity)
        #expect(anchor.itemTime(at: .max) == .max)
    }

    @Test func `an anchor holds before and behind its moment`() {
        let anchor = PlaybackAnchor(itemTime: 30_000_000_000, clockTime: 5_000_000_000, rate: 1.5)
        #expect(anchor.itemTime(at: 5_000_000_000) == 30_000_000_000)
        #expect(anchor.itemTime(at: 7_000_000_000) == 33_000_000_000)
        #expect(anchor.itemTime(at: 3_000_000_000) == 27_000_000_000)
    }
}
