// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import ReceiverRuntime
import Settings

/// The kernel's monotonic clock and the loop's timers. Made and used on a loop.
final class LoopClock: Clock {
    let identifier = Machine.bootIdentifier ?? Machine.makeUUID()
    var now: Int64 { MonotonicClock.nanoseconds }

    func schedule(after delay: Duration, _ body: @escaping () -> Void) -> any ScheduledTimer {
        LoopTimer(source: EventSource.after(delay, body))
    }

    private final class LoopTimer: ScheduledTimer {
        private let source: EventSource
        init(source: EventSource) { self.source = source }
        deinit { source.destroy() }
    }
}

/// The system's randomness.
struct SystemIdentifiers {
    static func make() -> any IdentifierSource { Source() }

    private final class Source: IdentifierSource {
        private var generator = SystemRandomNumberGenerator()
        func uuid() -> String { Machine.makeUUID() }
        func token() -> String {
            (0..<4).map { _ in
                let digits = String(generator.next() as UInt32, radix: 16)
                return String(repeating: "0", count: 8 - digits.count) + digits
            }.joined()
        }
    }
}

/// The receiver's lines in the journal.
struct JournalLog: Log {
    func write(_ level: LogLevel, _ label: String, _ message: String, _ metadata: [String: String]) {
        let urgency: Journal.Level =
            switch level {
            case .error: .error
            case .warning: .warning
            case .notice: .notice
            case .info: .info
            case .debug: .debug
            }
        Journal.log(urgency, label, message, metadata)
    }
}
