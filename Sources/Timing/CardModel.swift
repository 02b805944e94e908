// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// When is a frame that was given to a card heard? A straight line under what the card's delay said at each look.
///
/// A look is the time just *after* the card was asked, and the frames that it has played by then. A position that moves in
/// steps, a thread that was held up, a late interrupt: all of them make a frame look later than it was, never earlier. So the
/// truth is the lower edge of the looks, not their mean: the slope is the one for which they lie nearest above a line
/// that touches the lowest of them. With n looks at a card that moves in steps of s the error is about s / n. Reads no clock.
package struct CardModel: Equatable, Sendable {
    /// The earliest look of a short stretch of time.
    private struct Point: Equatable, Sendable {
        /// Seconds of the card's frames, and microseconds by which the look is later than an exact card's.
        var x: Double
        var y: Double
    }
    /// Looks are kept for so many seconds of sound.
    private static let window = 15.0
    private static let limit = 1024
    /// Stretches: short ones while there are few.
    private static let shortBin = 0.005
    private static let longBin = 0.025
    private static let youth = 2.0
    /// So many stretches make a line.
    private static let enough = 16
    /// The widest error of a crystal, in ppm, and how far a fit may go from the one before.
    private static let slopeLimit = 500.0
    private static let reach = 300.0
    /// Below so many seconds the slope is that which was known before.
    private static let shortest = 0.15

    /// Frames a second, as the card says.
    package let rate: Double
    private var points: [Point] = []
    private var bin: (x: Double, best: Point)?
    private var firstX: Double?
    /// Nanoseconds at frame 0: what is constant in all times.
    private var origin: Int64 = 0
    private var anchor = Point(x: 0, y: 0)
    private var slope: Double
    /// How far the looks lie above the line on the average, in microseconds.
    private var depth = 0.0
    /// True once `time` means something.
    package private(set) var isReady = false

    /// A card that begins at frame 0. `drift`: what is known of its crystal, as `drift` gives it.
    package init(rate: Double, drift: Double = 0) {
        self.rate = rate.isFinite ? max(rate, 1) : 1
        slope = drift.isFinite ? min(max(-drift, -Self.slopeLimit), Self.slopeLimit) : 0
        points.reserveCapacity(Self.limit)
    }

    package static func == (one: CardModel, other: CardModel) -> Bool {
        one.points == other.points && one.origin == other.origin && one.slope == other.slope
    }

    /// How much faster than the clock the card runs, in parts per million.
    package var drift: Double { -slope }

    /// Stretches of time so far, until there are many.
    package var count: Int { points.count }

    /// Notes that `played` frames have been heard at `time`, in nanoseconds of the clock.
    package mutating func add(played: Int64, at time: Int64) {
        let x = Double(played) / rate
        if firstX == nil {
            firstX = x
            origin = time &- Int64(x * 1e9)
        }
        let look = Point(x: x, y: Double(time &- origin) * 1e-3 - x * 1e6)
        let width = x - (firstX ?? x) < Self.youth ? Self.shortBin : Self.longBin
        if let bin, x - bin.x >= width {
            forget(before: x - Self.window)
            points.append(bin.best)
            self.bin = nil
        }
        if let bin {
            if look.y < bin.best.y { self.bin = (bin.x, look) }
        } else {
            bin = (x, look)
        }
    }

    private mutating func forget(before x: Double) {
        var count = 0
        while count < points.count, points[count].x < x || points.count - count >= Self.limit { count += 1 }
        if count > 0 { points.removeFirst(count) }
    }

    /// How far the points lie above the line of this slope on the average, and where it stands at the anchor.
    private func fit(_ slope: Double, at x: Double) -> (depth: Double, edge: Double) {
        var (sum, lowest) = (0.0, Double.infinity)
        for index in 0..<points.count {
            let rest = points[index].y - slope * (points[index].x - x)
            sum += rest
            if rest < lowest { lowest = rest }
        }
        return (sum / Double(points.count) - lowest, lowest)
    }

    /// Draws the line anew: each 20 ms at first, later each 100 ms.
    package mutating func refit() {
        guard points.count >= Self.enough else { return }
        let x = points[points.count - 1].x
        let span = x - points[0].x
        // A short or coarse window moves the slope only slowly.
        let age = 30 / min(max(span, 1e-3), 30)
        let stiffness = 1e-6 * (depth > 0 ? depth : 500) * age * age.squareRoot()
        let before = slope
        func cost(_ slope: Double) -> Double {
            fit(slope, at: x).depth + stiffness * (slope - before) * (slope - before)
        }
        let reach = span < Self.shortest ? 0.01 : Self.reach
        var low = max(-Self.slopeLimit, slope - reach)
        var high = min(Self.slopeLimit, slope + reach)
        // The cost has one valley: golden sections lead to its ground.
        let section = 0.618_033_988_749_894_9
        var (one, other) = (high - section * (high - low), low + section * (high - low))
        var (costOfOne, costOfOther) = (cost(one), cost(other))
        while high - low > 0.01 {
            if costOfOne < costOfOther {
                (high, other, costOfOther) = (other, one, costOfOne)
                one = high - section * (high - low)
                costOfOne = cost(one)
            } else {
                (low, one, costOfOne) = (one, other, costOfOther)
                other = low + section * (high - low)
                costOfOther = cost(other)
            }
        }
        slope = (low + high) / 2
        let found = fit(slope, at: x)
        (depth, anchor) = (found.depth, Point(x: x, y: found.edge))
        isReady = true
    }

    /// When a frame is heard, in nanoseconds of the clock.
    package func time(of frame: Double) -> Int64 {
        let x = frame / rate
        let late = anchor.y + slope * (x - anchor.x)
        return origin &+ Int64(x * 1e9 + late * 1e3)
    }
}
