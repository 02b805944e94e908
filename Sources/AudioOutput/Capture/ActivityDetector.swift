// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Tells sound from silence: sound has been louder than the threshold for the time of attack, silence has been quieter for the
/// time of hold. In between it is what it was. A constant voltage at the input is no sound.
package struct ActivityDetector: Equatable, Sendable {
    /// Loudness is that of so long a stretch.
    private static let stretch = 0.02

    /// The mean of the squares above which it is loud.
    private let threshold: Double
    private let attack: Double
    private let hold: Double
    private var count = 0
    private var (sum, squares) = (0.0, 0.0)
    /// Seconds for which it has been loud, or quiet, without a break.
    private var loud = 0.0
    private var quiet = 0.0
    package private(set) var isActive = false

    /// `isActive`: what was found before, by whoever listened until now.
    package init(_ watch: CaptureWatch, isActive: Bool = false) {
        self.isActive = isActive
        let decibels = watch.threshold.isFinite ? min(max(watch.threshold, -100), 0) : -50
        threshold = Self.power(ofDecibels: decibels)
        attack = Double(min(max(watch.attackMilliseconds, 20), 10_000)) / 1_000
        hold = Double(min(max(watch.holdMilliseconds, 20), 600_000)) / 1_000
    }

    /// Takes stereo frames. True if it is otherwise than before.
    package mutating func take(_ frames: [Float], rate: Int32) -> Bool {
        let wasActive = isActive
        let rate = Double(max(rate, 1))
        let length = max(1, Int(Self.stretch * rate))
        for frame in 0..<frames.count / 2 {
            let value = Double(frames[frame * 2] + frames[frame * 2 + 1]) / 2
            sum += value
            squares += value * value
            count += 1
            if count >= length { judge(seconds: Double(count) / rate) }
        }
        return isActive != wasActive
    }

    private mutating func judge(seconds: Double) {
        let mean = sum / Double(count)
        if squares / Double(count) - mean * mean > threshold {
            (loud, quiet) = (loud + seconds, 0)
            if loud >= attack - 1e-6 { isActive = true }
        } else {
            (loud, quiet) = (0, quiet + seconds)
            if quiet >= hold - 1e-6 { isActive = false }
        }
        (count, sum, squares) = (0, 0, 0)
    }

    private static func power(ofDecibels decibels: Double) -> Double {
        // A level of the volume's scale is as many decibels as its span.
        let amplitude = Double(VolumeCurve.gain(of: Volume(level: 1 + decibels / 2 / VolumeCurve.span)))
        return amplitude * amplitude * amplitude * amplitude
    }
}
