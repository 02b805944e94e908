// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Whether a renderer says more than anything that plays has to say. It sends some ten messages a second, and at the
/// beginning of an item a few pictures; one that sends without an end would keep the loop from everything else.
package struct FloodGuard: Equatable {
    /// In one second.
    package static let messageLimit = 1_000
    package static let byteLimit = 64 << 20
    private static let second: Int64 = 1_000_000_000

    private var began: Int64 = .min
    private var messages = 0
    private var bytes = 0

    package init() {}

    /// False if it is too much. `now` is in nanoseconds.
    package mutating func admits(messages count: Int, bytes size: Int, now: Int64) -> Bool {
        if began == .min || now - began >= Self.second { (began, messages, bytes) = (now, 0, 0) }
        (messages, bytes) = (messages + count, bytes + size)
        return messages <= Self.messageLimit && bytes <= Self.byteLimit
    }
}
