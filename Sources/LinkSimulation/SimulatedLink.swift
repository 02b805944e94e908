// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How a network delays the messages of one direction, and how often it loses an exchange.
package struct SimulatedLink: Sendable {
    package enum Delay: Sendable {
        /// Anything between both, in milliseconds.
        case uniform(Double, Double)
        /// At least so many milliseconds, and an exponential share of that mean besides.
        case exponential(atLeast: Double, mean: Double)
        /// Milliseconds with a bell of that deviation around the mean, which has no lower edge.
        case bell(mean: Double, deviation: Double)
        /// As `uniform`, but some messages are quicker than the others, by up to a millisecond.
        case stragglers(Double, Double, part: Double)
    }

    package var name: String
    package var delay: Delay
    package var loss = 0.0
    /// For 3 s of every 8 s, answers wait 5 to 25 ms longer.
    package var hasBursts = false

    package init(_ name: String, _ delay: Delay, loss: Double = 0, hasBursts: Bool = false) {
        (self.name, self.delay, self.loss, self.hasBursts) = (name, delay, loss, hasBursts)
    }

    /// The links that the estimator was developed with.
    package static let all = [
        SimulatedLink("5 ± 3 ms uniform", .uniform(2, 8), loss: 0.01),
        SimulatedLink("1 ms + exponential 2 ms", .exponential(atLeast: 1, mean: 2), loss: 0.01),
        SimulatedLink(
            "1 ms + exponential 2 ms, bursts", .exponential(atLeast: 1, mean: 2), loss: 0.01, hasBursts: true),
        SimulatedLink("0.1 ms + exponential 0.03 ms", .exponential(atLeast: 0.1, mean: 0.03)),
        SimulatedLink("5 ± 3 ms uniform, bursts", .uniform(2, 8), loss: 0.01, hasBursts: true),
        SimulatedLink("5 ± 3 ms, 1 % early", .stragglers(2, 8, part: 0.01), loss: 0.01),
        SimulatedLink("5 ms, deviation 1 ms", .bell(mean: 5, deviation: 1), loss: 0.01),
    ]

    /// One delay in seconds.
    func draw(_ numbers: inout some RandomNumberGenerator) -> Double {
        let milliseconds: Double =
            switch delay {
            case .uniform(let low, let high): .random(in: low...high, using: &numbers)
            case .exponential(let floor, let mean):
                floor - log(1 - .random(in: 0..<1, using: &numbers)) * mean
            case .bell(let mean, let deviation): max(mean + deviation * bell(&numbers), 0.1)
            case .stragglers(let low, let high, let part):
                .random(in: 0..<1, using: &numbers) < part
                    ? .random(in: low - 1...low, using: &numbers) : .random(in: low...high, using: &numbers)
            }
        return milliseconds * 1e-3
    }
}

/// A number of a bell of deviation 1.
func bell(_ numbers: inout some RandomNumberGenerator) -> Double {
    (0..<12).reduce(-6) { sum, _ in sum + .random(in: 0..<1, using: &numbers) }
}
