// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers
import Testing
import Timing

/// A source and a card whose clocks differ, and what waits between them.
private struct Link {
    /// By how much the source is faster, in parts per million, and what it brings at a time, in seconds.
    var drift: Double
    var portion = 0.010
    /// The most by which a portion is late, in seconds.
    var jitter = 0.0
    var random = SeededNumbers(seed: 7)
    var servo = FillServo(target: 0.080, slack: 0.025)
    /// Seconds that wait, the extremes of them since they were last asked for, and the largest change of the pace.
    var fill = 0.090
    var (lowest, highest) = (Double.infinity, 0.0)
    var largestStep = 0.0
    var jumps = 0
    private var time = 0.0
    private var due = 0.0

    init(drift: Double, jitter: Double = 0) { (self.drift, self.jitter) = (drift, jitter) }

    /// Lets time pass, with a look each seven milliseconds.
    mutating func run(seconds: Double) {
        let end = time + seconds
        (lowest, highest) = (.infinity, 0)
        while time < end {
            let before = servo.pace
            time += 0.007
            fill -= 0.007 * servo.pace
            // Late portions come all the same, and those after them in their own time.
            let late = jitter > 0 ? jitter * Double.random(in: 0...1, using: &random) : 0
            while due + late <= time {
                fill += portion
                due += portion / (1 + drift * 1e-6)
            }
            servo.note(fill: fill, at: Int64(time * 1e9))
            if servo.mustJump {
                jumps += 1
                fill = 0.090
                servo.begin()
            }
            (lowest, highest) = (min(lowest, fill), max(highest, fill))
            largestStep = max(largestStep, (servo.pace - before).magnitude)
        }
    }
}

@Suite struct `What waits between a source and a card` {
    @Test(arguments: [-200.0, -50, 0, 50, 200])
    func `stays at its measure, whatever the clocks`(drift: Double) {
        var link = Link(drift: drift)
        link.run(seconds: 60)
        #expect(link.lowest > 0.070 && link.highest < 0.105)
        link.run(seconds: 30)
        // Portions and looks have a beat of their own.
        #expect((link.servo.difference * 1e6 - drift).magnitude < 70)
        #expect(link.lowest > 0.075 && link.highest < 0.100)
        #expect(link.jumps == 0)
    }

    @Test func `is led so slowly that nobody hears it`() {
        var link = Link(drift: 200)
        link.run(seconds: 60)
        #expect(link.largestStep <= 500e-6 + 1e-9)
        #expect((link.servo.pace - 1).magnitude < 400e-6)
    }

    @Test func `does not follow portions that are late now and then`() {
        var link = Link(drift: 50, jitter: 0.030)
        link.run(seconds: 60)
        #expect(link.jumps == 0)
        #expect(link.lowest > 0.040 && link.highest < 0.140)
        #expect((link.servo.pace - 1).magnitude <= 1_000e-6)
    }

    @Test func `is left out where it is far too much, and soon`() {
        var link = Link(drift: 0)
        link.run(seconds: 10)
        link.fill += 0.340
        link.run(seconds: 1.1)
        #expect(link.jumps == 1)
        link.run(seconds: 5)
        #expect(link.highest < 0.105 && link.jumps == 1)
    }

    @Test func `is not moved by what is no number, or by a clock that stands`() {
        var servo = FillServo(target: 0.08, slack: 0.02)
        servo.note(fill: .nan, at: 0)
        servo.note(fill: .infinity, at: .max)
        servo.note(fill: 5, at: 1)
        servo.note(fill: 5, at: 1)
        servo.note(fill: 5, at: .min)
        #expect((servo.pace - 1).magnitude <= 1e-3)
        servo.note(fill: 5, at: .max)
        #expect((servo.pace - 1).magnitude <= 1e-3)
    }

    @Test func `is forgotten with a new beginning, but not how the clocks differ`() {
        var link = Link(drift: 200)
        link.run(seconds: 20)
        let difference = link.servo.difference
        link.servo.begin()
        #expect(link.servo.difference == difference)
        #expect((link.servo.pace - 1 - difference).magnitude < 1e-9)
    }
}
