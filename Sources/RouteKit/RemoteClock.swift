// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Timing

/// What a sender knows of a receiver's clock.
@RouteActor final class RemoteClock {
    /// The clock's identity; another one makes everything before it void.
    private(set) var identifier: String?
    private var estimator = ClockOffsetEstimator()

    /// Remote minus local in nanoseconds; nil before the first exchange.
    var offset: Int64? { estimator.offset }

    func identify(_ identifier: String) {
        guard identifier != self.identifier else { return }
        self.identifier = identifier
        estimator.reset()
    }

    func add(_ exchange: ClockExchange) { estimator.add(exchange) }

    func remote(fromLocal local: Int64) -> Int64? { estimator.offset.map { local &+ $0 } }
}
