// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import MediaModel

/// The companion applications of a receiver: what is installed, what runs, and the sessions of senders with them.
/// The transitions are in `Docs/state-machines/application.md`.
package struct Applications: Equatable, Sendable {
    /// The limits of `Docs/protocols/application.md`, section 6.
    package static let sessionLimit = 128
    package static let routeSessionLimit = 16
    package static let instanceLimit = 16
    /// Bytes of the URLs of all sessions, which the state shows.
    package static let urlLimit = 128 * 1024
    /// Applications that are taken over from a host, and bytes of all their patterns.
    package static let catalogLimit = 64
    package static let patternLimit = 128 * 1024
    /// Starts after crashes, until it has run for a while.
    package static let restartLimit = 3
    /// Lines of a log that a sender is told, and bytes of one.
    static let logLimit = 20
    static let lineLimit = 1024

    /// What is installed.
    package internal(set) var catalog: [ApplicationManifest] = []
    package internal(set) var instances: [InstanceID: ApplicationInstance] = [:]
    package internal(set) var sessions: [SessionID: ApplicationSession] = [:]
    /// The route channels that applications take part in, by their numbers at the application.
    package internal(set) var routeChannels: [UInt32: RouteChannel] = [:]
    /// The channel that was opened last; no number is used again.
    var lastChannel: UInt32 = 0

    package init() {}

    /// As many applications as the state can show.
    static func fitting(_ catalog: [ApplicationManifest]) -> [ApplicationManifest] {
        var bytes = 0
        return catalog.prefix(catalogLimit).filter { manifest in
            let more = manifest.patterns.reduce(0) { $0 + $1.text.utf8.count }
            guard bytes + more <= patternLimit else { return false }
            bytes += more
            return true
        }
    }

    /// The instance whose client a connection is.
    package func instance(of connection: ConnectionID) -> InstanceID? {
        instances.first { $0.value.connection == connection }?.key
    }

    /// The sessions of an instance in the order of their channels.
    func sessions(of instance: InstanceID) -> [SessionID] {
        sessions.filter { $0.value.instance == instance }.sorted { $0.value.channel < $1.value.channel }
            .map(\.key)
    }

    func sessions(of route: RouteID) -> [SessionID] {
        sessions.filter { $0.value.route == route }.sorted { $0.value.channel < $1.value.channel }.map(\.key)
    }

    func channels(of instance: InstanceID) -> [UInt32] {
        routeChannels.filter { $0.value.instance == instance }.keys.sorted()
    }
}

/// One run of an application, and those that follow it after crashes.
package struct ApplicationInstance: Equatable, Sendable {
    package enum Phase: String, Equatable, Sendable {
        /// A process was asked for. Leaves for `running` by hello, for `ending` when its last session ended.
        case launching
        /// It said hello; its sessions are active. Leaves for `ending` when no session is left, for `launching` by a
        /// crash that is made good.
        case running
        /// It was told to end; its sessions are over. It is gone by its exit.
        case ending
    }

    /// As it was when it was launched.
    package let manifest: ApplicationManifest
    package internal(set) var phase = Phase.launching
    /// Its client's; nil before it is there and after it was lost.
    package internal(set) var connection: ConnectionID?
    /// The session of media that it plays.
    package internal(set) var media: SessionID?
    /// Starts after crashes.
    package internal(set) var restarts = 0
    package internal(set) var confinement: [ConfinementLayer]?
    /// Those that were not made good by running for a while.
    package internal(set) var crashes = 0
    /// It is ended by force for this; its sessions wait for the last lines of its log.
    var doom: ApplicationFailure?
    /// Those that are armed, each with the generation that counts.
    package internal(set) var timers: [InstanceTimer: UInt64] = [:]
    private var lastTimer: UInt64 = 0

    init(_ manifest: ApplicationManifest) { self.manifest = manifest }

    /// True if another session may be its.
    var takesSessions: Bool {
        doom == nil && (phase == .launching || phase == .running && connection != nil)
    }

    mutating func arm(_ timer: InstanceTimer) -> UInt64 {
        lastTimer &+= 1
        timers[timer] = lastTimer
        return lastTimer
    }

    func may(_ permission: ApplicationManifest.Permission) -> Bool {
        manifest.permissions.contains(permission)
    }
}

/// What an instance is watched with.
package enum InstanceTimer: String, Hashable, Sendable, CaseIterable {
    /// For hello.
    case launch
    /// A shared instance has no session.
    case idle
    /// It was told to end.
    case end
    /// It was asked to exit, or is ended by force.
    case kill
    /// It runs again after a crash.
    case calm

    /// How long.
    package func duration(_ manifest: ApplicationManifest) -> Duration {
        switch self {
        case .launch: .seconds(10)
        case .idle: .seconds(manifest.limits.idleSeconds)
        case .end: .seconds(3)
        case .kill: .seconds(1)
        case .calm: .seconds(60)
        }
    }
}

/// A sender's session with an application. It owns no player.
package struct ApplicationSession: Equatable, Sendable {
    package enum Phase: String, Equatable, Sendable {
        /// Its instance has not said hello, or has not again. Leaves for `active` by hello.
        case launching
        case active
    }

    package let application: ApplicationID
    package let instance: InstanceID
    package internal(set) var phase = Phase.launching
    /// Nil when its sender left and it stays.
    package internal(set) var route: RouteID?
    package let url: String
    /// The number of its data channel.
    package let channel: UInt32
}

/// A sender's route channel that an application takes part in, as long as the sender's connection lasts.
package struct RouteChannel: Equatable, Sendable {
    package let instance: InstanceID
    package let route: RouteID
    package let connection: ConnectionID
}

/// What a sender wants of an application.
package struct ApplicationStart: Equatable, Sendable {
    /// Nil: the one that claims the URL.
    package var application: String?
    package var url: String
    package init(application: String? = nil, url: String) {
        (self.application, self.url) = (application, url)
    }
}

/// A data channel that begins.
package struct ChannelOpening: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case session
        /// What an application sees of the route channel of this connection.
        case route(ConnectionID)
    }

    package let channel: UInt32
    package let instance: InstanceID
    package let route: RouteID
    package let kind: Kind
    /// The longest message in bytes.
    package let messageLimit: Int
}

/// What an application is told.
package enum InstanceNotice: Equatable, Sendable {
    case opened(SessionID)
    case attached(SessionID, Bool)
    case closed(SessionID, channel: UInt32, EndReason)
    case routeOpened(channel: UInt32)
    case routeClosed(channel: UInt32)
    /// The media that it played is over.
    case mediaEnded(SessionID, EndReason)
    case ending(reason: String, within: Duration)
}
