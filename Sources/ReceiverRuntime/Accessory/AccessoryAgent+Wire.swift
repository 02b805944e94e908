// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SwitchingCore

// The accessory as senders see it, and what they ask of it (`Docs/protocols/route.md`, sections 5.5 and 7.1).

extension AccessoryAgent {
    /// More senders are not remembered; the oldest has to register anew.
    private static let registrationLimit = 64
    /// Bytes of a name.
    private static let nameLimit = 256

    // MARK: Requests

    func answer(_ request: WireAccessoryRequest) throws(RouteError) -> JSONValue {
        switch request {
        case .register(let names):
            let wanted = try capable(names)
            guard !wanted.isEmpty else {
                throw RouteError(.invalidRequest, "A registration names at least one capability.")
            }
            let id = shell.ports.identifiers.uuid()
            if registrations.count >= Self.registrationLimit { registrations.removeFirst() }
            registrations.append((id, wanted))
            return configuration(of: id, wanted)
        case .current(let id): return configuration(of: id, try registered(id))
        case .update(let id, let change): return try update(id, change)
        case .take(let address): feed(.takeRequested(try source(address)))
        case .yield(let address):
            guard let source = try address.map({ text throws(RouteError) in try source(text) }) ?? core.owner
            else { break }
            feed(.yieldRequested(source))
        case .prefer(let address, let preference): try prefer(address, preference)
        case .forget(let text):
            let address = try address(text)
            guard known.contains(where: { $0.address == address }) || core.preferences[address] != nil else {
                throw unknown
            }
            forget(address)
        case .pair(let seconds):
            let phones = try reachable()
            phones.send(seconds == 0 ? .closePairing : .openPairing(seconds: Int(seconds)))
        case .confirm(let text, let isWanted):
            let phones = try reachable()
            let address = try address(text)
            guard case .asked(address, _, _) = pairing else {
                throw RouteError(.invalidRequest, "Nobody asks to be paired with this address.")
            }
            phones.send(.confirmPairing(address, isWanted))
        case .disconnect(let text):
            let id = try source(text)
            guard id.kind == .bluetooth else {
                throw RouteError(.invalidRequest, "Only phones can be disconnected.")
            }
            try reachable().send(.disconnect(id.address))
        }
        return Outcome.accepted.json
    }

    private func update(_ id: String, _ change: AccessoryChange) throws(RouteError) -> JSONValue {
        var wanted = try registered(id)
        guard change != AccessoryChange() else {
            throw RouteError(.invalidRequest, "Nothing is to be changed.")
        }
        if let names = change.capabilities {
            wanted = try capable(names)
            guard !wanted.isEmpty else {
                throw RouteError(.invalidRequest, "A registration names at least one capability.")
            }
        }
        if change.placement != nil {
            guard wanted.contains(.placement) else {
                throw RouteError(.accessoryNotCapable, "The placement is not registered.")
            }
            // What the device senses is not for others to say.
            throw RouteError(.invalidRequest, "The device senses its placement itself.")
        }
        if let primary = change.primary {
            guard wanted.contains(.audioSwitching) else {
                throw RouteError(.accessoryNotCapable, "The switching is not registered.")
            }
            feed(.takeRequested(try source(primary)))
        }
        if let at = registrations.firstIndex(where: { $0.id == id }) {
            registrations[at].capabilities = wanted
        }
        return configuration(of: id, wanted)
    }

    /// The capabilities of these names, if the device has all of them.
    private func capable(_ names: [String]) throws(RouteError) -> Set<AccessoryCapability> {
        var wanted: Set<AccessoryCapability> = []
        for name in names {
            guard let capability = AccessoryCapability(rawValue: name),
                configuration.capabilities.contains(capability)
            else {
                throw RouteError(
                    .accessoryNotCapable, "The device has not the capability.",
                    details: ["capability": .text(name)])
            }
            wanted.insert(capability)
        }
        return wanted
    }

    private func registered(_ id: String) throws(RouteError) -> Set<AccessoryCapability> {
        guard let known = registrations.first(where: { $0.id == id }) else {
            throw RouteError(.invalidated, "The registration is not known, or no longer.")
        }
        return known.capabilities
    }

    private func configuration(of id: String, _ wanted: Set<AccessoryCapability>) -> JSONValue {
        let switches = wanted.contains(.audioSwitching)
        return AccessoryAnswer(
            registration: id, capabilities: Self.names(wanted),
            placement: wanted.contains(.placement) ? core.placement?.rawValue : nil,
            primary: switches ? core.primary?.address.text : nil,
            secondary: switches ? core.secondary?.address.text : nil
        ).json
    }

    private func prefer(_ text: String, _ preference: WireSourcePreference) throws(RouteError) {
        let address = try address(text)
        let isKnown =
            core.sources.contains { $0.id.address == address } || known.contains { $0.address == address }
            || core.preferences[address] != nil
        guard isKnown else { throw unknown }
        guard
            preference == .normal || core.preferences[address] != nil
                || core.preferences.count < SwitchingState.preferenceLimit
        else {
            throw RouteError(.limitReached, "There are preferences for as many sources as are kept.")
        }
        let wanted: SourcePreference =
            switch preference {
            case .normal: .normal
            case .preferred: .preferred
            case .manual: .manual
            }
        feed(.preferenceChanged(address, wanted))
        shell.keep(core.preferences)
    }

    /// A phone is not known any more, and nothing is wanted of it.
    private func forget(_ address: SourceAddress) {
        if core.preferences[address] != nil {
            feed(.preferenceChanged(address, .normal))
            shell.keep(core.preferences)
        }
        if known.contains(where: { $0.address == address }) { ports.sources?.send(.forget(address)) }
    }

    private func reachable() throws(RouteError) -> any ExternalSources {
        guard let sources = ports.sources, availability == .ready else {
            var reason = "Phones cannot be reached."
            switch availability {
            case .off(let why), .absent(let why): reason += " \(why)"
            case .ready: break
            }
            throw RouteError(.sourcesUnavailable, reason)
        }
        return sources
    }

    private func address(_ text: String) throws(RouteError) -> SourceAddress {
        guard let address = SourceAddress(text) else {
            throw RouteError(
                .invalidParams, "params.source: expected an address", details: ["path": "params.source"])
        }
        return address
    }

    private func source(_ text: String) throws(RouteError) -> SourceID {
        let address = try address(text)
        guard let source = core.sources.first(where: { $0.id.address == address }) else { throw unknown }
        return source.id
    }

    private var unknown: RouteError {
        RouteError(.sourceUnknown, "There is no such source, or no longer.")
    }

    // MARK: State

    private static func names(_ capabilities: Set<AccessoryCapability>) -> [String] {
        AccessoryCapability.allCases.filter(capabilities.contains).map(\.rawValue)
    }

    /// `state.accessory`, made anew only when something of it has changed.
    var json: JSONValue {
        if let written { return written }
        var json = JSONValue.null
        if case .object(let members) = document.json { json = .compact(members) }
        written = json
        return json
    }

    private var document: AccessoryDocument {
        var document = AccessoryDocument(capabilities: Self.names(configuration.capabilities))
        if configuration.capabilities.contains(.placement) {
            document.placement = core.placement?.rawValue
            document.placementFault = sensorFault
        }
        document.isPlugged = core.isPlugged
        for source in core.sources { document.sources[source.id.address.text] = describe(source) }
        for line in configuration.lineIns {
            guard let fault = lineFaults[line.source] else { continue }
            document.sources[line.source.address.text] = SourceDocument(
                kind: SourceID.Kind.lineIn.rawValue, name: cut(line.name), state: "unavailable",
                preference: core.preference(line.source.address).rawValue, fault: cut(fault))
        }
        if configuration.capabilities.contains(.audioSwitching) {
            document.primary = core.primary?.address.text
            document.secondary = core.secondary?.address.text
        }
        document.active = core.owner?.address.text
        document.decisions = core.decisions.map { decision in
            DecisionDocument(
                number: Int64(clamping: decision.number), moment: decision.moment,
                outcome: decision.outcome.rawValue, reason: decision.reason.rawValue,
                message: decision.reason.sentence, source: decision.source?.address.text,
                name: cut(decision.name), previous: decision.previous?.address.text)
        }
        switch availability {
        case .ready: document.bluetooth = "ready"
        case .off(let reason): (document.bluetooth, document.bluetoothReason) = ("off", cut(reason))
        case .absent(let reason): (document.bluetooth, document.bluetoothReason) = ("absent", cut(reason))
        }
        document.pairing = PairingDocument(pairing)
        document.known = known.map {
            KnownSourceDocument(
                address: $0.address.text, name: cut($0.name), isConnected: $0.isConnected,
                isTrusted: $0.isTrusted)
        }
        return document
    }

    private func describe(_ source: SwitchingState.Source) -> SourceDocument {
        let player = source.id.kind == .bluetooth ? phones[source.id.address]?.player : nil
        let state =
            if source.isInCall {
                "inCall"
            } else if source.isPlaying {
                "playing"
            } else if player?.status == .paused || source.id == network?.source {
                "paused"
            } else {
                "connected"
            }
        return SourceDocument(
            kind: source.id.kind.rawValue, name: cut(source.name), state: state,
            preference: core.preference(source.id.address).rawValue, title: player?.metadata.title,
            subtitle: player?.metadata.subtitle)
    }

    private func cut(_ text: String) -> String {
        var text = text
        while text.utf8.count > Self.nameLimit { text.removeLast() }
        return text
    }
}

extension PairingDocument {
    fileprivate init(_ pairing: PairingState) {
        switch pairing {
        case .closed: self.init()
        case .open(let until): self.init(state: "open", until: until)
        case .asked(let address, let name, let passkey):
            let digits = passkey.map { number in
                let text = String(number % 1_000_000)
                return String(repeating: "0", count: 6 - text.count) + text
            }
            self.init(
                state: "asked", source: address.text, name: String(name.prefix(64)), passkey: digits)
        case .paired(let address): self.init(state: "paired", source: address.text)
        case .failed(let reason): self.init(state: "failed", reason: String(reason.prefix(200)))
        }
    }
}
