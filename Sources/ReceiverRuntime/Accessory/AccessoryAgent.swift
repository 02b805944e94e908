// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import RouteWire
import SessionCore
import SwitchingCore

/// The receiver as an accessory with several sources (`Docs/switching.md`): tells the core what they do, and does what follows.
/// It decides nothing itself, and is the only one that gives the output to anybody but a session.
final class AccessoryAgent {
    /// A phone that is connected.
    struct Phone {
        enum Reading { case not, opening, open }
        var name: String
        /// How its samples come; nil while none do.
        var format: CaptureFormat?
        /// It has said that it pauses, while samples still come.
        var isPausing = false
        var player: (status: PlayerStatus, metadata: Metadata)?
        var reading = Reading.not
        /// Openings that were followed by no sound.
        var attempts = 0
        /// The level that it knows of.
        var level: Double?
    }

    /// The session that has the player, as a source.
    struct Network: Equatable {
        var source: SourceID
        var session: SessionID
        var isPlaying: Bool
    }

    /// What a phone that is asked to be heard may try at most before it counts as one that cannot be.
    private static let attemptLimit = 3
    private static let retryDelay = Duration.milliseconds(250)

    unowned let shell: ReceiverShell
    let configuration: AccessoryConfiguration
    let ports: AccessoryPorts
    var core: SwitchingState
    var phones: [SourceAddress: Phone] = [:]
    var network: Network?
    var availability = ExternalAvailability.absent(reason: "There is no adapter.")
    var pairing = PairingState.closed
    var known: [KnownSource] = []
    /// Why nobody knows where the device is worn.
    var sensorFault: String?
    /// Why a line-in cannot be listened to.
    var lineFaults: [SourceID: String] = [:]
    /// Who registered, with what; the oldest comes first.
    var registrations: [(id: String, capabilities: Set<AccessoryCapability>)] = []
    /// What is captured, and its load once it has one.
    private var capture: (source: SourceID, load: LoadID?)?
    private var rendererIsUp = false
    private var isAnnouncing = false
    /// The output is to move to the jack, or from it, once what was decided with it is done: what pauses must not be heard at the
    /// other device before.
    private var move: Bool?
    private var lastToken: UInt64 = 0
    private var timer: (any ScheduledTimer)?
    private var retryTimer: (any ScheduledTimer)?
    var written: JSONValue?

    init(
        shell: ReceiverShell, configuration: AccessoryConfiguration, ports: AccessoryPorts,
        preferences: [SourceAddress: SourcePreference]
    ) {
        (self.shell, self.configuration, self.ports) = (shell, configuration, ports)
        core = SwitchingState(policy: configuration.policy, preferences: preferences)
    }

    func start() {
        ports.sources?.start { [weak self] event in self?.heard(event) }
        ports.placement?.start { [weak self] reading in self?.sensed(reading) }
    }

    func shutDown() {
        (timer, retryTimer) = (nil, nil)
        ports.sources?.shutDown()
        ports.placement?.shutDown()
    }

    var now: Int64 { shell.ports.clock.now }

    /// Tells the core, and does what follows.
    func feed(_ event: SwitchingEvent) {
        let before = core.decisions.last?.number ?? 0
        for effect in core.apply(event, at: now) { perform(effect) }
        for decision in core.decisions where decision.number > before { log(decision) }
        changed()
    }

    /// Senders are told.
    func changed() {
        written = nil
        shell.handle(.switchingNoted)
    }

    private func log(_ decision: Decision) {
        shell.log.write(
            .info, "receiver.switching", "source \(decision.outcome.rawValue)",
            [
                "reason": decision.reason.rawValue, "source": decision.source?.address.text ?? "",
                "kind": decision.source?.kind.rawValue ?? "",
            ])
    }

    // MARK: Effects

    private func perform(_ effect: SwitchingEffect) {
        switch effect {
        case .hear(let id):
            stopReading(except: id)
            if !id.kind.isCaptured {
                capture = nil
                shell.handle(.outputReturned)
                return
            }
            shell.handle(.outputYielded(at: now))
            if capture != nil { shell.handle(.captureEnded) }
            capture = nil
            phones[id.address]?.attempts = 0
            read(id)
            tellLevel()
        case .silence(let id):
            stopReading(except: nil)
            guard id.kind.isCaptured else {
                // A session pauses where it is; one of a group plays on there, so that it must be taken off here.
                if let network, id == network.source, shell.state.sessions[network.session]?.isGrouped == true
                {
                    shell.handle(.outputYielded(at: now))
                }
                return
            }
            capture = nil
            shell.handle(.captureEnded)
            shell.handle(.outputReturned)
        case .pause(let id, _):
            switch id.kind {
            case .bluetooth: ports.sources?.send(.pause(id.address))
            case .network, .application:
                if id == network?.source { shell.handle(.sessionSwitched(isPlaying: false)) }
            case .lineIn: break
            }
        case .play(let id):
            switch id.kind {
            case .bluetooth: ports.sources?.send(.play(id.address))
            case .network, .application:
                if id == network?.source { shell.handle(.sessionSwitched(isPlaying: true)) }
            case .lineIn: break
            }
        case .letGo(let id):
            if id.kind == .bluetooth { ports.sources?.send(.disconnect(id.address)) }
        case .moveOutput(let toJack): move = toJack
        case .armTimer(let at, let generation):
            let delay = max(0, at.subtractingReportingOverflow(now).partialValue)
            timer = shell.ports.clock.schedule(after: .nanoseconds(delay)) { [weak self] in
                self?.timer = nil
                self?.feed(.timerFired(generation: generation))
            }
        case .cancelTimer: timer = nil
        }
    }

    private func moveOutput(toJack: Bool) {
        move = nil
        guard !configuration.jackDevice.isEmpty else { return }
        shell.ports.renderer.send(.setOutputDevice(toJack ? configuration.jackDevice : nil))
    }

    // MARK: Reading

    /// Has the renderer read a source that has the output, as soon as there is something to read.
    func read(_ id: SourceID) {
        guard rendererIsUp, core.owner == id else { return }
        switch id.kind {
        case .bluetooth:
            guard let phone = phones[id.address], phone.format != nil, phone.reading == .not else { return }
            phones[id.address]?.reading = .opening
            ports.sources?.send(.open(id.address))
        case .lineIn:
            guard capture == nil, let line = configuration.lineIns.first(where: { $0.source == id }) else {
                return
            }
            capture = (id, nil)
            shell.handle(.captureRequested(CaptureSource(kind: .device(name: line.device))))
        case .network, .application: break
        }
    }

    func opened(_ address: SourceAddress, _ descriptor: Int32, _ format: CaptureFormat) {
        let id = SourceID(.bluetooth, address)
        lastToken += 1
        // The renderer closes what nobody reads.
        shell.ports.renderer.hand(over: descriptor, token: lastToken)
        guard core.owner == id, phones[address]?.reading == .opening, rendererIsUp else {
            if phones[address]?.reading == .opening { phones[address]?.reading = .not }
            ports.sources?.send(.close(address))
            return
        }
        phones[address]?.reading = .open
        capture = (id, nil)
        shell.handle(
            .captureRequested(
                CaptureSource(
                    kind: .descriptor(token: lastToken), sampleRate: format.sampleRate,
                    channels: format.channels, format: CaptureSource.Format(format.sample),
                    latencyNanoseconds: format.latencyNanoseconds)))
    }

    /// Gives up what is read, but for one source.
    private func stopReading(except id: SourceID?) {
        retryTimer = nil
        for (address, phone) in phones where phone.reading != .not {
            guard id != SourceID(.bluetooth, address) else { continue }
            phones[address]?.reading = .not
            ports.sources?.send(.close(address))
        }
    }

    /// What is read has ended: it is opened again if it is still wanted, a few times.
    func lost(_ id: SourceID) {
        if capture?.source == id { capture = nil }
        if phones[id.address]?.reading == .open { ports.sources?.send(.close(id.address)) }
        phones[id.address]?.reading = .not
        guard core.owner == id else { return }
        guard id.kind == .bluetooth, phones[id.address]?.format != nil else {
            if id.kind == .lineIn { feed(.hearingFailed(id)) }
            return
        }
        phones[id.address]?.attempts += 1
        guard let phone = phones[id.address], phone.attempts <= Self.attemptLimit else {
            return feed(.hearingFailed(id))
        }
        retryTimer = shell.ports.clock.schedule(after: Self.retryDelay) { [weak self] in
            self?.retryTimer = nil
            self?.read(id)
        }
    }

    // MARK: What the receiver does

    /// Sees each event that the receiver has taken.
    func stepped(_ event: ReceiverEvent) {
        switch event {
        case .renderer(let event): rendered(event)
        case .captureRequested: if capture != nil { capture?.load = shell.state.foreign?.load }
        case .switchingNoted: if let move { moveOutput(toJack: move) }
        case .outputYielded: shell.group?.outputChanged(isOurs: false)
        case .outputReturned: shell.group?.outputChanged(isOurs: true)
        case .playbackRequested(_, _, .setPlaying(false)):
            // Whoever pauses what is not heard does not want it back.
            if let network, core.owner != network.source { feed(.yieldRequested(network.source)) }
        default: break
        }
        noteSession()
        let isAnnouncing = shell.state.announcements.entries.first?.phase == .playing
        if isAnnouncing != self.isAnnouncing {
            self.isAnnouncing = isAnnouncing
            feed(isAnnouncing ? .announcementBegan : .announcementEnded)
        }
        tellLevel()
    }

    private func rendered(_ event: RendererEvent) {
        switch event {
        case .started:
            rendererIsUp = true
            if core.isPlugged == true { moveOutput(toJack: true) }
            if !configuration.lineIns.isEmpty {
                shell.ports.renderer.send(.watchCapture(configuration.lineIns.map(\.watch)))
            }
            if let owner = core.owner { read(owner) }
        case .exited:
            rendererIsUp = false
            capture = nil
            stopReading(except: nil)
        case .captureActivity(let name, let isActive, let reason):
            lineChanged(name, isActive, reason)
        case .jackChanged(let name, let isPlugged):
            if name == configuration.jack, !name.isEmpty { feed(.jackChanged(isPlugged: isPlugged)) }
        case .ended(let load), .failed(let load, _), .stopped(let load):
            if let capture, capture.load == load { lost(capture.source) }
        default: break
        }
    }

    private func lineChanged(_ name: String, _ isActive: Bool, _ reason: String?) {
        guard let line = configuration.lineIns.first(where: { $0.device == name }) else { return }
        let id = line.source
        lineFaults[id] = reason
        if reason != nil {
            feed(.disconnected(id))
        } else if isActive {
            feed(.connected(id, name: line.name))
            feed(.started(id, by: .itself))
        } else {
            feed(.paused(id))
        }
    }

    /// Tells the core of the session that has the player. A new one is told before the one that it took the place of goes, so
    /// that nobody else comes in between.
    private func noteSession() {
        let state = shell.state
        let old = network
        guard let id = state.player, let session = state.sessions[id] else {
            network = nil
            if let old { feed(.disconnected(old.source)) }
            return
        }
        let isKnown = old?.session == id
        var source = old?.source ?? SourceID(.network, SourceAddress(0))
        if !isKnown {
            let (identified, name) = identify(session, state)
            source = identified
            if source != old?.source { feed(.connected(source, name: name)) }
        }
        let wasPlaying = isKnown && old?.isPlaying == true
        network = Network(source: source, session: id, isPlaying: session.isPlaying)
        if session.isPlaying, !wasPlaying {
            feed(.started(source, by: cause(state.lastOrigin)))
        } else if !session.isPlaying, wasPlaying {
            feed(.paused(source))
        }
        if let old, old.source != source { feed(.disconnected(old.source)) }
    }

    private func identify(_ session: Session, _ state: ReceiverState) -> (SourceID, name: String) {
        if let route = session.route.flatMap({ state.routes[$0] }) {
            let address = SourceAddress(derivedFrom: "network/\(route.sender.identifier)")
            return (SourceID(.network, address), route.sender.name)
        }
        if let instance = session.application.flatMap({ state.applications.instances[$0] }) {
            let address = SourceAddress(derivedFrom: "application/\(instance.manifest.id.text)")
            return (SourceID(.application, address), instance.manifest.name)
        }
        return (SourceID(.network, SourceAddress(derivedFrom: "network")), "")
    }

    private func cause(_ origin: Origin) -> Cause {
        switch origin {
        case .sender, .group: .person
        case .application, .device, .content, .local, .switching: .itself
        }
    }

    /// The phone that is heard shows the device's level.
    private func tellLevel() {
        guard let owner = core.owner, owner.kind == .bluetooth, let phone = phones[owner.address] else {
            return
        }
        let level = shell.state.device.volume.level
        // A phone has 128 steps.
        if let known = phone.level, (known - level).magnitude < 1.0 / 254 { return }
        phones[owner.address]?.level = level
        ports.sources?.send(.setVolume(owner.address, level))
    }
}

extension CaptureSource.Format {
    init(_ sample: CaptureFormat.Sample) {
        switch sample {
        case .s16le: self = .s16le
        case .s24le: self = .s24le
        case .s32le: self = .s32le
        }
    }
}

extension AccessoryConfiguration.LineIn {
    fileprivate var watch: CaptureWatch {
        CaptureWatch(name: device, threshold: threshold, holdMilliseconds: holdMilliseconds)
    }
}
