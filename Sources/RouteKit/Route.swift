// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Why a route is over.
public enum RouteEnd: String, Sendable {
    /// We deactivated it.
    case deactivated
    /// The connection was lost for longer than the receiver keeps a route.
    case graceExpired
    /// The same sender took it over by another connection.
    case resumedElsewhere
    /// The receiver went away in good order.
    case shutdown
    /// The receiver could not be reached again.
    case connectionLost
    /// We left it without ending what plays.
    case left
}

/// One activation of a receiver by this sender. It survives lost connections for as long as the receiver keeps it.
///
/// A `RouteController` makes routes and tells its observers of them.
@RouteActor public final class Route: Identifiable {
    /// What the route is doing.
    public enum State: Sendable, Equatable {
        /// Connected.
        case active
        /// The connection is lost; a new one is being made.
        case reconnecting
        /// Over.
        case ended(RouteEnd)
    }

    /// The receiver at the other end, as it was when the route was made. `device` follows its changes.
    public let receiver: Receiver
    /// The route's name on the wire.
    public let id: String
    /// The messages beside what plays; usable without a session.
    public var dataChannel: RouteDataChannel { link.channel }
    /// The device at the other end.
    public var device: DeviceControl { link.mirror.device }
    /// The session that owns the receiver's player, whosever it is; nil while nothing plays.
    public var player: PlaybackControl? { link.mirror.player }
    /// The group that the receiver plays in, and what one asks of it.
    public var group: GroupControl { link.mirror.group }
    /// The sources that the receiver switches between, and what one asks of them.
    public var sources: SourceControl { link.mirror.sources }
    /// The companion applications that are installed there.
    public var applications: [InstalledApplication] { link.mirror.applications }
    /// Everybody with a route to the receiver, this one too.
    public var senders: [ConnectedSender] { link.mirror.senders }
    /// What the route is doing.
    public private(set) var state = State.active
    /// The sessions that were added and not removed.
    public private(set) var sessions: [RouteSession] = []

    let link: ReceiverLink
    private weak var controller: RouteController?

    init(receiver: Receiver, link: ReceiverLink, controller: RouteController) {
        (self.receiver, self.link, self.controller) = (receiver, link, controller)
        id = link.route ?? ""
        link.client = self
    }

    /// The name of the receiver, for people.
    public var displayName: String { device.name.isEmpty ? receiver.displayName : device.name }

    /// The local address that reaches the receiver, in numbers; the one to serve media on. An address that counts on one link only has
    /// that link behind a percent sign, as in `fe80::1%eth0`.
    public var localAddress: String? { link.localAddress }

    /// The receiver's clock minus the local one in nanoseconds; nil until it was read.
    public var clockOffset: Int64? { link.clock.offset }

    /// Attaches a session, so that it can be started. False: the route is over, or the session belongs to a route
    /// already. A route takes as many as one likes; how many play at a time is the receiver's choice.
    @discardableResult public func addSession(_ session: RouteSession) -> Bool {
        if case .ended = state { return false }
        guard session.attach(to: self) else { return false }
        sessions.append(session)
        return true
    }

    /// Detaches a session, which is stopped first. No effect for one that is not attached.
    public func removeSession(_ session: RouteSession) async {
        guard let index = sessions.firstIndex(where: { $0 === session }) else { return }
        sessions.remove(at: index)
        await session.stop()
    }

    /// A session is over before its start was known here.
    func forget(_ session: RouteSession) { sessions.removeAll { $0 === session } }

    /// A value after each change of state, player or senders, the latest only; ends with the route.
    public func updates() -> AsyncStream<Void> { link.mirror.updates() }

    /// Ends the session that owns the receiver's player, whosever it is. No effect while nothing plays.
    public func stopPlayer() async throws { try await link.stop(session: nil) }

    /// Loses the connection, as a test of failing networks does.
    package func dropConnection() { link.cut() }
}

extension Route: ReceiverLinkClient {
    func link(_ link: ReceiverLink, isConnected: Bool) { state = isConnected ? .active : .reconnecting }

    func link(_ link: ReceiverLink, session: String, ended reason: SessionEnd) {
        sessions.removeAll { $0.mediaSession?.playbackControl.sessionID == session }
    }

    func link(_ link: ReceiverLink, ended reason: RouteEnd) {
        state = .ended(reason)
        sessions = []
        controller?.ended(self)
    }
}
