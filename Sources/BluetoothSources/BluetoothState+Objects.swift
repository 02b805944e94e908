// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import MediaModel
import ReceiverRuntime
import SwitchingCore

/// The objects on the bus, as far as they concern us. Everything in them was chosen by others, at worst by a stranger's phone, so
/// numbers are limited and texts are cut.
extension BluetoothState {
    struct Adapter: Equatable, Sendable {
        var isPowered = false
        /// True if it can advertise in the low-energy way.
        var canAdvertise = false
        var properties: [String: Value] = [:]
    }

    struct Device: Equatable, Sendable {
        var address: SourceAddress
        var name: String
        var isPaired = false
        var isTrusted = false
        var isConnected = false
    }

    struct Transport: Equatable, Sendable {
        var device: String
        /// Nil: the other side does not let its volume be set.
        var volume: Int?
        /// What the receiver takes the volume for.
        var told: Int?
        /// What was set and has not come back yet.
        var pending: [Int] = []
    }

    struct Player: Equatable, Sendable {
        var device: String
        var status: PlayerStatus?
        var metadata = Metadata()
    }

    struct PCM: Equatable, Sendable {
        enum Kind: Sendable { case sound, call, other }
        var device: String
        var kind: Kind
        var isRunning = false
        var encoding = 0
        var channels = 0
        var sampleRate = 0
        /// True: bluez-alsa scales the samples, which is ours to do.
        var isSoft = false
        /// When it last began or ended to run, in no unit.
        var activity = 0
    }

    /// More objects of a kind than this are not looked at.
    static let maximumObjects = 128

    // MARK: BlueZ

    mutating func bluezChanged(_ event: RemoteObjects.Event, _ now: Int64) {
        switch event {
        case .appeared: isBluezThere = true
        case .gone: bluezGone(now)
        case .listed:
            (isBluezKnown, isBluezListed) = (true, true)
            registerAgent()
            registerProfile()
            scheduleRejoin()
        case .notListed(let failure):
            log(.warning, "BlueZ does not name its objects", ["reason": "\(failure)"])
            effects.append(.arm(.relistBluez, after: .seconds(5)))
        case .added(let path, BluezNames.adapter, let properties):
            guard adapters[path] != nil || adapters.count < Self.maximumObjects else { return }
            var adapter = adapters[path] ?? Adapter()
            change(&adapter, properties)
            adapters[path] = adapter
            corrections = [:]
            scheduleRejoin()
        case .added(let path, BluezNames.advertisingManager, _):
            adapters[path]?.canAdvertise = true
        case .added(let path, BluezNames.device, let properties):
            guard devices[path] != nil || devices.count < Self.maximumObjects,
                let address = properties["Address"]?.text.flatMap({ SourceAddress($0) })
            else { return }
            var device = devices[path] ?? Device(address: address, name: address.text)
            let wasPaired = device.isPaired
            change(&device, properties)
            devices[path] = device
            pairedChanged(path, from: wasPaired)
        case .added(let path, BluezNames.transport, let properties):
            guard transports.count < Self.maximumObjects, let device = properties["Device"]?.text else {
                return
            }
            var transport = Transport(device: device)
            transport.volume = volume(properties)
            transport.told = transport.volume
            transports[path] = transport
        case .added(let path, BluezNames.player, let properties):
            guard players.count < Self.maximumObjects, let device = properties["Device"]?.text else { return }
            var player = Player(device: device)
            change(&player, properties)
            players[path] = player
        case .changed(let path, BluezNames.adapter, let properties, _):
            guard var adapter = adapters[path] else { return }
            let wasPowered = adapter.isPowered
            if properties["PowerState"]?.text == "on-disabling" { takenAlong(now) }
            change(&adapter, properties)
            adapters[path] = adapter
            guard adapter.isPowered != wasPowered else { return }
            corrections = [:]
            if adapter.isPowered { scheduleRejoin() } else { takenAlong(now) }
        case .changed(let path, BluezNames.device, let properties, _):
            guard var device = devices[path] else { return }
            let wasPaired = device.isPaired
            change(&device, properties)
            devices[path] = device
            pairedChanged(path, from: wasPaired)
        case .changed(let path, BluezNames.transport, let properties, let invalidated):
            if let volume = volume(properties) { volumeChanged(path, volume) }
            if invalidated.contains("Volume") { transports[path]?.volume = nil }
        case .changed(let path, BluezNames.player, let properties, _):
            guard var player = players[path] else { return }
            change(&player, properties)
            players[path] = player
        case .removed(let path, BluezNames.adapter):
            guard adapters.removeValue(forKey: path) != nil else { return }
            takenAlong(now)
        case .removed(let path, BluezNames.advertisingManager): adapters[path]?.canAdvertise = false
        case .removed(let path, BluezNames.device):
            admitted.remove(path)
            if let device = devices.removeValue(forKey: path) { leaving.remove(device.address) }
        case .removed(let path, BluezNames.transport): transports[path] = nil
        case .removed(let path, BluezNames.player): players[path] = nil
        case .added, .changed, .removed: break
        }
    }

    /// All objects go with their daemon, without a word if it was killed.
    mutating func bluezGone(_ now: Int64) {
        if isBluezThere { takenAlong(now) }
        isBluezKnown = true
        (isBluezThere, isBluezListed, isAgentRegistered, isAdvertising) = (false, false, false, false)
        (adapters, devices, transports, players) = ([:], [:], [:], [:])
        (leaving, admitted, settling, isSettlingHeld) = ([], [], [], false)
        corrections = [:]
        // Whoever asked is gone.
        question = nil
        effects += [.disarm(.confirmation), .disarm(.settle), .disarm(.registration), .disarm(.relistBluez)]
    }

    private func change(_ adapter: inout Adapter, _ properties: [String: Value]) {
        for key in Self.settled { if let value = properties[key] { adapter.properties[key] = value } }
        adapter.isPowered = properties["Powered"]?.boolean ?? adapter.isPowered
    }

    /// The properties of an adapter that we have a will about.
    private static let settled = [
        "Alias", "Discoverable", "Pairable", "DiscoverableTimeout", "PairableTimeout",
    ]

    private mutating func change(_ device: inout Device, _ properties: [String: Value]) {
        if let name = properties["Alias"]?.text ?? properties["Name"]?.text {
            let name = Self.cut(name)
            device.name = name.isEmpty ? device.address.text : name
        }
        device.isPaired = properties["Paired"]?.boolean ?? device.isPaired
        device.isTrusted = properties["Trusted"]?.boolean ?? device.isTrusted
        device.isConnected = properties["Connected"]?.boolean ?? device.isConnected
        if !device.isConnected {
            leaving.remove(device.address)
            parted(device.address)
        }
    }

    private func change(_ player: inout Player, _ properties: [String: Value]) {
        switch properties["Status"]?.text {
        case "playing", "forward-seek", "reverse-seek": player.status = .playing
        case "paused": player.status = .paused
        case .some: player.status = .stopped
        case nil: break
        }
        guard let track = properties["Track"]?.dictionary else { return }
        func text(_ key: String) -> String? {
            guard let text = track[key]?.text.map(Self.cut), !text.isEmpty else { return nil }
            return text
        }
        player.metadata = Metadata(
            title: text("Title"), subtitle: text("Artist"), album: text("Album"), genre: text("Genre"))
    }

    private func volume(_ properties: [String: Value]) -> Int? {
        properties["Volume"]?.integer.map { min(max($0, 0), 127) }
    }

    // MARK: bluez-alsa

    mutating func bluealsaChanged(_ event: RemoteObjects.Event, _ now: Int64) {
        switch event {
        case .appeared: break
        case .gone: bluealsaGone(now)
        case .listed:
            (isBluealsaKnown, isBluealsaListed) = (true, true)
            scheduleRejoin()
        case .notListed(let failure):
            log(.warning, "bluez-alsa does not name its objects", ["reason": "\(failure)"])
            effects.append(.arm(.relistBluealsa, after: .seconds(5)))
        case .added(let path, BluezNames.pcm, let properties):
            guard pcms.count < Self.maximumObjects, properties["Mode"]?.text == "source",
                let device = properties["Device"]?.text
            else { return }
            let kind: PCM.Kind =
                switch properties["Transport"]?.text {
                case "A2DP-sink": .sound
                case "HFP-HF", "HSP-HS": .call
                default: .other
                }
            var pcm = PCM(device: device, kind: kind)
            change(&pcm, properties)
            pcms[path] = pcm
            if pcm.kind == .sound, pcm.isSoft { keepSamples(of: path) }
        case .changed(let path, BluezNames.pcm, let properties, _):
            guard var pcm = pcms[path] else { return }
            change(&pcm, properties)
            pcms[path] = pcm
        case .removed(let path, BluezNames.pcm): pcms[path] = nil
        case .added, .changed, .removed: break
        }
    }

    mutating func bluealsaGone(_ now: Int64) {
        if isBluealsaListed { takenAlong(now) }
        (isBluealsaKnown, isBluealsaListed, pcms) = (true, false, [:])
        effects.append(.disarm(.relistBluealsa))
    }

    private mutating func change(_ pcm: inout PCM, _ properties: [String: Value]) {
        pcm.encoding = properties["Format"]?.integer ?? pcm.encoding
        pcm.channels = properties["Channels"]?.integer ?? pcm.channels
        pcm.sampleRate = properties["Sampling"]?.integer ?? properties["Rate"]?.integer ?? pcm.sampleRate
        pcm.isSoft = properties["SoftVolume"]?.boolean ?? pcm.isSoft
        guard let isRunning = properties["Running"]?.boolean, isRunning != pcm.isRunning else { return }
        activity += 1
        (pcm.isRunning, pcm.activity) = (isRunning, activity)
    }

    /// The receiver has a volume of its own, and it would count twice.
    private mutating func keepSamples(of path: String) {
        effects.append(
            .call(
                .set(
                    path, BluezNames.pcm, "SoftVolume", .boolean(false), .request("SoftVolume"),
                    isOfBluealsa: true)))
    }

    /// A text for people: without control characters, and not longer than 256 bytes.
    static func cut(_ text: String) -> String {
        var result = ""
        var size = 0
        for scalar in text.unicodeScalars {
            size += UTF8.width(scalar)
            if size > 256 { break }
            let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
            result.unicodeScalars.append(isControl ? " " : scalar)
        }
        return result
    }
}

extension BluetoothState.PCM {
    /// How the samples come; nil if it is in no way that we can play.
    var format: CaptureFormat? {
        guard (1...8).contains(channels), (8_000...192_000).contains(sampleRate) else { return nil }
        // Of bluez-alsa: a sign bit, the endianness, the bytes and the bits of a sample.
        let sample: CaptureFormat.Sample? =
            switch encoding {
            case 0x8210: .s16le
            case 0x8318: .s24le
            case 0x8420: .s32le
            default: nil
            }
        return sample.map {
            CaptureFormat(sampleRate: Int32(sampleRate), channels: Int32(channels), sample: $0)
        }
    }
}
