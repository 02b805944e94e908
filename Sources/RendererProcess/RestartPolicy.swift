// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// How long to wait before a renderer that died is started again: not at all for one that had run well, ever longer
/// for one that keeps dying.
package struct RestartPolicy: Equatable {
    /// A renderer that lived this long is sound, whatever it died of.
    package static let soundAge = Duration.seconds(30)
    private static let first = Duration.milliseconds(500)
    private static let longest = Duration.seconds(10)

    private var next = Duration.zero

    package init() {}

    /// The pause after a renderer that lived for `age`.
    package mutating func pause(afterLiving age: Duration) -> Duration {
        if age >= Self.soundAge { next = .zero }
        defer { next = next == .zero ? Self.first : min(next * 2, Self.longest) }
        return next
    }
}
