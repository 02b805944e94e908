// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import GLibLoop
package import ReceiverRuntime
import SwitchingCore

/// Phones that play over Bluetooth, through BlueZ and bluez-alsa, whenever these come, go or come back. Made and used on a loop.
///
/// What follows from what is decided by `BluetoothState`; this makes the calls, holds the descriptors and counts the time.
package final class BluetoothSources: ExternalSources {
    package struct Configuration: Equatable, Sendable {
        /// The name that phones show; empty leaves that to BlueZ.
        package var name: String
        /// True: a person has to confirm each pairing. False: whoever comes while the window is open is taken.
        package var confirmsPairing: Bool
        /// Nil: the system's bus.
        package var address: String?

        package init(name: String, confirmsPairing: Bool = false, address: String? = nil) {
            (self.name, self.confirmsPairing, self.address) = (name, confirmsPairing, address)
        }
    }

    /// A bus that is restarted is back within seconds.
    private static let pause = Duration.seconds(5)

    private let configuration: Configuration
    private let log: any Log
    private var state: BluetoothState
    private var report: ((ExternalSourceEvent) -> Void)?
    /// What is still to be reported, in a turn of its own.
    private var pending: [ExternalSourceEvent] = []
    private var connecting: Connecting?
    private var bus: Bus?
    private var bluez: RemoteObjects?
    private var bluealsa: RemoteObjects?
    /// Counts the lives of BlueZ, whose answers from before its end do not count.
    private var life = 0
    private lazy var agent = PairingAgent { [weak self] in self?.take($0) }
    private var timers: [BluetoothState.Timer: EventSource] = [:]
    /// bluez-alsa sends samples for as long as these are open.
    private var controls: [Int: ReceivedControl] = [:]
    private var hasWarned = false

    package init(_ configuration: Configuration, log: any Log) {
        (self.configuration, self.log) = (configuration, log)
        state = BluetoothState(configuration)
    }

    package func start(report: @escaping (ExternalSourceEvent) -> Void) {
        self.report = report
        connect()
    }

    package func send(_ command: ExternalSourceCommand) { take(.commanded(command)) }

    package func shutDown() {
        report = nil
        for case .opened(_, let descriptor, _) in pending { close(descriptor) }
        pending = []
        disconnect()
        timers = [:]
    }

    // MARK: The bus

    private func connect() {
        guard report != nil else { return }
        guard let address = configuration.address ?? Bus.systemAddress else {
            return lost("there is no address of the system's bus")
        }
        connecting = Connecting(to: address) { [weak self] result in
            guard let self else { return }
            connecting = nil
            switch result {
            case .success(let bus): connected(bus)
            case .failure(let failure): lost(failure.message)
            }
        }
    }

    private func connected(_ bus: Bus) {
        self.bus = bus
        hasWarned = false
        bus.whenClosed { [weak self] in self?.lost($0) }
        do {
            try bus.export(BluezNames.agentPath, xml: PairingAgent.interface) { [weak self] invocation in
                self?.agent.called(invocation)
            }
            try bus.export(BluezNames.profilePath, xml: AccessoryService.profileInterface) { invocation in
                // Nothing can be connected to.
                if invocation.method == "Release" { invocation.answer() }
            }
            try bus.export(BluezNames.advertisementPath, xml: AccessoryService.advertisementInterface) {
                $0.answer()
            } property: {
                switch $0 {
                case "Type": .string("peripheral")
                case "ServiceUUIDs": .strings([AccessoryService.uuid])
                default: nil
                }
            }
        } catch {
            return lost(error.message)
        }
        bluez = RemoteObjects(bus, service: BluezNames.bluez, manager: BluezNames.bluezManager) {
            [weak self] in
            self?.bluezChanged($0)
        }
        bluealsa = RemoteObjects(bus, service: BluezNames.bluealsa, manager: BluezNames.bluealsaManager) {
            [weak self] in self?.take(.bluealsa($0))
        }
    }

    private func bluezChanged(_ event: RemoteObjects.Event) {
        switch event {
        case .appeared(let owner):
            life += 1
            agent.bluez = owner
        case .gone:
            agent.bluez = nil
            agent.forget()
        default: break
        }
        take(.bluez(event))
    }

    private func lost(_ reason: String) {
        if !hasWarned {
            hasWarned = true
            log.write(.warning, "receiver.bluetooth", "no connection to the bus", ["reason": reason])
        }
        // It may be the bus itself that says so.
        EventSource.once(after: .zero) { [weak self] in
            guard let self, report != nil else { return }
            disconnect()
            take(.busLost)
        }
        EventSource.once(after: Self.pause) { [weak self] in
            guard let self, bus == nil, connecting == nil else { return }
            connect()
        }
    }

    private func disconnect() {
        (connecting, bluez, bluealsa, bus) = (nil, nil, nil, nil)
        agent.bluez = nil
        agent.forget()
        controls = [:]
        life += 1
    }

    // MARK: Events and effects

    private func take(_ event: BluetoothState.Event) {
        guard report != nil else { return }
        for effect in state.apply(event, now: MonotonicClock.nanoseconds) { perform(effect) }
    }

    private func perform(_ effect: BluetoothState.Effect) {
        switch effect {
        case .report(let event): tell(event)
        case .call(let call): make(call)
        case .open(let address, let path, let attempt): open(address, path, attempt)
        case .release(let attempt): controls[attempt] = nil
        case .close(let descriptor): close(descriptor)
        case .answer(let number, let isRight): agent.answer(number, isRight)
        case .arm(let timer, let delay):
            timers[timer]?.destroy()
            timers[timer] = EventSource.after(delay) { [weak self] in self?.fired(timer) }
        case .disarm(let timer): timers.removeValue(forKey: timer)?.destroy()
        case .log(let level, let message, let metadata):
            log.write(level, "receiver.bluetooth", message, metadata)
        }
    }

    private func fired(_ timer: BluetoothState.Timer) {
        timers[timer] = nil
        switch timer {
        case .relistBluez: bluez?.list()
        case .relistBluealsa: bluealsa?.list()
        default: take(.fired(timer))
        }
    }

    private func tell(_ event: ExternalSourceEvent) {
        pending.append(event)
        guard pending.count == 1 else { return }
        EventSource.once(after: .zero) { [weak self] in
            guard let self else { return }
            let events = pending
            pending = []
            for event in events {
                if let report {
                    report(event)
                } else if case .opened(_, let descriptor, _) = event {
                    close(descriptor)
                }
            }
        }
    }

    private func make(_ call: BluezCall) {
        guard let bus else { return }
        let life = life
        let service = call.isOfBluealsa ? BluezNames.bluealsa : BluezNames.bluez
        bus.call(
            service, call.path, call.interface, call.method, call.arguments,
            timeout: call.isSlow ? .seconds(60) : .seconds(10)
        ) { [weak self] result in
            guard let self, call.isOfBluealsa || life == self.life else { return }
            let failure: CallFailure? = if case .failure(let failure) = result { failure } else { nil }
            take(.called(call, failure))
        }
    }

    private func open(_ address: SourceAddress, _ path: String, _ attempt: Int) {
        guard let bus else { return }
        bus.call(BluezNames.bluealsa, path, BluezNames.pcm, "Open") { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let reply):
                guard let samples = reply.descriptors.take(reply[0]?.handle),
                    let control = reply.descriptors.take(reply[1]?.handle)
                else {
                    let failure = CallFailure(
                        name: "org.freedesktop.DBus.Error.Failed", message: "no descriptors came")
                    return take(.opened(address, attempt: attempt, .failure(failure)))
                }
                controls[attempt] = ReceivedControl(control)
                take(.opened(address, attempt: attempt, .success(samples.take())))
            case .failure(let failure): take(.opened(address, attempt: attempt, .failure(failure)))
            }
        }
    }

    private func close(_ number: Int32) { _ = Descriptor(adopting: number) }
}

/// Keeps a descriptor open.
private final class ReceivedControl {
    private let descriptor: Descriptor
    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}
