// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import ReceiverRuntime
import SwitchingCore

/// Samples, remote control and volume.
extension BluetoothState {
    // MARK: Samples

    mutating func open(_ address: SourceAddress) {
        let fault: String? =
            if reported.sources[address] == nil {
                "the device is not connected"
            } else if opening[address] != nil {
                "it is being opened already"
            } else if soundPCM(of: address)?.pcm.format == nil {
                "its samples come in a form that cannot be played"
            } else {
                nil
            }
        if let fault { return effects.append(.report(.openFailed(address, reason: fault))) }
        // bluez-alsa has one reader at a time.
        if let attempt = held.removeValue(forKey: address) { effects.append(.release(attempt: attempt)) }
        openCount += 1
        opening[address] = Opening(attempt: openCount, tries: 20)
        tryOpening(address)
    }

    mutating func tryOpening(_ address: SourceAddress) {
        guard var attempt = opening[address], let (path, _) = soundPCM(of: address) else { return }
        attempt.tries -= 1
        opening[address] = attempt
        effects.append(.open(address, path: path, attempt: attempt.attempt))
    }

    mutating func opened(_ address: SourceAddress, _ attempt: Int, _ result: Result<Int32, CallFailure>) {
        guard let current = opening[address], current.attempt == attempt else {
            if case .success(let descriptor) = result {
                effects += [.close(descriptor), .release(attempt: attempt)]
            }
            return
        }
        switch result {
        case .success(let descriptor):
            opening[address] = nil
            guard let format = soundPCM(of: address)?.pcm.format else {
                effects += [.close(descriptor), .release(attempt: attempt)]
                return effects.append(
                    .report(.openFailed(address, reason: "its samples come in a form that cannot be played")))
            }
            held[address] = attempt
            effects.append(.report(.opened(address, descriptor: descriptor, format)))
        case .failure(let failure) where failure.isBusy && current.tries > 0:
            // Its last reader is just being let go.
            effects.append(.arm(.reopen(address), after: .milliseconds(100)))
        case .failure(let failure):
            opening[address] = nil
            effects.append(.report(.openFailed(address, reason: failure.message)))
        }
    }

    mutating func close(_ address: SourceAddress, reason: String = "it was closed") {
        if let attempt = held.removeValue(forKey: address) { effects.append(.release(attempt: attempt)) }
        guard opening.removeValue(forKey: address) != nil else { return }
        effects += [.disarm(.reopen(address)), .report(.openFailed(address, reason: reason))]
    }

    // MARK: Remote control

    mutating func control(_ address: SourceAddress, _ method: String) {
        guard let (path, _) = player(of: address) else {
            return log(.info, "a device has no remote control", ["address": address.text])
        }
        effects.append(
            .call(
                BluezCall(path: path, interface: BluezNames.player, method: method, purpose: .request(method))
            ))
    }

    // MARK: Volume

    private func transport(of address: SourceAddress) -> String? {
        guard let device = devicePath(of: address) else { return nil }
        // A number that is higher belongs to a later connection.
        return transports.filter { $0.value.device == device && $0.value.volume != nil }.keys.max {
            ($0.utf8.count, $0) < ($1.utf8.count, $1)
        }
    }

    mutating func setVolume(_ address: SourceAddress, _ level: Double) {
        guard level.isFinite, let path = transport(of: address), var transport = transports[path] else {
            return
        }
        let value = Int((min(max(level, 0), 1) * 127).rounded())
        transport.told = value
        defer { transports[path] = transport }
        guard transport.pending.last ?? transport.volume != value else { return }
        transport.pending.append(value)
        transport.pending.removeFirst(max(0, transport.pending.count - 16))
        effects.append(
            .call(
                .set(
                    path, BluezNames.transport, "Volume", .uint16(UInt16(value)),
                    .volume(transport: path, value))))
    }

    /// The answer to our own setting may come before or after the change that it causes.
    mutating func volumeSet(_ path: String, _ value: Int, _ failure: CallFailure?) {
        guard var transport = transports[path] else { return }
        if let place = transport.pending.firstIndex(of: value) { transport.pending.remove(at: place) }
        if failure == nil, transport.pending.isEmpty { transport.volume = value }
        transports[path] = transport
    }

    /// What we have set comes back as a change, and is none. What the other side sets counts once nothing of ours is under way:
    /// whichever came last is what it has then.
    mutating func volumeChanged(_ path: String, _ value: Int) {
        guard var transport = transports[path] else { return }
        transport.volume = value
        if let place = transport.pending.firstIndex(of: value) { transport.pending.removeSubrange(...place) }
        let isNews = transport.pending.isEmpty && transport.told != value
        if isNews { transport.told = value }
        transports[path] = transport
        guard isNews, let device = devices[transport.device], reported.sources[device.address] != nil else {
            return
        }
        effects.append(.report(.volumeChanged(device.address, Double(value) / 127)))
    }
}

extension CallFailure {
    /// bluez-alsa's answer while somebody else reads.
    fileprivate var isBusy: Bool { name == "org.freedesktop.DBus.Error.LimitsExceeded" }
}
