// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Watches a receiver without a route: its device and what plays there. For a display, a log, a remote that only shows.
///
/// Receivers take commands from senders with a route only; here they are refused with `routeRequired`.
@RouteActor public final class ReceiverConnection {
    /// The device.
    public var device: DeviceControl { link.mirror.device }
    /// The session that owns the player; nil while nothing plays.
    public var player: PlaybackControl? { link.mirror.player }
    /// The group that the receiver plays in.
    public var group: GroupControl { link.mirror.group }
    /// The sources that the receiver switches between, and what one asks of them.
    public var sources: SourceControl { link.mirror.sources }
    /// The companion applications that are installed there.
    public var applications: [InstalledApplication] { link.mirror.applications }
    /// Everybody with a route to the receiver.
    public var senders: [ConnectedSender] { link.mirror.senders }
    /// False while the connection is lost and a new one is being made.
    public var isConnected: Bool { link.isConnected }
    /// True once the connection is closed for good.
    public var isClosed: Bool { link.end != nil }
    /// Who caused the last change, other than the media: its position moves all the time. Nil if nobody did since we look.
    public var lastOrigin: ChangeOrigin? { link.mirror.lastOrigin }
    /// The receiver's clock minus the local one in nanoseconds; nil until it was read.
    public var clockOffset: Int64? { link.clock.offset }

    let link: ReceiverLink

    private init(link: ReceiverLink) { self.link = link }

    /// Connects and waits for the first state. Later losses are mended without end, until `close`.
    public static func open(_ receiver: Receiver) async throws -> ReceiverConnection {
        try await open(receiver, timing: LinkTiming())
    }

    package static func open(_ receiver: Receiver, timing: LinkTiming) async throws -> ReceiverConnection {
        let link = ReceiverLink(to: receiver.addresses, for: .observation, timing: timing)
        try await link.open()
        return ReceiverConnection(link: link)
    }

    /// A value after each change of anything the receiver tells, the latest only; ends with the connection.
    public func updates() -> AsyncStream<Void> { link.mirror.updates() }

    /// Closes the connection.
    public func close() { link.close(.left) }

    isolated deinit { link.close(.left) }
}
