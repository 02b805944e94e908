// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import Observation
import RouteWire

/// The right to be a member of a group, and where its host is. Who made the group has it; whoever it is given to can take
/// receivers into the group, so it is kept like a key.
public struct GroupTicket: Sendable, Equatable {
    /// The group's name on the wire.
    public var group: String
    /// The group's name for people.
    public var name: String
    /// 32 bytes in base64url that nobody else knows.
    public var secret: String
    /// The host's identifier.
    public var hostID: String
    /// Where members reach the host, at most 8, best first.
    public var hostAddresses: [Receiver.Address]

    /// A ticket that was kept.
    public init(
        group: String, name: String, secret: String, hostID: String, hostAddresses: [Receiver.Address]
    ) {
        (self.group, self.name, self.secret) = (group, name, secret)
        (self.hostID, self.hostAddresses) = (hostID, hostAddresses)
    }
}

/// The group that a receiver plays in, as an object that mirrors it and takes commands. While a receiver is in a group, its
/// `PlaybackControl` speaks for the whole group: play, pause, seek and speed are done by all members at the same moment.
@RouteActor @Observable public final class GroupControl {
    /// The group; nil while the receiver is in none.
    public private(set) var state: GroupState?

    @ObservationIgnored private weak var link: ReceiverLink?
    /// The present group as a session, and who waits for the next.
    @ObservationIgnored private var session: GroupSession?
    @ObservationIgnored private var listeners: [UInt64: AsyncStream<GroupSession>.Continuation] = [:]
    @ObservationIgnored private var lastListener: UInt64 = 0
    @ObservationIgnored private var isFinished = false
    @ObservationIgnored private let announcer = Announcer()

    init() {}

    func attach(to link: ReceiverLink) { self.link = link }

    /// A value after each change, the latest only; ends with the connection.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    /// The group that the receiver is in, as a session that this program may join, and each one that it comes into later. Ends with
    /// the connection.
    public func sessions() -> AsyncStream<GroupSession> {
        let (stream, continuation) = AsyncStream<GroupSession>.makeStream(
            bufferingPolicy: .bufferingNewest(4))
        guard !isFinished else {
            continuation.finish()
            return stream
        }
        lastListener += 1
        let number = lastListener
        listeners[number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { @RouteActor in self?.listeners[number] = nil }
        }
        if case .invalidated = session?.state { session = nil }
        if session == nil, let state { begin(state) } else if let session { continuation.yield(session) }
        return stream
    }

    /// Makes the session of a group, unless that is over.
    private func begin(_ state: GroupState) {
        if case .invalidated = state.phase { return }
        let session = GroupSession(state, control: self)
        self.session = session
        for listener in listeners.values { listener.yield(session) }
    }

    private func mirrorSession() {
        if let state, state.id == session?.id {
            guard case .invalidated(let reason) = state.phase else {
                session?.mirrored(state, reason: "")
                return
            }
            session?.mirrored(nil, reason: reason)
            session = nil
        } else {
            session?.mirrored(nil, reason: "left")
            session = nil
            if let state { begin(state) }
        }
    }

    /// Makes a group of this receiver alone, which is its host then. What plays there goes on, and is the group's from now on.
    ///
    /// - Parameter name: 1 to 63 bytes.
    /// - Returns: What other receivers are taken in with.
    public func create(
        named name: String, activity: GroupActivity? = nil, policy: GroupPolicy? = nil
    ) async throws -> GroupTicket {
        let link = try connected()
        let answer = try await link.requests.send(
            .group(.create(name: name, activity: activity?.wire, policy: policy?.wire)))
        guard let created = try? GroupCreated(json: answer) else { throw RoutingError.badAnswer }
        return GroupTicket(
            group: created.group, name: name, secret: created.ticket, hostID: created.hostID,
            hostAddresses: link.addresses.map { .init(host: $0.host, port: created.port) })
    }

    /// Takes this receiver into a group. It returns when the receiver is on its way; `state` tells the rest, and
    /// `joined()` waits for it.
    public func join(_ ticket: GroupTicket) async throws {
        guard let port = ticket.hostAddresses.first?.port else {
            throw RoutingError(.connectionFailed, family: .connection, "the host's address is not known")
        }
        let hosts = ticket.hostAddresses.filter { $0.port == port }.map(\.host)
        let invitation = GroupInvitation(
            group: ticket.group, name: ticket.name, ticket: ticket.secret,
            host: GroupHost(
                id: ticket.hostID, addresses: Array(hosts.prefix(WireLimits.groupAddresses)), port: port))
        _ = try await connected().requests.send(.group(.join(invitation)))
    }

    /// Waits until this receiver takes part in the group; throws what became of it instead.
    public func joined() async throws {
        let updates = announcer.stream()
        func isDone() throws -> Bool {
            switch state?.phase {
            case .joined: return true
            case .invalidated(let reason):
                throw RoutingError(
                    .groupUnavailable, family: .session, "it did not come into the group: \(reason)")
            case .waiting, nil: return false
            }
        }
        if try isDone() { return }
        for await _ in updates {
            if try isDone() { return }
        }
        throw RoutingError(.ended, family: .connection, "the connection ended meanwhile")
    }

    /// Takes this receiver out of its group. No effect if it is in none.
    ///
    /// - Parameter keepsPlaying: It goes on alone with what is heard.
    public func leave(keepsPlaying: Bool = false) async throws {
        try await send(.leave(keepsPlaying: keepsPlaying))
    }

    /// Takes another member out of the group.
    public func remove(_ member: String) async throws { try await send(.remove(member: member)) }

    /// Ends the group; all members stop.
    public func dissolve() async throws { try await send(.dissolve) }

    /// Says what people do together.
    public func setActivity(_ activity: GroupActivity?) async throws {
        try await send(.setActivity(activity?.wire))
    }

    /// Changes how the group waits and pauses; what is nil stays.
    public func setPolicy(_ policy: GroupPolicy) async throws { try await send(.setPolicy(policy.wire)) }

    /// Sets the loudest member to this volume, 0 to 1, and the others in proportion. Nobody's mute is touched.
    public func setVolume(_ volume: Double) async throws { try await send(.setVolume(volume)) }

    // MARK: For sessions

    /// Who this program is for others.
    var ownName: String { link?.ownName ?? "" }

    /// Asks for what a player needs in order to come in. While the group has no host it asks again, for 10 s.
    func admit(_ participant: String) async throws -> (GroupAdmission, GroupHost) {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let link = try connected()
            do {
                let answer = try await link.requests.send(.group(.admit(participant: participant)))
                guard let admission = try? GroupAdmission(json: answer) else { throw RoutingError.badAnswer }
                var host = admission.host
                if host.addresses.isEmpty { host.addresses = link.hostAddresses }
                return (admission, host)
            } catch let error as RoutingError
                where error.code == .groupUnavailable && ContinuousClock.now < end
            { try await Task.sleep(for: .milliseconds(250)) }
        }
    }

    private func send(_ request: WireGroupRequest) async throws {
        _ = try await connected().requests.send(.group(request))
    }

    private func connected() throws(RoutingError) -> ReceiverLink {
        guard let link else {
            throw RoutingError(.ended, family: .connection, "the connection is closed")
        }
        return link
    }

    func mirror(_ document: GroupDocument?, base: String) {
        let new = document.flatMap { GroupState($0, base: base) }
        guard new != state else { return }
        state = new
        mirrorSession()
        announcer.announce()
    }

    func finish() {
        (link, isFinished) = (nil, true)
        session?.mirrored(nil, reason: "connectionLost")
        session = nil
        for listener in listeners.values { listener.finish() }
        listeners = [:]
        announcer.finish()
    }
}
