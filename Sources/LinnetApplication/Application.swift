// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import ApplicationModel
import GLibLoop
public import RouteKit
import RouteWire
import Settings

/// Takes what happens to an application. Every function has a body that does nothing, or refuses.
@RouteActor public protocol ApplicationDelegate: AnyObject {
    /// A sender's session is there. Set the delegate of its data channel here, so that it takes messages. Throwing ends the session with the
    /// error's words.
    func application(_ application: Application, opened session: ApplicationSession) async throws
    /// A session is over.
    func application(_ application: Application, closed session: ApplicationSession, reason: String) async
    /// The connection of a session's sender was lost, or is back: `session.isAttached`.
    func application(_ application: Application, attached session: ApplicationSession) async
    /// A sender speaks on its route, without a session; only with `routeChannel` in the manifest. Set the delegate of its data channel here.
    func application(_ application: Application, opened peer: ApplicationPeer) async
    /// The receiver wants an end: this much time is left.
    func application(_ application: Application, endsFor reason: String, within time: Duration) async
}

extension ApplicationDelegate {
    public func application(_ application: Application, opened session: ApplicationSession) async throws {}
    public func application(
        _ application: Application, closed session: ApplicationSession, reason: String
    ) async {}
    public func application(_ application: Application, attached session: ApplicationSession) async {}
    public func application(_ application: Application, opened peer: ApplicationPeer) async {}
    public func application(
        _ application: Application, endsFor reason: String, within time: Duration
    ) async {}
}

/// This program as a companion application of the receiver that started it.
///
///     await Application.run(delegate: party)
@RouteActor public final class Application {
    /// What the receiver says of this application.
    public struct Info: Sendable, Equatable {
        /// The id of the manifest.
        public let id: String
        /// The name of this run.
        public let instance: String
        /// What it may do, by the manifest.
        public let permissions: Set<ApplicationManifest.Permission>
        /// What it may use.
        public let limits: ApplicationManifest.Limits
        /// Where it may keep files; nil without permission.
        public let storage: String?
    }

    /// What the receiver says of this application.
    public let info: Info
    /// Sessions that are open, in the order of their opening.
    public private(set) var sessions: [ApplicationSession] = []
    /// Takes what happens.
    public weak var delegate: (any ApplicationDelegate)?

    private let link: ApplicationLink
    private var peers: [UInt32: ApplicationPeer] = [:]
    private var isOver = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// What is told one after the other.
    private var tasks: Task<Void, Never>?

    /// The environment variable with the number of the inherited socket.
    public static let socketVariable = "LINNET_APPLICATION_SOCKET"

    /// Connects to the receiver that started this program. Once. Throws if nobody did.
    public static func connect(delegate: any ApplicationDelegate) async throws -> Application {
        guard let text = Machine.environment(socketVariable), let number = Int32(text), number >= 0 else {
            throw RoutingError(
                .connectionFailed, family: .connection,
                "no receiver started this program; `linnet app run` does")
        }
        let link = ApplicationLink(adopting: Descriptor(adopting: number))
        // What is printed is the log, and is read while the program runs.
        Machine.prepareProcess()
        // What comes before the application is there waits.
        var early: [ApplicationNotice] = []
        var take: (ApplicationNotice) -> Void = { early.append($0) }
        link.onNotice = { take($0) }
        let hello = try await link.open(library: "swift 1")
        let application = Application(link: link, hello: hello, delegate: delegate)
        take = { [weak application] in application?.received($0) }
        link.onEnd = { [weak application] in application?.finish() }
        for notice in early { application.received(notice) }
        return application
    }

    /// The whole life of a program: connects, calls `started`, and returns when the receiver has no more use for it. A program that
    /// no receiver started says so and exits with 1.
    public static func run(
        delegate: any ApplicationDelegate, started: (Application) async -> Void = { _ in }
    ) async {
        do {
            let application = try await connect(delegate: delegate)
            await started(application)
            await application.ended()
        } catch {
            Machine.write("\((error as? RoutingError)?.message ?? "\(error)")\n", to: .error)
            Machine.exit(1)
        }
    }

    init(link: ApplicationLink, hello: HelloResult, delegate: any ApplicationDelegate) {
        (self.link, self.delegate) = (link, delegate)
        info = Info(
            id: hello.application, instance: hello.instance,
            permissions: Set(
                hello.permissions.compactMap { ApplicationManifest.Permission(rawValue: $0) }),
            limits: hello.limits,
            storage: hello.storage)
    }

    /// The receiver's name, volume and output.
    public var device: DeviceControl { link.device }
    /// What this application plays; nil while that is nothing.
    public var player: PlaybackControl? { link.player }
    /// Everybody with a route to the receiver.
    public var senders: [ConnectedSender] { link.senders }
    /// The group that the receiver plays in, as a session that this application may join with a player of its own, and each one that
    /// it comes into later. Needs the permission `network`: a player has a link of its own to the group's host.
    public func groupSessions() -> AsyncStream<GroupSession> { link.groupSessions() }
    /// A value after each change of the receiver's state, the latest only; ends with the application.
    public func updates() -> AsyncStream<Void> { link.updates() }

    /// Plays a URL in place of what this application plays. It takes the player over from whoever has it, as a sender's session does. Needs the
    /// permission `player`.
    public func play(
        _ url: String, options: RouteSession.Options = RouteSession.Options()
    ) async throws -> MediaSession {
        try await link.play(url, options: options)
    }

    /// Ends what this application plays. No effect while that is nothing.
    public func stop() async throws {
        if let player { try await link.stop(player.sessionID) }
    }

    /// Sends a message to all sessions; returns when each of them has it on its way. The slowest of them is waited for.
    public func broadcast(_ message: [UInt8]) async {
        await withDiscardingTaskGroup { group in
            for session in sessions {
                // A session that ends meanwhile has no use for it.
                group.addTask { try? await session.dataChannel.post(message) }
            }
        }
    }

    /// Waits until the receiver has no more use for this program.
    public func ended() async {
        if isOver { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Closes the connection: the remaining sessions end when the program exits.
    public func close() {
        link.close()
        finish()
    }

    // MARK: From the receiver

    private func received(_ notice: ApplicationNotice) {
        switch notice {
        case .sessionOpened(let id, let channel, let url, let sender, let isAttached):
            let session = ApplicationSession(
                id: id, url: url,
                sender: SenderIdentity(
                    name: sender?.name ?? "", identifier: sender?.identifier ?? ""),
                isAttached: isAttached, dataChannel: link.channel(channel), link: link)
            sessions.append(session)
            tell {
                try await $1.application($0, opened: session)
            } failed: { error in
                try? await session.end(failure: (error as? RoutingError)?.message ?? "\(error)")
            }
        case .sessionAttached(let id, let isAttached):
            guard let session = sessions.first(where: { $0.id == id }) else { return }
            session.isAttached = isAttached
            tell { await $1.application($0, attached: session) }
        case .sessionClosed(let id, let channel, let reason):
            link.closeChannel(channel)
            guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
            let session = sessions.remove(at: index)
            tell { await $1.application($0, closed: session, reason: reason) }
        case .routeOpened(let channel, let route, let sender):
            let peer = ApplicationPeer(
                route: route, sender: SenderIdentity(name: sender.name, identifier: sender.identifier),
                dataChannel: link.channel(channel))
            peers[channel] = peer
            tell { await $1.application($0, opened: peer) }
        case .routeClosed(let channel):
            link.closeChannel(channel)
            peers[channel] = nil
        case .ending(let reason, let milliseconds):
            tell { await $1.application($0, endsFor: reason, within: .milliseconds(milliseconds)) }
        }
    }

    /// Tells the delegate, after what it was told before.
    private func tell(
        _ body: @escaping @RouteActor (Application, any ApplicationDelegate) async throws -> Void,
        failed: @escaping @RouteActor (any Error) async -> Void = { _ in }
    ) {
        let before = tasks
        tasks = Task { [weak self] in
            await before?.value
            guard let self, let delegate else { return }
            do { try await body(self, delegate) } catch { await failed(error) }
        }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        sessions = []
        peers = [:]
        let waiters = waiting
        waiting = []
        for waiter in waiters { waiter.resume() }
    }
}

/// A sender's session at this application.
@RouteActor public final class ApplicationSession: Identifiable {
    /// The session's name on the wire.
    public let id: String
    /// What the sender handed over.
    public let url: String
    /// Whose it is.
    public let sender: SenderIdentity
    /// False while the sender's connection is lost; its messages wait.
    public internal(set) var isAttached: Bool
    /// Messages to and from the sender. They wait until its delegate is set.
    public let dataChannel: SessionDataChannel
    private let link: ApplicationLink

    init(
        id: String, url: String, sender: SenderIdentity, isAttached: Bool, dataChannel: SessionDataChannel,
        link: ApplicationLink
    ) {
        (self.id, self.url, self.sender, self.isAttached) = (id, url, sender, isAttached)
        (self.dataChannel, self.link) = (dataChannel, link)
    }

    /// Ends the session: it has finished, or, with words for the sender, failed.
    public func end(failure: String? = nil) async throws { try await link.endSession(id, failure: failure) }
}

/// A sender that speaks on its route channel, without a session.
@RouteActor public final class ApplicationPeer {
    /// The route's name on the wire.
    public let route: String
    /// Who it is.
    public let sender: SenderIdentity
    /// Messages to and from the sender. They wait until its delegate is set.
    public let dataChannel: SessionDataChannel

    init(route: String, sender: SenderIdentity, dataChannel: SessionDataChannel) {
        (self.route, self.sender, self.dataChannel) = (route, sender, dataChannel)
    }
}
