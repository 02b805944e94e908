// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Timing

/// The follower's thread as a value: which requests are under way, when the next one is due, what is known.
struct Following {
    /// As many requests are remembered, of which that many may be answered: more than are sent in the time that an answer
    /// may take.
    static let outstandingLimit = 256

    private struct Outstanding {
        var mark: UInt64 = 0
        /// 0 when there is none, or it was answered.
        var sent: Int64 = 0
    }

    private var estimator: ClockEstimator
    private var outstanding = [Outstanding](repeating: Outstanding(), count: outstandingLimit)
    private var place = 0
    private(set) var nextRequest: Int64 = 0
    /// Far away while there is nothing to tell of.
    private(set) var nextReport = Int64.max
    private var reportedAt: Int64 = 0
    /// When the first answer came, which is not counted: it has waited for addresses to be found and radios to wake.
    private var firstAnswer: Int64?
    private var lastAnswer: Int64 = 0
    private var last = ClockReport()
    private var roundTrip: (least: Int64, since: Int64)?

    init(rate: ClockRate) {
        estimator = ClockEstimator(rate: rate)
        goodAfter = rate.deviation < Self.knownRate ? Self.goodWithRate : Self.goodWithoutRate
    }

    /// While there is no answer (50 ms), and while nothing plays (0.4 s).
    private static let probeInterval: Int64 = 50_000_000
    private static let idleInterval: Int64 = 400_000_000
    private static let reportInterval: Int64 = 100_000_000
    /// Several requests must have been lost for that.
    private static let lostAfter: Int64 = 3_000_000_000
    /// Before that the line may be some hundred microseconds wrong on a network with much jitter: 1.1 s, and 0.6 s where the
    /// machine's rate is remembered.
    private let goodAfter: Int64
    private static let goodWithoutRate: Int64 = 1_100_000_000
    private static let goodWithRate: Int64 = 600_000_000
    /// A rate that is this sure was measured, in parts per million.
    private static let knownRate = 3.0
    /// A request that was not answered within this is lost: the estimator takes no slower one.
    private static let patience = ClockEstimator.longestRoundTrip

    mutating func sent(_ mark: UInt64, at now: Int64, isPlaying: Bool) {
        outstanding[place] = Outstanding(mark: mark, sent: now)
        place = (place + 1) % Self.outstandingLimit
        var interval = Self.probeInterval
        if let firstAnswer {
            interval = estimator.pollingInterval(at: now)
            if !isPlaying, now - firstAnswer > 10_000_000_000 { interval = max(interval, Self.idleInterval) }
            if last.state == .lost { interval = max(interval, Self.probeInterval * 4) }
        }
        // At random distances: with even ones, the requests of minutes may all meet the same other traffic.
        nextRequest = now + .random(in: interval / 2...interval * 3 / 2)
    }

    mutating func received(mark: UInt64, remote: Int64, at now: Int64) {
        guard
            let index = outstanding.firstIndex(where: {
                $0.sent > 0 && $0.mark == mark && now - $0.sent <= Self.patience
            })
        else { return }
        let sent = outstanding[index].sent
        outstanding[index].sent = 0
        lastAnswer = now
        guard firstAnswer != nil else {
            firstAnswer = now
            (nextRequest, nextReport) = (now, now)
            return
        }
        estimator.add(sent: sent, remote: remote, received: now)
        let trip = now - sent
        if let known = roundTrip, trip >= known.least, now - known.since < 5_000_000_000 { return }
        roundTrip = (trip, now)
    }

    /// What is to be told now, if something is.
    mutating func report(at now: Int64, isPlaying: Bool) -> ClockReport? {
        guard let firstAnswer, now >= nextReport else { return nil }
        let age = now - firstAnswer
        // More often at first, so that it is told at once when the line is good.
        let interval = age < 2_000_000_000 ? Self.reportInterval / 4 : Self.reportInterval
        nextReport = now + (isPlaying || age < 10_000_000_000 ? interval : Self.idleInterval)
        var news = ClockReport()
        news.line = estimator.update(at: now)
        news.rate = estimator.rate
        news.deviation = estimator.deviation
        news.roundTrip = roundTrip?.least
        news.age = age
        news.state = state(news, now: now)
        let isDue = news.state == .synchronised && now - reportedAt >= Self.reportInterval * 9 / 10
        guard isDue || news.state != last.state else { return nil }
        (last, reportedAt) = (news, now)
        return news
    }

    private func state(_ news: ClockReport, now: Int64) -> ClockReport.State {
        guard news.line != nil else { return .unsynchronised }
        if now - lastAnswer > Self.lostAfter { return .lost }
        if last.state != .unsynchronised { return .synchronised }
        // On a quick network it is good sooner: an offset cannot be wrong by more than half of a round trip.
        let isQuick = (news.roundTrip ?? .max) < 1_000_000 && (news.deviation ?? .max) < 20_000
        return news.age > goodAfter || isQuick ? .synchronised : .unsynchronised
    }
}
