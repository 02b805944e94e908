// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import MediaModel
import ReceiverRuntime
import SwitchingCore

/// What is known of BlueZ and bluez-alsa, and what follows from each change. It calls nobody: calls, timers and reports leave as
/// effects, and their outcomes return as events.
///
/// Reports are differences: after each event, what the objects on the bus say is held against what was reported last. So it
/// does not matter in which order objects go, or whether they go at all when a daemon is killed.
struct BluetoothState: Sendable {
    enum Event: Sendable {
        /// The connection to the bus is gone, or could not be made.
        case busLost
        case bluez(RemoteObjects.Event)
        case bluealsa(RemoteObjects.Event)
        case commanded(ExternalSourceCommand)
        case agentAsked(AgentRequest)
        /// BlueZ takes its question back.
        case agentCancelled
        /// BlueZ does not use the agent any more.
        case agentReleased
        case called(BluezCall, CallFailure?)
        /// The answer to an `open` effect: a descriptor, or why there is none.
        case opened(SourceAddress, attempt: Int, Result<Int32, CallFailure>)
        case fired(Timer)
    }

    enum Effect: Equatable, Sendable {
        case report(ExternalSourceEvent)
        case call(BluezCall)
        /// Asks for the samples of a PCM.
        case open(SourceAddress, path: String, attempt: Int)
        /// Lets go what keeps a PCM open.
        case release(attempt: Int)
        /// Closes a descriptor that nobody waits for any more.
        case close(Int32)
        case answer(request: Int, Bool)
        case arm(Timer, after: Duration)
        case disarm(Timer)
        case log(LogLevel, String, [String: String])
    }

    enum Timer: Hashable, Sendable {
        /// The pairing window ends.
        case window
        /// Nobody has confirmed.
        case confirmation
        /// The adapter is put right again.
        case settle
        /// The agent is registered again.
        case registration
        /// Devices that were lost with a daemon are asked back.
        case rejoin
        /// A PCM that was busy is asked for again.
        case reopen(SourceAddress)
        case relistBluez
        case relistBluealsa
    }

    /// A question of BlueZ's that waits for an answer.
    struct AgentRequest: Equatable, Sendable {
        enum Kind: Equatable, Sendable {
            case confirmation(passkey: UInt32)
            case authorization
            case service(uuid: String)
        }
        var number: Int
        var device: String
        var kind: Kind
    }

    let configuration: BluetoothSources.Configuration

    // MARK: What the bus says

    /// False until the bus has said whether they are there.
    var isBluezKnown = false
    var isBluealsaKnown = false
    var isBluezThere = false
    var isBluezListed = false
    var isBluealsaListed = false
    var adapters: [String: Adapter] = [:]
    var devices: [String: Device] = [:]
    var transports: [String: Transport] = [:]
    var players: [String: Player] = [:]
    var pcms: [String: PCM] = [:]

    // MARK: What we are at

    var isAgentRegistered = false
    var isAdvertising = false
    /// The end of the pairing window; nil while it is closed.
    var windowEnd: Int64?
    var windowSeconds = 0
    var question: AgentRequest?
    var pairing = PairingState.closed
    /// Devices that were paired in a window and are still to become trusted.
    var admitted: Set<String> = []
    /// Properties of the adapter that are being set.
    var settling: Set<String> = []
    var isSettlingHeld = false
    /// How often each of them was put right.
    var corrections: [String: Int] = [:]
    /// Devices that are sent away, until they are gone.
    var leaving: Set<SourceAddress> = []
    /// Sources that left, and when, youngest last.
    var departures: [(address: SourceAddress, time: Int64)] = []
    /// Sources that a daemon took along, and how far asking them back has come.
    var rejoining: [SourceAddress: Rejoin] = [:]
    var opening: [SourceAddress: Opening] = [:]
    /// What was opened, by the attempt that succeeded.
    var held: [SourceAddress: Int] = [:]
    var openCount = 0
    var activity = 0

    // MARK: What was reported

    var reported = Reported()
    var effects: [Effect] = []

    struct Reported: Sendable {
        var availability: ExternalAvailability?
        var known: [KnownSource] = []
        var sources: [SourceAddress: Source] = [:]
    }

    /// A device that sound can come from, as it is reported.
    struct Source: Equatable, Sendable {
        var name: String
        var format: CaptureFormat?
        var isInCall = false
        var status: PlayerStatus?
        var metadata = Metadata()
    }

    struct Rejoin: Equatable, Sendable {
        /// How often it was asked.
        var attempts = 0
        /// Its connection is ended first.
        var isParting = false
    }

    struct Opening: Equatable, Sendable {
        var attempt: Int
        var tries: Int
    }

    /// How long what was lost with a daemon is let alone before each time it is asked back. Daemons need a moment until they know
    /// each other, and phones often come back by themselves.
    static let rejoinPauses: [Duration] = [.seconds(2), .seconds(5), .seconds(10), .seconds(20)]
    /// How many devices may be connected for sound at one time.
    static let sourceLimit = 2
    /// How often the adapter is put right before somebody else's will is taken for stronger.
    static let maximumCorrections = 5

    init(_ configuration: BluetoothSources.Configuration) { self.configuration = configuration }

    /// Takes what has happened at `now`, and says what is to be done.
    mutating func apply(_ event: Event, now: Int64) -> [Effect] {
        effects = []
        switch event {
        case .busLost:
            bluezGone(now)
            bluealsaGone(now)
        case .bluez(let event): bluezChanged(event, now)
        case .bluealsa(let event): bluealsaChanged(event, now)
        case .commanded(let command): commanded(command, now)
        case .agentAsked(let request): agentAsked(request)
        case .agentCancelled: questionEnded(failure: "the other side gave up")
        case .agentReleased: agentReleased()
        case .called(let call, let failure): called(call, failure)
        case .opened(let address, let attempt, let result): opened(address, attempt, result)
        case .fired(let timer): fired(timer)
        }
        settle()
        reconcile(now)
        defer { effects = [] }
        return effects
    }

    private mutating func commanded(_ command: ExternalSourceCommand, _ now: Int64) {
        switch command {
        case .open(let address): open(address)
        case .close(let address): close(address)
        case .play(let address): control(address, "Play")
        case .pause(let address): control(address, "Pause")
        case .setVolume(let address, let level): setVolume(address, level)
        case .openPairing(let seconds): openWindow(seconds, now)
        case .closePairing: closeWindow()
        case .confirmPairing(let address, let isRight): confirm(address, isRight)
        case .forget(let address): forget(address)
        case .disconnect(let address):
            rejoining[address] = nil
            sendAway(address)
        }
    }

    private mutating func fired(_ timer: Timer) {
        switch timer {
        case .window: closeWindow()
        case .confirmation: questionEnded(failure: "nobody has confirmed")
        case .settle: isSettlingHeld = false
        case .registration: registerAgent()
        case .rejoin: rejoin()
        case .reopen(let address): tryOpening(address)
        // The owner of the objects asks for them again.
        case .relistBluez, .relistBluealsa: break
        }
    }

    private mutating func called(_ call: BluezCall, _ failure: CallFailure?) {
        if let failure {
            let isExpected = if case .volume = call.purpose { true } else { false }
            effects.append(
                .log(
                    isExpected ? .info : .warning, "a call was refused",
                    ["call": "\(call.interface).\(call.method)", "reason": "\(failure)"]))
        }
        switch call.purpose {
        case .registerAgent: agentRegistered(failure)
        case .becomeDefaultAgent, .registerProfile, .stopAdvertising, .request: break
        case .advertise:
            guard failure != nil else { return }
            isAdvertising = false
            // Asking again would be of no use.
            adapters[call.path]?.canAdvertise = false
        case .adapter(let property, let value): adapterSet(call.path, property, value, failure)
        case .volume(let transport, let value): volumeSet(transport, value, failure)
        case .join(let address): joined(address, failure)
        case .sendAway(let address):
            guard failure != nil else { return }
            leaving.remove(address)
            parted(address)
        }
    }

    mutating func log(_ level: LogLevel, _ message: String, _ metadata: [String: String] = [:]) {
        effects.append(.log(level, message, metadata))
    }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
