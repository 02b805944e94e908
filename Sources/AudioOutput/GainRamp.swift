// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A factor for samples that moves to a new value over some time, so that it does not click.
struct GainRamp: Equatable, Sendable {
    private(set) var gain: Float = 1
    private(set) var target: Float = 1
    private var step: Float = 0

    var isSteady: Bool { gain == target }
    /// True if it changes nothing, now and until it is told to move.
    var isUnity: Bool { isSteady && gain == 1 }

    /// Sets the factor at once, for a stream that begins.
    mutating func set(_ gain: Float) { (self.gain, target, step) = (gain, gain, 0) }

    /// Moves to a factor.
    mutating func approach(_ gain: Float, over time: Duration, rate: Int32) {
        guard gain != target else { return }
        target = gain
        step = (target - self.gain) / Float(max(1, frames(in: time, rate: rate)))
    }

    /// The factor of the next frame.
    mutating func next() -> Float {
        guard gain != target else { return gain }
        gain += step
        // Within half a step it is there, whatever was rounded on the way.
        if (target - gain) * (step < 0 ? -1 : 1) < step.magnitude / 2 { (gain, step) = (target, 0) }
        return gain
    }

    /// Multiplies the first `count` stereo frames.
    mutating func apply(to samples: inout [Float], count: Int) {
        if isUnity { return }
        for frame in 0..<count {
            let gain = next()
            samples[frame * 2] *= gain
            samples[frame * 2 + 1] *= gain
        }
    }
}
