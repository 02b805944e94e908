// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Says to a thread that it is to end.
final class StopFlag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock(\.self) }
    func set() { value.withLock { $0 = true } }
}
