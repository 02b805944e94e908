// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Holds what waits between a source and a card at its measure, by having it read a little faster or slower: each has a
/// clock of its own, and nobody else knows how they differ.
///
/// What comes in portions makes what waits go up and down, and now and then a portion is late. What is held is therefore the
/// *lowest* that waited in half a second: it is what could be late without a gap. A part of the correction is remembered, and
/// becomes the difference of the clocks. The rest is no more than 0.05 % from one half second to the next and 0.1 % in all: 1.7 cents,
/// where about 5 are heard. What waits beyond a measure for longer is not read faster but left out: the caller jumps.
package struct FillServo: Equatable, Sendable {
    /// Seconds over which the lowest is looked for.
    package static let window = 0.5
    /// What of an error, in seconds, is corrected in a second; and what of it is remembered.
    private static let quickness = 0.1
    private static let memory = 0.0025
    /// The most that is remembered, as no two crystals differ by more; the most in all; and the most from one window to the next.
    private static let memoryLimit = 600e-6
    private static let limit = 1_000e-6
    private static let step = 500e-6

    /// Seconds that are to wait at least.
    package let target: Double
    /// Seconds beyond that which are not read away, but left out.
    package let slack: Double
    /// The lowest so far, and when the window began.
    private var lowest = Double.infinity
    private var began: Int64?
    /// What is known of the difference of the clocks.
    package private(set) var difference = 0.0
    private var correction = 0.0
    /// True once what waits has been too much for a whole window.
    package private(set) var mustJump = false

    package init(target: Double, slack: Double) { (self.target, self.slack) = (target, slack) }

    /// Sound begins, or begins again: what waits says nothing of what waited before.
    package mutating func begin() {
        (lowest, began, mustJump, correction) = (.infinity, nil, false, difference)
    }

    /// By how much more than usual is to be read: 1 is as usual.
    package var pace: Double { 1 + correction }

    /// Notes that `fill` seconds wait, at `time` in nanoseconds.
    package mutating func note(fill: Double, at time: Int64) {
        guard fill.isFinite else { return }
        guard let start = began else {
            (began, lowest) = (time, fill)
            return
        }
        lowest = min(lowest, fill)
        let elapsed = Double(time &- start) * 1e-9
        guard elapsed >= Self.window else { return }
        let error = lowest - target
        mustJump = error > slack
        let remembered = difference + error * Self.memory * min(elapsed, 2 * Self.window)
        difference = min(max(remembered, -Self.memoryLimit), Self.memoryLimit)
        let wanted = min(max(difference + error * Self.quickness, -Self.limit), Self.limit)
        correction += min(max(wanted - correction, -Self.step), Self.step)
        (began, lowest) = (time, fill)
    }
}
