// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// The device: which one it is, whether it is there, who holds it, when it is tried again. Used by the output
/// thread alone.
final class DeviceKeeper {
    /// Rates that are asked for.
    private static let usualRates: [Int32] = [
        8000, 11025, 16000, 22050, 32000, 44100, 48000, 88200, 96000, 176_400, 192_000,
    ]

    private let configuration: AudioOutputConfiguration
    private let facts: DeviceFacts
    private let report: @Sendable (AudioOutputEvent) -> Void
    private(set) var card: (any Card)?
    /// The device in place of the configured one.
    private(set) var moved: String?
    private(set) var status: OutputStatus
    private var mixer: Mixer?
    /// What the mixer was set to last, and what it said right afterwards: its steps may be coarse, its range short.
    private var mixerVolume: Volume?
    private var mixerFound: Mixer.Reading?
    /// The card that the mixer belongs to.
    private var mixerCard: Int32?
    private var retryDelay: Duration
    /// When a lost device is tried again.
    private(set) var retryAt: Int64?

    init(
        configuration: AudioOutputConfiguration, facts: DeviceFacts,
        report: @escaping @Sendable (AudioOutputEvent) -> Void
    ) {
        (self.configuration, self.facts, self.report) = (configuration, facts, report)
        retryDelay = configuration.retryDelays.lowerBound
        status = OutputStatus(state: .closed, device: configuration.device)
    }

    private var wanted: String { moved ?? configuration.device }

    var hasMixer: Bool { status.hasHardwareVolume }

    /// Finds out what can be known without playing.
    func look() {
        open()
        if card != nil, status.state != .null { close() }
        report(.statusChanged(status))
    }

    /// Leaves the device for another one, nil for the configured one. That one is opened if this one was, else only looked at.
    func move(to device: String?) {
        let wasOpen = card != nil
        card = nil
        forgetMixer()
        moved = device
        retryDelay = configuration.retryDelays.lowerBound
        status = OutputStatus(state: .closed, device: wanted)
        open()
        guard card != nil else { return }
        if !wasOpen { close() }
        report(.statusChanged(status))
    }

    /// Opens the device if it is time. True if there is a card now.
    func openIfDue(now: Int64) -> Bool {
        if card != nil { return true }
        if let retryAt, now < retryAt { return false }
        let before = status
        open()
        if status != before { report(.statusChanged(status)) }
        return card != nil
    }

    private func open() {
        retryAt = nil
        if wanted == "null" { return useClock() }
        var failure: PCM.Failure?
        for name in candidates() {
            do throws(PCM.Failure) {
                let pcm = try PCM(opening: name)
                let rates = try pcm.supportedRates(among: Self.usualRates)
                facts.rates.withLock { $0 = rates }
                card = SoundCardDevice(adopting: pcm)
                openMixer(of: name)
                status = OutputStatus(
                    state: .open, device: name, hasHardwareVolume: mixer != nil)
                retryDelay = configuration.retryDelays.lowerBound
                return
            } catch {
                failure = failure.map { $0.isBusy ? $0 : error } ?? error
            }
        }
        if wanted == "auto", failure?.isBusy != true { return useClock() }
        lose(failure ?? PCM.Failure(status: -19))
    }

    private func useClock() {
        facts.rates.withLock { $0 = [] }
        card = ClockCard()
        status = OutputStatus(state: .null, device: "null")
    }

    private func candidates() -> [String] {
        // A name without a colon may be one of the configuration's or a card's. The card may come later.
        if wanted != "auto" { return wanted.contains(":") ? [wanted] : [wanted, "hw:CARD=\(wanted)"] }
        return CardOrder.names(of: SoundCard.playing()) + ["default"]
    }

    /// Gives the card up after a failure; it is tried again later.
    func lose(_ failure: PCM.Failure) {
        card = nil
        forgetMixer()
        let name = status.device == "null" ? wanted : status.device
        var reason = failure.description
        if failure.isBusy, let index = SoundCard.index(inName: name),
            let holder = SoundCard.holder(ofCard: index)
        {
            reason = "held by \(holder)"
        }
        let before = status
        status = OutputStatus(state: failure.isBusy ? .busy : .lost, device: name, reason: reason)
        retryAt = MonotonicClock.now() + Int64(retryDelay / .nanoseconds(1))
        retryDelay = min(retryDelay * 2, configuration.retryDelays.upperBound)
        if status != before { report(.statusChanged(status)) }
    }

    /// Gives the card up so that others can use it.
    func close() {
        guard card != nil, status.state != .null else { return }
        card = nil
        (status.state, status.sampleRate) = (.closed, nil)
    }

    func closeAndReport() {
        let before = status
        close()
        if status != before { report(.statusChanged(status)) }
    }

    /// The rate that every item has on this device, if it has only one.
    var onlyRate: Int32? { facts.rates.withLock { $0.count == 1 ? $0.first : nil } }

    /// What was known of this device's crystal before it was measured, in parts per million.
    var drift: Double? { facts.drifts.withLock { $0[status.device] } }

    /// The rate at which the device plays frames of another, if it does not play theirs.
    func playableRate(for rate: Int32) -> Int32 {
        let rates = facts.rates.withLock { $0 }
        if rates.isEmpty || rates.contains(rate) { return rate }
        return rates.contains(48_000) ? 48_000 : rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
    }

    /// How frames are queued that are bound to no group.
    var usualQueue: CardQueue { .usual(configuration.buffer) }

    func configure(rate: Int32, queue: CardQueue) throws(PCM.Failure) {
        guard let card else { return }
        try card.configure(rate: rate, queue: queue)
        guard card.setup?.rate == rate else { throw PCM.Failure(status: -22) }
        if status.state == .open, status.sampleRate != rate {
            status.sampleRate = rate
            report(.statusChanged(status))
        }
    }

    // MARK: Mixer

    private func forgetMixer() {
        mixer = nil
        (mixerVolume, mixerFound) = (nil, nil)
    }

    private func openMixer(of name: String) {
        let control: String?
        switch configuration.mixer {
        case .software: return
        case .automatic: control = nil
        case .control(let name): control = name
        }
        let index = SoundCard.index(inName: name)
        // The mixer of a card that was away meanwhile answers no more.
        guard mixerCard != index || mixer?.read() == nil else { return }
        (mixerCard, mixerVolume, mixerFound) = (index, nil, nil)
        mixer = nil
        if let index { mixer = Mixer(card: "hw:\(index)", control: control) }
    }

    /// Sets the mixer, if there is one and it was set to something else.
    func setMixer(_ volume: Volume) {
        guard mixer != nil, mixerVolume != volume else { return }
        mixerVolume = volume
        mixer?.set(
            attenuation: VolumeCurve.attenuation(ofLevel: volume.level),
            isMuted: volume.isMuted || volume.level <= 0)
        mixerFound = mixer?.read()
    }

    /// Reports the mixer's volume if somebody else moved it since it was set.
    func checkMixer() -> Volume? {
        guard let set = mixerVolume, let before = mixerFound, let found = mixer?.read(), found != before
        else { return nil }
        mixerFound = found
        let level =
            found.attenuation == before.attenuation
            ? set.level : VolumeCurve.level(ofAttenuation: found.attenuation)
        let volume = Volume(level: level, isMuted: found.isMuted)
        guard volume != set else { return nil }
        mixerVolume = volume
        report(.volumeChanged(volume))
        return volume
    }
}
