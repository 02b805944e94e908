// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import ReceiverRuntime
package import SwitchingCore

/// Phones that do what the test says. One that is opened gives an end of a pipe.
package final class FakeExternalSources: ExternalSources {
    package private(set) var commands: [ExternalSourceCommand] = []
    package private(set) var isShutDown = false
    /// True: nothing that is opened can be read.
    package var failsToOpen = false
    /// True: a phone pauses when it is told to, and goes on.
    package var obeys = true
    package var format = CaptureFormat(sampleRate: 44_100, channels: 2)
    private var reporter: ((ExternalSourceEvent) -> Void)?
    private var waiting: [ExternalSourceEvent] = []

    package init() {}

    package func start(report: @escaping (ExternalSourceEvent) -> Void) {
        reporter = report
        waiting.append(.availabilityChanged(.ready))
    }

    package func send(_ command: ExternalSourceCommand) {
        commands.append(command)
        switch command {
        case .open(let address):
            let descriptor = unsafe failsToOpen ? -1 : Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
            waiting.append(
                failsToOpen
                    ? .openFailed(address, reason: "busy")
                    : .opened(address, descriptor: descriptor, format))
        case .pause(let address): if obeys { waiting.append(.streaming(address, nil)) }
        case .play(let address): if obeys { waiting.append(.streaming(address, format)) }
        case .disconnect(let address): waiting.append(.disconnected(address))
        case .openPairing(let seconds):
            waiting.append(.pairingChanged(.open(until: Int64(seconds) * 1_000_000_000)))
        case .closePairing: waiting.append(.pairingChanged(.closed))
        case .confirmPairing(let address, let isWanted):
            waiting.append(.pairingChanged(isWanted ? .paired(address) : .failed(reason: "refused")))
        case .close, .setVolume, .forget: break
        }
    }

    package func shutDown() {
        isShutDown = true
        reporter = nil
    }

    /// Reports an event now.
    package func report(_ event: ExternalSourceEvent) { reporter?(event) }

    /// Delivers the answers that wait. True if there were any.
    package func deliver() -> Bool {
        guard !waiting.isEmpty else { return false }
        let events = waiting
        waiting = []
        for event in events { report(event) }
        return true
    }

    package func forgetCommands() { commands = [] }
}

/// A sensor that the test moves.
package final class FakePlacementSensors: PlacementSensors {
    private var reporter: ((PlacementReading) -> Void)?
    package init() {}
    package func start(report: @escaping (PlacementReading) -> Void) { reporter = report }
    package func shutDown() { reporter = nil }
    package func report(_ reading: PlacementReading) { reporter?(reading) }
}
