// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GroupClock
import GroupCore
import GroupLink
import MediaModel
import MemberLink
import RouteWire

/// The way of a player through a group: its link to whoever is the host, the host's clock, and what the host says of the group.
///
/// When the host is lost it goes on with the next by the rule that all members follow; a player is never the host itself.
@RouteActor final class PlayerMembership {
    enum Phase: Equatable {
        /// The link is being made, or another host is sought.
        case waiting
        case joined
        /// For good, for this reason.
        case over(String)
    }

    /// How long the first host, and each that is sought later, is tried.
    private static let joinTime: Int64 = 10_000_000_000
    private static let candidateTime: Int64 = 3_000_000_000
    /// So long a group is sought whose hosts are all away: as long as a receiver is away that starts anew.
    private static let searchTime: Int64 = 60_000_000_000
    private static let retryDelay = Duration.milliseconds(250)
    /// So often in a row it goes where it is sent.
    private static let moveLimit = 4

    private static let connector = HostConnector()
    private static let secrets = SystemSecrets()
    /// How fast the machines run that were followed before.
    private static let rates = ClockRateMemory()

    /// Phase or group have changed.
    var onChange: (() -> Void)?
    /// The clock is read anew.
    var onClock: (() -> Void)?
    private(set) var phase = Phase.waiting
    /// As the host told it last.
    private(set) var known: GroupDocument
    /// How the group's clock is read here; that of the host before until the present one's is known.
    private(set) var line: ClockLine?
    /// Whose clock that is.
    private(set) var clock: String?
    /// False while the line is that of a host before, or there is none.
    private(set) var isLineCurrent = false

    private let participant: LocalParticipant
    private let pass: GroupSecret
    private var link: HostLink?
    private var follower: ClockFollower?
    private var version: Int64 = 0
    private var json = JSONValue.null
    private var toldTimelines: [String: WireGroupTimeline] = [:]
    private var hasJoined = false
    private var lost: Set<ParticipantID> = []
    /// Who is tried as the host, until when, and how often we were sent on.
    private var candidate: GroupHost
    private var deadline: Int64 = 0
    private var moves = 0
    private var searchEnd: Int64 = 0
    private var retryTimer: EventSource?

    init(_ admission: GroupAdmission, host: GroupHost, participant: LocalParticipant) {
        (self.participant, pass, candidate) = (participant, admission.pass, host)
        known = GroupDocument(id: admission.group, name: admission.name, host: host.id)
    }

    isolated deinit { follower?.stop() }

    private var now: Int64 { MonotonicClock.nanoseconds }

    func start() {
        participant.membership = self
        deadline = now + Self.joinTime
        connect(to: candidate)
    }

    /// Ends it without a word; the host sees the link close.
    func end(_ reason: String) {
        if case .over = phase { return }
        lostLink()
        follower?.stop()
        follower = nil
        phase = .over(reason)
        participant.membership = nil
        onChange?()
    }

    func tell(_ request: GroupLinkRequest) { link?.tell(request) }

    func ask(_ ask: GroupAsk, answer: @escaping (Result<JSONValue, RouteError>) -> Void) {
        guard let link, phase == .joined else { return answer(.failure(GroupRefusal.unavailable.error)) }
        link.ask(ask, answer: answer)
    }

    // MARK: The link

    private func connect(to host: GroupHost) {
        guard let nonce = GroupSecret(bytes: Self.secrets.random()) else { return end("refused") }
        let attachment = GroupAttachment(
            group: known.id, participant: participant.id, name: participant.state.name, kind: .player,
            nonce: nonce, hasPass: true, epoch: known.epoch)
        retryTimer = nil
        link?.close()
        link = HostLink(
            to: host, as: attachment, key: pass, secrets: Self.secrets, connector: Self.connector
        ) { [weak self] in self?.heard($0, host) }
    }

    private func heard(_ event: HostLink.Event, _ host: GroupHost) {
        switch event {
        case .verified(let welcome):
            guard !hasJoined || welcome.epoch >= known.epoch else { return missed() }
            let presence = participant.state.participation.presence
            // A new host's clock is another one: what it says is meant by that.
            isLineCurrent = false
            participant.apply(
                .attached(host: ParticipantID(welcome.host), epoch: UInt32(clamping: welcome.epoch)))
            link?.prove(presence)
        case .attached(let snapshot): attached(snapshot)
        case .noticed(let notice): noticed(notice)
        case .moved(let other, _):
            guard moves < Self.moveLimit else { return missed() }
            moves += 1
            connect(to: other)
        case .lost(_, let isRefused):
            if phase == .joined { return hostLost() }
            if isRefused, !hasJoined { return end("refused") }
            missed()
        }
    }

    /// The host that is tried did not let us in.
    private func missed() {
        link?.close()
        link = nil
        moves = 0
        if now < deadline {
            retryTimer = EventSource.after(Self.retryDelay) { [weak self] in
                guard let self else { return }
                connect(to: candidate)
            }
            return
        }
        guard hasJoined else { return end("unreachable") }
        lost.insert(ParticipantID(candidate.id))
        seekHost()
    }

    private func attached(_ snapshot: WireGroupSnapshot) {
        guard let document = try? GroupDocument(json: snapshot.group, keeping: nil),
            let clock = document.clock,
            document.id == known.id, let address = link?.address
        else { return refuse() }
        (version, json) = (snapshot.version, snapshot.group)
        (hasJoined, phase, lost, moves) = (true, .joined, [], 0)
        follow(ClockServer(host: address, port: clock.port, machine: clock.id))
        learned(document)
    }

    private func noticed(_ notice: GroupNotice) {
        switch notice {
        case .command(let command):
            if let command = command.command { participant.apply(.received(command)) }
        case .changed(let version, let base, let patch):
            let new = MergePatch.apply(patch, to: json)
            guard base == self.version, let document = try? GroupDocument(json: new, keeping: nil),
                document.id == known.id
            else { return refuse() }
            (self.version, json) = (version, new)
            learned(document)
        // A player has no device whose level would be the group's.
        case .level: break
        case .closed("moved"):
            // The host itself is a member now, and says of whom.
            let host = link?.host ?? candidate
            lostLink()
            seek(host)
            onChange?()
        case .closed("left"): hostLost()
        case .closed(let reason): end(reason)
        }
    }

    /// A step of the host's is missing or makes no sense: the link is made anew.
    private func refuse() {
        let host = link?.host ?? candidate
        lostLink()
        (candidate, deadline) = (host, now + Self.candidateTime)
        missed()
        onChange?()
    }

    private func lostLink() {
        link?.close()
        (link, retryTimer) = (nil, nil)
        if case .over = phase { return }
        phase = .waiting
        participant.apply(.detached)
    }

    // MARK: Another host

    private func hostLost() {
        lost.insert(ParticipantID(known.host))
        lostLink()
        searchEnd = now + Self.searchTime
        seekHost()
        onChange?()
    }

    private func seekHost() {
        if let next = Election.successor(in: known.roster, lost: lost) {
            guard let member = known.members[next.text], let port = member.port, !member.addresses.isEmpty
            else {
                lost.insert(next)
                return seekHost()
            }
            return seek(GroupHost(id: next.text, addresses: member.addresses, port: port))
        }
        // Perhaps the network is away and not the hosts: from the beginning, those included that were lost.
        guard now < searchEnd, known.roster.members.contains(where: { isReachable($0) }) else {
            return end("hostLost")
        }
        lost = []
        retryTimer = EventSource.after(Self.retryDelay) { [weak self] in self?.seekHost() }
    }

    private func isReachable(_ member: GroupCore.GroupMember) -> Bool {
        guard member.kind == .receiver, let document = known.members[member.id.text] else { return false }
        return document.port != nil && !document.addresses.isEmpty
    }

    private func seek(_ host: GroupHost) {
        (candidate, deadline, moves) = (host, now + Self.candidateTime, 0)
        connect(to: host)
    }

    // MARK: What the host says

    private func learned(_ document: GroupDocument) {
        known = document
        if let host = link?.host, document.members[host.id]?.addresses.isEmpty == true {
            // A host does not say where it is itself.
            known.members[host.id]?.addresses = link?.address.map { [$0] } ?? []
        }
        if isLineCurrent { tellTimelines() }
        onChange?()
    }

    /// Timelines are readings of the host's clock: they are of use once that is read.
    private func tellTimelines() {
        let old = toldTimelines
        toldTimelines = known.timelines
        for (item, timeline) in known.timelines.sorted(by: { $0.key < $1.key }) where old[item] != timeline {
            participant.apply(.timelineChanged(item: item, timeline.timeline))
        }
        for item in old.keys.sorted() where known.timelines[item] == nil {
            participant.apply(.timelineChanged(item: item, nil))
        }
    }

    // MARK: The clock

    private func follow(_ server: ClockServer) {
        follower?.stop()
        follower = nil
        do {
            let follower = try ClockFollower(server, memory: Self.rates, on: RouteActor.shared.loop)
            // A clock that is lost is read on as it was.
            follower.onReport = { [weak self] report in
                guard report.state != .unsynchronised, let line = report.line else { return }
                self?.read(line, of: server.machine)
            }
            self.follower = follower
        } catch { refuse() }
    }

    private func read(_ line: ClockLine, of machine: String) {
        guard phase == .joined else { return }
        let isFirst = !isLineCurrent
        (self.line, clock, isLineCurrent) = (line, machine, true)
        if isFirst { tellTimelines() }
        onClock?()
    }
}
