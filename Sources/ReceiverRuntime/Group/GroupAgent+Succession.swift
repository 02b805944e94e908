// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import GroupLink
import MediaModel
import RouteWire
import SessionCore

// How a member whose host is lost finds the next one, or becomes it, and how parts of a group that were cut off find each other.

extension GroupAgent {
    private static let probeInterval = Duration.seconds(5)
    private static let probeTime: Int64 = 600_000_000_000

    // MARK: Another host

    func lostLink() {
        membership?.link?.close()
        membership?.link = nil
        membership?.phase = .waiting
        participate(.detached)
        shell.handle(.groupReachable(false))
    }

    /// The link has ended without a word. What is heard goes on meanwhile.
    func linkLost() {
        guard let membership else { return }
        let host = membership.known.host(reachedBy: membership.link)
        lostLink()
        if let host {
            self.membership?.deadline = now + Self.returnTime
            connect(to: host)
        } else {
            self.membership?.lost.insert(ParticipantID(membership.known.host))
            seekHost()
        }
        shell.handle(.groupNoted)
    }

    func hostLost(_ host: GroupHost) {
        hostChanges += 1
        shell.log.write(.notice, "receiver.group", "the host is lost", ["host": host.id])
        membership?.lost.insert(ParticipantID(host.id))
        lost(host)
        seekHost()
        shell.handle(.groupNoted)
    }

    func seekHost() {
        guard let membership else { return }
        guard let next = Election.successor(in: membership.known.roster, lost: membership.lost) else {
            return over(reason: "hostLost", isInvalidated: true)
        }
        if next == me { return becomeHost() }
        guard let member = membership.known.members[next.text], let port = member.port else {
            self.membership?.lost.insert(next)
            return seekHost()
        }
        self.membership?.deadline = now + Self.candidateTime
        connect(to: GroupHost(id: next.text, addresses: member.addresses, port: port))
    }

    private func becomeHost() {
        guard let membership else { return }
        let port: UInt16
        do { port = try provideClock() } catch { return over(reason: "hostLost", isInvalidated: true) }
        ports.clock.stopFollowing()
        retryTimer = nil
        let (old, moment) = (membership.line ?? .identity, now)
        let coordinator = GroupCoordinator(succeeding: membership.known.snapshot, as: me) {
            Election.carryOver($0, from: old, to: .identity, at: moment)
        }
        let seat = HostSeat(
            coordinator, clockPort: port, ticket: membership.ticket, agent: self, shell: shell, ports: ports)
        seat.takeOver(membership.queue, of: membership.known)
        self.seat = seat
        self.membership?.line = .identity
        self.membership?.isLineCurrent = true
        self.membership?.phase = .joined
        self.membership?.lost = []
        tellClock()
        // Who does not come may be with another host.
        for (id, member) in membership.known.members where id != me.text {
            guard let port = member.port else { continue }
            lost(GroupHost(id: id, addresses: member.addresses, port: port))
        }
        comeIn(seat)
        shell.handle(.groupReachable(true))
        tellEnd()
        seat.volumeChanged(shell.state.device.volume, of: me)
        shell.log.write(
            .notice, "receiver.group", "this receiver is the host now",
            ["group": membership.known.id, "epoch": String(coordinator.epoch)])
        shell.readvertise()
        probe()
    }

    // MARK: Finding the other part

    /// A member was lost that may come back as the host of a part of the group.
    func lost(_ peer: GroupHost) {
        lostPeers[ParticipantID(peer.id)] = LostPeer(host: peer, since: now)
        if seat != nil { probe() }
    }

    func found(_ id: ParticipantID) {
        lostPeers[id] = nil
        probes.removeValue(forKey: id)?.close()
    }

    private func probe() {
        guard probeTimer == nil, !lostPeers.isEmpty else { return }
        probeTimer = shell.ports.clock.schedule(after: Self.probeInterval) { [weak self] in
            guard let self else { return }
            probeTimer = nil
            guard seat != nil else { return }
            lostPeers = lostPeers.filter { self.now - $0.value.since < Self.probeTime }
            for (id, peer) in lostPeers.sorted(by: { $0.key < $1.key }) where probes[id] == nil {
                probe(id, peer.host)
            }
            probe()
        }
    }

    /// Somebody who says to know the group wants to come in. If that is the host of a part which goes on before this one, this
    /// one may know nothing of it. What is said without proof only says where to ask.
    func heard(of claim: Election.Claim, at host: GroupHost) {
        guard let seat, probes.count < GroupLimits.participants, probes[claim.host] == nil else { return }
        let own = Election.Claim(epoch: seat.coordinator.epoch, host: me)
        guard own.host != claim.host, Election.survivor(of: own, and: claim) == claim else { return }
        probe(claim.host, host, isHint: true)
    }

    /// - Parameter isHint: Who is asked was named by somebody; whom that one names in turn is not asked.
    private func probe(_ id: ParticipantID, _ host: GroupHost, isHint: Bool = false) {
        guard let membership, let attachment = attachment() else { return }
        probes[id] = HostLink(
            to: host, as: attachment, key: membership.ticket, secrets: ports.secrets,
            connector: ports.connector
        ) { [weak self] event in self?.probed(event, id, host, isHint: isHint) }
    }

    private func probed(_ event: HostLink.Event, _ id: ParticipantID, _ host: GroupHost, isHint: Bool) {
        guard let probe = probes.removeValue(forKey: id) else { return }
        guard let seat else { return probe.close() }
        let own = Election.Claim(epoch: seat.coordinator.epoch, host: me)
        func yields(to host: String, _ epoch: Int64) -> Bool {
            let other = Election.Claim(epoch: UInt32(clamping: epoch), host: ParticipantID(host))
            return Election.survivor(of: own, and: other) == other
        }
        switch event {
        case .verified(let welcome):
            probe.close()
            if yields(to: welcome.host, welcome.epoch) { stepDown(for: host) }
        case .moved(let other, _):
            // What is said without proof only says where to ask. A host that is to yield hears of this one by it.
            let next = ParticipantID(other.id)
            if next != me, !isHint, probes[next] == nil { self.probe(next, other, isHint: true) }
        case .lost(_, let isRefused):
            // Who answers and is in the group no longer has left. Who is cut off before the answer, or seeks a host itself, is
            // asked again.
            if isRefused || probe.isGroupUnknown { lostPeers[id] = nil }
        case .attached, .noticed: break
        }
    }

    /// Another part of the group goes on, and this one joins it.
    private func stepDown(for host: GroupHost) {
        shell.log.write(.notice, "receiver.group", "another host goes on", ["host": host.id])
        hostChanges += 1
        closeSeat(reason: "moved")
        membership?.phase = .waiting
        // From here on the other's word counts.
        membership?.known.epoch = 0
        participate(.detached)
        shell.handle(.groupReachable(false))
        membership?.deadline = now + Self.candidateTime
        connect(to: host)
    }

    func closeSeat(reason: String) {
        let closing = seat
        seat = nil
        closing?.close(reason: reason)
        withdrawClock()
        probeTimer = nil
        for probe in probes.values { probe.close() }
        (probes, lostPeers) = ([:], [:])
        shell.readvertise()
    }
}
