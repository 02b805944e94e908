// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Remembers in which order different fakes were used.
package final class RecordingOrder {
    package private(set) var entries: [String] = []
    package init() {}
    package func note(_ entry: String) { entries.append(entry) }

    /// True if both happened, `first` before `second`, each counted at its first time.
    package func happened(_ first: String, before second: String) -> Bool {
        guard let one = entries.firstIndex(of: first), let other = entries.firstIndex(of: second) else {
            return false
        }
        return one < other
    }
}
