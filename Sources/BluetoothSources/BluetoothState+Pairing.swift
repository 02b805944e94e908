// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import ReceiverRuntime
import SwitchingCore

/// The pairing window, the agent that BlueZ asks, and the adapter's settings that follow from both.
///
/// A device may play when it was paired while the window was open: that makes it trusted, and it stays so until it is forgotten.
extension BluetoothState {
    /// Longer is no window any more.
    private static let windowLimit = 600
    private static let patience = Duration.seconds(30)
    /// How much longer than the window BlueZ keeps it open when we are gone.
    private static let margin = 10

    // MARK: The window

    mutating func openWindow(_ seconds: Int, _ now: Int64) {
        guard let path = adapterPath, adapters[path]?.isPowered == true, isAgentRegistered else {
            return pairingFailed("Bluetooth is not ready")
        }
        windowSeconds = min(max(seconds, 1), Self.windowLimit)
        windowEnd = now + Duration.seconds(windowSeconds).nanoseconds
        corrections = [:]
        effects.append(.arm(.window, after: .seconds(windowSeconds)))
        if question == nil { setPairing(windowPairing) }
    }

    mutating func closeWindow() {
        guard windowEnd != nil else { return }
        windowEnd = nil
        corrections = [:]
        effects.append(.disarm(.window))
        if let question { answer(question, false) }
        setPairing(.closed)
    }

    private var windowPairing: PairingState { windowEnd.map { .open(until: $0) } ?? .closed }

    private mutating func setPairing(_ state: PairingState) {
        guard state != pairing else { return }
        pairing = state
        effects.append(.report(.pairingChanged(state)))
    }

    private mutating func pairingFailed(_ reason: String) {
        setPairing(.failed(reason: reason))
        setPairing(windowPairing)
    }

    /// A device has become a paired one, or its first news is that it is.
    mutating func pairedChanged(_ path: String, from wasPaired: Bool) {
        guard isBluezListed, !wasPaired, let device = devices[path], device.isPaired, isOurs(path) else {
            return
        }
        guard windowEnd != nil else { return }
        if question?.device == path { question = nil }
        admitted.insert(path)
        effects.append(
            .call(.set(path, BluezNames.device, "Trusted", .boolean(true), .request("Trusted"))))
        log(.notice, "a device was paired", ["address": device.address.text])
        setPairing(.paired(device.address))
        closeWindow()
    }

    // MARK: The agent

    mutating func registerAgent() {
        guard isBluezListed else { return }
        let capability = configuration.confirmsPairing ? "DisplayYesNo" : "NoInputNoOutput"
        effects.append(
            .call(
                BluezCall(
                    path: BluezNames.bluezRoot, interface: BluezNames.agentManager, method: "RegisterAgent",
                    arguments: [.objectPath(BluezNames.agentPath), .string(capability)],
                    purpose: .registerAgent)))
    }

    mutating func agentRegistered(_ failure: CallFailure?) {
        if let failure, failure.name != "org.bluez.Error.AlreadyExists" {
            return effects.append(.arm(.registration, after: .seconds(5)))
        }
        isAgentRegistered = true
        effects.append(
            .call(
                BluezCall(
                    path: BluezNames.bluezRoot, interface: BluezNames.agentManager,
                    method: "RequestDefaultAgent", arguments: [.objectPath(BluezNames.agentPath)],
                    purpose: .becomeDefaultAgent)))
    }

    mutating func agentReleased() {
        isAgentRegistered = false
        questionEnded(failure: "BlueZ has ended")
        guard isBluezListed else { return }
        effects.append(.arm(.registration, after: .seconds(5)))
    }

    mutating func registerProfile() {
        effects.append(
            .call(
                BluezCall(
                    path: BluezNames.bluezRoot, interface: BluezNames.profileManager,
                    method: "RegisterProfile",
                    arguments: [
                        .objectPath(BluezNames.profilePath), .string(AccessoryService.uuid),
                        .dictionary([
                            "Name": .string("Linnet"), "Role": .string("server"),
                            "ServiceRecord": .string(AccessoryService.record),
                        ]),
                    ], purpose: .registerProfile)))
    }

    mutating func agentAsked(_ request: AgentRequest) {
        guard let device = devices[request.device], isOurs(request.device) else {
            return effects.append(.answer(request: request.number, false))
        }
        switch request.kind {
        case .service(let uuid):
            let mayPlay = device.isPaired && (device.isTrusted || admitted.contains(request.device))
            let isServed = BluezNames.short(uuid).map(BluezNames.served.contains) ?? false
            effects.append(.answer(request: request.number, mayPlay && isServed))
        case .authorization, .confirmation:
            guard windowEnd != nil, question == nil else {
                return effects.append(.answer(request: request.number, false))
            }
            guard configuration.confirmsPairing else {
                return effects.append(.answer(request: request.number, true))
            }
            question = request
            let passkey: UInt32? = if case .confirmation(let passkey) = request.kind { passkey } else { nil }
            effects.append(.arm(.confirmation, after: Self.patience))
            setPairing(.asked(device.address, name: device.name, passkey: passkey))
        }
    }

    mutating func confirm(_ address: SourceAddress, _ isRight: Bool) {
        guard let question, devices[question.device]?.address == address else { return }
        answer(question, isRight)
        if isRight { setPairing(windowPairing) } else { pairingFailed("it was refused") }
    }

    mutating func questionEnded(failure reason: String) {
        guard let question else { return }
        answer(question, false)
        pairingFailed(reason)
    }

    private mutating func answer(_ request: AgentRequest, _ isRight: Bool) {
        question = nil
        effects += [.disarm(.confirmation), .answer(request: request.number, isRight)]
    }

    // MARK: The adapter

    /// Puts the adapter right: found and paired with only while the window is open, whatever a restart or another program has
    /// made of it.
    mutating func settle() {
        guard let path = adapterPath, let adapter = adapters[path], adapter.isPowered, isBluezListed else {
            guard windowEnd != nil else { return }
            setPairing(.failed(reason: "Bluetooth is not there any more"))
            return closeWindow()
        }
        let isOpen = windowEnd != nil && isAgentRegistered
        advertise(isOpen, path, adapter)
        guard !isSettlingHeld else { return }
        var wanted: [(String, Value)] = []
        if !configuration.name.isEmpty { wanted.append(("Alias", .string(configuration.name))) }
        if isOpen {
            // Should we end meanwhile, BlueZ closes the window.
            let timeout = Value.uint32(UInt32(windowSeconds + Self.margin))
            wanted += [("PairableTimeout", timeout), ("DiscoverableTimeout", timeout)]
        }
        wanted += [("Pairable", .boolean(isOpen)), ("Discoverable", .boolean(isOpen))]
        for (property, value) in wanted where adapter.properties[property] != value {
            guard !settling.contains(property) else { continue }
            let count = corrections[property, default: 0]
            guard count <= Self.maximumCorrections else { continue }
            corrections[property] = count + 1
            guard count < Self.maximumCorrections else {
                log(.warning, "another program sets the adapter otherwise", ["property": property])
                continue
            }
            settling.insert(property)
            effects.append(
                .call(
                    .set(path, BluezNames.adapter, property, value, .adapter(property: property, value))))
        }
    }

    mutating func adapterSet(_ path: String, _ property: String, _ value: Value, _ failure: CallFailure?) {
        settling.remove(property)
        if failure == nil {
            adapters[path]?.properties[property] = value
        } else {
            isSettlingHeld = true
            effects.append(.arm(.settle, after: .seconds(1)))
        }
    }

    /// Where the adapter can, applications find the receiver in the low-energy way, too.
    private mutating func advertise(_ isOpen: Bool, _ path: String, _ adapter: Adapter) {
        let isWanted = isOpen && adapter.canAdvertise
        guard isWanted != isAdvertising else { return }
        isAdvertising = isWanted
        let object = Value.objectPath(BluezNames.advertisementPath)
        effects.append(
            .call(
                BluezCall(
                    path: path, interface: BluezNames.advertisingManager,
                    method: isWanted ? "RegisterAdvertisement" : "UnregisterAdvertisement",
                    arguments: isWanted ? [object, .dictionary([:])] : [object],
                    purpose: isWanted ? .advertise : .stopAdvertising)))
    }
}
