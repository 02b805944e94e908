// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import ApplicationModel
public import MediaModel

/// What the timeline of a session is being used for.
public enum PlaybackState: String, Sendable, CaseIterable {
    /// Playing or paused at the speed that was set.
    case normal
    /// Moving quickly forward or backward.
    case scanning
    /// A listener drags the position about.
    case scrubbing
}

/// A request to what plays.
public enum PlaybackCommand: Sendable, Equatable {
    /// The intent to play.
    case setPlaying(Bool)
    /// Moves to a position. Tolerance zero is exact, infinity the quickest place nearby.
    case seek(to: MediaTime, tolerance: MediaTime)
    /// The speed, with the pitch kept. Receivers clamp it to 0.25 to 4.
    case setSpeed(Double)
    /// Begins or ends scanning and scrubbing. A scan speed of nil is the receiver's choice.
    case setState(PlaybackState, scanSpeed: Double?)
    /// Chooses an alternative by its identifier, or none.
    case selectTrack(TrackKind, identifier: String?)
    /// The session's own volume, 0 to 1.
    case setVolume(Double)
    /// The session's own mute.
    case setMuted(Bool)
}

/// A request to the device.
public enum DeviceCommand: Sendable, Equatable {
    /// The device's volume, 0 to 1; receivers clamp it to their cap.
    case setVolume(Double)
    /// Changes the volume by sixteenths.
    case changeVolume(steps: Int)
    /// The device's mute.
    case setMuted(Bool)
    /// Mutes, or ends a mute.
    case toggleMute
    /// Gives the device another name, at most 63 bytes of UTF-8.
    case rename(String)
    /// How much later than its card says the device is heard; receivers clamp it to ±500 ms.
    case setOutputTrim(Duration)
}

/// A receiver's yes to a request.
public enum WriteOutcome: Sendable, Equatable {
    /// As asked.
    case accepted
    /// As asked, which made this level of the device's volume.
    case level(Double)
    /// This number was taken in place of the one asked for.
    case clampedNumber(Double)
    /// This time was taken in place of the one asked for.
    case clampedTime(MediaTime)
    /// This text was taken in place of the one asked for.
    case clampedText(String)
    /// What the mute came to be, after a toggle.
    case muted(Bool)
}

/// A receiver's no, kept where a user interface finds it.
public struct Refusal<Command: Sendable & Equatable>: Sendable, Equatable {
    /// What was asked.
    public let command: Command
    /// Why not.
    public let error: RoutingError
}

/// Why a session is over.
public enum SessionEnd: Sendable, Equatable {
    /// Somebody stopped it.
    case stopped
    /// It was played to its end.
    case finished
    /// Another sender, by this name, began a session.
    case preempted(by: String)
    /// The media could not be played, or no further.
    case failed(MediaFailure)
    /// The application could not be started, or ended otherwise than it should.
    case applicationFailed(ApplicationFailure)
    /// Its route is over.
    case routeEnded
    /// The receiver went away in good order.
    case shutdown
    /// It ended while the connection was down, so nobody told why.
    case lost
}

/// Who caused a change.
public enum ChangeOrigin: Sendable, Equatable {
    /// A sender, by its route and name.
    case sender(route: String, name: String)
    /// The receiver itself.
    case device
    /// The media: its end, its tags, its timeline.
    case content
    /// Buttons and mixers at the receiver.
    case local
    /// An application at the receiver, by its instance and name.
    case application(instance: String, name: String)
    /// The group that the receiver plays in.
    case group
    /// The receiver's choice between its sources.
    case switching
    /// Several of these at once.
    case several
}

/// Performs requests on a receiver. Calls `completion` exactly once, on the actor, never from inside the call.
@RouteActor protocol CommandPerformer: AnyObject {
    func perform(
        _ command: PlaybackCommand, session: String,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void)
    /// The names of items that were put in; none for other commands.
    func perform(
        _ command: QueueCommand, session: String,
        completion: @escaping @RouteActor (Result<[String], RoutingError>) -> Void)
    func perform(
        _ command: DeviceCommand,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void)
}
