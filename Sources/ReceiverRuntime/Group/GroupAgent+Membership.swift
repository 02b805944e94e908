// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import GroupLink
import MediaModel
import RouteWire
import SessionCore

// How the receiver comes into a group and leaves it. What becomes of one whose host is lost is in GroupAgent+Succession.

extension GroupAgent {
    static let joinTime: Int64 = 10_000_000_000
    static let candidateTime: Int64 = 3_000_000_000
    /// How long a host is sought again whose link has ended: it may have given up this receiver, which was held up.
    static let returnTime: Int64 = 500_000_000
    static let retryDelay = Duration.milliseconds(250)

    // MARK: Creating

    func create(
        name: String, activity: WireGroupActivity?, policy: WireGroupPolicy?
    ) throws(RouteError) -> GroupCreated {
        guard membership == nil else { throw RouteError(.groupBusy, "The receiver is in a group.") }
        guard let ticket = GroupSecret(bytes: ports.secrets.random()) else {
            throw RouteError(.internalError, "There is no randomness.")
        }
        let line = try playing()
        let port = try provideClock()
        let id = shell.ports.identifiers.uuid()
        let coordinator = GroupCoordinator(
            id: GroupID(id), name: name, host: me, activity: GroupActivity(activity),
            policy: GroupPolicy().changed(by: policy))
        let participant = GroupParticipant(id: me, name: shell.state.device.name, kind: .receiver)
        var membership = Membership(
            ticket: ticket, participant: participant,
            known: GroupDocument(id: id, name: name, epoch: 1, host: me.text))
        (membership.phase, membership.hasJoined) = (.joined, true)
        (membership.line, membership.isLineCurrent) = (.identity, true)
        self.membership = membership
        invalidated = nil
        tellClock()
        let seat = HostSeat(
            coordinator, clockPort: port, ticket: ticket, agent: self, shell: shell, ports: ports)
        self.seat = seat
        shell.handle(.groupJoined)
        shell.handle(.groupReachable(true))
        let adopted = line.flatMap { adopt($0) }
        comeIn(seat)
        if let line, let adopted {
            seat.setItem(adopted.item, adopted.proposal, line: line, for: me) { [weak self] _ in
                self?.membership?.wantedItem = nil
            }
        }
        seat.volumeChanged(shell.state.device.volume, of: me)
        shell.log.write(.notice, "receiver.group", "group made", ["group": id, "name": name])
        shell.readvertise()
        return GroupCreated(
            group: id, ticket: ticket.text, hostID: me.text, hostName: shell.state.device.name,
            port: shell.port, clockPort: port)
    }

    /// The host takes part as any other member.
    func comeIn(_ seat: HostSeat) {
        guard let participation = membership?.participant.participation else { return }
        participate(.attached(host: me, epoch: seat.coordinator.epoch))
        seat.apply(.joined(participation))
    }

    /// The queue that plays here, if it can be a group's.
    private func playing() throws(RouteError) -> GroupLine? {
        guard let session = shell.state.player.flatMap({ shell.state.sessions[$0] }) else { return nil }
        let line = GroupLine(session.queue, named: shell.ports.identifiers.uuid())
        do throws(Refusal) { return try line.tellable } catch { throw error.routeError }
    }

    /// Makes what plays already the item of the new group, where it is.
    private func adopt(_ line: GroupLine) -> (item: WireGroupItem, proposal: TimingProposal)? {
        guard let id = shell.state.player, let session = shell.state.sessions[id],
            var given = session.queue[session.queue.current]?.given
        else { return nil }
        let name = line.wire.id
        given.metadata = session.metadata
        let time = session.position.position.nanoseconds ?? 0
        let plays = session.isPlaying && session.position.rate > 0 && session.isReady
        let proposal = TimingProposal(
            itemTime: max(0, time), rate: session.isPlaying ? session.speed : 0,
            clockTime: plays ? session.position.clockTime : nil)
        membership?.binding = Binding(session: id, item: name, queue: name)
        membership?.wantedItem = name
        participate(.transitioned(to: name, proposing: proposal))
        if plays {
            let anchor = PlaybackAnchor(
                itemTime: proposal.itemTime, clockTime: session.position.clockTime, rate: session.speed)
            shell.handle(.groupAnchored(id, anchor))
        } else {
            shell.handle(.groupAnchored(id, nil))
        }
        return (WireGroupItem(given, named: name), proposal)
    }

    // MARK: Joining

    func join(_ invitation: GroupInvitation) throws(RouteError) {
        guard let ticket = GroupSecret(invitation.ticket) else {
            throw RouteError(.invalidParams, "The ticket is none.")
        }
        if let membership {
            guard membership.known.id == invitation.group, membership.ticket == ticket else {
                throw RouteError(.groupBusy, "The receiver is in a group.")
            }
            return
        }
        guard invitation.host.id != me.text else {
            throw RouteError(.invalidParams, "The host is this receiver.")
        }
        invalidated = nil
        membership = Membership(
            ticket: ticket,
            participant: GroupParticipant(id: me, name: shell.state.device.name, kind: .receiver),
            known: GroupDocument(
                id: invitation.group, name: invitation.name, host: invitation.host.id))
        membership?.deadline = now + Self.joinTime
        shell.log.write(.notice, "receiver.group", "joining a group", ["group": invitation.group])
        connect(to: invitation.host)
        shell.handle(.groupNoted)
    }

    func attachment() -> GroupAttachment? {
        guard let membership, let nonce = GroupSecret(bytes: ports.secrets.random()) else { return nil }
        return GroupAttachment(
            group: membership.known.id, participant: me.text, name: shell.state.device.name, kind: .receiver,
            nonce: nonce, port: shell.port, epoch: membership.known.epoch, volume: shell.state.device.volume)
    }

    func connect(to host: GroupHost) {
        guard let membership, let attachment = attachment() else { return }
        membership.link?.close()
        retryTimer = nil
        self.membership?.link = HostLink(
            to: host, as: attachment, key: membership.ticket, secrets: ports.secrets,
            connector: ports.connector
        ) { [weak self] event in self?.linked(event, host) }
    }

    private func retry(_ host: GroupHost) {
        membership?.link?.close()
        membership?.link = nil
        retryTimer = shell.ports.clock.schedule(after: Self.retryDelay) { [weak self] in
            self?.retryTimer = nil
            self?.connect(to: host)
        }
    }

    private func linked(_ event: HostLink.Event, _ host: GroupHost) {
        guard let membership else { return }
        switch event {
        case .verified(let welcome): verified(welcome, membership)
        case .attached(let snapshot): attached(snapshot)
        case .noticed(let notice): noticed(notice, host)
        case .moved(let other, let epoch):
            // A host that was lost is named until its loss is known there too.
            let isNew = epoch > membership.known.epoch || !membership.lost.contains(ParticipantID(other.id))
            if isNew, other.id != me.text, now < membership.deadline {
                connect(to: other)
            } else {
                missed(host)
            }
        case .lost(let reason, let isRefused):
            shell.log.write(
                .info, "receiver.group", "link to the host is over", ["host": host.id, "reason": reason])
            if membership.phase == .joined { return linkLost() }
            if isRefused, !membership.hasJoined { return over(reason: "refused", isInvalidated: true) }
            missed(host)
        }
    }

    /// The host that is tried did not let this member in.
    private func missed(_ host: GroupHost) {
        guard let membership else { return }
        if now < membership.deadline { return retry(host) }
        guard membership.hasJoined else { return over(reason: "unreachable", isInvalidated: true) }
        if host.id == membership.known.host { return hostLost(host) }
        self.membership?.lost.insert(ParticipantID(host.id))
        // It may be the host of a part of the group, and know nothing of the host that comes of this.
        lost(host)
        seekHost()
    }

    private func verified(_ welcome: GroupWelcome, _ membership: Membership) {
        guard !membership.hasJoined || welcome.epoch >= membership.known.epoch else {
            return linked(
                .lost(reason: "the host is one of before", isRefused: false),
                membership.link?.host
                    ?? GroupHost(id: welcome.host, addresses: [], port: 1))
        }
        let presence = membership.participant.participation.presence
        participate(.attached(host: ParticipantID(welcome.host), epoch: UInt32(clamping: welcome.epoch)))
        self.membership?.link?.prove(presence)
    }

    private func attached(_ snapshot: WireGroupSnapshot) {
        guard let document = try? GroupDocument(json: snapshot.group), let clock = document.clock,
            document.id == membership?.known.id, let address = membership?.link?.address
        else { return refuse("the host does not say what the group is") }
        let isFirst = membership?.hasJoined == false
        membership?.phase = .joined
        membership?.hasJoined = true
        membership?.linkVersion = snapshot.version
        membership?.linkState = snapshot.group
        membership?.lost = []
        membership?.toldVolume = shell.state.device.volume
        membership?.isLineCurrent = false
        if isFirst { leaveOwnSession() }
        shell.handle(.groupReachable(true))
        ports.clock.follow(address: address, port: clock.port, machine: document.host) { [weak self] line in
            self?.lineChanged(line)
        }
        shell.log.write(
            .notice, "receiver.group", "joined the group",
            ["group": document.id, "host": document.host, "address": address])
        learned(document)
        tellEnd()
    }

    /// What plays already ends; the group's item takes its place.
    private func leaveOwnSession() {
        shell.handle(.groupJoined)
        if let own = shell.state.player { shell.handle(.groupItemEnded(own)) }
    }

    private func noticed(_ notice: GroupNotice, _ host: GroupHost) {
        switch notice {
        case .command(let command):
            if let command = command.command { received(command) }
        case .changed(let version, let base, let patch):
            guard base == membership?.linkVersion, let old = membership?.linkState else {
                return refuse("a step of the host is missing")
            }
            let new = MergePatch.apply(patch, to: old)
            let read =
                patch["queue"] == nil
                ? try? GroupDocument(json: new, keeping: membership?.known.queue)
                : try? GroupDocument(json: new)
            guard let document = read, document.id == membership?.known.id else {
                return refuse("a step of the host cannot be read")
            }
            membership?.linkVersion = version
            membership?.linkState = new
            learned(document)
        case .level(let level): shell.handle(.groupLevelChanged(level))
        case .closed("moved"):
            // The host itself is a member now and says of whom.
            lostLink()
            membership?.deadline = now + Self.candidateTime
            connect(to: host)
        case .closed("left"):
            lostLink()
            hostLost(host)
        case .closed(let reason): over(reason: reason, isInvalidated: true)
        }
    }

    /// The link is made anew: its state cannot be trusted.
    private func refuse(_ reason: String) {
        shell.log.write(.warning, "receiver.group", "link to the host is given up", ["reason": reason])
        guard let host = membership?.link?.host else { return }
        lostLink()
        membership?.deadline = now + Self.candidateTime
        retry(host)
    }

    private func lineChanged(_ line: ClockLine?) {
        guard let line, seat == nil, let membership else { return }
        let isFirst = !membership.isLineCurrent
        self.membership?.line = line
        self.membership?.isLineCurrent = true
        tellClock()
        guard isFirst else { return }
        goOn()
        shell.handle(.groupNoted)
    }

    // MARK: Leaving

    func removed() { over(reason: "removed", isInvalidated: true) }

    func leave(keepsPlaying: Bool) {
        invalidated = nil
        if membership != nil {
            shell.log.write(
                .notice, "receiver.group", "left the group", ["group": membership?.known.id ?? ""])
        }
        quit(keepsPlaying: keepsPlaying, reason: "left")
        shell.handle(.groupNoted)
    }

    /// The group has ended, at least for this receiver.
    func over(reason: String, isInvalidated: Bool) {
        guard let membership else { return }
        shell.log.write(
            .notice, "receiver.group", "the group is over",
            ["group": membership.known.id, "reason": reason])
        if isInvalidated {
            var last = membership.known
            (last.members, last.timelines, last.item, last.queue) = ([:], [:], nil, nil)
            last.view = .init(isHost: false, phase: .invalidated, reason: reason)
            invalidated = last
        }
        quit(keepsPlaying: false, reason: reason == "removed" ? "left" : reason)
        shell.handle(.groupNoted)
    }

    private func quit(keepsPlaying: Bool, reason: String) {
        guard let membership else { return }
        closeSeat(reason: reason)
        membership.link?.close()
        self.membership = nil
        (retryTimer, dueTimer, lastSync) = (nil, nil, nil)
        ports.clock.stopFollowing()
        if membership.hasJoined { shell.handle(.groupLeft(keepsPlaying: keepsPlaying)) }
        if shell.isRunning { shell.ports.renderer.send(.setGroupClock(nil)) }
    }

    /// The receiver goes away: the others go on.
    func shutDown() { quit(keepsPlaying: false, reason: "left") }
}
