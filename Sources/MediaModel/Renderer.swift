// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Names one load of an item by the renderer. Every answer carries it, so late answers can be told.
package struct LoadID: Equatable, Hashable, Sendable, Comparable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: LoadID, other: LoadID) -> Bool { one.number < other.number }
}

/// Names one seek within a load.
package struct SeekID: Equatable, Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// A level and a mute that do not touch each other.
public struct Volume: Equatable, Hashable, Sendable {
    /// 0 is silence, 1 is full, in between perceptually even (see `Docs/volume.md`). Always within 0...1.
    public var level: Double {
        didSet { level = Self.clamp(level) }
    }
    public var isMuted: Bool

    public init(level: Double, isMuted: Bool = false) {
        self.level = Self.clamp(level)
        self.isMuted = isMuted
    }

    private static func clamp(_ level: Double) -> Double { level.isNaN ? 0 : min(max(level, 0), 1) }
    public static let full = Volume(level: 1)
}

/// What a renderer can be told. Every command returns at once; outcomes come as `RendererEvent`s.
///
/// A command that names a load other than the newest is ignored.
package enum RendererCommand: Equatable, Sendable {
    /// Gives up the current load, if any, and starts this one. `playing`: sound as soon as there is some.
    case load(LoadID, MediaItem, playing: Bool)
    /// The intent to play; true before anything is loaded is kept.
    case setPlaying(LoadID, Bool)
    /// Moves to a position. Tolerance zero is exact, infinity is the nearest place that is quick.
    case seek(LoadID, SeekID, to: MediaTime, tolerance: MediaTime)
    /// Plays at a speed other than 1, with the pitch kept.
    case setSpeed(LoadID, Double)
    /// Moves through the item at this rate, backward if negative, with or without sound; nil ends the scan and
    /// goes on at the speed that was set.
    case setScan(LoadID, Double?)
    /// Chooses an alternative, or none.
    case selectTrack(LoadID, TrackKind, identifier: String?)
    /// The gain of this load's own sound.
    case setMediaVolume(LoadID, Volume)
    /// The gain of the output: the mixer where there is one, else in software.
    case setOutputVolume(Volume)
    /// Ends the load; always answered with `stopped`.
    case stop(LoadID)
    /// Says what is to follow this load, in place of what was said before; nil is nothing. The renderer makes it ready in
    /// time and goes over to it without a gap where it can: then it reports `advanced`, and the load, its intent to play
    /// and its volume go on with the next item. A renderer may ignore this: then the load ends as any other.
    case prepareNext(LoadID, UpcomingItem?)
    /// Plays something over whatever plays, which goes on and is not touched: also over a load that is paused or has nothing
    /// to give, and over none. In place of the announcement before, if that is not over.
    case announce(LoadID, Announcement)
    /// Lets the announcement fade away.
    case cancelAnnouncement(LoadID)
    /// Makes ready for a first load: loads plugins, opens nothing.
    case warmUp
    /// How the group's clock is read by this machine's, from now on; nil: there is none to follow. Kept over loads.
    case setGroupClock(ClockLine?)
    /// From now on the anchor decides what is heard of this load and when: at each moment of the group's clock the frame that
    /// stands there on the anchor's line, to a fraction of a sample. Nil: it stands, silent and ready. An anchor that has
    /// passed is as good as one to come: what is not decoded is sought, and joined in its place. The speed is the anchor's, and
    /// `setPlaying` is kept for later; nothing follows a bound load.
    case bind(LoadID, PlaybackAnchor?)
    /// Goes on from where it is, by the card's own clock; playing if it was heard.
    case unbind(LoadID)
    /// How much later than the card says its sound is heard, in nanoseconds, such as by a television. Bound loads are played
    /// that much earlier. Kept over loads.
    case setOutputTrim(nanoseconds: Int64)
    /// How much faster than the machine's clock the card of this device ran when it was last measured, in parts per million: a
    /// bound load is exact sooner. Kept over loads.
    case setCardDrift(device: String, partsPerMillion: Double)
    /// Where sound goes from now on, in place of the configured device; nil: there. What plays goes on in its place. Kept over
    /// loads.
    case setOutputDevice(String?)
    /// Gives up the current load, if any, and plays what comes from the source, as it comes. Afterwards the load is one like
    /// any other, live and without a length: it is not moved, nothing follows it, and it is bound to no group. While it is
    /// paused, what comes is thrown away.
    case loadCapture(LoadID, CaptureSource, playing: Bool)
    /// Which capture devices are listened to for sound, in place of those before. They are listened to while a load plays
    /// one of them, too. `captureActivity` tells of each how it is, and whenever that changes.
    case watchCapture([CaptureWatch])
}

/// What a renderer reports.
package enum RendererEvent: Equatable, Sendable {
    /// The renderer is there, with its output in this state. First event, and again after a restart.
    case started(OutputStatus)
    /// Which walls stand around the process that decodes. Comes before `started`, if there is such a process.
    case confined([ConfinementLayer])
    /// Enough is loaded to play. Comes once for a load.
    case loaded(LoadID, LoadedMedia)
    case timelineChanged(LoadID, Timeline)
    case positionChanged(LoadID, PlaybackPosition)
    case bufferingChanged(LoadID, Bool)
    /// Something went wrong that the load survives, so far; nil once it is well again.
    case errorChanged(LoadID, MediaFailure?)
    case metadataChanged(LoadID, Metadata)
    case artworkFound(LoadID, Artwork)
    case tracksChanged(LoadID, Tracks)
    /// Pictures of the load are shown, or cannot be.
    case pictureChanged(LoadID, PictureStatus)
    /// The seek is done, or could not be; position and playback go on either way.
    case seekFinished(LoadID, SeekID, failure: MediaFailure?)
    /// The last sample was heard.
    case ended(LoadID)
    /// The first sample of the item that was to follow is heard, or its turn came and it is waited for. The load before is
    /// over without `ended`; nothing was reported of the new one until now.
    case advanced(LoadID, to: LoadID)
    /// The item that was to follow this load cannot be played. The load goes on, and nothing follows it any more.
    case nextFailed(LoadID, next: LoadID, MediaFailure)
    /// The first sample of the announcement is heard.
    case announcementBegan(LoadID)
    /// The announcement is over: heard to its end, cancelled, or another one took its place.
    case announcementEnded(LoadID)
    /// The announcement is over, and not all of it was heard, or nothing.
    case announcementFailed(LoadID, MediaFailure)
    /// Whether enough of a bound load is decoded where it is to be heard, and the card is known well enough, to begin
    /// within the usual lead. False until it is told.
    case readinessChanged(LoadID, Bool)
    /// How exactly a bound load follows the group; once a second while it is heard.
    case syncChanged(LoadID, SyncReport)
    /// The load is over.
    case failed(LoadID, MediaFailure)
    case stopped(LoadID)
    case outputChanged(OutputStatus)
    /// The mixer was moved by somebody else.
    case outputVolumeChanged(Volume)
    /// Whether sound comes from a capture device that is watched; the reason why nobody can tell, if it cannot be read.
    case captureActivity(name: String, isActive: Bool, reason: String?)
    /// Something was plugged into a jack of the output's card, such as `Headphone Jack`, or pulled out. Comes for each jack
    /// once in the beginning.
    case jackChanged(name: String, isPlugged: Bool)
    /// The renderer is gone; a new one starts by itself. Its loads are lost.
    case exited(reason: String)
}

/// An item that follows another one, under the number that its load will have.
package struct UpcomingItem: Equatable, Sendable {
    package var load: LoadID
    package var item: MediaItem
    package init(load: LoadID, item: MediaItem) { (self.load, self.item) = (load, item) }
}

/// What a renderer knows when enough is loaded to play.
package struct LoadedMedia: Equatable, Sendable {
    package var timeline: Timeline
    package var tracks: Tracks
    package var hasAudio: Bool
    package var hasVideo: Bool

    package init(timeline: Timeline, tracks: Tracks = .init(), hasAudio: Bool, hasVideo: Bool) {
        (self.timeline, self.tracks) = (timeline, tracks)
        (self.hasAudio, self.hasVideo) = (hasAudio, hasVideo)
    }
}

/// Whether the pictures of an item are shown. Its sound is heard either way.
public struct PictureStatus: Equatable, Sendable {
    /// The raw value is the stable name on the wire.
    public enum State: String, Sendable, CaseIterable {
        /// The item has none, they are not wanted, or none has come yet.
        case none
        case shown
        /// There is no decoder for them; the reason names it.
        case undecodable
        /// The display cannot be opened, or has gone.
        case noDisplay
    }

    public var state: State
    /// A sentence for people; nil if there is nothing to explain.
    public var reason: String?

    public init(_ state: State = .none, reason: String? = nil) { (self.state, self.reason) = (state, reason) }
}

/// The state of the sound output.
package struct OutputStatus: Equatable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        /// The device is there and closed.
        case closed
        case open
        /// The device is not there, or stopped answering. It is tried again.
        case lost
        /// Somebody else holds the device. It is tried again.
        case busy
        /// There is no device: sound goes nowhere, paced by the clock.
        case null
    }

    package var state: State
    /// The ALSA name of the device.
    package var device: String
    /// Why it is lost, or who holds it.
    package var reason: String?
    /// Frames a second at the device; nil unless open.
    package var sampleRate: Int32?
    /// True if a mixer of the hardware follows the output volume.
    package var hasHardwareVolume: Bool

    package init(
        state: State, device: String, reason: String? = nil, sampleRate: Int32? = nil,
        hasHardwareVolume: Bool = false
    ) {
        (self.state, self.device, self.reason) = (state, device, reason)
        (self.sampleRate, self.hasHardwareVolume) = (sampleRate, hasHardwareVolume)
    }
}
