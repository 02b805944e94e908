// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GStreamer

private let second: Int64 = 1_000_000_000

struct TimeJointTests {
    @Test func `times that begin anew go on where they were`() {
        var joint = TimeJoint()
        #expect(joint.shift(at: 4 * second, length: second, mayJump: true) == 0)
        #expect(joint.shift(at: 5 * second, length: second, mayJump: false) == 0)
        #expect(joint.shift(at: 0, length: second, mayJump: true) == 6 * second)
        #expect(joint.shift(at: second, length: second, mayJump: false) == 6 * second)
        // Back into the first stream.
        #expect(joint.shift(at: 70 * second, length: second, mayJump: true) == -62 * second)
    }

    @Test func `a hole stays one, and so does an order that is not that of showing`() {
        var joint = TimeJoint()
        #expect(joint.shift(at: 0, length: second, mayJump: true) == 0)
        #expect(joint.shift(at: 12 * second, length: second, mayJump: true) == 0)
        #expect(joint.shift(at: 12 * second + second / 2, length: second, mayJump: true) == 0)
        #expect(joint.shift(at: second, length: second, mayJump: false) == 0)
    }

    @Test func `times that nobody has do not trap`() {
        var joint = TimeJoint()
        for time in [0, Int64.max, 0, Int64.max, .max / 2, 5, .max] {
            let shift = joint.shift(at: time, length: .max, mayJump: true)
            _ = TimeJoint.moved(.max, by: shift)
            _ = TimeJoint.moved(0, by: shift)
        }
        #expect(TimeJoint.moved(5, by: -9) == 0)
        #expect(TimeJoint.moved(5, by: 9) == 14)
    }
}
