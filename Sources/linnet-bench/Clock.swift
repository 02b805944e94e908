// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinkSimulation
import MediaModel
import Timing

/// How wrong the group clock is over simulated networks, at which age: every reading of 90 s, ten a second, over many
/// seeds, held against what the other clock shows. It takes no network and no time but that of the processor.
func benchClock(seeds: Int, report: (Figure) -> Void) {
    let ends = [1.0, 2, 5, 20, 90]
    for link in SimulatedLink.all {
        for isKnown in [false, true] {
            var errors = [Samples](repeating: Samples(), count: ends.count)
            for seed in 0..<seeds {
                clockErrors(link, seed: seed, isKnown: isKnown, ends: ends, into: &errors)
            }
            for (index, samples) in errors.enumerated() {
                let begin = index == 0 ? 0 : Int(ends[index - 1])
                var figure = Figure(
                    bench: "clock",
                    figure:
                        "\(link.name), rate \(isKnown ? "remembered" : "unknown"), \(begin)-\(Int(ends[index])) s",
                    unit: "µs", ours: samples)
                figure.note = "p95 \(samples.quantile(0.95).map { rounded($0, 1) } ?? "-")"
                report(figure)
            }
        }
    }
}

private func clockErrors(
    _ link: SimulatedLink, seed: Int, isKnown: Bool, ends: [Double], into errors: inout [Samples]
) {
    var exchanges = SimulatedExchanges(over: link, seed: UInt64(seed))
    // What was remembered is half a part in a million beside, as after some days.
    let known = ClockRate(partsPerMillion: exchanges.rate + (seed % 2 == 0 ? 0.5 : -0.5), deviation: 1.1)
    var estimator = ClockEstimator(rate: isKnown ? known : .unknown)
    var nextUpdate = 0.0
    while exchanges.time < 90 {
        let (time, now, truth) = (exchanges.time, exchanges.now, exchanges.truth)
        if let exchange = exchanges.next(interval: estimator.pollingInterval(at: now)) {
            estimator.add(sent: exchange.sent, remote: exchange.remote, received: exchange.received)
        }
        guard time >= nextUpdate else { continue }
        nextUpdate = time + 0.1
        // When the answer is there.
        guard let line = estimator.update(at: now + 15_000_000),
            let span = ends.firstIndex(where: { time < $0 })
        else { continue }
        errors[span].add(Double(abs(line.remote(at: now) - truth)) / 1_000)
    }
}
