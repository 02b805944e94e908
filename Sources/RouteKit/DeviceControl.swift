// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel
public import Observation

/// The device at the other end, as an object: its properties mirror the receiver's state, and writing `volume` or
/// `isMuted` sends a command, by the rules of `PlaybackControl`.
@RouteActor @Observable public final class DeviceControl {
    /// The UUID of the device.
    public private(set) var id = ""
    /// Its name. `perform(.rename(…))` gives it another.
    public private(set) var name = ""
    /// Its model.
    public private(set) var model = ""
    /// `speaker` or `tv`; others may come.
    public private(set) var type = ""
    /// How its volume can be changed.
    public private(set) var volumeMode = Receiver.VolumeMode.absolute
    /// True if it can be muted.
    public private(set) var canMute = true
    /// The highest volume it lets anybody set.
    public private(set) var volumeCap = 1.0
    /// Its sound output.
    public private(set) var output = OutputState.unknown
    /// Whether it can be found; nil if it does not say.
    public private(set) var advertisement: AdvertisementState?
    /// Why it cannot write its name and volume down, such as a full disk; nil if it can. Changes count all the same
    /// and are lost with the next restart.
    public private(set) var storageFault: String?
    /// The walls around the process that decodes media there; nil if it does not say.
    public private(set) var confinement: [ConfinementLayer]?
    /// How much later than its card says it is heard.
    public private(set) var outputTrim = Duration.zero
    /// Who changed volume or mute last; nil if nobody did since we look.
    public private(set) var volumeOrigin: ChangeOrigin?
    /// The last refusal.
    public private(set) var lastRefusal: Refusal<DeviceCommand>?

    private var level = Volume.full
    @ObservationIgnored private var remote = DeviceSnapshot()
    /// The newest write of level and mute that is not answered; 0 is none.
    @ObservationIgnored private var pendingLevel: UInt64 = 0
    @ObservationIgnored private var pendingMute: UInt64 = 0
    @ObservationIgnored private var writes: UInt64 = 0
    @ObservationIgnored private weak var performer: (any CommandPerformer)?
    @ObservationIgnored private let announcer = Announcer()

    init(performer: (any CommandPerformer)?) { self.performer = performer }

    func attach(to performer: any CommandPerformer) { self.performer = performer }

    /// The device's volume, 0 to 1.
    public var volume: Double {
        get { level.level }
        set { send(.setVolume(newValue)) }
    }
    /// The device's mute, which leaves the level alone.
    public var isMuted: Bool {
        get { level.isMuted }
        set { send(.setMuted(newValue)) }
    }

    /// Sends a command and waits for the receiver's answer.
    @discardableResult public func perform(_ command: DeviceCommand) async throws -> WriteOutcome {
        try await withCheckedThrowingContinuation { continuation in
            send(command) { continuation.resume(with: $0) }
        }
    }

    /// A value after each change of anything here, the latest only; ends with the connection.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    private func send(
        _ command: DeviceCommand, then: (@RouteActor (Result<WriteOutcome, RoutingError>) -> Void)? = nil
    ) {
        guard let performer else {
            let error = RoutingError(.ended, family: .connection, "the connection is closed")
            refused(command, error)
            then?(.failure(error))
            return
        }
        writes += 1
        let number = writes
        switch command {
        case .setVolume(let value):
            pendingLevel = number
            set(\.level, Volume(level: value, isMuted: level.isMuted))
        case .setMuted(let value):
            pendingMute = number
            set(\.level, Volume(level: level.level, isMuted: value))
        case .changeVolume, .toggleMute, .rename, .setOutputTrim: break
        }
        performer.perform(command) { [weak self] result in
            self?.answered(command, number, result)
            then?(result)
        }
        announcer.announce()
    }

    private func answered(
        _ command: DeviceCommand, _ number: UInt64, _ result: Result<WriteOutcome, RoutingError>
    ) {
        let isNewest = pendingLevel == number || pendingMute == number
        if pendingLevel == number { pendingLevel = 0 }
        if pendingMute == number { pendingMute = 0 }
        switch result {
        case .failure(let error): refused(command, error)
        case .success(let outcome):
            switch (command, outcome) {
            case (.setVolume, .clampedNumber(let value)): if isNewest { remote.volume.level = value }
            case (.setVolume(let value), _): if isNewest { remote.volume.level = value }
            case (.setMuted(let value), _): if isNewest { remote.volume.isMuted = value }
            default: break
            }
        }
        if isNewest { mirror(remote, origin: nil) }
    }

    private func refused(_ command: DeviceCommand, _ error: RoutingError) {
        lastRefusal = Refusal(command: command, error: error)
        announcer.announce()
    }

    /// Takes over what the receiver says; a level or mute on its way stays as written.
    func mirror(_ snapshot: DeviceSnapshot, origin: ChangeOrigin?) {
        if let origin, snapshot.volume != remote.volume { volumeOrigin = origin }
        remote = snapshot
        set(\.id, snapshot.id)
        set(\.name, snapshot.name)
        set(\.model, snapshot.model)
        set(\.type, snapshot.type)
        set(\.volumeMode, snapshot.volumeMode)
        set(\.canMute, snapshot.canMute)
        set(\.volumeCap, snapshot.volumeCap)
        set(\.output, snapshot.output)
        set(\.advertisement, snapshot.advertisement)
        set(\.storageFault, snapshot.storageFault)
        set(\.confinement, snapshot.confinement)
        set(\.outputTrim, snapshot.outputTrim)
        var volume = snapshot.volume
        if pendingLevel != 0 { volume.level = level.level }
        if pendingMute != 0 { volume.isMuted = level.isMuted }
        set(\.level, volume)
        announcer.announce()
    }

    func finish() {
        performer = nil
        announcer.finish()
    }

    private func set<Value: Equatable>(
        _ path: ReferenceWritableKeyPath<DeviceControl, Value>, _ value: Value
    ) {
        if self[keyPath: path] != value { self[keyPath: path] = value }
    }
}
