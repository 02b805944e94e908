// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel
import Playlists

/// One load: what was asked for, and how far it has come.
struct Playback {
    /// How far a load has come.
    enum Phase: Equatable, Sendable {
        /// Nothing was heard of the media yet. Leaves for `ready` when frames stand where playback begins.
        case loading
        /// Frames come, or have come.
        case ready
        /// Everything was heard. Leaves for `ready` with a seek.
        case ended
    }

    /// A move on the timeline that the pipeline is about to do.
    struct Seek {
        /// Those who asked; more than one if a newer one took the place of an older one.
        var id: SeekID?
        /// Nanoseconds.
        var position: Int64
        var isAccurate: Bool
        /// Names it towards the worker.
        var number: UInt64 = 0
        /// True while the worker is at it; then no other is started.
        var isExecuting = false
        var hasArrived = false
        /// Guesses that led astray, and where the last one looked.
        var guesses = 0
        var guess: Int64 = 0
        /// Flushes before it; frames that come after more are its own.
        var flushes = 0
    }

    let id: LoadID
    let item: MediaItem
    /// The stream of the newest pipeline into the output.
    var stream = StreamID(0)
    var pipeline: MediaPipeline?
    /// What reads the sound of a load that has no pipeline.
    var capture: CaptureFeed?
    var phase = Phase.loading
    /// The intent.
    var isPlaying: Bool
    /// True while the frames that come are not those to be heard first.
    var isHeld: Bool
    var volume = Volume.full
    /// How it is bound to a group; nil if it is not.
    var bond: GStreamerRenderer.Bond?
    var speed = 1.0
    var scan: Scan?
    /// The move that is under way, and the one that follows it.
    var seek: Seek?
    var nextSeek: Seek?
    var seekCount: UInt64 = 0
    /// Where playback stands while nothing is heard, in nanoseconds.
    var place: Int64
    var isSounding = false
    /// True once the pipeline has given its last frame away.
    var isDecoded = false
    /// What follows.
    var next: NextItem?
    var isBuffering = false
    var hasReportedLoaded = false
    /// Questions for a length that was not known yet.
    var asked = 0
    var timeline = Timeline.unknown
    var streams: StreamSet?
    /// Hears that more is known of them.
    var streamWatch: StreamWatch?
    var table = TrackTable()
    var words = WordsOfMedia()
    /// What was reported of them.
    var metadata = Metadata()
    var artwork: Artwork?
    var isArtworkReported = true
    /// What is told of sound that is not heard yet.
    var news: [(cue: Int, news: StreamFeed.News)] = []
    var pacer = Pacer()
    /// When it was paused, in nanoseconds of the monotonic clock.
    var pausedSince: Int64?
    /// Whether pictures are shown, and what of that was reported.
    var picture = PictureStatus()
    var reportedPicture = PictureStatus()
    /// True if the sound alone is played, since the pictures end everything.
    var isWithoutPictures = false
    /// True once somebody chose a track of texts, or none.
    var hasChosenText = false
    /// The way through the list that the item turned out to be, and where it stands.
    var walk: PlaylistWalk?
    var entry: PlaylistWalk.Item?
    /// True once the server was asked what is at the current address, and that question while it lasts.
    var isExamined = false
    /// Where the media begins in what the server has: behind bytes that are none.
    var origin: Int64 = 0
    var examination: Examination?
    /// Pipelines that were given up because nothing came of what they had read, or they failed for no reason of the media.
    var stuckBeginnings = 0
    /// What an element said is not installed.
    var missing: String?
    /// What the pipeline ended with while sound that it had given was still to be heard.
    var failure: MediaFailure?
    var reported: PlaybackPosition?
    /// What is being done about a server that is gone; nil while all is well.
    var outage: Outage?
    /// True while it is told that the item's server is gone, and asked again.
    var isTroubleTold = false
    /// Segments that were passed over, as far as that was reported.
    var skipped = 0
    /// Beginnings after a freeze since sound was heard last.
    var freezes = 0

    /// A server that is gone.
    struct Outage {
        /// When it began to be heard, in nanoseconds of the monotonic clock.
        var since: Int64
        /// Counts the attempts; answers to earlier ones are late.
        var attempt = 0
        /// True while what was read before is still heard.
        var isDraining = true
        /// True while a pipeline of the newest attempt loads.
        var isTrying = false
    }

    /// A scan under way.
    struct Scan {
        var rate: Double
        /// True if the pipeline plays at that rate; else positions are visited one after the other.
        var isPlayed: Bool
        /// Where a scan by visits stands, in nanoseconds.
        var position: Double
        /// When it stood there, in nanoseconds of the monotonic clock.
        var clockTime: Int64
        var number: UInt64
    }

    init(id: LoadID, item: MediaItem, playing: Bool) {
        (self.id, self.item) = (id, item)
        isPlaying = playing
        if !playing { pausedSince = AudioOutput.now() }
        let start = item.startPosition.nanoseconds ?? 0
        isHeld = start > 0
        place = max(0, start)
    }

    /// Forgets how far the load had come; what was asked for and what is known of the media stay.
    mutating func begin(at place: Int64) {
        (pipeline, seek, nextSeek, failure) = (nil, nil, nil, nil)
        news = []
        (phase, isHeld, isSounding, isDecoded) = (.loading, place > 0, false, false)
        skipped = 0
        self.place = place
    }

    /// The rate at which the pipeline plays.
    var pipelineRate: Double { scan.map { $0.isPlayed ? $0.rate : 1 } ?? speed }
}
