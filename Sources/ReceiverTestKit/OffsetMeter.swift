// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How much later one card was heard to play the same sound than another, by cross-correlation of what both recorded.
///
/// Each frame is placed at the moment at which it was heard, so cards of different rates are compared as an ear would.
/// The sound must be broad: noise that has little just below half the rate. It reads between frames with a filter of its own, not
/// with that of the product, whose faults it must not share.
package struct OffsetMeter {
    /// Nanoseconds of sound that one offset is measured over.
    package static let window: Int64 = 250_000_000
    /// The largest offset that is found, in frames.
    private static let reach = 2_880
    /// How far from the offset before the next one is sought first.
    private static let nearby = 48

    private let one: CardRecording
    private let other: CardRecording
    private let sinc = SincTable()
    /// The last offset in frames.
    private var last: Int?

    package init(_ one: CardRecording, _ other: CardRecording) { (self.one, self.other) = (one, other) }

    /// How much later the second card is heard round `time`, in nanoseconds; nil where either is silent or stands, or plays
    /// something else.
    package mutating func offset(at time: Int64) -> Double? {
        let start = time - Self.window / 2
        guard let own = one.stretch(at: start), let their = other.stretch(at: start) else { return nil }
        let first = own.frame(at: start).rounded(.up)
        let count = Int(Double(Self.window) * 1e-9 * own.rate)
        let sound = one.mono(from: Int(first), count: count, of: own.frames)
        guard sound.count == count, energy(sound) > Double(count) * 10_000 else { return nil }
        // Where the first of these frames lies among those of the other card, and how far each next one is.
        let place = their.frame(at: own.time(of: first), by: own.origin)
        let ratio = their.rate / own.rate
        let margin = Self.reach + SincTable.taps
        let base = Int(place) - margin
        let around = other.mono(
            from: base, count: Int(Double(count) * ratio) + 2 * margin, of: their.frames)
        guard around.count > count else { return nil }
        /// The likeness at a lag, from -1 to 1.
        func likeness(_ lag: Double) -> Double {
            sinc.likeness(sound, around, from: place - Double(base) + lag * ratio, ratio: ratio)
        }
        func best(_ lags: ClosedRange<Int>) -> Int {
            lags.max { whole($0) < whole($1) } ?? 0
        }
        func whole(_ lag: Int) -> Double {
            product(sound, around, from: Int((place - Double(base)).rounded()) + lag)
        }
        var lag = last.map { best(($0 - Self.nearby)...($0 + Self.nearby)) }
        if lag.map({ likeness(Double($0)) < 0.5 }) ?? true { lag = best(-Self.reach...Self.reach) }
        guard let lag, lag.magnitude < Self.reach - 1 else { return nil }
        // The whole lag is off by up to a frame, since it was found with places that were rounded.
        let beside = [lag - 1, lag, lag + 1].map { (lag: Double($0), likeness: likeness(Double($0))) }
        var peak = beside.max { $0.likeness < $1.likeness }?.lag ?? Double(lag)
        for step in [0.5, 0.25, 0.1] {
            let (left, middle, right) = (likeness(peak - step), likeness(peak), likeness(peak + step))
            let bend = left - 2 * middle + right
            guard bend < 0 else { return nil }
            peak += min(max(0.5 * (left - right) / bend, -1), 1) * step
        }
        guard likeness(peak) > 0.7 else { return nil }
        last = Int(peak.rounded())
        return peak / own.rate * 1e9
    }
}

extension CardRecording {
    /// A stretch of frames that were heard one after the other, and when.
    fileprivate struct Stretch {
        let frames: Range<Int>
        let origin: Int64
        let rate: Double

        func frame(at time: Int64) -> Double {
            Double(frames.lowerBound) + Double(time - origin) * 1e-9 * rate
        }
        /// Seconds after `origin`.
        func time(of frame: Double) -> Double { (frame - Double(frames.lowerBound)) / rate }
        /// The place of a time that is given in seconds after another origin.
        func frame(at seconds: Double, by other: Int64) -> Double {
            Double(frames.lowerBound) + (Double(other - origin) * 1e-9 + seconds) * rate
        }
    }

    fileprivate func stretch(at time: Int64) -> Stretch? {
        guard let segment = segments.last(where: { $0.start <= time }) else { return nil }
        let end = min(segment.endFrame ?? frameCount, frameCount)
        guard end > segment.firstFrame else { return nil }
        return Stretch(frames: segment.firstFrame..<end, origin: segment.start, rate: segment.rate)
    }

    /// Samples of the first channel, silence where the stretch has none; empty if it has none at all there.
    fileprivate func mono(from first: Int, count: Int, of stretch: Range<Int>) -> [Double] {
        guard stretch.overlaps(first..<(first + max(count, 1))) else { return [] }
        return (first..<(first + count)).map { stretch.contains($0) ? Double(samples[$0 * channels]) : 0 }
    }
}

private func energy(_ sound: [Double]) -> Double { sound.reduce(0) { $0 + $1 * $1 } }

private func product(_ one: [Double], _ other: [Double], from start: Int) -> Double {
    guard start >= 0, start + one.count <= other.count else { return -.infinity }
    var sum = 0.0
    for index in one.indices { sum += one[index] * other[start + index] }
    return sum
}

/// A windowed sinc that reads between frames.
private struct SincTable {
    static let taps = 32
    private static let phases = 1_024
    private let table: [Double]

    init() {
        var table: [Double] = []
        for phase in 0...Self.phases {
            for tap in 0..<Self.taps {
                let distance = Double(tap - Self.taps / 2 + 1) - Double(phase) / Double(Self.phases)
                let angle = Double.pi * distance
                let bell = 0.5 + 0.5 * cos(angle / Double(Self.taps / 2))
                table.append(distance == 0 ? 1 : sin(angle) / angle * bell)
            }
        }
        self.table = table
    }

    /// The correlation of `one` with `other` read from `start` on in steps of `ratio`, of equal energies 1.
    func likeness(_ one: [Double], _ other: [Double], from start: Double, ratio: Double) -> Double {
        var (products, own, theirs) = (0.0, 0.0, 0.0)
        for index in one.indices {
            let place = start + Double(index) * ratio
            let frame = place.rounded(.down)
            let first = Int(frame) - Self.taps / 2 + 1
            guard first >= 0, first + Self.taps <= other.count else { continue }
            let row = Int(((place - frame) * Double(Self.phases)).rounded()) * Self.taps
            var value = 0.0
            for tap in 0..<Self.taps { value += table[row + tap] * other[first + tap] }
            products += one[index] * value
            own += one[index] * one[index]
            theirs += value * value
        }
        return own > 0 && theirs > 0 ? products / (own * theirs).squareRoot() : 0
    }
}
