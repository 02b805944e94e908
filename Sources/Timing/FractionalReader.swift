// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Reads stereo frames at places between them: what a perfect low-pass filter would find there, as far as 32 frames tell.
///
/// A windowed sinc in 256 phases with straight lines between them: flat to 19 kHz at 48 kHz, and what it adds lies 87 to 94 dB
/// below the sound. For speeds far from 1 it is made for that speed.
package struct FractionalReader: Sendable {
    package static let taps = 32
    /// Frames that are needed before the one at or before a place, and from it on.
    package static let before = taps / 2 - 1
    package static let after = taps / 2 + 1
    private static let phases = 256
    /// Of half the rate; the rest is where the filter falls.
    private static let cutoff = 0.95
    /// Of the Kaiser window: higher is quieter beside, and falls more slowly.
    private static let beta = 8.0

    /// The filter of each phase, one after the other, and one phase more.
    private let table: [Float]

    /// For speeds near `speed`. At one above 1 what no frame of the target could hold is left out.
    package init(speed: Double = 1) {
        let cutoff = Self.cutoff / (speed.isFinite ? min(max(speed, 1), 4) : 1)
        var table: [Float] = []
        table.reserveCapacity((Self.phases + 1) * Self.taps)
        for phase in 0...Self.phases {
            let fraction = Double(phase) / Double(Self.phases)
            var row = (0..<Self.taps).map { tap -> Double in
                let distance = Double(tap - Self.before) - fraction
                let edge = distance / Double(Self.taps / 2)
                guard edge.magnitude < 1 else { return 0 }
                let window = bessel(Self.beta * (1 - edge * edge).squareRoot()) / bessel(Self.beta)
                let angle = Double.pi * distance
                return distance.magnitude < 1e-9
                    ? cutoff : sine(angle * cutoff) / angle * window
            }
            let sum = row.reduce(0, +)
            for tap in row.indices { row[tap] /= sum }
            table += row.map { Float($0) }
        }
        self.table = table
    }

    /// Reads `count` frames, the first at `position` of `source` in frames, each next one `ratio` further on. Frames outside
    /// of what `source` has room for end the reading; what is missing at its ends must be there as silence.
    package func read(
        _ source: [Float], from position: Double, ratio: Double, count: Int, into target: inout [Float]
    ) {
        guard count > 0, target.count >= count * 2, position.isFinite, ratio.isFinite else { return }
        let frames = source.count / 2
        for frame in 0..<count {
            let place = position + Double(frame) * ratio
            let whole = place.rounded(.down)
            guard whole >= Double(Self.before), whole < Double(frames) else { return }
            let first = Int(whole) - Self.before
            guard first + Self.taps <= frames else { return }
            let phase = (place - whole) * Double(Self.phases)
            let row = min(Int(phase), Self.phases - 1)
            let blend = Float(phase - Double(row))
            var (tap, next, sample) = (row * Self.taps, (row + 1) * Self.taps, first * 2)
            let end = next
            // Four sums beside each other, none of which waits for the others.
            var (left, right, left2, right2): (Float, Float, Float, Float) = (0, 0, 0, 0)
            while tap < end {
                let factor = table[tap] + blend * (table[next] - table[tap])
                let factor2 = table[tap + 1] + blend * (table[next + 1] - table[tap + 1])
                left += factor * source[sample]
                right += factor * source[sample + 1]
                left2 += factor2 * source[sample + 2]
                right2 += factor2 * source[sample + 3]
                tap += 2
                next += 2
                sample += 4
            }
            target[frame * 2] = left + left2
            target[frame * 2 + 1] = right + right2
        }
    }
}

/// The modified Bessel function of order 0.
private func bessel(_ x: Double) -> Double {
    var (sum, term) = (1.0, 1.0)
    for step in 1..<40 {
        let factor = x / 2 / Double(step)
        term *= factor * factor
        sum += term
    }
    return sum
}

private func sine(_ x: Double) -> Double {
    // Within half a turn of zero the series is exact to the last digit.
    let rest = x - (x / (2 * .pi)).rounded() * 2 * .pi
    var (sum, term) = (rest, rest)
    for step in 1..<20 {
        term *= -rest * rest / Double(2 * step * (2 * step + 1))
        sum += term
    }
    return sum
}
