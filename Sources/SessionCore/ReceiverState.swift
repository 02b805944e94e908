// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The choices that an administrator makes for the session core.
package struct SessionPolicy: Equatable, Sendable {
    package enum Takeover: String, Sendable, CaseIterable { case takeOver, refuse }
    /// What happens when somebody starts a session while one plays.
    package var takeover: Takeover
    /// True: a session goes on when its sender is lost for longer than the grace time.
    package var keepsPlaying: Bool
    /// The most routes, attached or in their grace time.
    package var routeLimit: Int
    /// The highest device volume that anybody can set.
    package var volumeCap: Double
    package init(
        takeover: Takeover = .takeOver, keepsPlaying: Bool = true, routeLimit: Int = 32, volumeCap: Double = 1
    ) {
        (self.takeover, self.keepsPlaying, self.routeLimit) = (takeover, keepsPlaying, routeLimit)
        self.volumeCap = volumeCap
    }
}

/// The receiver as a value: routes, sessions, who owns the one player, the device's name and volume.
///
/// It never reads a clock, draws a random number or does I/O.
package struct ReceiverState: Equatable, Sendable {
    package internal(set) var device: Device
    package internal(set) var connections: Set<ConnectionID> = []
    package internal(set) var routes: [RouteID: Route] = [:]
    package internal(set) var sessions: [SessionID: Session] = [:]
    /// The session that owns the player.
    package internal(set) var player: SessionID?
    package let policy: SessionPolicy

    package struct Device: Equatable, Sendable {
        package var name: String
        package var volume: Volume
        package var output: OutputStatus
        package var advertisement: AdvertisementStatus
    }

    package struct Route: Equatable, Sendable {
        package let sender: Sender
        package var token: ResumeToken
        /// Nil while the grace time runs.
        package var connection: ConnectionID?
        /// Counts losses, so that an old grace timer ends nothing.
        package var generation: UInt64 = 0
    }
}
