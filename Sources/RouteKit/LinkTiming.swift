// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// How long the library waits for what. Tests use shorter times.
package struct LinkTiming: Sendable {
    /// For the answer to a request, and for a connection to be made.
    package var request: Duration
    /// Before the first attempt to connect again; each next wait is twice as long.
    package var firstRetry: Duration
    /// The longest wait between two attempts.
    package var longestRetry: Duration
    /// Between two readings of the receiver's clock, which also tell whether it still answers. Shorter than the time
    /// after which a receiver gives up a silent sender.
    package var clockReading: Duration

    package init(
        request: Duration = .seconds(5), firstRetry: Duration = .milliseconds(100),
        longestRetry: Duration = .seconds(5), clockReading: Duration = .seconds(10)
    ) {
        (self.request, self.firstRetry, self.longestRetry) = (request, firstRetry, longestRetry)
        self.clockReading = clockReading
    }

    /// The wait before attempt `number`, counted from 0, shortened by up to a fifth at random so that many senders do
    /// not come back at once.
    func retryDelay(_ number: Int, jitter: Double = .random(in: 0..<0.2)) -> Duration {
        let doubled = firstRetry * Double(1 << min(max(number, 0), 16))
        return min(doubled, longestRetry) * (1 - jitter)
    }
}
