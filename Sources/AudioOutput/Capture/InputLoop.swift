// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// The work of the thread that listens. It looks at the capture devices a few times in the shortest time of attack, and waits for the
/// jacks.
final class InputLoop {
    /// How often a device that cannot be read is tried again, in nanoseconds.
    private static let retry: Int64 = 2_000_000_000
    /// The rate and the longest time between two looks.
    private static let rate: Int32 = 48_000
    private static let longest: Int64 = 100_000_000

    /// A device that is listened to.
    private final class Ear {
        var watch: CaptureWatch
        var pcm: PCM?
        var setup: PCM.Setup?
        var samples = RawSamples(format: .s16le, channels: 2)
        var detector: ActivityDetector
        var bytes: [UInt8] = []
        var retryAt: Int64 = 0
        /// What was told last; nil before.
        var told: (isActive: Bool, reason: String?)?
        func close() {
            pcm = nil
            setup = nil
        }
        init(_ watch: CaptureWatch) { (self.watch, detector) = (watch, ActivityDetector(watch)) }
    }

    private let owner: InputWatch
    private var ears: [Ear] = []
    private var jacks: JackControls?
    private var arrivals = 0

    init(_ owner: InputWatch) { self.owner = owner }

    func run() {
        while step() {}
    }

    /// One turn. False at the end.
    private func step() -> Bool {
        let (wanted, taken, card, arrivals): ([CaptureWatch], String?, Int32?, Int)
        (wanted, taken, card, arrivals) = owner.state.withLock {
            ($0.watches, $0.taken, $0.card, $0.arrivals)
        }
        follow(wanted, taken)
        if arrivals != self.arrivals {
            self.arrivals = arrivals
            openJacks(card)
        }
        let now = MonotonicClock.now()
        var pause: Int64?
        for ear in ears where ear.watch.name != taken {
            if ear.pcm == nil, now >= ear.retryAt { open(ear) }
            listen(to: ear)
            let due = ear.pcm == nil ? max(0, ear.retryAt - now) : Self.pause(of: ear.watch)
            pause = min(pause ?? .max, due)
        }
        tellJacks()
        // Without jacks and devices nothing is waited for.
        let isOver = owner.state.withLock { state in
            let isIdle = state.watches.isEmpty && jacks == nil && state.arrivals == arrivals
            guard state.isQuitting || isIdle else { return false }
            if isIdle { state.card = nil }
            state.isRunning = false
            return true
        }
        if isOver { return false }
        wait(pause.map { .nanoseconds(max($0, 1_000_000)) })
        return true
    }

    private static func pause(of watch: CaptureWatch) -> Int64 {
        min(max(Int64(watch.attackMilliseconds) * 500_000, 20_000_000), longest)
    }

    private func wait(_ timeout: Duration?) {
        if jacks?.wait(or: owner.wake, timeout: timeout) == nil { owner.wake.wait(timeout: timeout) }
    }

    // MARK: Sound

    private func follow(_ wanted: [CaptureWatch], _ taken: String?) {
        ears.removeAll { !wanted.contains($0.watch) }
        for watch in wanted where !ears.contains(where: { $0.watch == watch }) { ears.append(Ear(watch)) }
        for ear in ears where ear.watch.name == taken {
            // The load tells what it hears from now on.
            ear.close()
            (ear.retryAt, ear.told) = (0, nil)
        }
    }

    private func open(_ ear: Ear) {
        do throws(PCM.Failure) {
            let pcm = try PCM(capturing: ear.watch.name)
            let setup = try pcm.configure(
                rate: Self.rate, bufferTime: .milliseconds(500), periodTime: .milliseconds(50))
            try pcm.start()
            ear.samples = RawSamples(format: setup.format.name, channels: Int(setup.channels))
            ear.bytes = [UInt8](repeating: 0, count: setup.bufferFrames * setup.frameBytes)
            let wasActive = owner.state.withLock { $0.activity[ear.watch.name] ?? false }
            ear.detector = ActivityDetector(ear.watch, isActive: wasActive)
            ear.setup = setup
            ear.pcm = consume pcm
            tell(ear, isActive: ear.detector.isActive, reason: nil)
        } catch { lose(ear, error) }
    }

    private func lose(_ ear: Ear, _ failure: PCM.Failure) {
        ear.close()
        ear.retryAt = MonotonicClock.now() + Self.retry
        let reason =
            failure.isBusy ? "somebody else reads it" : failure.isAbsence ? "it is not there" : "\(failure)"
        tell(ear, isActive: false, reason: reason)
    }

    private func listen(to ear: Ear) {
        guard let setup = ear.setup else { return }
        do throws(PCM.Failure) {
            let room = setup.bufferFrames
            switch try ear.pcm?.read(into: &ear.bytes, room: room, frameBytes: setup.frameBytes) {
            case .frames(let count) where count > 0:
                ear.samples.take(ear.bytes, count: count * setup.frameBytes)
                if ear.detector.take(ear.samples.frames, rate: setup.rate) {
                    tell(ear, isActive: ear.detector.isActive, reason: nil)
                }
            case .underrun:
                try ear.pcm?.prepare()
                try ear.pcm?.start()
            default: break
            }
        } catch { lose(ear, error) }
    }

    private func tell(_ ear: Ear, isActive: Bool, reason: String?) {
        if let told = ear.told, told == (isActive, reason) { return }
        ear.told = (isActive, reason)
        owner.state.withLock { $0.activity[ear.watch.name] = isActive }
        owner.report(.activity(name: ear.watch.name, isActive: isActive, reason: reason))
    }

    // MARK: Jacks

    private func openJacks(_ card: Int32?) {
        jacks = nil
        guard let card, let found = JackControls(card: "hw:\(card)") else { return }
        for jack in found.jacks { owner.report(.jack(name: jack.name, isPlugged: jack.isPlugged)) }
        jacks = consume found
    }

    private func tellJacks() {
        guard jacks != nil else { return }
        guard let changed = jacks?.changes() else {
            // The card is gone; it is looked at again when the output has it back.
            jacks = nil
            return
        }
        for jack in changed { owner.report(.jack(name: jack.name, isPlugged: jack.isPlugged)) }
    }
}
