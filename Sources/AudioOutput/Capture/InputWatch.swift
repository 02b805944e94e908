// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
package import MediaModel
import Synchronization

/// Listens for sound at capture devices that nobody plays, and for what is plugged into the output's card. It has a thread while there
/// is something to listen to. Every function may be called on any thread, and returns at once.
package final class InputWatch: Sendable {
    package enum Event: Equatable, Sendable {
        /// Whether sound comes from a device; the reason why that cannot be told.
        case activity(name: String, isActive: Bool, reason: String?)
        case jack(name: String, isPlugged: Bool)
    }

    struct State {
        var watches: [CaptureWatch] = []
        /// The device that a load reads, and what its frames say.
        var taken: String?
        var detector: ActivityDetector?
        /// What was told last of each device that is watched.
        var activity: [String: Bool] = [:]
        /// The index of the card whose jacks are watched, and how often it was said to be there.
        var card: Int32?
        var arrivals = 0
        var isRunning = false
        var isQuitting = false
        /// The load that has a watched device goes on with what was found before.
        mutating func listenThroughLoad() {
            detector = nil
            guard let taken, let watch = watches.first(where: { $0.name == taken }) else { return }
            detector = ActivityDetector(watch, isActive: activity[taken] ?? false)
        }
        var isWanted: Bool { !isQuitting && (!watches.isEmpty || card != nil) }
    }

    let state = Mutex(State())
    let wake: WakeUp
    let report: @Sendable (Event) -> Void

    /// `report` is called on threads of this and of loads, and must return at once. Nil if the system has no descriptor left.
    package init?(report: @escaping @Sendable (Event) -> Void) {
        guard let wake = WakeUp() else { return nil }
        (self.wake, self.report) = (wake, report)
    }

    /// Which devices are listened to, in place of those before.
    package func listen(to watches: [CaptureWatch]) {
        change { state in
            var names: Set<String> = []
            state.watches = watches.filter { names.insert($0.name).inserted }.prefix(CaptureWatch.limit) + []
            let kept = Set(state.watches.map(\.name))
            state.activity = state.activity.filter { kept.contains($0.key) }
            state.listenThroughLoad()
        }
    }

    /// The output's device is there: its card's jacks are told of, each at once and then when it changes.
    package func follow(jacksOf device: String) {
        guard let card = SoundCard.index(inName: device) else { return }
        change { ($0.card, $0.arrivals) = (card, $0.arrivals + 1) }
    }

    /// A load reads the device from now on, and says what it hears; nil: none does. The device is let go for it.
    package func yield(to name: String?) {
        change { state in
            state.taken = name
            state.listenThroughLoad()
        }
    }

    /// What the load that has a device hears.
    package func hear(_ frames: [Float], rate: Int32) {
        let event: Event? = state.withLock { state in
            guard let name = state.taken, var detector = state.detector else { return nil }
            let isNews = detector.take(frames, rate: rate)
            state.detector = detector
            if isNews { state.activity[name] = detector.isActive }
            return isNews ? .activity(name: name, isActive: detector.isActive, reason: nil) : nil
        }
        if let event { report(event) }
    }

    package func shutDown() { change { $0.isQuitting = true } }

    private func change(_ body: (inout State) -> Void) {
        let mustStart = state.withLock { state in
            body(&state)
            guard state.isWanted, !state.isRunning else { return false }
            state.isRunning = true
            return true
        }
        wake.signal()
        guard mustStart else { return }
        let isStarted = OutputThread.start(named: "linnet-inputs") { [self] in InputLoop(self).run() }
        if !isStarted { state.withLock { $0.isRunning = false } }
    }
}
