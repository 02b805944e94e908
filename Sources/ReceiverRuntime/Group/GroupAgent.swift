// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import GroupLink
import MediaModel
import RouteWire
import SessionCore

/// The receiver's part in a group (`Docs/protocols/group.md`): it is the host, a member, or in none. It leads the renderer by what
/// the group decides, and passes on what senders ask.
final class GroupAgent {
    /// What the receiver knows of its group.
    struct Membership {
        let ticket: GroupSecret
        var participant: GroupParticipant
        /// As the host told it last.
        var known: GroupDocument
        /// The group's queue, as the host told it last.
        var queue: PlayQueue?
        var phase = GroupDocument.Phase.waiting
        /// True once a host has let it in.
        var hasJoined = false
        /// How the group's clock is read here.
        var line: ClockLine?
        /// False while the line is that of a host before.
        var isLineCurrent = false
        var binding: Binding?
        var performing: Performing?
        /// The item that this receiver has paused, until it is told where it stands.
        var pausing: String?
        /// The renderer could begin at once.
        var isReady = false
        /// Why the item ended the session here, if it could not be played.
        var failure: MediaFailure?
        /// An item that this receiver has asked for; what the host says of items meanwhile is older.
        var wantedItem: String?
        /// The link to the host.
        var link: HostLink?
        var linkVersion: Int64 = 0
        var linkState = JSONValue.null
        /// Hosts that did not answer.
        var lost: Set<ParticipantID> = []
        /// Until when the present one is tried.
        var deadline: Int64 = 0
        /// What was told to the host of the device's volume.
        var toldVolume: Volume?
    }

    /// The session that plays an item of the group.
    struct Binding {
        var session: SessionID
        let item: String
        /// The group's queue that the session plays, by its name and as the session has it.
        var queue: String?
        var mirrored: WireGroupQueue?
        var rate = 0.0
        /// False until the session was told to go over to the item: what is heard of it is of the item before.
        var isEntered = true
    }

    /// A command that the renderer is busy with.
    struct Performing {
        let command: GroupCommand
        /// The session was told.
        var isTold = false
    }

    /// A member that was lost without having been sent away.
    struct LostPeer {
        let host: GroupHost
        let since: Int64
    }

    unowned let shell: ReceiverShell
    let ports: GroupPorts
    let me: ParticipantID
    var membership: Membership?
    /// Nil unless this receiver is the host.
    var seat: HostSeat?
    /// The last group, once it was over by itself.
    var invalidated: GroupDocument?
    /// The port at which the clock is shown.
    private(set) var clockPort: UInt16?
    var retryTimer: (any ScheduledTimer)?
    var dueTimer: (any ScheduledTimer)?
    var lostPeers: [ParticipantID: LostPeer] = [:]
    var probes: [ParticipantID: HostLink] = [:]
    var probeTimer: (any ScheduledTimer)?
    var hostChanges: UInt64 = 0
    var lastSync: SyncReport?
    /// How many times in a row the card has told how it runs.
    var cardReports = 0
    private var written: (document: GroupDocument, json: JSONValue)?
    private var events: [ParticipantEvent] = []
    private var isHandling = false
    private var lastRequest: UInt64 = 0
    private var replies: [GroupRequestID: (Result<JSONValue, RouteError>) -> Void] = [:]

    init(shell: ReceiverShell, ports: GroupPorts) {
        (self.shell, self.ports) = (shell, ports)
        me = ParticipantID(shell.identity.device)
    }

    var now: Int64 { shell.ports.clock.now }

    /// The present moment of the group's clock.
    var groupTime: Int64? { membership?.line?.remote(at: now) }

    /// Names the clock of this host.
    func clockIdentifier(epoch: UInt32) -> String { "\(shell.identity.clock)/\(me.text)" }

    // MARK: State

    /// `state.group`; nil outside of groups.
    var document: GroupDocument? {
        guard let membership else { return invalidated }
        var document = membership.known
        if let link = membership.link, let address = link.address, document.host == link.host.id {
            document.members[document.host]?.addresses = [address]
        }
        document.view = .init(
            isHost: seat != nil, phase: membership.phase, isClockKnown: membership.isLineCurrent)
        return document
    }

    /// The same as JSON, made anew only when something of it has changed: senders are told of every second of playing.
    var json: JSONValue? {
        let document = document
        if let written, written.document == document { return written.json }
        let json = document?.json
        written = document.flatMap { document in json.map { (document, $0) } }
        return json
    }

    // MARK: Requests

    typealias Reply = (Result<JSONValue, RouteError>) -> Void

    /// What a sender asks. The reply is called once, at once or later.
    func handle(_ request: WireGroupRequest, reply: @escaping Reply) {
        do throws(RouteError) {
            switch request {
            case .create(let name, let activity, let policy):
                reply(.success(try create(name: name, activity: activity, policy: policy).json))
            case .join(let invitation):
                try join(invitation)
                reply(.success(Outcome.accepted.json))
            case .leave(let keepsPlaying):
                leave(keepsPlaying: keepsPlaying)
                reply(.success(Outcome.accepted.json))
            case .remove(let member): try pass(.remove(member: member), reply: reply)
            case .dissolve:
                if membership == nil { return reply(.success(Outcome.accepted.json)) }
                try pass(.dissolve, reply: reply)
            case .setActivity(let activity): try pass(.activity(activity), reply: reply)
            case .setPolicy(let policy): try pass(.policy(policy), reply: reply)
            case .setVolume(let volume): try pass(.volume(volume), reply: reply)
            case .admit(let participant): reply(.success(try admit(participant).json))
            }
        } catch { reply(.failure(error)) }
    }

    /// Has the host do something, wherever it is.
    func pass(_ ask: GroupAsk, reply: @escaping Reply) throws(RouteError) {
        guard let membership else { throw RouteError(.groupUnknown, "The receiver is in no group.") }
        if let seat { return answer(ask, from: me, at: seat, reply: reply) }
        guard membership.phase == .joined, let link = membership.link else {
            throw RouteError(.groupUnavailable, "The group's host is away.")
        }
        link.ask(ask, answer: reply)
    }

    /// Lets a player come in that a sender answers for. Any member can, since all know the ticket.
    private func admit(_ participant: String) throws(RouteError) -> GroupAdmission {
        guard let membership else { throw RouteError(.groupUnknown, "The receiver is in no group.") }
        let host =
            seat == nil
            ? membership.known.host(reachedBy: membership.link)
            : GroupHost(id: me.text, addresses: [], port: shell.port)
        guard membership.phase == .joined, let host,
            let pass = pass(for: participant, in: membership.known.id, membership.ticket)
        else { throw GroupRefusal.unavailable.error }
        return GroupAdmission(
            group: membership.known.id, name: membership.known.name, pass: pass, host: host)
    }

    /// What a player has in the ticket's place: it cannot take in others with it, nor be another participant.
    func pass(for player: String, in group: String, _ ticket: GroupSecret) -> GroupSecret? {
        GroupSecret(
            bytes: ports.secrets.code(
                of: GroupHandshake.passMessage(group: group, player: player), key: ticket.bytes))
    }

    /// What is asked of this host.
    private func answer(_ ask: GroupAsk, from id: ParticipantID, at seat: HostSeat, reply: @escaping Reply) {
        switch ask {
        case .dissolve:
            reply(.success(Outcome.accepted.json))
            seat.close(reason: "dissolved")
            over(reason: "dissolved", isInvalidated: false)
        case .volume(let volume):
            seat.setVolume(volume)
            reply(.success(Outcome.accepted.json))
        case .item(let item, let proposal, let following, let repeats):
            seat.setItem(
                item, proposal.map { TimingProposal($0) }, following: following, repeats: repeats, for: id,
                answer: reply)
        case .queue(let command, let queue): seat.change(command, of: queue, answer: reply)
        case .rate, .seek, .policy, .activity, .name, .remove:
            guard let request = ask.request(policy: seat.coordinator.policy) else { return }
            if case .remove(let member) = request { lostPeers[member] = nil }
            seat.ask(request, for: id, answer: reply)
        }
    }

    /// What a member says on its link.
    func handle(_ request: GroupLinkRequest, from connection: RouteConnection, reply: @escaping Reply) {
        do throws(RouteError) {
            switch request {
            case .attach(let attachment):
                guard let membership, membership.known.id == attachment.group else {
                    throw RouteError(.groupUnknown, "The receiver is not in this group.")
                }
                guard let seat else { throw moved(membership) }
                reply(.success(try seat.attach(attachment, connection)))
            case .prove(let proof, let presence):
                guard let seat else { throw GroupRefusal.unavailable.error }
                seat.prove(proof, presence, connection, answer: reply)
            default:
                guard let seat, let id = seat.participant(of: connection) else {
                    throw RouteError(.authorizationFailed, "The connection is no member's.")
                }
                if case .ask(let ask) = request { return answer(ask, from: id, at: seat, reply: reply) }
                seat.heard(request, from: id)
                reply(.success(Outcome.accepted.json))
            }
        } catch { reply(.failure(error)) }
    }

    private func moved(_ membership: Membership) -> RouteError {
        guard membership.phase == .joined, let host = membership.known.host(reachedBy: membership.link) else {
            return RouteError(.groupUnavailable, "The group's host is being sought.")
        }
        return RouteError(
            .groupMoved, "Another member is the host.",
            details: ["host": host.json, "epoch": .integer(membership.known.epoch)])
    }

    func connectionClosed(_ connection: RouteConnection) { seat?.connectionClosed(connection) }

    // MARK: The participant

    /// Feeds the participant, and does what follows.
    func participate(_ event: ParticipantEvent) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        var next = 0
        while next < events.count {
            let effects = membership?.participant.apply(events[next]) ?? []
            for effect in effects { perform(effect) }
            next += 1
        }
        events.removeAll(keepingCapacity: true)
        isHandling = false
    }

    func received(_ command: GroupCommand) { participate(.received(command)) }

    /// Asks the group; without a reply nobody waits for the answer.
    func request(_ request: GroupRequest, reply: Reply? = nil) {
        lastRequest += 1
        let id = GroupRequestID(lastRequest)
        replies[id] = reply
        participate(.requested(id, request))
    }

    private func perform(_ effect: ParticipantEffect) {
        switch effect {
        case .report(.requested(let id, let request)):
            let reply = replies.removeValue(forKey: id) ?? { _ in }
            if let seat {
                seat.ask(request, for: me, answer: reply)
            } else if let link = membership?.link {
                link.ask(GroupAsk(request), answer: reply)
            } else {
                reply(.failure(GroupRefusal.unavailable.error))
            }
        case .report(let report):
            if let seat {
                seat.apply(.reported(me, report))
            } else if let wire = report.wire {
                membership?.link?.tell(wire)
            }
        case .perform(let command): begin(command)
        case .abandon(let id):
            if membership?.performing?.command.id == id { membership?.performing = nil }
        case .performLocally(let id, let request):
            performLocally(request)
            replies.removeValue(forKey: id)?(.success(Outcome.accepted.json))
        case .refuse(let id, let refusal): replies.removeValue(forKey: id)?(.failure(refusal.error))
        case .arm(let timer, let moment):
            guard let line = membership?.line else { return }
            let delay = max(0, line.local(at: moment).subtractingReportingOverflow(now).partialValue)
            dueTimer = shell.ports.clock.schedule(after: .nanoseconds(delay)) { [weak self] in
                self?.dueTimer = nil
                self?.participate(.timerFired(timer))
            }
        case .suspensionsChanged: break
        }
    }

    // MARK: The clock

    func provideClock() throws(RouteError) -> UInt16 {
        if let clockPort { return clockPort }
        do {
            let port = try ports.clock.provide(port: shell.configuration.clockPort)
            clockPort = port
            return port
        } catch { throw RouteError(.groupUnavailable, "The group's clock cannot be shown: \(error)") }
    }

    func withdrawClock() {
        if clockPort != nil { ports.clock.stopProviding() }
        clockPort = nil
    }

    /// Tells the renderer how the clock is read, also a renderer that has begun anew.
    func tellClock() {
        guard let membership, shell.isRunning else { return }
        shell.ports.renderer.send(.setGroupClock(membership.line))
    }
}

extension GroupAgent {
    /// A card that has played in a group for so many seconds is known well enough to be remembered, and so often again.
    private static let learningTime = 30

    /// Tells a renderer that has begun what is remembered of cards.
    func tellCards() {
        guard shell.isRunning else { return }
        for (device, drift) in ports.cards?.drifts ?? [] {
            shell.ports.renderer.send(.setCardDrift(device: device, partsPerMillion: drift))
        }
    }

    func learnCard(_ report: SyncReport) {
        cardReports += 1
        let output = shell.state.device.output
        guard cardReports % Self.learningTime == 0, output.state == .open else { return }
        ports.cards?.learn(drift: report.cardDrift, of: output.device)
    }
}

extension GroupDocument {
    /// Whether the group plays, or is about to.
    var moves: Bool {
        guard let item, let timeline = timelines[item.identifier] else { return false }
        return timeline.timeline.wantedRate > 0
    }

    /// Where the host is, as others may reach it.
    func host(reachedBy link: HostLink?) -> GroupHost? {
        guard let link, link.host.id == host, let address = link.address else { return nil }
        return GroupHost(id: host, addresses: [address], port: link.host.port)
    }
}
