// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore
import SwitchingCore

// What phones and sensors report.

extension AccessoryAgent {
    /// More are not kept of what is paired.
    private static let knownLimit = 64

    func heard(_ event: ExternalSourceEvent) {
        guard shell.isRunning else { return }
        switch event {
        case .availabilityChanged(let availability):
            self.availability = availability
            if availability != .ready {
                for address in phones.keys.sorted() { left(address) }
            }
            changed()
        case .connected(let address, let name):
            if phones[address] == nil { phones[address] = Phone(name: name) }
            phones[address]?.name = name
            feed(.connected(SourceID(.bluetooth, address), name: name))
            // The core may not have taken it.
            if core.source(SourceID(.bluetooth, address)) == nil { phones[address] = nil }
        case .disconnected(let address): left(address)
        case .streaming(let address, let format): streaming(address, format)
        case .playerChanged(let address, let status, let metadata): player(address, status, metadata)
        case .volumeChanged(let address, let level):
            guard !level.isNaN, phones[address] != nil else { return }
            phones[address]?.level = level
            if core.owner == SourceID(.bluetooth, address) { shell.handle(.levelSwitched(level)) }
        case .opened(let address, let descriptor, let format): opened(address, descriptor, format)
        case .openFailed(let address, let reason):
            guard phones[address]?.reading == .opening else { return }
            shell.log.write(
                .warning, "receiver.switching", "source cannot be read",
                ["source": address.text, "reason": reason])
            lost(SourceID(.bluetooth, address))
        case .inCall(let address, let isInCall):
            let id = SourceID(.bluetooth, address)
            feed(isInCall ? .callBegan(id) : .callEnded(id))
        case .pairingChanged(let pairing):
            self.pairing = pairing
            changed()
        case .known(let known):
            self.known = Array(known.prefix(Self.knownLimit))
            changed()
        }
    }

    private func left(_ address: SourceAddress) {
        guard phones.removeValue(forKey: address) != nil else { return }
        feed(.disconnected(SourceID(.bluetooth, address)))
    }

    private func streaming(_ address: SourceAddress, _ format: CaptureFormat?) {
        guard let phone = phones[address] else { return }
        let id = SourceID(.bluetooth, address)
        phones[address]?.format = format
        phones[address]?.isPausing = false
        if format == nil {
            phones[address]?.attempts = 0
            if phone.format != nil, !phone.isPausing { feed(.paused(id)) }
        } else {
            if phone.format == nil || phone.isPausing { feed(.started(id, by: .itself)) }
            // It may have the output already, and be waited for.
            read(id)
        }
    }

    /// The stream says that a phone plays. What its player says counts while there is one: some leave the stream open for a while
    /// when they pause.
    private func player(_ address: SourceAddress, _ status: PlayerStatus, _ metadata: Metadata) {
        guard let phone = phones[address] else { return }
        let id = SourceID(.bluetooth, address)
        let before = phone.player?.status
        phones[address]?.player = (status, metadata.limited)
        if phone.format != nil, status != before {
            let isPausing = status != .playing
            if isPausing != phone.isPausing {
                phones[address]?.isPausing = isPausing
                return feed(isPausing ? .paused(id) : .started(id, by: .itself))
            }
        }
        changed()
    }

    func sensed(_ reading: PlacementReading) {
        guard shell.isRunning else { return }
        switch reading {
        case .placement(let placement):
            // A device that is not declared to sense it has none.
            guard configuration.capabilities.contains(.placement) else { return }
            sensorFault = nil
            feed(.placementChanged(placement))
        case .jack(_, let isPlugged): feed(.jackChanged(isPlugged: isPlugged))
        case .unavailable(let reason):
            sensorFault = reason
            feed(.placementChanged(nil))
        }
    }
}
