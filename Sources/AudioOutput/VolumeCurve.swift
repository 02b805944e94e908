// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The relation of a volume's level to the gain of samples. `Docs/volume.md` says why it is so.
package enum VolumeCurve {
    /// The attenuation at level 0, just before silence, in decibels.
    package static let span = 60.0

    /// Decibels below full, never positive; minus infinity is silence.
    package static func attenuation(ofLevel level: Double) -> Double {
        level <= 0 ? -.infinity : span * (min(level, 1) - 1)
    }

    /// The level that has this attenuation.
    package static func level(ofAttenuation attenuation: Double) -> Double {
        guard attenuation > -span else { return 0 }
        return min(1 + attenuation / span, 1)
    }

    /// The factor for samples.
    package static func gain(of volume: Volume) -> Float {
        if volume.isMuted || volume.level <= 0 { return 0 }
        return Float(power(attenuation(ofLevel: volume.level) / 20))
    }

    /// Ten to the power `exponent`, for -3...0; the standard library has no such function. Sixteen squarings of a
    /// short series: exact to 1e-9, far below a step of a 24-bit sample.
    private static func power(_ exponent: Double) -> Double {
        let small = exponent * 2.302585092994046 / 65536
        var result = 1 + small * (1 + small / 2 * (1 + small / 3))
        for _ in 0..<16 { result *= result }
        return result
    }
}
