// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel

/// Plays what a group plays, by a renderer of its own: the other half of a `PlaybackCoordinator`.
///
/// Commands come one at a time: the next one when the completion handler of the last was called, or when the last was abandoned. A
/// handler may be called on any thread; only its first call counts, and one that is dropped counts as called. A command
/// for another item than the one that is played is to be ignored, and completed. What is not done at its due time is a suspension
/// for `stallRecovery`, which ends when its handler is called.
@RouteActor public protocol PlaybackCoordinatorDelegate: AnyObject {
    /// Be heard at the command's place at its moment, which may have passed: then where the group is by now. Complete it when that is
    /// under way. What cannot be played in time begins a suspension for `stallRecovery`.
    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PlayCommand,
        completionHandler: @escaping @Sendable () -> Void)
    /// Stand still. Complete it then, or, with `shouldBufferInAnticipationOfPlayback`, when it could go on at once.
    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.PauseCommand,
        completionHandler: @escaping @Sendable () -> Void)
    /// Stand still at the command's place, and never go on by itself. Complete it then, or, with
    /// `shouldBufferInAnticipationOfPlayback`, when it could go on at once.
    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.SeekCommand,
        completionHandler: @escaping @Sendable () -> Void)
    /// Show that it waits, and complete it when it could go on at once. Comes while it stands.
    func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didIssue command: PlaybackCoordinator.BufferingCommand,
        completionHandler: @escaping @Sendable () -> Void)

    /// Somebody has asked for something else, or a suspension began, before the last command was done: its handler does nothing any
    /// more. The default does nothing.
    func playbackCoordinatorDidAbandonCommand(_ coordinator: PlaybackCoordinator)
    /// The group's clock is read anew, about ten times a second: for a player that plays by it all the time. With another
    /// `identifier` it is another clock; what is played goes on by the rate of the new one until the next play command. The default
    /// does nothing.
    func playbackCoordinator(_ coordinator: PlaybackCoordinator, didRead clock: PlaybackCoordinator.Clock)
    /// Members, their item, policy or state have changed. The default does nothing.
    func playbackCoordinatorDidChange(_ coordinator: PlaybackCoordinator)
}

extension PlaybackCoordinatorDelegate {
    public func playbackCoordinatorDidAbandonCommand(_ coordinator: PlaybackCoordinator) {}
    public func playbackCoordinator(
        _ coordinator: PlaybackCoordinator, didRead clock: PlaybackCoordinator.Clock
    ) {}
    public func playbackCoordinatorDidChange(_ coordinator: PlaybackCoordinator) {}
}

/// What all commands of a coordinator say.
public protocol PlaybackCoordinatorCommand: Sendable {
    /// The item that it is about.
    var expectedCurrentItemIdentifier: String { get }
    /// Who asked; nil for one's own requests, and for a state that is only told anew.
    var originator: GroupMember? { get }
}

extension PlaybackCoordinator {
    /// How the group's clock, which is the host's, is read by this machine's.
    public struct Clock: Equatable, Sendable {
        /// Names the clock: another one after the host has changed or started anew.
        public var identifier: String
        /// From the local monotonic clock to the group's.
        public var line: ClockLine

        /// A reading.
        public init(identifier: String, line: ClockLine) { (self.identifier, self.line) = (identifier, line) }
    }

    /// How an item is to begin for whoever comes to it first.
    public struct InitialTiming: Equatable, Sendable {
        /// The place in the item.
        public var itemTime: MediaTime
        /// 0: it stands there.
        public var rate: Double
        /// The moment of the group's clock at which the place is heard; nil: when all are ready.
        public var hostClockTime: Int64?

        /// A timing.
        public init(itemTime: MediaTime = .zero, rate: Double = 0, hostClockTime: Int64? = nil) {
            (self.itemTime, self.rate, self.hostClockTime) = (itemTime, rate, hostClockTime)
        }
    }

    /// How a change of the rate is done.
    public struct RateChangeOptions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Options by their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Nobody is waited for.
        public static let playImmediately = RateChangeOptions(rawValue: 1)
    }

    /// How a seek is done.
    public struct SeekOptions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Options by their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// What played goes on at once; nobody is waited for.
        public static let resumeImmediately = SeekOptions(rawValue: 1)
    }

    /// Be heard at a place at a moment.
    public struct PlayCommand: PlaybackCoordinatorCommand {
        /// The item that it is about.
        public let expectedCurrentItemIdentifier: String
        /// Who asked.
        public let originator: GroupMember?
        /// Above 0.
        public let rate: Double
        /// The place in the item.
        public let itemTime: MediaTime
        /// Nanoseconds of the group's clock; may have passed.
        public let hostClockTime: Int64

        /// The same as a line.
        public var anchor: PlaybackAnchor {
            PlaybackAnchor(itemTime: itemTime.nanoseconds ?? 0, clockTime: hostClockTime, rate: rate)
        }
    }

    /// Stand still.
    public struct PauseCommand: PlaybackCoordinatorCommand {
        /// The item that it is about.
        public let expectedCurrentItemIdentifier: String
        /// Who asked.
        public let originator: GroupMember?
        /// It is done when the player could go on at once.
        public let shouldBufferInAnticipationOfPlayback: Bool
        /// At what rate it will go on; 0 where nobody knows.
        public let anticipatedPlaybackRate: Double
    }

    /// Stand still at a place.
    public struct SeekCommand: PlaybackCoordinatorCommand {
        /// The item that it is about.
        public let expectedCurrentItemIdentifier: String
        /// Who asked.
        public let originator: GroupMember?
        /// The place in the item.
        public let itemTime: MediaTime
        /// It is done when the player could go on at once.
        public let shouldBufferInAnticipationOfPlayback: Bool
        /// At what rate it will go on; 0 where nobody knows.
        public let anticipatedPlaybackRate: Double
        /// The moment of the group's clock at which the others go on without those that are not ready; nil: they do not.
        public let completionDueTime: Int64?
    }

    /// Be ready.
    public struct BufferingCommand: PlaybackCoordinatorCommand {
        /// The item that it is about.
        public let expectedCurrentItemIdentifier: String
        /// Who asked.
        public let originator: GroupMember?
        /// At what rate it will go on.
        public let anticipatedPlaybackRate: Double
        /// The moment of the group's clock at which the others go on without those that are not ready; nil: they do not.
        public let completionDueTime: Int64?
    }
}
