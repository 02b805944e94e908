// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// The output thread's work: takes frames from the ring, gives them to the card, starts, pauses and drops it,
/// and notes what is heard. Decides by state alone, so commands that come in a burst are one.
final class OutputLoop {
    /// What the other threads want, as of one moment.
    private struct Wish {
        var stream: StreamID?
        var epoch: UInt64
        var isPlaying: Bool
        var hasEnded: Bool
        var rate: Int32
        var queued: Int
        var head: Int64
        var outputVolume: Volume
        var mediaVolume: Volume
        var isQuitting: Bool
        var mustRewind: Bool
    }

    private let ring: FrameRing
    private let keeper: DeviceKeeper
    private let configuration: AudioOutputConfiguration
    private let report: @Sendable (AudioOutputEvent) -> Void

    private var stream: StreamID?
    private var epoch: UInt64 = 0
    /// Frames given to the card since it was last reset.
    private var written: Int64 = 0
    private var isRunning = false
    private var isPaused = false
    private var isStarved = false
    private var isSounding = false
    private var hasDrained = false
    private var hasPadded = false
    private var map = CardMap()
    private var converter = SampleConverter()
    private var gain: Float = 1
    private var samples: [Float] = []
    private var bytes: [UInt8] = []
    private var closeAt: Int64?
    private var nextMixerCheck: Int64 = 0

    init(
        ring: FrameRing, device: DeviceFacts, configuration: AudioOutputConfiguration,
        report: @escaping @Sendable (AudioOutputEvent) -> Void
    ) {
        (self.ring, self.configuration, self.report) = (ring, configuration, report)
        keeper = DeviceKeeper(configuration: configuration, facts: device, report: report)
    }

    func run() {
        keeper.look()
        while step() {}
    }

    /// One turn. False at the end.
    private func step() -> Bool {
        let now = MonotonicClock.now()
        let wish = look()
        if wish.isQuitting {
            keeper.close()
            return false
        }
        if wish.epoch != epoch { startAnew(wish) }
        applyVolume(wish, now: now)
        serviceDevice(wish, now: now)
        do throws(PCM.Failure) {
            if wish.mustRewind { try rewind() }
            if keeper.card != nil, wish.stream != nil { try feed(wish) }
        } catch {
            lose(error)
        }
        for cue in ring.state.withLock({ $0.takeCues() }) { report(.cueReached(cue.stream, cue.number)) }
        wait(wish)
        return true
    }

    private func look() -> Wish {
        ring.state.withLock {
            Wish(
                stream: $0.stream, epoch: $0.epoch, isPlaying: $0.isPlaying, hasEnded: $0.hasEnded,
                rate: $0.rate,
                queued: $0.queued, head: $0.head, outputVolume: $0.outputVolume,
                mediaVolume: $0.mediaVolume, isQuitting: $0.isQuitting, mustRewind: $0.mustRewind)
        }
    }

    // MARK: State

    /// Follows a flush: what the card holds is not wanted any more.
    private func startAnew(_ wish: Wish) {
        setSounding(false)
        if wish.stream != stream {
            (stream, isStarved) = (wish.stream, false)
            converter.set(targetGain(wish))
        }
        epoch = wish.epoch
        (hasDrained, hasPadded) = (false, false)
        do throws(PCM.Failure) { try resetCard() } catch { lose(error) }
    }

    private func resetCard() throws(PCM.Failure) {
        if written > 0 || isRunning || isPaused { try keeper.card?.reset() }
        forgetCard()
    }

    private func forgetCard() {
        (written, isRunning, isPaused) = (0, false, false)
        map.removeAll()
    }

    private func lose(_ failure: PCM.Failure) {
        forgetCard()
        setSounding(false)
        ring.state.withLock { if $0.epoch == epoch { $0.next = $0.kept } }
        hasPadded = false
        keeper.lose(failure)
    }

    private func setSounding(_ sounding: Bool) {
        guard sounding != isSounding else { return }
        isSounding = sounding
        if !sounding { ring.state.withLock { if $0.epoch == epoch { $0.heard?.rate = 0 } } }
        if let stream { report(.soundingChanged(stream, sounding)) }
    }

    private func setStarved(_ starved: Bool) {
        guard starved != isStarved else { return }
        isStarved = starved
        if let stream { report(.starvationChanged(stream, starved)) }
    }

    private func targetGain(_ wish: Wish) -> Float {
        var output = wish.outputVolume
        output.level = min(output.level, configuration.maximumLevel)
        return VolumeCurve.gain(of: wish.mediaVolume) * (keeper.hasMixer ? 1 : VolumeCurve.gain(of: output))
    }

    private func applyVolume(_ wish: Wish, now: Int64) {
        if keeper.hasMixer {
            if now >= nextMixerCheck {
                nextMixerCheck = now + 1_000_000_000
                if let moved = keeper.checkMixer() {
                    ring.state.withLock {
                        if $0.outputVolume == wish.outputVolume { $0.outputVolume = moved }
                    }
                    return
                }
            }
            var output = wish.outputVolume
            output.level = min(output.level, configuration.maximumLevel)
            keeper.setMixer(output)
        }
        let target = targetGain(wish)
        guard target != gain else { return }
        gain = target
        // What a standing card holds was made with the old gain, and would be heard with it.
        if !isRunning, written > 0 {
            do throws(PCM.Failure) { try rewind() } catch { lose(error) }
        }
        if isRunning { converter.approach(target, rate: max(wish.rate, 1)) } else { converter.set(target) }
    }

    private var closeDelay: Int64 { Int64(configuration.closeDelay / .nanoseconds(1)) }

    private func serviceDevice(_ wish: Wish, now: Int64) {
        let isWanted = wish.stream != nil && !hasDrained
        if isWanted || keeper.retryAt != nil {
            closeAt = nil
            if keeper.openIfDue(now: now), !isWanted { keeper.closeAndReport() }
        } else if keeper.card != nil, keeper.status.state != .null {
            let due = closeAt ?? now + closeDelay
            closeAt = due
            if now >= due {
                forgetCard()
                keeper.closeAndReport()
                closeAt = nil
                // Nothing has played for a while: what the decoders left is taken apart by now, and no thread is held up.
                returnFreeMemory()
            }
        }
    }

    // MARK: Feeding

    private func feed(_ wish: Wish) throws(PCM.Failure) {
        guard let card = keeper.card, wish.rate > 0, wish.queued > 0 || written > 0 || wish.hasEnded else {
            return
        }
        if card.setup?.rate != wish.rate {
            forgetCard()
            try keeper.configure(rate: wish.rate)
        }
        guard let setup = card.setup else { return }
        if isRunning, !wish.isPlaying { try pause(setup) }
        if isPaused {
            guard wish.isPlaying else { return }
            try card.pause(false)
            (isPaused, isRunning) = (false, true)
        }
        try fill(wish, card: card, setup: setup)
        // A stream that joined after this one's end takes the silence back.
        if wish.hasEnded { try pad(card: card, setup: setup) } else { hasPadded = false }
        if !isRunning { try startIfEnough(wish, card: card) }
        try noteHeard()
    }

    private func fill(_ wish: Wish, card: any Card, setup: PCM.Setup) throws(PCM.Failure) {
        let chunk = frames(in: CardTiming.start, rate: setup.rate)
        // A ring is bounded, so this ends when the card is full or the ring is empty.
        while true {
            guard case .frames(let room) = try card.room() else {
                try recover()
                continue
            }
            guard room > 0, let (first, count) = ring.take(min(room, chunk), into: &samples) else { return }
            converter.convert(samples, count: count, into: &bytes, setup: setup)
            var done = 0
            while done < count {
                guard case .frames(let taken) = try card.write(bytes, from: done, count: count - done),
                    taken > 0
                else { break }
                map.append(cardFrame: written, ringFrame: first + Int64(done), isSilence: false)
                written += Int64(taken)
                done += taken
            }
            ring.advance(next: first + Int64(done), epoch: epoch)
            if !isRunning { try startIfEnough(wish, card: card) }
            if done < count { return }
        }
    }

    /// Lets silence follow the last frame, so that a card that works in periods plays it out.
    private func pad(card: any Card, setup: PCM.Setup) throws(PCM.Failure) {
        guard !hasPadded, ring.state.withLock({ $0.epoch == epoch && $0.queued == 0 && $0.hasEnded }) else {
            return
        }
        guard case .frames(let room) = try card.room(), room >= setup.periodFrames else { return }
        let count = setup.periodFrames
        if bytes.count < count * setup.frameBytes {
            bytes += [UInt8](repeating: 0, count: count * setup.frameBytes - bytes.count)
        }
        for index in 0..<count * setup.frameBytes { bytes[index] = 0 }
        let end = ring.state.withLock { $0.head }
        map.append(cardFrame: written, ringFrame: end, isSilence: true)
        if case .frames(let taken) = try card.write(bytes, from: 0, count: count) { written += Int64(taken) }
        hasPadded = true
    }

    private func startIfEnough(_ wish: Wish, card: any Card) throws(PCM.Failure) {
        guard wish.isPlaying, written > 0 else { return }
        let threshold = frames(in: isStarved ? CardTiming.refill : CardTiming.start, rate: wish.rate)
        let isEnough = ring.state.withLock {
            $0.epoch == epoch && (Int($0.head - $0.kept) >= threshold || $0.hasEnded)
        }
        guard isEnough else { return }
        try card.start()
        isRunning = true
        setStarved(false)
    }

    private func pause(_ setup: PCM.Setup) throws(PCM.Failure) {
        try noteHeard()
        setSounding(false)
        guard isRunning else { return }
        if setup.canPause, (try? keeper.card?.pause(true)) != nil {
            (isPaused, isRunning) = (true, false)
        } else {
            try rewind()
        }
    }

    /// Takes back what the card has not played, to give it again later.
    private func rewind() throws(PCM.Failure) {
        try resetCard()
        ring.state.withLock {
            if $0.epoch == epoch { ($0.next, $0.mustRewind) = ($0.kept, false) }
        }
        hasPadded = false
    }

    /// The card ran dry: everything that it was given was heard.
    private func recover() throws(PCM.Failure) {
        let next = ring.state.withLock { $0.next }
        ring.advance(kept: next, epoch: epoch)
        try resetCard()
        setSounding(false)
        passJoint()
    }

    /// Notes that the stream that followed is heard, and whatever else goes with that moment.
    private func passJoint(_ body: (inout FrameRing.State) -> Void = { _ in }) {
        let passed = ring.state.withLock { state -> (from: StreamID, to: StreamID)? in
            guard state.epoch == epoch else { return nil }
            let passed = state.passJoint()
            body(&state)
            return passed
        }
        guard let passed else { return }
        stream = passed.to
        report(.advanced(passed.from, to: passed.to))
    }

    /// Reads the card's delay, and notes with the time after it what is heard.
    private func noteHeard() throws(PCM.Failure) {
        guard let card = keeper.card, let setup = card.setup, written > 0 else { return finishIfHeard() }
        guard isRunning else { return noteStanding() }
        let outcome = try card.delay()
        let now = MonotonicClock.now()
        guard case .frames(let delay) = outcome else {
            try recover()
            return finishIfHeard()
        }
        let cardFrame = written - Int64(delay)
        guard let (frame, isSilence) = map.ringFrame(of: max(0, cardFrame)) else { return }
        ring.advance(kept: frame, epoch: epoch)
        let isHeard = cardFrame >= 0 && !isSilence
        passJoint { state in
            guard let place = state.marks.place(of: frame) else { return }
            let rate = isHeard ? place.step * Double(setup.rate) / 1e9 : 0
            state.heard = HeardPosition(position: Int64(place.position), clockTime: now, rate: rate)
        }
        setSounding(isHeard)
        finishIfHeard()
    }

    /// Notes where a card stands that has not begun.
    private func noteStanding() {
        let now = MonotonicClock.now()
        ring.state.withLock { state in
            guard state.epoch == epoch, let place = state.marks.place(of: state.kept) else { return }
            state.heard = HeardPosition(position: Int64(place.position), clockTime: now, rate: 0)
        }
    }

    private func finishIfHeard() {
        guard !hasDrained, let stream else { return }
        let (isDone, isEmpty, turn) = ring.state.withLock { state in
            let isEmpty = state.epoch == epoch && state.head == state.kept
            let isDone = isEmpty && state.hasEnded
            let turn = isDone ? state.takeTurn() : nil
            if isDone, turn == nil { state.hasDrained = true }
            return (isDone, isEmpty, turn)
        }
        if let turn {
            setSounding(false)
            hasPadded = false
            do throws(PCM.Failure) { try resetCard() } catch { lose(error) }
            (self.stream, isStarved) = (turn.to, false)
            report(.advanced(turn.from, to: turn.to))
            // The next stream's decoder, and this thread, which has nothing of it yet, or its end.
            ring.followerWake.signal()
            ring.readerWake.signal()
        } else if isDone {
            hasDrained = true
            setSounding(false)
            setStarved(false)
            do throws(PCM.Failure) { try resetCard() } catch { lose(error) }
            // Nobody wakes this thread to give the device up.
            if keeper.status.state != .null { closeAt = MonotonicClock.now() + closeDelay }
            report(.drained(stream))
        } else if isEmpty, !isRunning, wantsSound {
            setStarved(true)
        }
    }

    private var wantsSound: Bool { ring.state.withLock { $0.isPlaying && !$0.isFlushing && $0.heard != nil } }

    // MARK: Waiting

    private func wait(_ wish: Wish) {
        let now = MonotonicClock.now()
        var limit: Int64?
        func within(_ time: Int64) { limit = min(limit ?? .max, max(0, time)) }
        if let retryAt = keeper.retryAt { within(retryAt - now) }
        if let closeAt { within(closeAt - now) }
        let (isEmpty, isNews) = ring.state.withLock { state in
            // The next stream is told of when it is heard, not with the card's next wake-up.
            if isRunning, let joint = state.joint, state.rate > 0 {
                within(Int64(Double(joint.frame - state.kept) * 1e9 / Double(state.rate)))
            }
            if isRunning, let cue = state.cues.first, state.rate > 0 {
                within(Int64(Double(cue.frame - state.kept) * 1e9 / Double(state.rate)))
            }
            // Frames that came since this turn began have woken nobody; a card that stands may start with them.
            if !isRunning, state.head != wish.head { return (false, true) }
            if !isRunning || state.queued == 0 { state.isReaderWaiting = true }
            return (state.queued == 0, false)
        }
        if isNews { return }
        guard let card = keeper.card, let setup = card.setup, isRunning || (!isPaused && !isEmpty) else {
            ring.readerWake.wait(timeout: limit.map { .nanoseconds($0) })
            return
        }
        if isRunning, isEmpty, hasPadded || !wish.hasEnded {
            // Until the card runs out, or plays the silence after the end; with a little more, so that it surely does.
            if case .frames(let delay)? = try? card.delay() {
                let rest = delay - (hasPadded ? setup.periodFrames : 0)
                within(Int64(Double(rest) * 1e9 / Double(setup.rate)) + 500_000)
            }
            ring.readerWake.wait(timeout: limit.map { .nanoseconds($0) })
        } else if isRunning {
            card.wait(or: ring.readerWake, timeout: limit.map { .nanoseconds($0) })
        } else {
            ring.readerWake.wait(timeout: limit.map { .nanoseconds($0) })
        }
    }
}
