// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ReceiverRuntime

/// A state store in memory.
package final class MemoryStore: StateStore {
    package private(set) var saved: SavedState?
    package private(set) var saves = 0
    private let order: RecordingOrder?

    package init(_ saved: SavedState? = nil, order: RecordingOrder? = nil) {
        (self.saved, self.order) = (saved, order)
    }

    package func load() -> SavedState? { saved }

    package func save(_ state: SavedState) {
        saved = state
        saves += 1
        order?.note("store.save")
    }
}

/// Identifiers that count up, so that a test can name them.
package final class FixedIdentifiers: IdentifierSource {
    private var uuids = 0
    private var tokens = 0
    package init() {}

    package func uuid() -> String {
        uuids += 1
        let count = String(uuids)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(12 - count.count, 0)) + count
    }

    package func token() -> String {
        tokens += 1
        return "token-\(tokens)"
    }
}
