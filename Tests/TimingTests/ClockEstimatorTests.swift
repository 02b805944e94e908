// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinkSimulation
import MediaModel
import SeededNumbers
import Testing
import Timing

/// An estimator at work over a simulated link, held against the truth.
private struct Trial {
    var exchanges: SimulatedExchanges
    var estimator: ClockEstimator
    private(set) var line: ClockLine?
    /// Microseconds, with the time of each.
    private(set) var errors: [(time: Double, error: Double)] = []
    /// Differences of lines where they meet, in nanoseconds a second of what lay between them.
    private(set) var slews: [(time: Double, slew: Double)] = []
    private var nextUpdate = 0.0

    init(
        _ link: SimulatedLink, seed: UInt64, rate: Double = 40, wander: Double = 0.05,
        known: ClockRate = .unknown
    ) {
        exchanges = SimulatedExchanges(over: link, seed: seed, rate: rate, wander: wander)
        estimator = ClockEstimator(rate: known)
    }

    mutating func run(until end: Double) {
        while exchanges.time < end {
            let (time, now, truth) = (exchanges.time, exchanges.now, exchanges.truth)
            if let exchange = exchanges.next(interval: estimator.pollingInterval(at: now)) {
                estimator.add(sent: exchange.sent, remote: exchange.remote, received: exchange.received)
            }
            guard time >= nextUpdate else { continue }
            nextUpdate = time + 0.1
            guard let line = estimator.update(at: now + 15_000_000) else { continue }
            errors.append((time, Double(line.remote(at: now) - truth) * 1e-3))
            if let last = self.line {
                let passed = Double(line.local - last.local) * 1e-9
                let slew = Double(line.remote(at: line.local) - last.remote(at: line.local)) / passed
                slews.append((time, slew))
            }
            self.line = line
        }
    }

    /// Without their sign, in order.
    func sorted(from start: Double, to end: Double) -> [Double] {
        errors.filter { $0.time >= start && $0.time < end }.map { abs($0.error) }.sorted()
    }
}

private func quantile(_ part: Double, _ sorted: [Double]) -> Double {
    sorted.isEmpty ? .infinity : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
}

private let bursts = SimulatedLink.all[2]

struct ClockEstimatorTests {
    /// For each link: microseconds that 95 of 100 readings stay below, between 1 and 2 s, 5 and 20 s, 20 and 40 s. All
    /// are well beyond what was measured over 40 seeds.
    @Test(arguments: [(0, 400.0, 180.0, 80.0), (1, 200, 80, 40), (3, 20, 6, 6)])
    func `the other clock is read as well as the link allows`(
        link: Int, early: Double, warm: Double, late: Double
    ) {
        var (first, second, third) = ([Double](), [Double](), [Double]())
        for seed: UInt64 in 1...3 {
            var trial = Trial(SimulatedLink.all[link], seed: seed)
            trial.run(until: 40)
            first += trial.sorted(from: 1, to: 2)
            second += trial.sorted(from: 5, to: 20)
            third += trial.sorted(from: 20, to: 40)
        }
        #expect(quantile(0.95, first.sorted()) < early)
        #expect(quantile(0.95, second.sorted()) < warm)
        #expect(quantile(0.95, third.sorted()) < late)
    }

    @Test func `the rate is found within a minute`() throws {
        var trial = Trial(SimulatedLink.all[0], seed: 7, wander: 0)
        trial.run(until: 60)
        let rate = try #require(trial.estimator.rate)
        #expect(abs(rate.partsPerMillion - trial.exchanges.rate) < 2)
        #expect(rate.deviation < 2)
    }

    @Test func `a rate that is remembered makes the beginning better`() {
        var (unknown, known) = ([Double](), [Double]())
        for seed: UInt64 in 1...4 {
            var trial = Trial(SimulatedLink.all[0], seed: seed)
            var other = Trial(
                SimulatedLink.all[0], seed: seed,
                known: ClockRate(partsPerMillion: trial.exchanges.rate, deviation: 1))
            trial.run(until: 10)
            other.run(until: 10)
            unknown += trial.sorted(from: 3, to: 10)
            known += other.sorted(from: 3, to: 10)
        }
        #expect(quantile(0.5, known.sorted()) < quantile(0.5, unknown.sorted()))
    }

    @Test func `whoever joins while answers are held up is right soon after`() {
        for seed: UInt64 in 1...6 {
            var trial = Trial(bursts, seed: seed)
            trial.run(until: 20)
            // A queue lasts up to 3 s; while it does, nobody can know.
            #expect(trial.sorted(from: 6, to: 20).last ?? .infinity < 1_000)
        }
    }

    @Test func `the line does not jump once it is known`() {
        var trial = Trial(SimulatedLink.all[0], seed: 3)
        trial.run(until: 30)
        let late = trial.slews.filter { $0.time > 3 }
        #expect(late.count > 200)
        // Rounded to nanoseconds over a tenth of a second.
        #expect(late.allSatisfy { abs($0.slew) < 50 })
    }

    @Test(arguments: [2_000_000.0, -2_000_000, 20_000, 86_400e6])
    func `a clock that is set is followed within a second`(step: Double) throws {
        var trial = Trial(SimulatedLink.all[0], seed: 11)
        trial.run(until: 15)
        let rate = try #require(trial.estimator.rate).partsPerMillion
        trial.exchanges.step(by: step)
        trial.run(until: 20)
        #expect(trial.sorted(from: 16, to: 17).last ?? .infinity < 1_000)
        #expect(trial.sorted(from: 17, to: 20).last ?? .infinity < 400)
        let after = try #require(trial.estimator.rate).partsPerMillion
        #expect(abs(after - rate) < 15)
    }

    @Test func `clocks that are years apart are no worse`() {
        var exchanges = SimulatedExchanges(over: SimulatedLink.all[3], seed: 5, offset: -800e6)
        var estimator = ClockEstimator()
        let age: Int64 = 40 * 365 * 86_400 * 1_000_000_000
        while exchanges.time < 3 {
            let now = exchanges.now
            if let exchange = exchanges.next(interval: estimator.pollingInterval(at: now)) {
                estimator.add(
                    sent: exchange.sent, remote: exchange.remote + age, received: exchange.received)
            }
            _ = estimator.update(at: now)
        }
        let line = estimator.update(at: exchanges.now)
        let error = line.map { $0.remote(at: exchanges.now) - exchanges.truth - age } ?? .max
        #expect(abs(error) < 20_000)
    }

    @Test func `nothing is published before there is something to publish`() {
        var estimator = ClockEstimator()
        let none = estimator.update(at: 5)
        #expect(none == nil)
        #expect(estimator.rate == nil)
        #expect(estimator.deviation == nil)
        for index: Int64 in 0..<10 {
            estimator.add(sent: index * 1_000_000, remote: 7, received: index * 1_000_000 + 10)
        }
        let early = estimator.update(at: 10_000_000)
        #expect(early == nil)
    }

    @Test func `what is forgotten has no part in what comes`() {
        var trial = Trial(SimulatedLink.all[3], seed: 2)
        trial.run(until: 2)
        let known = trial.estimator.update(at: trial.exchanges.now)
        #expect(known != nil)
        trial.estimator.reset()
        let forgotten = trial.estimator.update(at: trial.exchanges.now)
        #expect(forgotten == nil)
        #expect(trial.estimator.rate == nil)
    }

    @Test func `readings that contradict each other, or took too long, are refused`() {
        var estimator = ClockEstimator()
        let late = ClockEstimator.longestRoundTrip + 1
        let taken = [
            (10, 9), (0, late), (.min, .max), (10_000_000_000, 10_000_000_001),
            (1_000_000_000, 1_000_000_001),
        ]
        .map { estimator.add(sent: $0.0, remote: 5, received: $0.1) }
        #expect(taken == [false, false, false, true, false])
    }

    @Test func `no readings trap`() {
        var numbers = SeededNumbers(seed: 99)
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, 1_000_000_000, .max - 1, .max]
        func any() -> Int64 {
            Bool.random(using: &numbers)
                ? extremes.randomElement(using: &numbers) ?? 0 : .random(in: .min ... .max, using: &numbers)
        }
        for known in [ClockRate.unknown, ClockRate(partsPerMillion: .nan, deviation: .infinity)] {
            var estimator = ClockEstimator(rate: known)
            for round in 0..<20_000 {
                let sent = round % 3 == 0 ? any() : Int64(round) * 10_000_000
                estimator.add(
                    sent: sent, remote: any(),
                    received: round % 7 == 0 ? any() : sent.addingReportingOverflow(1_000_000).partialValue)
                if round % 5 == 0, let line = estimator.update(at: round % 50 == 0 ? any() : sent) {
                    #expect(abs(line.skew) <= ClockLine.skewLimit)
                }
            }
        }
    }
}
