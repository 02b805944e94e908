// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A Kalman filter with two states, the offset in microseconds and the rate in parts per million.
struct ClockFilter: Sendable {
    private var time = 0.0
    private var offset = 0.0
    private(set) var rate = 0.0
    private(set) var offsetVariance = 0.0
    private var covariance = 0.0
    private(set) var rateVariance = 0.0

    /// How far a crystal's rate walks, in parts per million for a square root of seconds; more than crystals do.
    private static let walk = 0.03

    init() {}

    init(offset: Double, variance: Double, at time: Double, rate: ClockRate) {
        (self.time, self.offset, offsetVariance) = (time, offset, variance)
        (self.rate, rateVariance) = (rate.partsPerMillion, rate.deviation * rate.deviation)
    }

    func offset(at time: Double) -> Double { offset + (time - self.time) * rate }

    /// Takes a measured offset. One that is farther off than three deviations counts as three.
    mutating func add(offset measured: Double, variance: Double, at time: Double) {
        let passed = time - self.time
        self.time = time
        offset += rate * passed
        let walked = Self.walk * Self.walk * passed
        offsetVariance += passed * (2 * covariance + passed * rateVariance + walked * passed / 3)
        covariance += passed * (rateVariance + walked / 2)
        rateVariance += walked
        let total = offsetVariance + variance
        let limit = 3 * total.squareRoot()
        let surprise = min(max(measured - offset, -limit), limit)
        let (gain, rateGain) = (offsetVariance / total, covariance / total)
        offset += gain * surprise
        rate += rateGain * surprise
        rateVariance -= rateGain * covariance
        offsetVariance *= 1 - gain
        covariance *= 1 - gain
    }
}

extension ClockEstimator {
    /// Goes over all that is kept once more: a quicker message that came later shows that an early stretch was held up,
    /// and a better rate lets longer stretches be judged as one. Twice, so that the stretches are levelled by the rate
    /// that they give.
    mutating func filter() {
        run(rate: state.rate)
        run(rate: state.rate)
    }

    private mutating func run(rate: Double) {
        let windows = windows(rate: rate)
        let noise = choose(windows)
        let excesses = excesses(windows)
        // What fast stretches vary by is no queue.
        let usual = 6 * excesses.sorted()[(excesses.count - 1) / 4] + 100
        for (index, window) in windows.enumerated() {
            // A queue in one direction alone makes the offset wrong by half of it.
            let excess = excesses[index] > usual ? excesses[index] : 0
            let count = Double(window.count)
            let variance = noise / (count * count) + excess * excess / 4 + 1
            let offset = window.offsets[candidate]
            if index == 0 {
                state = ClockFilter(offset: offset, variance: variance, at: window.time, rate: initialRate)
            } else {
                state.add(offset: offset, variance: variance, at: window.time)
            }
        }
    }

    /// The cells joined to stretches that end with the newest, two or three at first and of 12 s later: the quickest
    /// of many messages are better than the mean of the quickest of few each.
    private func windows(rate: Double) -> [ClockWindow] {
        let known = (cells.last?.last ?? since) - since
        let length = min(max(known / 2.5, 0.25), 12)
        var windows: [ClockWindow] = []
        var end = cells.count
        while end > 0 {
            var start = end - 1
            while start > 0, cells[end - 1].last - cells[start - 1].first <= length { start -= 1 }
            windows.append(ClockWindow(cells[start..<end], rate: rate))
            end = start
        }
        windows.reverse()
        return windows
    }

    /// How far the quickest messages of each stretch lie above the quickest of the minutes around it.
    private func excesses(_ windows: [ClockWindow]) -> [Double] {
        windows.map { window in
            var floor = window.floors[candidate]
            for other in windows where abs(other.time - window.time) < 60 {
                floor = min(floor, other.floors[candidate])
            }
            return window.floors[candidate] - floor
        }
    }

    /// Takes up the candidate of the least noise, and returns its variance times the square of the number of messages.
    ///
    /// The quickest messages come at chance distances from each other, in the mean by `gaps`; each of these moves the mean
    /// of the quickest few by as much as it is part of it.
    private mutating func choose(_ windows: [ClockWindow]) -> Double {
        var (sums, counts) = ([Double](), [Double]())
        var messages = 0
        for window in windows {
            messages += window.count
            for (index, gap) in window.gaps.enumerated() {
                if index == sums.count {
                    sums.append(0)
                    counts.append(0)
                }
                sums[index] += gap * Double(window.count)
                counts[index] += 1
            }
        }
        guard !sums.isEmpty else { return 0 }
        func variance(_ candidate: Int) -> Double {
            let depth = ClockWindow.depth(candidate, of: messages / windows.count)
            var (sum, moved) = (0.0, 0.0)
            for place in stride(from: depth, through: 1, by: -1) {
                let index = min(place, sums.count) - 1
                moved += sums[index] / counts[index]
                sum += moved * moved
            }
            return sum / Double(2 * depth * depth)
        }
        let variances = (0..<ClockWindow.candidates).map(variance)
        for other in variances.indices where variances[other] < 0.7 * variances[candidate] {
            // Both sides of the comparison are noisy; a change has to be worth it.
            candidate = other
        }
        return variances[candidate]
    }
}
