// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import GroupLink
import RouteWire
import SessionCore

// How a host finds another part of its group, and who of the two goes on.

extension GroupAgent {
    private static let probeInterval = Duration.seconds(5)
    private static let probeTime: Int64 = 600_000_000_000

    /// A member was lost that may come back as the host of a part of the group.
    func lost(_ peer: GroupHost) {
        lostPeers[ParticipantID(peer.id)] = LostPeer(host: peer, since: now)
        if seat != nil { probe() }
    }

    func found(_ id: ParticipantID) {
        lostPeers[id] = nil
        probes.removeValue(forKey: id)?.close()
    }

    func probe() {
        guard probeTimer == nil, !lostPeers.isEmpty else { return }
        probeTimer = shell.ports.clock.schedule(after: Self.probeInterval) { [weak self] in
            guard let self else { return }
            probeTimer = nil
            guard seat != nil else { return }
            lostPeers = lostPeers.filter { self.now - $0.value.since < Self.probeTime }
            for (id, peer) in lostPeers where probes[id] == nil { probe(id, peer.host) }
            probe()
        }
    }

    private func probe(_ id: ParticipantID, _ host: GroupHost) {
        guard let membership, let attachment = attachment() else { return }
        probes[id] = HostLink(
            to: host, as: attachment, key: membership.ticket, secrets: ports.secrets,
            connector: ports.connector
        ) { [weak self] event in self?.probed(event, id, host) }
    }

    private func probed(_ event: HostLink.Event, _ id: ParticipantID, _ host: GroupHost) {
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
        case .moved(let other, let epoch):
            // What is said without proof only says where to ask.
            if other.id != me.text, yields(to: other.id, epoch) { self.probe(ParticipantID(other.id), other) }
        case .lost:
            // Who answers and is in the group no longer has left.
            if probe.address != nil { lostPeers[id] = nil }
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
}
