// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import MediaModel

/// What the owner of the state is told, in the past tense. Identifiers that must be random are made by the owner
/// and come with the event, so that the state stays a value.
package enum ReceiverEvent: Equatable, Sendable {
    // MARK: Connections and routes
    case connectionOpened(ConnectionID)
    case connectionLost(ConnectionID)
    /// `fresh` and `token` are used when a new route is made, `token` also replaces the old one on a resume.
    case activationRequested(RequestID, Sender, resume: ResumeToken?, fresh: RouteID, token: ResumeToken)
    case deactivationRequested(RequestID)
    case graceExpired(RouteID, generation: UInt64)

    // MARK: Sessions
    case startRequested(RequestID, SessionRequest, fresh: SessionID)
    /// Nil: the session that owns the player.
    case stopRequested(RequestID, SessionID?)
    case playbackRequested(RequestID, SessionID?, PlaybackRequest)
    case queueRequested(RequestID, SessionID?, QueueRequest)

    // MARK: Announcements
    case announcementRequested(RequestID, Announcement, fresh: AnnouncementID)
    /// Nil: all of them.
    case announcementCancelRequested(RequestID, AnnouncementID?)
    /// The time is over in which the announcement of this number had to begin, or to end.
    case announcementTimedOut(LoadID, AnnouncementLimit)
    // MARK: Applications
    /// What is installed has changed.
    case catalogChanged([ApplicationManifest])
    /// `instance` is used when a new one is made.
    case applicationStartRequested(RequestID, ApplicationStart, fresh: SessionID, instance: InstanceID)
    /// A message came on a sender's route channel for an application that has no part in it yet.
    case routeChannelRequested(ConnectionID, ApplicationID, instance: InstanceID)
    /// An instance's client is there.
    case applicationConnected(ConnectionID, InstanceID)
    case helloRequested(RequestID)
    /// The application ends a session; with words for the sender if it fails.
    case sessionEndRequested(RequestID, SessionID, failure: String?)
    case instanceConfined(InstanceID, [ConfinementLayer])
    case instanceExited(InstanceID, ApplicationExit)
    case instanceTimedOut(InstanceID, InstanceTimer, generation: UInt64)
    /// It broke a limit or the protocol.
    case instanceViolated(InstanceID, ApplicationFailure)

    // MARK: Groups
    /// The receiver is in a group from now on, and what plays is the group's; or it is in none, and what plays goes on or ends.
    case groupJoined
    case groupLeft(keepsPlaying: Bool)
    /// Whether requests of playback can reach the group's host.
    case groupReachable(Bool)
    /// The group plays the current item of this queue; the session before ends.
    case groupItemChanged(PlayQueue, fresh: SessionID, by: String)
    /// The group has gone over to the current item of this queue, which is the session's as it is now.
    case groupAdvanced(SessionID, PlayQueue)
    /// The session's queue is this one now; what is current stays.
    case groupQueueChanged(SessionID, PlayQueue)
    /// The group plays something else, or nothing.
    case groupItemEnded(SessionID)
    /// What the group wants to play at; 0: paused.
    case groupRateChanged(SessionID, Double)
    /// Where the group is in the item; nil: it stands.
    case groupAnchored(SessionID, PlaybackAnchor?)
    /// It stands, and at this place.
    case groupSought(SessionID, MediaTime)
    /// Something that senders see has changed, of the group alone.
    case groupNoted
    /// The group sets the device's level.
    case groupLevelChanged(Double)

    // MARK: Switching
    /// Another source has the output from this moment of the clock on, and sessions are not heard.
    case outputYielded(at: Int64)
    /// Sessions have the output again.
    case outputReturned
    /// The other source is to be heard, read from this.
    case captureRequested(CaptureSource)
    /// Nothing is read from the other source any more.
    case captureEnded
    /// The session that has the player pauses or goes on, because of who has the output.
    case sessionSwitched(isPlaying: Bool)
    /// The source that is heard has set the device's level.
    case levelSwitched(Double)
    /// Something that senders see has changed, of the sources alone.
    case switchingNoted

    // MARK: Device
    case deviceRequested(RequestID, DeviceRequest)
    /// The advertisement was changed by DNS-SD.
    case advertisementChanged(AdvertisementStatus)
    /// What is to be written down cannot be, for this reason; nil: it can, again.
    case storageChanged(fault: String?)

    // MARK: Renderer
    case renderer(RendererEvent)
    /// The renderer answered nothing to this load for too long.
    case loadTimedOut(LoadID)
    /// Nothing new was heard of this load since the timer of that generation was armed.
    case progressTimedOut(LoadID, generation: UInt64)
    /// The renderer did not answer this seek.
    case seekTimedOut(LoadID, SeekID)
    /// A stop was not answered in time: the renderer is ended by force, and the session is over.
    case stopTimedOut(LoadID)

    /// The receiver goes away: every session ends, every route ends.
    case shutdownRequested
}

/// What a sender asks to have played.
package struct SessionRequest: Equatable, Sendable {
    package var item: MediaItem
    package var isPlaying: Bool
    /// What the sender knows better than the media.
    package var metadata: Metadata
    package var segments: [Segment]
    /// The sender's own name of the item.
    package var identifier: String?
    /// What follows it.
    package var following: [QueueItem] = []
    package var repeats = RepeatMode.off
    package init(
        item: MediaItem, isPlaying: Bool = true, metadata: Metadata = .init(), segments: [Segment] = []
    ) {
        (self.item, self.isPlaying, self.metadata, self.segments) = (item, isPlaying, metadata, segments)
    }

    /// The first item of the queue.
    package var first: QueueItem {
        QueueItem(item: item, metadata: metadata, segments: segments, identifier: identifier)
    }
}

/// A request to the session that plays.
package enum PlaybackRequest: Equatable, Sendable {
    case setPlaying(Bool)
    case seek(to: MediaTime, tolerance: MediaTime)
    case setSpeed(Double)
    case setMode(PlaybackMode, scanSpeed: Double?)
    case selectTrack(TrackKind, identifier: String?)
    case setVolume(Double)
    case setMuted(Bool)
    /// Takes the place of what was given with the current item; what is nil stays.
    case setMetadata(Metadata?, segments: [Segment]?)
}

/// What the timeline is being used for.
package enum PlaybackMode: String, Equatable, Sendable, CaseIterable { case normal, scanning, scrubbing }

/// A request to the device.
package enum DeviceRequest: Equatable, Sendable {
    case setVolume(Double)
    /// Steps of 1/16.
    case changeVolume(steps: Int64)
    case setMuted(Bool)
    case toggleMute
    case rename(String)
    /// Nanoseconds.
    case setOutputTrim(Int64)
}

/// Whether the receiver can be found.
package struct AdvertisementStatus: Equatable, Sendable {
    package enum State: String, Sendable { case registered, waiting, failed, off }
    package var state: State
    /// The service name in use, which differs from the device's after a collision.
    package var name: String
    package init(state: State, name: String) { (self.state, self.name) = (state, name) }
}

/// What the owner must do, in the imperative, in order.
package enum ReceiverEffect: Equatable, Sendable {
    case answer(RequestID, Answer)
    /// Refuses: code, reason for people.
    case refuse(RequestID, Refusal)
    case render(RendererCommand)
    /// Asks the group for what a sender asked of the session, or tells it.
    case coordinate(SessionID, CoordinatedRequest)
    /// Ends the renderer process by force; it comes back by itself.
    case restartRenderer
    case armGraceTimer(RouteID, generation: UInt64)
    case armLoadTimer(LoadID)
    case armStopTimer(LoadID)
    /// Replaces the one before it.
    case armProgressTimer(LoadID, generation: UInt64)
    /// Replaces the one before it.
    case armSeekTimer(LoadID, SeekID)
    /// Replaces the one before it.
    case armAnnouncementTimer(LoadID, AnnouncementLimit)
    /// Tells every client (that subscribed) that an announcement is over.
    case tellAnnouncementEnd(AnnouncementID, AnnouncementEnd)
    /// Tells every client (that subscribed) that a session is over.
    case announceEnd(SessionID, EndReason)
    /// Tells one client that its route is over. The connection stays, or is closed with 4000 when the route was
    /// resumed elsewhere.
    case announceRouteEnd(ConnectionID, RouteID, RouteEndReason)
    /// Starts a process for an instance.
    case launch(InstanceID, ApplicationID)
    /// Asks it to exit.
    case terminate(InstanceID)
    /// Ends it by force; `limit` says what it used too much of.
    case kill(InstanceID, limit: String?)
    /// Replaces the one of this kind before it.
    case armInstanceTimer(InstanceID, InstanceTimer, generation: UInt64)
    case tell(InstanceID, InstanceNotice)
    case openChannel(ChannelOpening)
    case closeChannel(UInt32)
    /// Its sender left for good, and its session stays.
    case abandonChannel(UInt32)
    /// What the instance had not answered is lost; its channels wait for the next one.
    case interruptChannels(InstanceID)
    /// An application's client is to go.
    case closeConnection(ConnectionID)
    /// Device name, volume or mute changed: write them down.
    case persist
    /// The name changed: advertise the new one.
    case advertise(name: String)
    /// A picture came with the media: serve it; `key` names it in the state.
    case storeArtwork(SessionID, key: UInt64, Artwork)
    /// No session shows these pictures any more.
    case dropArtwork(SessionID)
}

/// What senders ask of a session that is the group's, and what became of its item.
package enum CoordinatedRequest: Equatable, Sendable {
    /// It has begun: the group is to play it.
    case start(SessionRequest)
    case setPlaying(Bool)
    case seek(MediaTime)
    case setSpeed(Double)
    /// The group's host answers this one.
    case queue(RequestID, QueueRequest)
    /// The item was played to its end here.
    case ended
    /// The item cannot be played here.
    case failed(MediaFailure)
}

/// A yes, with what the request asked for.
package enum Answer: Equatable, Sendable {
    case accepted
    case clampedNumber(Double)
    case clampedTime(MediaTime)
    case clampedText(String)
    /// The device's level after steps that were taken in full.
    case level(Double)
    case muted(Bool)
    case activated(RouteID, ResumeToken, resumed: Bool)
    case started(SessionID)
    case announced(AnnouncementID)
    /// To hello.
    case greeted(InstanceID)
    /// These are the names of the items that were put into the queue.
    case inserted([QueueItemID])
}

/// A no that a sender can act on. The numbers on the wire are in `Docs/protocols/route.md`, section 4.2.
package struct Refusal: Error, Equatable, Sendable {
    package enum Code: String, Sendable, CaseIterable {
        case limitReached, routeRequired, routeUnknown, sessionUnknown, sessionBusy, noSession
        case invalidURL, unsupportedScheme, linearPlayback, notSeekable, trackUnknown, unsupported
        case itemUnknown, volumeUnsupported, invalidParams
        case applicationUnknown, notPermitted, groupUnavailable
    }
    package let code: Code
    package let message: String
    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
    /// Equal by code: the words may change.
    package static func == (one: Refusal, other: Refusal) -> Bool { one.code == other.code }
}

/// Why a session is over.
package enum EndReason: Equatable, Sendable {
    case stopped
    case finished
    case preempted(by: String)
    case failed(MediaFailure)
    case applicationFailed(ApplicationFailure)
    case routeEnded
    case shutdown
}

/// Why a route is over.
package enum RouteEndReason: String, Equatable, Sendable {
    case deactivated, graceExpired, resumedElsewhere, shutdown
}
