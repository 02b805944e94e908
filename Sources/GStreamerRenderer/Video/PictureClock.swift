// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput

/// Decides by what is heard when a picture is shown: at the moment at which the sound of its place is heard.
enum PictureClock {
    /// What to do with a picture.
    enum Verdict: Equatable, Sendable {
        case show
        /// Its time is long past, and newer ones wait.
        case drop
        /// Look again after so many nanoseconds, or earlier if something changes; nil: when something changes.
        case wait(Int64?)
    }

    /// A picture this late is left out, in nanoseconds: less is not seen, and a decoder that falls behind catches up.
    static let lateness: Int64 = 40_000_000
    /// One picture in this time is shown however late it is: a slow machine shows few pictures, not none.
    static let longestGap: Int64 = 200_000_000
    /// What a thread wakes up late by is about as much; waiting again for less would be too late.
    static let evenness: Int64 = 300_000

    /// `position` is where the picture stands on the media timeline, in nanoseconds, `shown` when the one before it was
    /// shown.
    static func verdict(at position: Int64, heard: HeardPosition?, shown: Int64, now: Int64) -> Verdict {
        guard let heard, heard.rate > 0 else {
            // Nothing moves. A picture from before the place that playback stands at is none to wait with.
            if let heard, heard.position - position > lateness { return .drop }
            return .wait(nil)
        }
        let early = position - heard.position
        if early < -lateness { return now - shown < longestGap ? .drop : .show }
        let wait = Int64(Double(early) / heard.rate)
        return wait <= evenness ? .show : .wait(wait)
    }
}
