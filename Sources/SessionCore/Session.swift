// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// One item, played once, as senders see it. What the core alone needs is in `internal` members.
package struct Session: Equatable, Sendable {
    package enum Phase: String, Equatable, Sendable {
        /// The renderer was asked; leaves for `active` when the media is loaded. Ends like `active`.
        case loading
        /// Loaded. Ends when stopped, finished, failed, preempted, with its route, or at shutdown.
        case active
    }

    /// Nil when its sender left and playing goes on.
    package internal(set) var route: RouteID?
    package let load: LoadID
    package internal(set) var phase = Phase.loading
    /// The intent; stays true in stalls.
    package internal(set) var isPlaying: Bool
    package internal(set) var isBuffering = false
    package internal(set) var mode = PlaybackMode.normal
    /// The listener's speed, kept over pauses and scans. 0.25...4.
    package internal(set) var speed = 1.0
    /// The rate of the scan; used only while `mode` is scanning. Magnitude 2...32.
    package internal(set) var scanSpeed = 2.0
    package internal(set) var position = PlaybackPosition.zero
    package internal(set) var timeline = Timeline.unknown
    /// As the sender gave them; see `currentSegment`.
    package internal(set) var segments: [Segment]
    package internal(set) var tracks = Tracks()
    package internal(set) var hasAudio = false
    package internal(set) var hasVideo = false
    package internal(set) var volume = Volume.full
    package internal(set) var metadata: Metadata
    /// Keys of the pictures, newest last; see `ReceiverEffect.storeArtwork`.
    package internal(set) var artwork: [UInt64] = []
    /// A playback error that may clear.
    package internal(set) var error: MediaFailure?

    /// Ready once loaded, and never back.
    package var isReady: Bool { phase == .active }
}
