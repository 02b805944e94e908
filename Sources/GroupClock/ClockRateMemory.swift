// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import Timing

/// How fast the clocks of machines run that were followed before, so that the next time the first minute is as good as
/// the second. Lives on the loop.
package final class ClockRateMemory {
    /// As many machines as are remembered; the one that was not followed for longest makes room.
    package static let limit = 64

    /// What is to be written down, by the key of the machine, after each change: at most once a minute and follower.
    package var onChange: (([String: ClockRate]) -> Void)?
    package private(set) var rates: [String: ClockRate]
    /// Oldest first.
    private var order: [String]

    package init(_ rates: [String: ClockRate] = [:]) {
        self.rates = rates.filter { $0.value.partsPerMillion.isFinite && $0.value.deviation.isFinite }
        order = self.rates.keys.sorted()
        trim()
    }

    /// What a follower of that machine begins with: a crystal is not exactly what it was, for it was warmer or colder.
    package func rate(of machine: String) -> ClockRate {
        guard let known = rates[machine] else { return .unknown }
        return ClockRate(
            partsPerMillion: known.partsPerMillion,
            deviation: (known.deviation * known.deviation + 1).squareRoot())
    }

    package func learn(_ rate: ClockRate, of machine: String) {
        rates[machine] = rate
        order.removeAll { $0 == machine }
        order.append(machine)
        trim()
        onChange?(rates)
    }

    private func trim() {
        while order.count > Self.limit { rates[order.removeFirst()] = nil }
    }
}
