// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers

/// Exchanges with one clock over one link, one after the other, and what that clock really shows.
package struct SimulatedExchanges: Sendable {
    package struct Exchange: Sendable {
        /// Nanoseconds of the local clock, of the other one, of the local one.
        package let sent: Int64
        package let remote: Int64
        package let received: Int64
    }

    /// Nanoseconds of the local clock when everything begins.
    package static let start: Int64 = 1_000_000_000_000

    /// Seconds since the beginning, of the next exchange.
    package private(set) var time = 0.0
    /// The rate of the other clock against the local one, in parts per million.
    package private(set) var rate: Double
    /// What the other clock is ahead, in microseconds.
    package private(set) var offset: Double
    private let link: SimulatedLink
    private let wander: Double
    private var numbers: SeededNumbers
    private let phase: Double
    private var lastArrival = (there: 0.0, back: 0.0)

    /// `wander` is how far the rate walks, in parts per million for a square root of seconds.
    package init(
        over link: SimulatedLink, seed: UInt64, offset: Double = 1_234.5, rate: Double = 40,
        wander: Double = 0.05
    ) {
        (self.link, self.offset, self.wander) = (link, offset, wander)
        numbers = SeededNumbers(seed: seed)
        self.rate = Bool.random(using: &numbers) ? rate : -rate
        phase = .random(in: 0..<60, using: &numbers)
    }

    /// Nanoseconds of the local clock at the next exchange.
    package var now: Int64 { Self.start + Int64(time * 1e9) }

    /// What the other clock shows then, in nanoseconds.
    package var truth: Int64 { now + Int64(offset * 1e3) }

    /// Sets the other clock by so many microseconds.
    package mutating func step(by change: Double) { offset += change }

    /// One exchange now; nil if it was lost. The next one comes after `interval` nanoseconds, half as many more or less.
    package mutating func next(interval: Int64) -> Exchange? {
        defer { pass(Double(interval) * 1e-9 * .random(in: 0.5..<1.5, using: &numbers)) }
        let (there, ownBack) = (link.draw(&numbers), link.draw(&numbers))
        let hold: Double = .random(in: 0.005..<0.025, using: &numbers)
        let isHeld = link.hasBursts && (time + phase).truncatingRemainder(dividingBy: 8) < 3
        let back = isHeld ? ownBack + hold : ownBack
        // Messages do not pass each other.
        let arrival = max(time + there, lastArrival.there)
        let end = max(arrival + back, lastArrival.back)
        lastArrival = (arrival, end)
        guard .random(in: 0..<1, using: &numbers) >= link.loss else { return nil }
        let ahead = offset + rate * (arrival - time)
        return Exchange(
            sent: now, remote: Self.start + Int64(arrival * 1e9 + ahead * 1e3),
            received: Self.start + Int64(end * 1e9))
    }

    private mutating func pass(_ seconds: Double) {
        time += seconds
        rate += wander * bell(&numbers) * seconds.squareRoot()
        offset += rate * seconds
    }
}
