// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// A queue of items, played once, with all that is known of the current one, as senders see it. What the core alone needs is in `internal` members.
package struct Session: Equatable, Sendable {
    package enum Phase: String, Equatable, Sendable {
        /// The renderer was asked; leaves for `active` when the media is loaded. Ends like `active`.
        case loading
        /// Loaded once. Ends when stopped, finished, failed, preempted, with its route, or at shutdown. Neither a crash of
        /// the renderer nor another item leads back: they are loaded behind it.
        case active
    }

    /// Nil when its sender left and playing goes on.
    package internal(set) var route: RouteID?
    /// The application that plays it, which then has no route.
    package let application: InstanceID?
    package internal(set) var queue: PlayQueue
    /// The newest load of the current item.
    package internal(set) var load: LoadID
    package internal(set) var phase = Phase.loading
    /// The intent; stays true in stalls.
    package internal(set) var isPlaying: Bool
    package internal(set) var isBuffering = false
    /// False while another source has the output.
    package internal(set) var isHeard = true
    package internal(set) var mode = PlaybackMode.normal
    /// The listener's speed, kept over pauses and scans. 0.25...4.
    package internal(set) var speed = 1.0
    /// The rate of the scan; used only while `mode` is scanning. Magnitude 2...32.
    package internal(set) var scanSpeed = 2.0
    package internal(set) var position: PlaybackPosition
    package internal(set) var timeline = Timeline.unknown
    /// The sender's, with gaps filled, so that they are contiguous; empty if it gave none.
    package internal(set) var segments: [Segment] = []
    package internal(set) var tracks = Tracks()
    package internal(set) var hasAudio = false
    package internal(set) var hasVideo = false
    package internal(set) var picture = PictureStatus()
    package internal(set) var volume = Volume.full
    /// What the sender said, completed by what the media says.
    package internal(set) var metadata: Metadata
    /// Keys of the pictures, newest last; see `ReceiverEffect.storeArtwork`.
    package internal(set) var artwork: [UInt64] = []
    /// A playback error that may clear.
    package internal(set) var error: MediaFailure?
    /// True: what is heard when is the group's to say.
    package internal(set) var isGrouped = false
    /// Where the group is in the item; nil: it stands. Meaningful while it is grouped.
    package internal(set) var anchor: PlaybackAnchor?

    /// Not nil while the group's next item is waited for, since this one is over here: nothing of it is at the renderer.
    package internal(set) var waiting: Waiting?

    package enum Waiting: Equatable, Sendable {
        /// It was played to its end here, while others may still play it.
        case ended
        /// It cannot be played here.
        case failed(MediaFailure)

        /// Why the session is over if nothing follows.
        var end: EndReason {
            switch self {
            case .ended: .finished
            case .failed(let failure): .failed(failure)
            }
        }
    }

    /// True while the renderer is at a seek.
    package var isSeeking: Bool { seek != nil }

    /// True while a seek is at the renderer, or waits for it or for the load.
    package var isSeekAhead: Bool { seek != nil || pendingSeek != nil || !isLoaded }

    /// Ready once loaded, and never back.
    package var isReady: Bool { phase == .active }

    /// What the newest load plays; after a crash its start is where playback was.
    var item: MediaItem
    /// True once the newest load is loaded: speed, seeks, scans and tracks can be told.
    var isLoaded = false
    var givenMetadata: Metadata
    /// What the media says.
    var mediaMetadata = Metadata()
    var givenSegments: [Segment]
    /// The seek that the renderer is at.
    var seek: Seek?
    /// The newest seek that has to wait, for the one before it or for the load.
    var pendingSeek: Target?
    /// The alternatives that senders chose, for a load after a crash.
    var chosenTracks: [TrackKind: String?] = [:]
    /// The speed that the renderer has.
    var toldSpeed = 1.0
    /// What the renderer was told to have follow.
    var next: Next?
    /// Crashes of the renderer while it had this item, forgotten after `calmTime` of playing.
    package internal(set) var crashes = 0
    /// Nanoseconds of playing since the last crash.
    var played: Int64 = 0
    /// Long enough that what crashes on every attempt never gets there, short against an evening of radio.
    static let calmTime: Int64 = 30_000_000_000
    /// True: the pictures are those of an earlier load and leave when new ones come.
    var artworkIsStale = false

    /// True if senders see no difference but that of the position.
    package func looks(like other: Session) -> Bool {
        var moved = other
        (moved.position, moved.played) = (position, played)
        (moved.seek, moved.pendingSeek) = (seek, pendingSeek)
        return moved == self
    }

    struct Target: Equatable, Sendable {
        let time: MediaTime
        let tolerance: MediaTime
    }

    struct Seek: Equatable, Sendable {
        let id: SeekID
        let target: Target
    }

    init(_ request: SessionRequest, queue: PlayQueue, owner: Asker?, load: LoadID) {
        switch owner {
        case nil: (route, application) = (nil, nil)
        case .route(let id): (route, application) = (id, nil)
        case .instance(let id): (route, application) = (nil, id)
        }
        (self.queue, self.load, item) = (queue, load, request.item)
        (isPlaying, metadata, givenMetadata) = (request.isPlaying, request.metadata, request.metadata)
        position = PlaybackPosition(position: request.item.startPosition, clockTime: 0, rate: 0)
        givenSegments = Segment.ordered(request.segments)
        segments = Segment.contiguous(givenSegments, over: timeline.range)
    }
}
