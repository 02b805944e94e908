// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
package import SessionCore
import SwitchingCore

/// Owns the state: feeds it events one at a time, performs what follows from each, and has the front end tell the
/// senders. Used on one executor only; `Receiver` sees to that.
///
/// It never waits. An event that arrives while another is handled is handled after it.
package final class ReceiverShell {
    /// Longer than a closing handshake on a slow radio link, shorter than a service manager's patience.
    package static let shutDownLimit = Duration.seconds(2)

    let configuration: ReceiverConfiguration
    let log: any Log
    let ports: ReceiverPorts
    let identity: ReceiverIdentity
    package private(set) var state: ReceiverState
    var metrics = Metrics()
    private(set) var artwork = ArtworkShelf()
    private(set) var port: UInt16 = 0
    /// What the pages of instances that were launched are known by, until they have connected.
    var pageTokens: [InstanceID: String] = [:]

    private(set) lazy var front = RouteFrontEnd(shell: self)
    /// Nil where there are no groups.
    private(set) lazy var group = ports.groups.map { GroupAgent(shell: self, ports: $0) }
    /// Nil where the network is the only source.
    private(set) lazy var accessory = configuration.accessory.map {
        AccessoryAgent(
            shell: self, configuration: $0, ports: ports.accessory ?? .init(), preferences: saved.preferences)
    }
    private var saved: SavedState
    private let writer: SavedStateWriter
    private var timers: [TimerKey: any ScheduledTimer] = [:]
    private var events: [ReceiverEvent] = []
    private var isHandling = false
    private var held: Held?
    private var phase = Phase.installed
    private var shutDownTimer: (any ScheduledTimer)?
    private var shutDownWaiters: [() -> Void] = []

    private enum Phase { case installed, running, shuttingDown, over }

    private enum TimerKey: Hashable {
        case grace(RouteID)
        case load(LoadID)
        case stop(LoadID)
        case progress
        case seek
        case announcement
        case instance(InstanceID, InstanceTimer)
    }

    /// Takes up the saved state, or begins a new one.
    package init(configuration: ReceiverConfiguration, ports: ReceiverPorts, log: any Log) {
        (self.configuration, self.ports, self.log) = (configuration, ports, log)
        writer = SavedStateWriter(store: ports.store, clock: ports.clock)
        let loaded = ports.store.load()
        saved =
            loaded ?? SavedState(identifier: ports.identifiers.uuid(), volume: configuration.initialVolume)
        identity = ReceiverIdentity(device: saved.identifier, clock: ports.clock.identifier)
        let name = saved.name ?? configuration.name
        state = ReceiverState(
            name: name, volume: saved.volume, output: OutputStatus(state: .closed, device: ""),
            advertisement: AdvertisementStatus(state: .off, name: name),
            outputTrim: Int64(saved.outputTrim) * 1_000, policy: configuration.policy)
        if loaded == nil { ports.store.save(saved) }
    }

    /// Opens the port, starts the renderer and advertises.
    package func start() throws -> UInt16 {
        guard phase == .installed else { throw AlreadyStarted() }
        port = try ports.listener.start(
            ListenerConfiguration(
                port: configuration.port, hostNames: configuration.hostNames,
                connectionLimit: configuration.connectionLimit), service: self)
        phase = .running
        ports.renderer.start { [weak self] event in self?.handle(.renderer(event)) }
        if configuration.advertises {
            handle(.advertisementChanged(AdvertisementStatus(state: .waiting, name: state.device.name)))
            ports.advertiser.start(advertised(name: state.device.name)) { [weak self] status in
                self?.handle(.advertisementChanged(status))
            }
        } else {
            handle(.advertisementChanged(AdvertisementStatus(state: .off, name: state.device.name)))
        }
        ports.applications?.start(service: self) { [weak self] event in self?.hosted(event) }
        accessory?.start()
        log.write(.notice, "receiver", "started", ["port": String(port), "device": identity.device])
        return port
    }

    /// `start` was called twice.
    package struct AlreadyStarted: Error, CustomStringConvertible {
        package var description: String { "the receiver was started before" }
    }

    package var status: ReceiverStatus? {
        guard phase == .running else { return nil }
        let advertisement = state.device.advertisement
        return ReceiverStatus(
            identifier: identity.device, name: state.device.name,
            advertisedName: advertisement.state == .registered ? advertisement.name : nil, port: port)
    }

    var isRunning: Bool { phase == .running }

    // MARK: Events

    /// What follows from an event and is not told yet.
    private struct Held {
        let event: ReceiverEvent
        let effects: [ReceiverEffect]
        let timer: any ScheduledTimer
    }

    /// Applies an event, now or after the one being handled. While something is held back, what the renderer says waits
    /// behind it; anything else ends that.
    package func handle(_ event: ReceiverEvent) {
        guard phase != .over else { return }
        if !event.isOfRenderer { tellHeld() }
        events.append(event)
        handleWaiting()
    }

    private func handleWaiting() {
        guard !isHandling, held == nil else { return }
        isHandling = true
        var next = 0
        while next < events.count, held == nil {
            next += 1
            step(events[next - 1], isLast: !events[next...].contains { !$0.isOfRenderer })
        }
        if next == events.count {
            events.removeAll(keepingCapacity: true)
        } else {
            events.removeFirst(next)
        }
        isHandling = false
    }

    /// Tells what was held back, if anything was, and goes on.
    func tellHeld() {
        guard !isHandling, let held else { return }
        self.held = nil
        isHandling = true
        tell(held.effects, after: held.event)
        isHandling = false
        handleWaiting()
    }

    /// The renderer is told first: what is heard waits for it, and the senders' text takes longer.
    private func step(_ event: ReceiverEvent, isLast: Bool) {
        let confinement = state.device.confinement
        // A renderer that is new knows no clock, and is told of a load that is bound to it.
        if case .renderer(.started) = event {
            group?.tellCards()
            group?.tellClock()
        }
        let effects = state.apply(event)
        var pause = Duration.zero
        for case .render(let command) in effects where phase == .running {
            ports.renderer.send(command)
            pause = max(pause, command.timeToSound)
        }
        if state.device.confinement != confinement { logConfinement() }
        guard configuration.letsSoundGoFirst, isLast, pause > .zero else {
            return tell(effects, after: event)
        }
        let timer = ports.clock.schedule(after: pause) { [weak self] in self?.tellHeld() }
        held = Held(event: event, effects: effects, timer: timer)
    }

    /// Answers leave before the change that they announce is pushed, except those that carry the state itself.
    private func tell(_ effects: [ReceiverEffect], after event: ReceiverEvent) {
        for effect in effects { shelve(effect) }
        front.stateChanged(after: event)
        for effect in effects { perform(effect) }
        front.publish()
        if case .renderer(.exited(let reason)) = event {
            metrics.rendererRestarts += 1
            log.write(.warning, "receiver.renderer", "renderer exited", ["reason": reason])
        }
        forgetTimers(after: event)
        group?.stepped(event, effects)
        accessory?.stepped(event)
    }

    /// What does not stand around the decoder is said once, until it changes.
    private func logConfinement() {
        let layers = state.device.confinement ?? []
        let missing = layers.filter { !$0.isOn }
        let words = missing.map { "\($0.kind.rawValue): \($0.reason ?? "")" }
        if missing.isEmpty {
            log.write(
                .info, "receiver.renderer", "renderer confined",
                ["layers": layers.map(\.kind.rawValue).joined(separator: " ")])
        } else {
            log.write(
                .warning, "receiver.renderer", "renderer not fully confined",
                ["missing": words.joined(separator: "; ")])
        }
    }

    /// The pictures come first: the state names them.
    private func shelve(_ effect: ReceiverEffect) {
        switch effect {
        case .storeArtwork(let session, let key, let picture):
            artwork.store(picture, session: session, key: key)
        case .dropArtwork(let session): artwork.drop(session)
        default: break
        }
    }

    private func perform(_ effect: ReceiverEffect) {
        switch effect {
        case .answer(let request, let answer): front.answer(request, answer)
        case .refuse(let request, let refusal): front.refuse(request, refusal)
        case .coordinate: break
        case .restartRenderer:
            if phase == .running { ports.renderer.restart(reason: "it did not do in time what it was told") }
        case .armGraceTimer(let route, let generation):
            arm(.grace(route), after: configuration.graceTime, .graceExpired(route, generation: generation))
        case .armLoadTimer(let load): arm(.load(load), after: configuration.loadTimeout, .loadTimedOut(load))
        case .armStopTimer(let load): arm(.stop(load), after: configuration.stopTimeout, .stopTimedOut(load))
        case .armProgressTimer(let load, let generation):
            arm(
                .progress, after: configuration.stallTimeout,
                .progressTimedOut(load, generation: generation))
        case .armSeekTimer(let load, let seek):
            arm(.seek, after: configuration.loadTimeout, .seekTimedOut(load, seek))
        case .armAnnouncementTimer(let load, let limit):
            let time =
                switch limit {
                case .beginning: configuration.announcementTimeout
                case .length: configuration.announcementLength
                }
            arm(.announcement, after: time, .announcementTimedOut(load, limit))
        case .tellAnnouncementEnd(let announcement, let end):
            log.write(
                .info, "receiver.announcement", "announcement ended",
                ["announcement": announcement.text, "reason": end.name])
            front.tellAnnouncementEnd(announcement, end)
        case .announceEnd(let session, let reason):
            log.write(
                .info, "receiver.session", "session ended",
                ["session": session.text, "reason": reason.name])
            front.announceEnd(session, reason)
        case .announceRouteEnd(let connection, let route, let reason):
            log.write(
                .info, "receiver.route", "route ended", ["route": route.text, "reason": reason.rawValue])
            front.announceRouteEnd(connection, route, reason)
        case .persist: persist()
        case .advertise(let name):
            if configuration.advertises, phase == .running { ports.advertiser.update(advertised(name: name)) }
        case .launch, .terminate, .kill, .armInstanceTimer, .tell, .openChannel, .closeChannel,
            .abandonChannel, .interruptChannels, .closeConnection:
            performApplication(effect)
        case .render, .storeArtwork, .dropArtwork: break
        }
    }

    private func performApplication(_ effect: ReceiverEffect) {
        let host = phase == .running ? ports.applications : nil
        switch effect {
        case .launch(let instance, let application):
            if phase == .running { launch(instance, application) }
        case .terminate(let instance): host?.terminate(instance)
        case .kill(let instance, let limit): host?.kill(instance, limit: limit)
        case .armInstanceTimer(let id, let timer, let generation):
            guard let instance = state.applications.instances[id] else { return }
            arm(
                .instance(id, timer), after: timer.duration(instance.manifest),
                .instanceTimedOut(id, timer, generation: generation))
        case .tell(let instance, let notice): front.tell(instance, notice)
        case .openChannel(let opening): front.relay.open(opening)
        case .closeChannel(let channel): front.relay.close(channel)
        case .abandonChannel(let channel): front.relay.abandon(channel)
        case .interruptChannels(let instance): front.relay.interrupt(instance)
        case .closeConnection(let connection): front.dismiss(connection)
        default: break
        }
    }

    /// Advertises what has changed besides the name.
    func readvertise() {
        guard configuration.advertises, phase == .running else { return }
        ports.advertiser.update(advertised(name: state.device.name))
    }

    /// What a person wants of sources, to be kept.
    func keep(_ preferences: [SourceAddress: SourcePreference]) {
        saved.preferences = preferences
        persist()
    }

    private func persist() {
        if state.device.name != saved.name ?? configuration.name { saved.name = state.device.name }
        saved.volume = state.device.volume
        saved.outputTrim = Int32(clamping: state.device.outputTrim / 1_000)
        writer.save(saved)
    }

    // MARK: Timers

    private func arm(_ key: TimerKey, after delay: Duration, _ event: ReceiverEvent) {
        guard phase == .running else { return }
        timers[key] = ports.clock.schedule(after: delay) { [weak self] in
            self?.timers[key] = nil
            self?.handle(event)
        }
    }

    /// Spares wake-ups: the state would ignore these timers anyway.
    private func forgetTimers(after event: ReceiverEvent) {
        guard !timers.isEmpty else { return }
        if state.announcements.entries.isEmpty { timers[.announcement] = nil }
        timers = timers.filter { key, _ in
            guard case .instance(let id, let timer) = key else { return true }
            return state.applications.instances[id]?.timers[timer] != nil
        }
        if state.player == nil { (timers[.progress], timers[.seek]) = (nil, nil) }
        switch event {
        case .renderer(.loaded(let load, _)), .renderer(.advanced(let load, _)): timers[.load(load)] = nil
        case .renderer(.failed(let load, _)), .renderer(.stopped(let load)), .renderer(.ended(let load)):
            timers[.load(load)] = nil
            timers[.stop(load)] = nil
        case .renderer(.seekFinished): if state.sessions.allSatisfy({ !$1.isSeeking }) { timers[.seek] = nil }
        case .activationRequested:
            timers = timers.filter { key, _ in
                guard case .grace(let id) = key else { return true }
                // A route in its grace time may have been given up for a new one.
                return state.routes[id].map { $0.connection == nil } ?? false
            }
        default: break
        }
    }

    // MARK: The end

    /// Tells the senders, withdraws, closes, writes down; `done` is called once, when the clients are gone or at
    /// the limit.
    package func shutDown(_ done: @escaping () -> Void) {
        switch phase {
        case .over:
            done()
            return
        case .shuttingDown:
            shutDownWaiters.append(done)
            return
        case .installed:
            phase = .over
            done()
            return
        case .running: break
        }
        shutDownWaiters.append(done)
        group?.shutDown()
        accessory?.shutDown()
        handle(.shutdownRequested)
        phase = .shuttingDown
        if configuration.advertises { ports.advertiser.withdraw() }
        ports.listener.stop()
        ports.renderer.shutDown()
        ports.applications?.shutDown()
        writer.finish()
        front.closeAll()
        shutDownTimer = ports.clock.schedule(after: Self.shutDownLimit) { [weak self] in self?.finish() }
        clientsChanged()
    }

    /// The front end lost a client.
    func clientsChanged() {
        if phase == .shuttingDown, front.isEmpty { finish() }
    }

    private func finish() {
        guard phase == .shuttingDown else { return }
        phase = .over
        shutDownTimer = nil
        timers = [:]
        log.write(.notice, "receiver", "ended", [:])
        let waiters = shutDownWaiters
        shutDownWaiters = []
        for waiter in waiters { waiter() }
    }
}

// The front end does not outlive the shell, so a listener holds the shell.
extension ReceiverShell: ListenerService {
    package func page(at path: String) -> Page? { front.page(at: path) }
    package func clientOpened(_ client: any Client) { front.clientOpened(client) }
    package func clientReceived(text: String, from client: any Client) {
        front.clientReceived(text: text, from: client)
    }
    package func clientReceived(binary: [UInt8], from client: any Client) {
        front.clientReceived(binary: binary, from: client)
    }
    package func together(_ body: () -> Void) { front.together(body) }
    package func clientDrained(_ client: any Client) { front.clientDrained(client) }
    package func clientClosed(_ client: any Client) { front.clientClosed(client) }
}

/// What names this receiver and its clock.
struct ReceiverIdentity: Equatable {
    let device: String
    let clock: String
}

extension ReceiverEvent {
    fileprivate var isOfRenderer: Bool {
        if case .renderer = self { true } else { false }
    }
}

extension RendererCommand {
    /// The renderer brings what is to be heard within about this time where all goes well.
    fileprivate var timeToSound: Duration {
        switch self {
        case .load(_, _, playing: true): .milliseconds(4)
        case .seek: .milliseconds(2)
        case .setPlaying(_, true): .milliseconds(1)
        default: .zero
        }
    }
}
