// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import Observation
import RouteWire

/// A group as something that this program may take part in. It comes from `GroupControl.sessions()` of any member.
///
///     for await session in route.group.sessions() {
///         coordinator.coordinate(with: session)
///         try await session.join()
///     }
///
/// Once joined it stands by itself: the receiver that told of it may leave or be lost. When the host is lost it goes on with the next.
@RouteActor @Observable public final class GroupSession: Identifiable {
    /// Where this program stands in the group.
    public enum State: Sendable, Equatable {
        /// Not in it, or, once joined, on the way to another host.
        case waiting
        /// It takes part.
        case joined
        /// Over for good: `left`, `dissolved`, `removed`, `refused`, `unreachable`, `hostLost`, `connectionLost`.
        case invalidated(reason: String)
    }

    /// The group's name on the wire.
    public let id: String
    /// Where this program stands.
    public private(set) var state = State.waiting
    /// The group: by its host once joined, until then by the receiver that told of it.
    public private(set) var group: GroupState
    /// What people do together; another one may come at any time.
    public var activity: GroupActivity? { group.activity }

    @ObservationIgnored private weak var control: GroupControl?
    @ObservationIgnored private weak var coordinator: PlaybackCoordinator?
    @ObservationIgnored private var participant: LocalParticipant?
    @ObservationIgnored private var membership: PlayerMembership?
    @ObservationIgnored private var isJoining = false
    @ObservationIgnored private let announcer = Announcer()

    init(_ group: GroupState, control: GroupControl) {
        (id, self.group, self.control) = (group.id, group, control)
    }

    isolated deinit { membership?.end("left") }

    /// This program among the members; nil before it takes part.
    public var localParticipant: GroupMember? {
        participant.flatMap { own in group.members.first { $0.id == own.id } }
    }

    /// A value after each change, the latest only; ends when the session is over.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    /// Comes into the group, with the player of the coordinator that coordinates with this session, or without one, to be seen. Returns when it
    /// takes part; throws why it does not. No effect once joined.
    public func join() async throws {
        if membership != nil, state == .joined { return }
        guard state == .waiting, membership == nil, !isJoining, let control else {
            throw RoutingError(.ended, family: .session, "the session is over, or joined already")
        }
        isJoining = true
        let participant =
            participant ?? LocalParticipant(name: control.ownName, identifier: RandomText.uuid())
        self.participant = participant
        let admission: GroupAdmission
        let host: GroupHost
        do {
            (admission, host) = try await control.admit(participant.id)
            guard admission.group == id, state == .waiting else {
                throw RoutingError(.groupUnknown, family: .session, "the group is over")
            }
        } catch {
            isJoining = false
            throw error
        }
        let membership = PlayerMembership(admission, host: host, participant: participant)
        self.membership = membership
        isJoining = false
        membership.onChange = { [weak self] in self?.membershipChanged() }
        membership.onClock = { [weak self] in self?.clockRead() }
        let updates = updates()
        membership.start()
        func isDone() throws -> Bool {
            switch state {
            case .joined: return true
            case .waiting: return false
            case .invalidated(let reason):
                throw RoutingError(.groupUnavailable, family: .session, "it did not come in: \(reason)")
            }
        }
        if try isDone() { return }
        for await _ in updates { if try isDone() { return } }
        if try !isDone() { throw RoutingError(.ended, family: .session, "it was not waited for") }
    }

    /// Takes no part any more; the others go on. The session is over.
    public func leave() { invalidate("left") }

    /// Ends the group for all.
    public func end() async throws {
        guard let membership else { return try await connected().dissolve() }
        try await ask(.dissolve, by: membership)
    }

    /// Says what people do together.
    public func setActivity(_ activity: GroupActivity?) async throws {
        guard let membership else { return try await connected().setActivity(activity) }
        try await ask(.activity(activity?.wire), by: membership)
    }

    /// Makes an item the group's: its receivers go over to it, and players see it in `group`. Nil: nothing plays any more. Once joined.
    ///
    /// An item that is played anew needs another identifier.
    public func setItem(
        _ item: GroupItem?, proposingInitialTimingBasedOn timing: PlaybackCoordinator.InitialTiming? = nil
    ) async throws {
        guard let membership else {
            throw RoutingError(.groupUnavailable, family: .session, "the session is not joined")
        }
        let proposal = timing.map {
            WireGroupProposal(
                itemTime: $0.itemTime.placeInItem ?? 0, rate: $0.rate, clockTime: $0.hostClockTime)
        }
        try await ask(.item(item?.wire, proposal), by: membership)
    }

    private func ask(_ ask: GroupAsk, by membership: PlayerMembership) async throws {
        // Without a typed error: the compiler of Swift 6.2.3 ends where there is one beside a continuation.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            membership.ask(ask) { answer in
                continuation.resume(with: answer.map { _ in }.mapError { RoutingError($0) })
            }
        }
    }

    private func connected() throws(RoutingError) -> GroupControl {
        guard let control else {
            throw RoutingError(.ended, family: .connection, "the connection is closed")
        }
        return control
    }

    // MARK: Inside

    /// True from the way in to the end.
    var isInGroup: Bool { membership != nil }
    /// The group's policy in the wire's words.
    var wirePolicy: WireGroupPolicy { group.policy.wire }

    /// False: it has a player already, or is over.
    func adopt(_ coordinator: PlaybackCoordinator) -> Bool {
        guard state == .waiting, participant == nil, coordinator.participant.membership == nil else {
            return false
        }
        (self.coordinator, participant) = (coordinator, coordinator.participant)
        return true
    }

    /// What the receiver says, which counts while this program is not in the group itself. Nil: it is over there.
    func mirrored(_ new: GroupState?, reason: String) {
        if case .invalidated = state { return }
        guard membership == nil else { return }
        guard let new else { return invalidate(reason) }
        group = new
        changed()
    }

    private func membershipChanged() {
        guard let membership else { return }
        switch membership.phase {
        case .waiting: state = .waiting
        case .joined: state = .joined
        case .over(let reason): return invalidate(reason)
        }
        if let now = GroupState(playing: membership.known, isClockKnown: membership.isLineCurrent, state) {
            group = now
        }
        changed()
    }

    private func clockRead() {
        guard let membership, let line = membership.line, let clock = membership.clock else { return }
        if group.isClockKnown != membership.isLineCurrent { membershipChanged() }
        coordinator?.clockRead(PlaybackCoordinator.Clock(identifier: clock, line: line))
    }

    private func invalidate(_ reason: String) {
        if case .invalidated = state { return }
        let old = membership
        membership = nil
        state = .invalidated(reason: reason)
        old?.onChange = nil
        old?.end(reason)
        changed()
        announcer.finish()
    }

    private func changed() {
        coordinator?.sessionChanged()
        announcer.announce()
    }
}

/// What a group plays: for receivers an address, for players that know it by its name that name.
public struct GroupItem: Sendable, Equatable {
    /// Its name in the group, at most 1 KiB; another one each time that it is played anew.
    public var identifier: String
    /// Where its media is; nil: only players that know it by its name play it. Members see it, and nobody else.
    public var url: String?
    /// The name for people.
    public var title: String?
    /// What stands below the title.
    public var subtitle: String?

    /// An item.
    public init(identifier: String, url: String? = nil, title: String? = nil, subtitle: String? = nil) {
        (self.identifier, self.url, self.title, self.subtitle) = (identifier, url, title, subtitle)
    }

    init(_ item: WireGroupItem) {
        self.init(
            identifier: item.identifier, url: item.media?.url, title: item.title, subtitle: item.subtitle)
    }

    var wire: WireGroupItem {
        WireGroupItem(
            identifier: identifier, title: title, subtitle: subtitle,
            media: url.map { QueueItemRequest(url: $0, title: title, subtitle: subtitle) })
    }
}
