// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Leads the place at which an output reads towards the place that belongs there, so slowly that nobody hears it.
///
/// There is no loop around the card's delay, so nothing can swing: the place that belongs to a frame is known beforehand, and the
/// speed of reading follows it, with a correction of what is still wrong. 100 ppm are 0.17 cent, 500 ppm 0.9; a change of
/// pitch is heard from about 5 cents on.
package struct OutputServo: Equatable, Sendable {
    /// What is still wrong is corrected in so many seconds; quicker while the clocks are learned.
    private static let settling = 1.0
    private static let youngSettling = 0.3
    /// Parts per million.
    private static let limit = 100.0
    private static let urgentLimit = 500.0
    /// An error above this, in microseconds, is urgent; so is any in the first seconds of sound.
    private static let urgent = 500.0
    private static let youth: Int64 = 3_000_000_000
    /// An error above this, in microseconds, is not corrected by reading faster or slower.
    package static let jump = 5_000.0

    /// When sound began; nil while there is none.
    private var since: Int64?

    package init() {}

    /// Sound begins at `time`, in nanoseconds, in its place.
    package mutating func begin(at time: Int64) { since = time }

    /// How much of the source is read for each frame. `error`: by how many microseconds the place that belongs here is ahead of
    /// the place that is read; `pace`: how fast the place that belongs here moves.
    package func ratio(pace: Double, error: Double, at time: Int64) -> Double {
        let isYoung = since.map { time &- $0 < Self.youth } ?? true
        let limit = isYoung || error.magnitude > Self.urgent ? Self.urgentLimit : Self.limit
        let wanted = error / (isYoung ? Self.youngSettling : Self.settling)
        return pace + min(max(wanted, -limit), limit) * 1e-6
    }
}
