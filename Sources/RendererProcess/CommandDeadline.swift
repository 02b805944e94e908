// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Whether the renderer takes its commands in time. Behind a command goes a ping, and since the renderer reads in
/// order, its answer shows that the command was taken. One ping is under way at a time: the commands that come
/// meanwhile are covered by the next.
package struct CommandDeadline: Equatable {
    /// What to do now.
    package enum Step: Equatable {
        /// Send this ping, and look for its answer within the limit.
        case ping(UInt64)
        /// The answer came; look for nothing.
        case rest
    }

    /// Apart from the numbers of other pings.
    private static let first: UInt64 = 1 << 63
    private var number = first
    /// True once the renderer has shown that it can answer; how long it takes to start is another matter.
    private var isStarted = false
    private var isWaiting = false
    private var isOwed = false

    package init() {}

    /// The renderer reported that it is there.
    package mutating func started() -> Step? {
        isStarted = true
        return next()
    }

    /// A command was sent.
    package mutating func commanded() -> Step? {
        isOwed = true
        return next()
    }

    /// A ping was answered, this one's or another.
    package mutating func answered(_ answer: UInt64) -> Step? {
        guard isWaiting, answer == number else { return nil }
        isWaiting = false
        return next() ?? .rest
    }

    private mutating func next() -> Step? {
        guard isStarted, isOwed, !isWaiting else { return nil }
        (isOwed, isWaiting) = (false, true)
        number &+= 1
        return .ping(number)
    }
}
