// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GroupCore
import GroupLink
public import MediaModel
public import Observation
import RouteWire

/// Plays in step with a group by a renderer of one's own. Its delegate gets the four commands; what it asks for, all do.
///
///     let coordinator = PlaybackCoordinator(named: "Desk", delegate: player)
///     coordinator.coordinate(with: session)
///     try await session.join()
///     try await coordinator.transitionToItem(withIdentifier: "song")
///
/// While it is in no group, or suspended, what it is asked for is done by its own player alone. Times of the host's clock are
/// nanoseconds of the group's clock; `clock` says how this machine reads it.
@RouteActor @Observable public final class PlaybackCoordinator {
    /// Who plays. Not retained.
    @ObservationIgnored public weak var delegate: (any PlaybackCoordinatorDelegate)?
    /// The session that it takes part in.
    public private(set) var session: GroupSession?
    /// The item that this player is on; nil: none.
    public private(set) var currentItemIdentifier: String?
    /// Everybody else in the group.
    public private(set) var otherParticipants: [GroupMember] = []
    /// Why this player takes no part at present; empty if it does.
    public private(set) var suspensionReasons: [SuspensionReason] = []
    /// How the group's clock is read; nil before it is known.
    @ObservationIgnored public private(set) var clock: Clock?

    @ObservationIgnored let participant: LocalParticipant
    @ObservationIgnored let delivery = CommandDelivery()
    @ObservationIgnored private let announcer = Announcer()
    /// Where this player was told to be last, on the clock of that moment.
    @ObservationIgnored var own: GroupCore.GroupTimeline?
    @ObservationIgnored private var lastSuspension: UInt64 = 0
    @ObservationIgnored private var wantedPolicy = WireGroupPolicy()

    /// A coordinator for one player.
    ///
    /// - Parameters:
    ///   - name: What others see, at most 63 bytes.
    ///   - identifier: A UUID; one that is kept makes it the same member after a restart.
    public init(named name: String, identifier: String? = nil, delegate: any PlaybackCoordinatorDelegate) {
        participant = LocalParticipant(name: name, identifier: identifier ?? RandomText.uuid())
        self.delegate = delegate
        participant.performer = self
        delivery.onDone = { [weak self] in self?.participant.apply(.performed($0)) }
        delivery.onDeliver = { [weak self] in self?.deliver($0, $1) }
        delivery.isHeld = { [weak self] in self?.isHeld($0) ?? false }
        delivery.onAbandon = { [weak self] in
            guard let self else { return }
            self.delegate?.playbackCoordinatorDidAbandonCommand(self)
        }
    }

    /// This player among the members.
    public var identifier: String { participant.id }

    /// A value after each change, the latest only.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    /// Takes part in a session from now on, with what this player is on. Before `GroupSession.join()`; false afterwards, or for a
    /// session that has ended.
    @discardableResult public func coordinate(with session: GroupSession) -> Bool {
        guard session.adopt(self) else { return false }
        self.session = session
        return true
    }

    // MARK: The item

    /// Says what this player is on from now on; nil: nothing. Commands about what it was on before are over.
    ///
    /// If nobody is on that item yet, the proposal is the group's timing of it, without one paused at its beginning; else this player
    /// is told where the group is.
    public func transitionToItem(
        withIdentifier identifier: String?, proposingInitialTimingBasedOn timing: InitialTiming? = nil
    ) {
        delivery.abandonOwn()
        // What was late for the old item is no stall in the new one.
        if let late = delivery.abandonLate() { participant.apply(.performed(late)) }
        own = identifier.map { _ in .paused(at: timing?.itemTime.placeInItem ?? 0) }
        participant.apply(
            .transitioned(
                to: identifier,
                proposing: timing.map {
                    TimingProposal(
                        itemTime: $0.itemTime.placeInItem ?? 0, rate: $0.rate, clockTime: $0.hostClockTime)
                }))
        refresh()
    }

    /// Wants the state of the group told anew, after this player has drifted off. Such commands have no originator.
    public func reapplyCurrentItemState() { participant.apply(.reapplyRequested) }

    /// Where the group is in this player's item at a moment of the group's clock, also while this player is suspended. Nil: it is on
    /// no item, or the group's place is not known.
    public func expectedItemTime(atHostTime time: Int64) -> MediaTime? {
        guard session?.isInGroup == true else {
            return own.map { MediaTime(nanoseconds: $0.itemTime(at: time)) }
        }
        return participant.state.expectedItemTime(atHostTime: time).map { MediaTime(nanoseconds: $0) }
    }

    /// The present moment of this machine's monotonic clock, in nanoseconds.
    public nonisolated static var localTime: Int64 { MonotonicClock.nanoseconds }

    /// The present moment of the group's clock; of this machine's own while there is no other.
    public var hostTime: Int64 { hostTime(atLocalTime: MonotonicClock.nanoseconds) }

    /// What the group's clock shows at a moment of this machine's monotonic clock, in nanoseconds.
    public func hostTime(atLocalTime time: Int64) -> Int64 { clock?.line.remote(at: time) ?? time }

    /// When the group's clock shows this, in nanoseconds of this machine's monotonic clock.
    public func localTime(atHostTime time: Int64) -> Int64 { clock?.line.local(at: time) ?? time }

    // MARK: Requests

    /// Has all play at a rate; 0 pauses. From 0 they begin when those who take part are ready, or at once with `playImmediately`.
    ///
    /// - Parameter itemTime: Where this player stopped, if it has paused already: the group's place is that.
    public func coordinateRateChange(
        to rate: Double, options: RateChangeOptions = [], itemTime: MediaTime? = nil
    ) async throws {
        try await ask(
            .setRate(
                rate, item: try item(), itemTime: itemTime?.placeInItem,
                immediately: options.contains(.playImmediately)))
    }

    /// Has all go to a place. What played goes on when those who take part are ready, or at once with `resumeImmediately`.
    public func coordinateSeek(to time: MediaTime, options: SeekOptions = []) async throws {
        guard let place = time.placeInItem else {
            throw RoutingError(.invalidParams, family: .session, "the time is no place in an item")
        }
        try await ask(
            .seek(to: place, item: try item(), resumeImmediately: options.contains(.resumeImmediately)))
    }

    /// Says where this player stands after a pause: if it was the one who asked for it, that is the group's place.
    public func reportStop(at time: MediaTime) {
        guard let item = currentItemIdentifier, let place = time.placeInItem else { return }
        participant.apply(.stopped(item: item, at: place))
    }

    /// Says that this player has played its item to the end.
    public func reportEnd() {
        if let item = currentItemIdentifier { participant.apply(.ended(item: item)) }
    }

    /// Publishes how exactly this player plays; once a second at most.
    public func report(_ sync: SyncReport) { participant.membership?.tell(.report(nil, sync)) }

    private func item() throws(RoutingError) -> String {
        guard let item = currentItemIdentifier else {
            throw RoutingError(.itemUnknown, family: .session, "the player is on no item")
        }
        return item
    }

    private func ask(_ request: GroupRequest) async throws {
        guard session?.isInGroup == true else {
            guard performLocally(request) else {
                throw RoutingError(
                    .tooMuchAtOnce, family: .session, "the player has not done what came before")
            }
            return
        }
        try await participant.ask(request)
    }

    // MARK: Suspensions

    /// Takes no part from now on until the suspension ends: it is told nothing, and what it asks for is for itself alone.
    /// A suspension that is dropped ends. At most 15 may be open.
    public func beginSuspension(for reason: SuspensionReason) -> PlaybackSuspension {
        lastSuspension += 1
        let id = SuspensionID(lastSuspension)
        participant.apply(
            .suspensionBegan(Suspension(id: id, reason: GroupCore.SuspensionReason(reason.rawValue))))
        return PlaybackSuspension(reason: reason) { [weak self] time in
            guard let self else { return }
            participant.apply(.suspensionEnded(id, proposing: time))
            // From here on the group decides.
            if participant.state.takesPart, session?.isInGroup == true { delivery.abandonOwn() }
        }
    }

    // MARK: Policies

    /// The reasons for which a start waits for those that are suspended, and a playing group stops. Written for the whole group.
    public var suspensionReasonsThatTriggerWaiting: Set<SuspensionReason> {
        get { policy.suspensionReasonsThatTriggerWaiting ?? [] }
        set { change(WireGroupPolicy(waitsFor: newValue.map(\.rawValue).sorted())) }
    }

    /// After a pause all go to the place at which the one who paused stood; else small differences stay. Written for the whole group.
    public var pauseSnapsToMediaTimeOfOriginator: Bool {
        get { policy.pauseSnapsToMediaTimeOfOriginator ?? false }
        set { change(WireGroupPolicy(pauseSnapsToOriginator: newValue)) }
    }

    /// In groups of more participants than this a suspension for the reason is not waited out; nil: it is in all.
    public func participantLimit(forWaitingOutSuspensionsWithReason reason: SuspensionReason) -> Int? {
        policy.participantLimits?[reason]
    }

    /// Sets in how large groups a suspension for the reason is waited out; nil: in all. For the whole group.
    public func setParticipantLimit(
        _ limit: Int?, forWaitingOutSuspensionsWithReason reason: SuspensionReason
    ) {
        var limits = policy.wire.limits ?? [:]
        limits[reason.rawValue] = limit.map { Int64(min(max($0, 0), 1_000)) }
        change(WireGroupPolicy(limits: limits))
    }

    /// The group's, with what was written here and is not answered yet.
    private var policy: GroupPolicy {
        GroupPolicy((session?.wirePolicy ?? .init()).changed(by: wantedPolicy))
    }

    private func change(_ change: WireGroupPolicy) {
        wantedPolicy = wantedPolicy.changed(by: change)
        sendPolicy()
        announcer.announce()
    }

    /// Refused or not, from the answer on the group's counts.
    private func sendPolicy() {
        let wanted = wantedPolicy
        guard wanted != WireGroupPolicy(), let membership = participant.membership,
            membership.phase == .joined
        else { return }
        membership.ask(.policy(wanted)) { [weak self] _ in
            guard let self, wantedPolicy == wanted else { return }
            wantedPolicy = WireGroupPolicy()
            announcer.announce()
        }
    }

    // MARK: From the session

    func sessionChanged() {
        if session?.isInGroup != true { clock = nil }
        sendPolicy()
        refresh()
    }

    func clockRead(_ clock: Clock) {
        self.clock = clock
        delegate?.playbackCoordinator(self, didRead: clock)
        delivery.resume()
    }

    func refresh() {
        currentItemIdentifier = participant.state.item
        suspensionReasons = participant.state.suspensions.map {
            SuspensionReason(rawValue: $0.reason.rawValue)
        }
        otherParticipants = (session?.group.members ?? []).filter { $0.id != identifier }
        delegate?.playbackCoordinatorDidChange(self)
        announcer.announce()
    }
}

extension MediaTime {
    /// Nanoseconds; nil for what is no number or lies before the beginning.
    var placeInItem: Int64? {
        guard isNumeric, let time = nanoseconds, GroupLimits.itemTimes.contains(time) else { return nil }
        return time
    }
}
