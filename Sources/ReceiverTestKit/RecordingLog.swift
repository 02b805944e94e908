// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ReceiverRuntime
import Synchronization

/// Remembers log lines.
package final class RecordingLog: Log {
    package struct Line: Equatable, Sendable {
        package let level: LogLevel
        package let label: String
        package let message: String
        package let metadata: [String: String]
    }

    private let written = Mutex<[Line]>([])
    package init() {}

    package var lines: [Line] { written.withLock { $0 } }

    package func write(_ level: LogLevel, _ label: String, _ message: String, _ metadata: [String: String]) {
        written.withLock {
            $0.append(Line(level: level, label: label, message: message, metadata: metadata))
        }
    }
}
