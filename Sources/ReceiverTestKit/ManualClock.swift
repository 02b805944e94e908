// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ReceiverRuntime

/// A clock that stands until the test moves it.
package final class ManualClock: Clock {
    package private(set) var now: Int64
    package let identifier: String
    private var timers: [Timer] = []
    private var made: UInt64 = 0

    package init(now: Int64 = 1_000_000_000_000, identifier: String = "6f1d3c1e-0000-4000-8000-00000000c10c")
    {
        (self.now, self.identifier) = (now, identifier)
    }

    package func schedule(after delay: Duration, _ body: @escaping () -> Void) -> any ScheduledTimer {
        made += 1
        let ticket = Ticket()
        timers.append(Timer(due: now + Self.nanoseconds(delay), number: made, ticket: ticket, body: body))
        return ticket
    }

    /// Timers that would fire if the clock went on.
    package var armed: Int { timers.count { $0.ticket != nil } }

    /// Moves the clock and fires what falls due, in order, each at its own moment.
    package func advance(by delay: Duration) {
        let end = now + Self.nanoseconds(delay)
        while let next = timers.filter({ $0.ticket != nil && $0.due <= end })
            .min(by: { ($0.due, $0.number) < ($1.due, $1.number) })
        {
            timers.removeAll { $0.number == next.number }
            now = max(now, next.due)
            next.body()
        }
        timers.removeAll { $0.ticket == nil }
        now = end
    }

    private struct Timer {
        let due: Int64
        let number: UInt64
        weak var ticket: Ticket?
        let body: () -> Void
    }

    private final class Ticket: ScheduledTimer {}

    private static func nanoseconds(_ delay: Duration) -> Int64 {
        let (seconds, attoseconds) = delay.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
