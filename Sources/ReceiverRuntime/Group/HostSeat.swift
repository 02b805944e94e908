// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import GroupLink
import MediaModel
import RouteWire
import SessionCore

/// What a host does besides being a member: it lets members in, keeps the coordinator, and tells all what all are to know.
///
/// An event that comes while another one is handled is handled after it.
final class HostSeat {
    /// A member as the host reaches it.
    struct Hosted {
        /// Nil: this receiver itself.
        var connection: RouteConnection?
        var addresses: [String] = []
        var port: UInt16?
        var volume: Volume?
        var sync: SyncReport?
    }

    /// A connection that has not proved itself.
    private struct Candidate {
        let connection: RouteConnection
        let attachment: GroupAttachment
        let handshake: GroupHandshake
        /// What it proves that it knows.
        let key: GroupSecret
        let timer: any ScheduledTimer
    }

    private struct Request: Hashable {
        let participant: ParticipantID
        let number: UInt64
    }

    static let candidateLimit = 16
    static let proofTime = Duration.seconds(5)
    /// A member that is heard no more for so long, not even by an answer to a ping, is lost. It asks itself after 3 s.
    static let silence = Duration.seconds(4)
    /// Requests of all members that may wait for an answer; the coordinator answers at once.
    private static let requestLimit = 256

    unowned let agent: GroupAgent
    private unowned let shell: ReceiverShell
    let ticket: GroupSecret
    private let ports: GroupPorts
    private(set) var coordinator: GroupCoordinator
    let clockPort: UInt16
    private(set) var members: [ParticipantID: Hosted] = [:]
    private var candidates: [ConnectionID: Candidate] = [:]
    private var requests: [Request: (Result<JSONValue, RouteError>) -> Void] = [:]
    private var lastRequest: UInt64 = 0
    private var timers: [GroupTimer: any ScheduledTimer] = [:]
    private var events: [GroupEvent] = []
    private var isHandling = false
    private var version: Int64 = 1
    private var published: JSONValue = .null
    private var pendingReports: [ParticipantID: SyncReport] = [:]
    private var reportTimer: (any ScheduledTimer)?
    /// What is played one after the other; nil while nothing is, or what only players know.
    var line: GroupLine?
    /// What the group played at last, or was to: an item that has ended hands it on.
    var rate = 1.0
    /// How loud each is beside the loudest; kept when all are at 0.
    private var ratios: [ParticipantID: Double] = [:]

    init(
        _ coordinator: GroupCoordinator, clockPort: UInt16, ticket: GroupSecret, agent: GroupAgent,
        shell: ReceiverShell, ports: GroupPorts
    ) {
        (self.coordinator, self.clockPort, self.ticket) = (coordinator, clockPort, ticket)
        (self.agent, self.shell, self.ports) = (agent, shell, ports)
        members[coordinator.host] = Hosted()
    }

    private var now: Int64 { shell.ports.clock.now }

    /// The present moment of the group's clock, which is this host's.
    var moment: Int64 { now }

    func freshName() -> String { shell.ports.identifiers.uuid() }

    // MARK: The coordinator

    func apply(_ event: GroupEvent) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        var next = 0
        repeat {
            while next < events.count {
                for effect in coordinator.apply(events[next], at: now) { perform(effect) }
                next += 1
            }
        } while judgeItem()
        events.removeAll(keepingCapacity: true)
        isHandling = false
        publish()
    }

    private func perform(_ effect: GroupEffect) {
        switch effect {
        case .send(let command, let id):
            if id == coordinator.host {
                agent.received(command)
            } else {
                send(.command(WireGroupCommand(command)), to: id)
            }
        case .arm(let timer, let moment):
            let delay = max(0, moment.subtractingReportingOverflow(now).partialValue)
            timers[timer] = shell.ports.clock.schedule(after: .nanoseconds(delay)) { [weak self] in
                self?.timers[timer] = nil
                self?.apply(.timerFired(timer))
            }
        case .answer(let number, let id, let refusal):
            let answer = requests.removeValue(forKey: Request(participant: id, number: number.number))
            answer?(refusal.map { .failure($0.error) } ?? .success(Outcome.accepted.json))
        case .refuseJoin(let id, _): dismiss(id, reason: "refused")
        case .removed(let id):
            if id == coordinator.host { agent.removed() } else { dismiss(id, reason: "removed") }
        case .ended(let item): if coordinator.item?.identifier == item { ended() }
        case .completed, .changed: break
        }
    }

    /// Does what a participant asks.
    func ask(
        _ request: GroupRequest, for id: ParticipantID,
        answer: @escaping (Result<JSONValue, RouteError>) -> Void
    ) {
        guard case .setItem(let item, let proposal) = request else {
            return self.request(request, for: id, answer: answer)
        }
        setItem(item?.wire, proposal, for: id, answer: answer)
    }

    /// Asks the coordinator in the name of a participant.
    func request(
        _ request: GroupRequest, for id: ParticipantID,
        answer: @escaping (Result<JSONValue, RouteError>) -> Void
    ) {
        guard requests.count < Self.requestLimit else {
            return answer(.failure(RouteError(.tooManyRequests, "Too many requests are in flight.")))
        }
        lastRequest += 1
        requests[Request(participant: id, number: lastRequest)] = answer
        apply(.reported(id, .requested(GroupRequestID(lastRequest), request)))
    }

    // MARK: Members

    /// Answers who wants to come in, and shows that this host knows the ticket.
    func attach(
        _ attachment: GroupAttachment, _ connection: RouteConnection
    ) throws(RouteError) -> JSONValue {
        guard candidates.count < Self.candidateLimit || candidates[connection.id] != nil else {
            throw RouteError(.groupUnavailable, "Too many want to come in at once.")
        }
        guard attachment.participant != coordinator.host.text else {
            throw RouteError(.invalidParams, "The participant is the host itself.")
        }
        let key =
            attachment.hasPass
            ? agent.pass(for: attachment.participant, in: attachment.group, ticket) : ticket
        guard let key, let nonce = GroupSecret(bytes: ports.secrets.random()) else {
            throw RouteError(.internalError, "There is no randomness.")
        }
        let handshake = GroupHandshake(
            group: attachment.group, member: attachment.participant, host: coordinator.host.text,
            epoch: Int64(coordinator.epoch), memberNonce: attachment.nonce, hostNonce: nonce)
        guard
            let proof = GroupSecret(
                bytes: ports.secrets.code(of: handshake.message(of: .host), key: key.bytes))
        else { throw RouteError(.internalError, "There is no proof.") }
        let id = connection.id
        let timer = shell.ports.clock.schedule(after: Self.proofTime) { [weak self] in
            guard let self, let candidate = candidates.removeValue(forKey: id) else { return }
            shell.front.close(candidate.connection, 1008, "the ticket was not proved")
        }
        candidates[id] = Candidate(
            connection: connection, attachment: attachment, handshake: handshake, key: key, timer: timer)
        if let port = attachment.port {
            agent.heard(
                of: Election.Claim(
                    epoch: UInt32(clamping: attachment.epoch), host: ParticipantID(attachment.participant)),
                at: GroupHost(
                    id: attachment.participant, addresses: [connection.client.address], port: port))
        }
        return GroupWelcome(
            host: coordinator.host.text, epoch: Int64(coordinator.epoch), nonce: nonce, proof: proof
        ).json
    }

    /// Lets in who has proved that it knows the ticket. The answer leaves before anything else is said.
    func prove(
        _ proof: GroupSecret, _ presence: GroupPresence, _ connection: RouteConnection,
        answer: (Result<JSONValue, RouteError>) -> Void
    ) {
        guard let candidate = candidates.removeValue(forKey: connection.id) else {
            return answer(.failure(RouteError(.authorizationFailed, "There is nothing to prove.")))
        }
        let code = ports.secrets.code(
            of: candidate.handshake.message(of: .member), key: candidate.key.bytes)
        guard GroupSecret(bytes: code) == proof else {
            answer(.failure(RouteError(.authorizationFailed, "The ticket is another one.")))
            return shell.front.close(connection, 1008, "the ticket is another one")
        }
        let id = ParticipantID(candidate.attachment.participant)
        guard members[id] != nil || members.count < GroupLimits.participants else {
            return answer(.failure(GroupRefusal.limitReached.error))
        }
        if let old = members[id]?.connection, old !== connection {
            shell.front.close(old, 1008, "the member has come anew")
        }
        answer(.success(WireGroupSnapshot(version: version, group: published).json))
        members[id] = Hosted(
            connection: connection, addresses: [connection.client.address], port: candidate.attachment.port,
            volume: candidate.attachment.volume)
        connection.client.watch(silence: Self.silence)
        agent.found(id)
        apply(.joined(Participation(candidate.attachment, presence)))
    }

    func participant(of connection: RouteConnection) -> ParticipantID? {
        members.first { $0.value.connection === connection }?.key
    }

    /// What a member says once it is in.
    func heard(_ request: GroupLinkRequest, from id: ParticipantID) {
        if case .report(let volume, let sync) = request {
            if let volume { volumeChanged(volume, of: id) }
            if let sync { report(sync, of: id) }
            return
        }
        if let report = ParticipantReport(request) { apply(.reported(id, report)) }
    }

    func connectionClosed(_ connection: RouteConnection) {
        candidates[connection.id] = nil
        guard let id = participant(of: connection) else { return }
        let lost = members.removeValue(forKey: id)
        pendingReports[id] = nil
        if let lost, let port = lost.port {
            agent.lost(GroupHost(id: id.text, addresses: lost.addresses, port: port))
        }
        apply(.lost(id))
    }

    private func send(_ notice: GroupNotice, to id: ParticipantID) {
        guard let connection = members[id]?.connection else { return }
        shell.front.send(JSONText.encode(notice.json), to: connection)
    }

    /// Sends a member away.
    private func dismiss(_ id: ParticipantID, reason: String) {
        guard let connection = members[id]?.connection else { return }
        send(.closed(reason: reason), to: id)
        members[id] = nil
        shell.front.close(connection, 1000, reason)
    }

    /// Tells all that it is the host no longer, and why.
    func close(reason: String) {
        for id in members.keys.sorted() { dismiss(id, reason: reason) }
        for candidate in candidates.values { shell.front.close(candidate.connection, 1001, reason) }
        (candidates, timers, reportTimer) = ([:], [:], nil)
        let answers = requests.values
        requests = [:]
        for answer in answers { answer(.failure(GroupRefusal.unavailable.error)) }
    }

    // MARK: What all are told

    func publish() {
        let document = document
        let json = document.json
        guard let patch = MergePatch.diff(from: published, to: json) else { return }
        published = json
        version += 1
        let text = JSONText.encode(
            GroupNotice.changed(version: version, base: version - 1, patch: patch).json)
        for member in members.values {
            if let connection = member.connection { shell.front.send(text, to: connection) }
        }
        agent.learned(document)
    }

    private var document: GroupDocument {
        let snapshot = coordinator.snapshot
        var list: [String: GroupMemberDocument] = [:]
        for member in snapshot.roster.members {
            let hosted = members[member.id]
            list[member.id.text] = GroupMemberDocument(
                name: member.name, kind: member.kind == .receiver ? .receiver : .player,
                joined: Int64(clamping: member.joinNumber), addresses: hosted?.addresses ?? [],
                port: member.id == snapshot.host ? shell.port : hosted?.port, item: member.item,
                isReady: member.isReady,
                suspensions: Array(member.suspensions.map(\.rawValue).prefix(WireLimits.suspensions)),
                volume: hosted?.volume, sync: hosted?.sync)
        }
        return GroupDocument(
            id: snapshot.id.text, name: snapshot.name, epoch: Int64(snapshot.epoch), host: snapshot.host.text,
            clock: GroupClockDocument(id: agent.clockIdentifier(epoch: snapshot.epoch), port: clockPort),
            activity: snapshot.activity.wire, policy: snapshot.policy.wire, volume: loudest,
            item: snapshot.item?.wire, queue: line?.wire,
            timelines: snapshot.timelines.mapValues { WireGroupTimeline($0) }, members: list)
    }

    // MARK: Reports

    /// How exactly a member plays is told to all once a second, in large groups less often, so that the host's traffic grows
    /// no faster than the group.
    func report(_ sync: SyncReport, of id: ParticipantID) {
        guard members[id] != nil else { return }
        pendingReports[id] = sync
        guard reportTimer == nil else { return }
        let seconds = max(1, members.count / 8)
        reportTimer = shell.ports.clock.schedule(after: .seconds(seconds)) { [weak self] in
            guard let self else { return }
            reportTimer = nil
            for (id, sync) in pendingReports { members[id]?.sync = sync }
            pendingReports = [:]
            publish()
        }
    }

    // MARK: Volume

    private var loudest: Double? { members.values.compactMap { $0.volume?.level }.max() }

    func volumeChanged(_ volume: Volume, of id: ParticipantID) {
        guard members[id] != nil, members[id]?.volume != volume else { return }
        members[id]?.volume = volume
        publish()
    }

    /// Sets the loudest member, and the others in proportion.
    func setVolume(_ level: Double) {
        let known = members.compactMapValues { $0.volume?.level }
        if let loudest, loudest > 0 { ratios = known.mapValues { $0 / loudest } }
        for (id, member) in members.sorted(by: { $0.key < $1.key }) where member.volume != nil {
            let wanted = level * (ratios[id] ?? 1)
            if id == coordinator.host {
                shell.handle(.groupLevelChanged(wanted))
            } else {
                send(.level(wanted), to: id)
            }
        }
    }
}
