// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing
import Timing

/// An exchange with a clock that is `offset` ahead, over ways of these lengths.
private func exchange(offset: Int64, there: Int64, back: Int64, at start: Int64 = 1_000) -> ClockExchange {
    ClockExchange(
        requestSent: start, requestReceived: start + there + offset,
        answerSent: start + there + offset + 5, answerReceived: start + there + 5 + back)
}

struct ClockTests {
    @Test func `equal ways give the offset exactly`() {
        #expect(exchange(offset: 12_345, there: 300, back: 300).offset == 12_345)
        #expect(exchange(offset: -7, there: 0, back: 0).offset == -7)
        let day: Int64 = 86_400_000_000_000
        #expect(exchange(offset: 400 * day + 1, there: 9, back: 9, at: 300 * day).offset == 400 * day + 1)
    }

    @Test func `unequal ways err by half their difference`() {
        #expect(exchange(offset: 0, there: 100, back: 40).offset == 30)
    }

    @Test func `the round trip leaves out the time at the other side`() {
        #expect(exchange(offset: 1_000_000, there: 30, back: 12).roundTrip == 42)
    }

    @Test func `readings that contradict each other are told`() {
        #expect(
            ClockExchange(requestSent: 10, requestReceived: 0, answerSent: 0, answerReceived: 5).roundTrip < 0
        )
        #expect(
            ClockExchange(requestSent: 0, requestReceived: 9, answerSent: 3, answerReceived: 5).roundTrip < 0)
        #expect(
            ClockExchange(requestSent: 0, requestReceived: 0, answerSent: 9, answerReceived: 5).roundTrip < 0)
    }

    @Test func `no readings trap`() {
        let times: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        var estimator = ClockOffsetEstimator()
        for first in times {
            for second in times {
                for third in times {
                    for fourth in times {
                        let exchange = ClockExchange(
                            requestSent: first, requestReceived: second, answerSent: third,
                            answerReceived: fourth)
                        if exchange.roundTrip >= 0 { #expect(first <= fourth && second <= third) }
                        _ = exchange.offset
                        estimator.add(exchange)
                    }
                }
            }
        }
        #expect(estimator.offset != nil)
    }

    @Test func `the quickest exchange counts`() {
        var estimator = ClockOffsetEstimator(capacity: 3)
        #expect(estimator.offset == nil)
        estimator.add(exchange(offset: 100, there: 80, back: 0))
        #expect(estimator.offset == 140)
        estimator.add(exchange(offset: 100, there: 2, back: 2))
        estimator.add(exchange(offset: 100, there: 60, back: 0))
        #expect(estimator.offset == 100)
    }

    @Test func `an exchange is forgotten when newer ones fill the estimator`() {
        var estimator = ClockOffsetEstimator(capacity: 2)
        estimator.add(exchange(offset: 1, there: 0, back: 0))
        estimator.add(exchange(offset: 2, there: 5, back: 5))
        estimator.add(exchange(offset: 3, there: 6, back: 6))
        #expect(estimator.offset == 2)
        estimator.reset()
        #expect(estimator.offset == nil)
    }

    @Test func `an exchange with a negative round trip is left out`() {
        var estimator = ClockOffsetEstimator(capacity: 0)
        estimator.add(ClockExchange(requestSent: 10, requestReceived: 0, answerSent: 0, answerReceived: 5))
        #expect(estimator.offset == nil)
    }

    @Test func `moments of the clock are ordered`() {
        #expect(ClockTime(nanoseconds: -1) < ClockTime(nanoseconds: 0))
    }
}
