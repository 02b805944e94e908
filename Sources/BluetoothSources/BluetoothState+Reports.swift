// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import MediaModel
import ReceiverRuntime
import SwitchingCore

/// What is reported: the difference between what the objects say and what was said last.
extension BluetoothState {
    /// The adapter that is used: the first by its path, so that the choice does not depend on who came first.
    var adapterPath: String? { adapters.keys.min() }

    /// True if the device belongs to the adapter that is used.
    func isOurs(_ path: String) -> Bool { adapterPath.map { path.hasPrefix("\($0)/") } ?? false }

    func devicePath(of address: SourceAddress) -> String? {
        devices.filter { $0.value.address == address && isOurs($0.key) }.keys.min()
    }

    /// The PCM that a source's sound comes from.
    func soundPCM(of address: SourceAddress) -> (path: String, pcm: PCM)? {
        guard let device = devicePath(of: address) else { return nil }
        let fitting = pcms.filter { $0.value.device == device && $0.value.kind == .sound }
        return fitting.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// A device may have several players; the one that plays is meant, or else the newest.
    func player(of address: SourceAddress) -> (path: String, player: Player)? {
        guard let device = devicePath(of: address) else { return nil }
        let fitting = players.filter { $0.value.device == device }
        let best = fitting.max {
            ($0.value.status == .playing ? 1 : 0, $0.key) < ($1.value.status == .playing ? 1 : 0, $1.key)
        }
        return best.map { ($0.key, $0.value) }
    }

    /// Nil while it is not known yet.
    private var availability: ExternalAvailability? {
        guard isBluezKnown else { return nil }
        guard isBluezListed else { return .absent(reason: "BlueZ does not run") }
        guard let path = adapterPath, let adapter = adapters[path] else {
            return .absent(reason: "there is no Bluetooth adapter")
        }
        guard adapter.isPowered else { return .off(reason: "the Bluetooth adapter is switched off") }
        guard isBluealsaKnown else { return nil }
        return isBluealsaListed ? .ready : .absent(reason: "bluez-alsa does not run")
    }

    private var known: [KnownSource] {
        let paired = devices.filter { $0.value.isPaired && isOurs($0.key) }.values
        return paired.sorted { $0.address < $1.address }.map {
            KnownSource(
                address: $0.address, name: $0.name, isConnected: $0.isConnected, isTrusted: $0.isTrusted)
        }
    }

    /// A device is a source once there is something to read from it.
    private var sources: [SourceAddress: Source] {
        var result: [SourceAddress: Source] = [:]
        guard let path = adapterPath, adapters[path]?.isPowered == true else { return [:] }
        for (path, device) in devices where device.isConnected && isOurs(path) {
            guard !leaving.contains(device.address), let (_, pcm) = soundPCM(of: device.address) else {
                continue
            }
            var source = Source(name: device.name)
            source.format = pcm.isRunning ? pcm.format : nil
            source.isInCall = pcms.values.contains { $0.device == path && $0.kind == .call && $0.isRunning }
            if let (_, player) = player(of: device.address) {
                (source.status, source.metadata) = (player.status, player.metadata)
            }
            result[device.address] = source
        }
        return result
    }

    mutating func reconcile(_ now: Int64) {
        var current = sources
        makeRoom(in: &current)
        for address in reported.sources.keys.sorted() where current[address] == nil { left(address, now) }
        if let availability, availability != reported.availability {
            reported.availability = availability
            effects.append(.report(.availabilityChanged(availability)))
        }
        for (address, source) in current.sorted(by: { $0.key < $1.key }) { tell(address, source) }
        reported.sources = current
        guard known != reported.known else { return }
        reported.known = known
        effects.append(.report(.known(known)))
    }

    /// Lets at most ``sourceLimit`` devices stay: for a newcomer the one goes that has been quiet for longest; while all play,
    /// the newcomer goes.
    private mutating func makeRoom(in current: inout [SourceAddress: Source]) {
        var free = Self.sourceLimit - current.keys.count { reported.sources[$0] != nil }
        for newcomer in current.keys.filter({ reported.sources[$0] == nil }).sorted() {
            if free > 0 {
                free -= 1
                continue
            }
            let quiet = current.filter {
                reported.sources[$0.key] != nil && $0.value.format == nil && !$0.value.isInCall
            }
            let idle = quiet.keys.min { activity(of: $0) < activity(of: $1) }
            let leaver = idle ?? newcomer
            log(.notice, "one device more than can be connected, sending one away", ["address": leaver.text])
            current[leaver] = nil
            sendAway(leaver)
        }
    }

    private func activity(of address: SourceAddress) -> (Int, UInt64) {
        (soundPCM(of: address)?.pcm.activity ?? 0, address.number)
    }

    private mutating func left(_ address: SourceAddress, _ now: Int64) {
        close(address, reason: "the device has left")
        if !leaving.contains(address) {
            departures.append((address, now))
            departures.removeFirst(max(0, departures.count - 8))
        }
        effects.append(.report(.disconnected(address)))
    }

    private mutating func tell(_ address: SourceAddress, _ source: Source) {
        var last = reported.sources[address]
        if last == nil {
            rejoining[address] = nil
            effects.append(.report(.connected(address, name: source.name)))
            last = Source(name: source.name)
        }
        if source.format != last?.format { effects.append(.report(.streaming(address, source.format))) }
        if source.isInCall != last?.isInCall { effects.append(.report(.inCall(address, source.isInCall))) }
        if source.status != last?.status || source.metadata != last?.metadata {
            effects.append(.report(.playerChanged(address, source.status ?? .stopped, source.metadata)))
        }
    }

    // MARK: Devices that are sent away, and asked back

    mutating func sendAway(_ address: SourceAddress) {
        guard let path = devicePath(of: address), devices[path]?.isConnected == true else { return }
        leaving.insert(address)
        effects.append(
            .call(
                BluezCall(
                    path: path, interface: BluezNames.device, method: "Disconnect",
                    purpose: .sendAway(address))))
    }

    mutating func forget(_ address: SourceAddress) {
        rejoining[address] = nil
        guard let path = devicePath(of: address), let adapter = adapterPath else { return }
        effects.append(
            .call(
                BluezCall(
                    path: adapter, interface: BluezNames.adapter, method: "RemoveDevice",
                    arguments: [.objectPath(path)], purpose: .request("RemoveDevice"))))
    }

    /// A daemon or the adapter has gone. What was connected, or left just before as it does when a daemon ends in good order, is to
    /// come back with it.
    mutating func takenAlong(_ now: Int64) {
        let recent = departures.filter { now - $0.time < Duration.seconds(3).nanoseconds }.map(\.address)
        for address in Array(reported.sources.keys) + recent { rejoining[address] = Rejoin() }
        departures = []
    }

    mutating func scheduleRejoin() {
        guard !rejoining.isEmpty, isBluezListed, isBluealsaListed else { return }
        effects.append(.arm(.rejoin, after: Self.rejoinPauses[0]))
    }

    mutating func rejoin() {
        guard isBluealsaListed, let adapter = adapterPath, adapters[adapter]?.isPowered == true else {
            return
        }
        for (address, state) in rejoining.sorted(by: { $0.key < $1.key }) {
            guard state.attempts < Self.rejoinPauses.count, reported.sources[address] == nil,
                let path = devicePath(of: address), devices[path]?.isPaired == true
            else {
                rejoining[address] = nil
                continue
            }
            rejoining[address] = Rejoin(attempts: state.attempts + 1)
            effects.append(
                .call(
                    BluezCall(
                        path: path, interface: BluezNames.device, method: "ConnectProfile",
                        arguments: [.string(BluezNames.audioSource)], purpose: .join(address))))
        }
    }

    /// A connection that outlived a daemon may refuse sound for ever: it is ended, and a new one is asked for.
    mutating func joined(_ address: SourceAddress, _ failure: CallFailure?) {
        guard failure != nil, let state = rejoining[address], state.attempts < Self.rejoinPauses.count else {
            rejoining[address] = nil
            return
        }
        // Also if nobody says that the connection has ended.
        effects.append(.arm(.rejoin, after: Self.rejoinPauses[state.attempts] * 2))
        rejoining[address]?.isParting = true
        sendAway(address)
        if !leaving.contains(address) { parted(address) }
    }

    /// A device is asked back whose connection has ended.
    mutating func parted(_ address: SourceAddress) {
        guard let state = rejoining[address], state.isParting, state.attempts < Self.rejoinPauses.count else {
            return
        }
        rejoining[address]?.isParting = false
        effects.append(.arm(.rejoin, after: Self.rejoinPauses[state.attempts]))
    }
}
