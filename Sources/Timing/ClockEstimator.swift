// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// How much faster than the local clock another one runs, and how sure that is; both in parts per million.
package struct ClockRate: Equatable, Hashable, Sendable {
    package var partsPerMillion: Double
    package var deviation: Double

    package init(partsPerMillion: Double, deviation: Double) {
        (self.partsPerMillion, self.deviation) = (partsPerMillion, deviation)
    }

    /// Of a clock that nobody has met yet: what two ordinary crystals may differ by.
    package static let unknown = ClockRate(partsPerMillion: 0, deviation: 30)
}

/// Offset and rate of another machine's clock, from exchanges with it over a network that delays them at random.
///
/// All that goes wrong on the way makes a message late, never early. So each direction is judged by its quickest
/// messages alone, not by the exchanges that were quick both ways; a Kalman filter carries offset and rate through
/// what these say. It reads no clock, sends nothing, and takes any number that a stranger writes.
/// Docs/group-clock.md tells how it works and what it was measured to do.
package struct ClockEstimator: Sendable {
    // Times inside are seconds since the first exchange, offsets and delays microseconds without the large constants.
    private var origin: (local: Int64, offset: Int64)?
    private var open = ClockCell()
    private var openSince = 0.0
    /// Oldest first.
    var cells: [ClockCell] = []
    /// Which way of telling what is quickest suits this network.
    var candidate = ClockWindow.initialCandidate
    var state = ClockFilter()
    /// What the filter begins with.
    var initialRate: ClockRate
    /// When the filter forgot what was before.
    private(set) var since = 0.0
    private var published: (at: Double, offset: Double, skew: Double)?
    private var hasFirstLine = false
    /// How many exchanges the filter could not be right about, and when the last one was.
    private var contradictions = (count: 0, last: 0.0)

    package init(rate: ClockRate = .unknown) {
        let deviation =
            rate.deviation.isNaN ? ClockRate.unknown.deviation : min(max(rate.deviation, 0.1), 1000)
        let known = rate.partsPerMillion
        initialRate = abs(known) <= 1000 ? ClockRate(partsPerMillion: known, deviation: deviation) : .unknown
        state = ClockFilter(offset: 0, variance: 0, at: 0, rate: initialRate)
        cells.reserveCapacity(Self.cellLimit)
    }

    /// Forgets everything, for a clock of another identity.
    package mutating func reset(rate: ClockRate = .unknown) { self = ClockEstimator(rate: rate) }

    /// A minute and more.
    static let cellLimit = 160
    /// Longer than any answer that is worth something (1 s).
    package static let longestRoundTrip: Int64 = 1_000_000_000

    /// Takes one exchange: the local clock before the request, the other one's answer, the local clock after it. False
    /// for readings that contradict each other, or took too long, or are older than a second.
    @discardableResult
    package mutating func add(sent: Int64, remote: Int64, received: Int64) -> Bool {
        let (roundTrip, isFar) = received.subtractingReportingOverflow(sent)
        guard !isFar, roundTrip >= 0, roundTrip <= Self.longestRoundTrip else { return false }
        let (difference, isAbsurd) = remote.subtractingReportingOverflow(sent)
        guard !isAbsurd else { return false }
        let origin = self.origin ?? (sent, difference.saturatingSubtracting(roundTrip / 2))
        let (there, isFarAgain) = difference.subtractingReportingOverflow(origin.offset)
        let time = Self.seconds(sent.saturatingAdding(roundTrip / 2), since: origin.local)
        guard !isFarAgain, time >= open.last - 1 else { return false }
        self.origin = origin
        let up = Double(there) * 1e-3
        let down = Double(roundTrip) * 1e-3 - up
        if contradicts(up: up, down: down, at: time) { return true }
        open.add(up: up, down: down, at: time, rate: state.rate)
        return true
    }

    /// Closes what is to be closed and moves the published line on; to be called about ten times a second. Nil while
    /// there is no line that could be used.
    package mutating func update(at now: Int64) -> ClockLine? {
        guard let origin else { return nil }
        let time = Self.seconds(now, since: origin.local)
        let age = time - since
        if !hasFirstLine, cells.isEmpty, open.count >= 20 {
            // After about 0.2 s; there is better to come.
            hasFirstLine = true
            let window = ClockWindow([open], rate: initialRate.partsPerMillion)
            let rate = initialRate.partsPerMillion
            published = (time, window.offsets[candidate] + (time - window.time) * rate, rate)
        }
        if time - openSince >= Self.cellLength(age: age), open.count >= 8 {
            if cells.count == Self.cellLimit { cells.removeFirst() }
            cells.append(open)
            open = ClockCell(last: open.last)
            openSince = time
            filter()
        }
        if !cells.isEmpty { publish(at: time, age: age) }
        guard let published else { return nil }
        let offset = published.offset + (time - published.at) * published.skew
        let remote = now.saturatingAdding(origin.offset).saturatingAdding(Int64(saturating: offset * 1e3))
        return ClockLine(local: now, remote: remote, skew: published.skew * 1e-6)
    }

    /// The rate as it is known now; nil before it was measured at all.
    package var rate: ClockRate? {
        guard cells.count >= 4 else { return nil }
        return ClockRate(partsPerMillion: state.rate, deviation: state.rateVariance.squareRoot())
    }

    /// How sure the offset is, in nanoseconds, if the network delays both directions alike; nil before it was measured.
    package var deviation: Int64? {
        cells.isEmpty ? nil : Int64(saturating: state.offsetVariance.squareRoot() * 1e3)
    }

    /// The distance of exchanges that suits what is known so far, in nanoseconds: the less is known the shorter. Actual
    /// ones must vary around it, so as not to fall into step with other traffic.
    package func pollingInterval(at now: Int64) -> Int64 {
        guard let origin else { return 50_000_000 }
        let age = Self.seconds(now, since: origin.local) - since
        return age < 2 ? 6_666_667 : age < 10 ? 10_000_000 : age < 60 ? 20_000_000 : 50_000_000
    }

    private static func seconds(_ local: Int64, since origin: Int64) -> Double {
        Double(local.saturatingSubtracting(origin)) * 1e-9
    }

    /// Short at first, so that there is something soon.
    private static func cellLength(age: Double) -> Double { age < 2 ? 0.25 : age < 60 ? 0.5 : 1 }

    /// Whether the filter lies outside of what this exchange proves: the other clock was read after the request was sent
    /// and before the answer came. Three of these have everything forgotten but the rate: the other clock was set, or
    /// all that came before was held up in one direction.
    private mutating func contradicts(up: Double, down: Double, at time: Double) -> Bool {
        guard !cells.isEmpty else { return false }
        let expected = state.offset(at: time)
        let slack = 200 + 3 * state.offsetVariance.squareRoot()
        guard expected > up + slack || expected < -down - slack else { return false }
        contradictions = (time - contradictions.last > 2 ? 1 : contradictions.count + 1, time)
        if contradictions.count >= 3 { restart(at: time) }
        return true
    }

    private mutating func restart(at time: Double) {
        contradictions.count = 0
        initialRate = ClockRate(
            partsPerMillion: state.rate, deviation: max(2 * state.rateVariance.squareRoot(), 2))
        cells.removeAll(keepingCapacity: true)
        open = ClockCell(last: time)
        (openSince, since, hasFirstLine) = (time, time, false)
    }

    /// Moves the published line towards the filter's, smoothly: those who play by it must not jump.
    private mutating func publish(at time: Double, age: Double) {
        let aim = state.offset(at: time)
        guard let line = published else {
            published = (time, aim, state.rate)
            return
        }
        var offset = line.offset + (time - line.at) * line.skew
        var error = aim - offset
        if abs(error) > (age < 3 ? 1000 : 5000) {
            (offset, error) = (aim, 0)
        }
        let delay = age < 1 ? 0.1 : age < 5 ? 0.3 : 1
        let limit: Double = age < 3 ? 5000 : abs(error) > 300 ? 1000 : age < 20 ? 200 : 100
        published = (time, offset, state.rate + min(max(error / delay, -limit), limit))
    }
}
