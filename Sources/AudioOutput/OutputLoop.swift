// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// The output thread's work: takes frames from the ring, gives them to the card, starts, pauses and drops it,
/// and notes what is heard. Decides by state alone, so commands that come in a burst are one.
final class OutputLoop {
    let ring: FrameRing
    let over: FrameRing
    let keeper: DeviceKeeper
    let configuration: AudioOutputConfiguration
    let report: @Sendable (AudioOutputEvent) -> Void

    var stream: StreamID?
    var epoch: UInt64 = 0
    /// Frames given to the card since it was last reset.
    var written: Int64 = 0
    var isRunning = false
    /// True while the card that runs is given the stream's frames: not while it runs for an overlay alone.
    var isFlowing = false
    /// The frame of the card behind the last one of the stream.
    var flowEnd: Int64 = 0
    var overlay = OverlayPlay()
    var bound = BoundPlay()
    var live = LivePlay()
    /// True from the first turn of a live stream until another stream has one.
    var isLive = false
    var history = CardHistory()
    /// The frame behind what dies away behind a short queue.
    var fadeEnd: Int64?
    /// What is heard next was not heard before, or not at this device.
    var risesSlowly = false
    /// Lets what begins within its item come up.
    var edge = GainRamp()
    var overlaySamples: [Float] = []
    var isPaused = false
    var isStarved = false
    var isSounding = false
    var hasDrained = false
    var hasPadded = false
    var map = CardMap()
    var converter = SampleConverter()
    /// Of the output, which `converter` follows, and of the stream.
    var gain: Float = 1
    var mediaGain = GainRamp()
    var samples: [Float] = []
    var bytes: [UInt8] = []
    var closeAt: Int64?
    var nextMixerCheck: Int64 = 0

    init(
        ring: FrameRing, overlay: FrameRing, device: DeviceFacts, configuration: AudioOutputConfiguration,
        report: @escaping @Sendable (AudioOutputEvent) -> Void
    ) {
        (self.ring, over, self.configuration, self.report) = (ring, overlay, configuration, report)
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
        if wish.device != keeper.moved { move(to: wish.device) }
        followOverlay(wish.overlay)
        applyVolume(wish, now: now)
        serviceDevice(wish, now: now)
        do throws(PCM.Failure) {
            if wish.mustRewind { try takeBack() }
            let isBound = isBound(wish)
            if bound.isRunning, !isBound { try leaveBound() }
            if isBound {
                try feedBound(wish)
            } else if overlay.isActive {
                try feedWithOverlay(wish)
            } else if keeper.card != nil, wish.stream != nil, !hasDrained || wish.queued > 0 {
                try feed(wish)
            }
        } catch {
            lose(error)
        }
        let heard = bound.isRunning ? bound.heard : nil
        for cue in ring.state.withLock({ $0.takeCues(heard: heard) }) {
            report(.cueReached(cue.stream, cue.number))
        }
        wait(wish)
        return true
    }

    // MARK: State

    /// Follows a flush: what the card holds is not wanted any more.
    private func startAnew(_ wish: Wish) {
        if wish.stream != stream {
            if isLive { fadeOutLive() }
            // A move does not wait for that: its new place is to be heard at once.
            _ = fadeOut()
        }
        setSounding(false)
        if wish.stream != stream {
            (stream, isStarved, risesSlowly) = (wish.stream, false, true)
            if !overlay.isActive { converter.set(outputGain(wish)) }
            mediaGain.set(VolumeCurve.gain(of: wish.mediaVolume))
        }
        epoch = wish.epoch
        hasDrained = false
        noteOverlay()
        if bound.isRunning { return startBoundAnew() }
        if overlay.isActive, isRunning, overlay.heard >= flowEnd {
            // The card holds nothing of the stream; the overlay goes on.
            isFlowing = false
            map.removeAll()
            map.append(cardFrame: 0, ringFrame: ring.state.withLock { $0.kept }, isSilence: true)
            return
        }
        do throws(PCM.Failure) { try resetCard() } catch { lose(error) }
    }

    func resetCard() throws(PCM.Failure) {
        if written > 0 || isRunning || isPaused { try keeper.card?.reset() }
        forgetCard()
    }

    func forgetCard() {
        (written, isRunning, isPaused) = (0, false, false)
        (isFlowing, flowEnd, hasPadded) = (false, 0, false)
        history.forget()
        fadeEnd = nil
        map.removeAll()
        bound.stop()
        rewindOverlay()
    }

    func lose(_ failure: PCM.Failure) {
        forgetCard()
        setSounding(false)
        ring.state.withLock { if $0.epoch == epoch { $0.next = $0.kept } }
        keeper.lose(failure)
    }

    func setSounding(_ sounding: Bool) {
        guard sounding != isSounding else { return }
        isSounding = sounding
        if !sounding { ring.state.withLock { if $0.epoch == epoch { $0.heard?.rate = 0 } } }
        if let stream { report(.soundingChanged(stream, sounding)) }
    }

    func setStarved(_ starved: Bool) {
        guard starved != isStarved else { return }
        isStarved = starved
        if let stream { report(.starvationChanged(stream, starved)) }
    }

    /// What the output's volume makes of samples: nothing where a mixer follows it.
    private func outputGain(_ wish: Wish) -> Float {
        var output = wish.outputVolume
        output.level = min(output.level, configuration.maximumLevel)
        return keeper.hasMixer ? 1 : VolumeCurve.gain(of: output)
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
        let (target, media) = (outputGain(wish), VolumeCurve.gain(of: wish.mediaVolume))
        guard target != gain || media != mediaGain.target else { return }
        gain = target
        // What a standing card holds was made with the old gain, and would be heard with it.
        if !isRunning, written > 0 {
            do throws(PCM.Failure) { try rewind() } catch { lose(error) }
        }
        guard isRunning else {
            converter.set(target)
            return mediaGain.set(media)
        }
        let rate = keeper.card?.setup?.rate ?? 48_000
        converter.approach(target, rate: rate)
        mediaGain.approach(media, over: SampleConverter.ramp, rate: rate)
    }

    private var closeDelay: Int64 { Int64(configuration.closeDelay / .nanoseconds(1)) }

    private func serviceDevice(_ wish: Wish, now: Int64) {
        let isWanted = wish.stream != nil && !hasDrained || wish.overlay.stream != nil
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
        // Whoever decodes gives another rate, once it knows the device.
        guard keeper.playableRate(for: wish.rate) == wish.rate else { return }
        if card.setup?.rate != wish.rate || card.queue != keeper.usualQueue {
            forgetCard()
            try configure(rate: wish.rate, queue: keeper.usualQueue)
        }
        guard let setup = card.setup else { return }
        if isRunning, !wish.isPlaying { try pause(setup) }
        if isPaused {
            guard wish.isPlaying else { return }
            try card.pause(false)
            (isPaused, isRunning, isFlowing) = (false, true, true)
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
            if map.isEmpty { beginEdge(rate: setup.rate) }
            guard room > 0, let (first, count) = ring.take(min(room, chunk), into: &samples) else { return }
            applyGains(count, rate: setup.rate)
            edge.apply(to: &samples, count: count)
            converter.convert(samples, count: count, into: &bytes, setup: setup)
            var done = 0
            while done < count {
                guard case .frames(let taken) = try card.write(bytes, from: done, count: count - done),
                    taken > 0
                else { break }
                map.append(cardFrame: written, ringFrame: first + Int64(done), isSilence: false)
                history.add(bytes, from: done, taken: taken, at: written)
                written += Int64(taken)
                done += taken
            }
            flowEnd = written
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
        try writeSilence(card: card, setup: setup)
    }

    /// Gives the card a period of silence, which stands behind the stream's frames.
    func writeSilence(card: any Card, setup: PCM.Setup) throws(PCM.Failure) {
        guard case .frames(let room) = try card.room(), room >= setup.periodFrames else { return }
        let count = setup.periodFrames
        if bytes.count < count * setup.frameBytes {
            bytes += [UInt8](repeating: 0, count: count * setup.frameBytes - bytes.count)
        }
        for index in 0..<count * setup.frameBytes { bytes[index] = 0 }
        let end = ring.state.withLock { $0.next }
        map.append(cardFrame: written, ringFrame: end, isSilence: true)
        if case .frames(let taken) = try card.write(bytes, from: 0, count: count) {
            history.add(bytes, from: 0, taken: taken, at: written)
            written += Int64(taken)
        }
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
        (isRunning, isFlowing) = (true, true)
        setStarved(false)
    }

    /// Takes back what the card has not played, to give it again later.
    func rewind() throws(PCM.Failure) {
        noteOverlay()
        // The card goes on; what it holds is heard.
        if bound.isRunning { return ring.state.withLock { $0.mustRewind = false } }
        try resetCard()
        ring.state.withLock {
            if $0.epoch == epoch { ($0.next, $0.mustRewind) = ($0.kept, false) }
        }
    }

    /// The card ran dry: everything that it was given was heard.
    func recover() throws(PCM.Failure) {
        let next = ring.state.withLock { $0.next }
        ring.advance(kept: next, epoch: epoch)
        noteOverlayHeard()
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
    func noteHeard() throws(PCM.Failure) {
        guard let card = keeper.card, let setup = card.setup, written > 0 else { return finishIfHeard() }
        guard isRunning else { return stand(at: ring.state.withLock { $0.kept }) }
        let outcome = try card.delay()
        let now = MonotonicClock.now()
        guard case .frames(let delay) = outcome else {
            try recover()
            return finishIfHeard()
        }
        let cardFrame = written - Int64(delay)
        noteOverlay(cardFrame)
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

    /// Sets the card up.
    func configure(rate: Int32, queue: CardQueue) throws(PCM.Failure) {
        try keeper.configure(rate: rate, queue: queue)
        guard let setup = keeper.card?.setup else { return }
        let room = setup.bufferFrames + frames(in: FadeTiming.length, rate: rate)
        history.begin(frames: room, frameBytes: setup.frameBytes)
    }

    private func finishIfHeard() {
        guard !hasDrained, stream != nil else { return }
        let (isDone, isEmpty, turn) = ring.state.withLock { state in
            let isEmpty = state.epoch == epoch && state.head == state.kept
            let isDone = isEmpty && state.hasEnded
            let turn = isDone ? state.takeTurn() : nil
            if isDone, turn == nil { state.hasDrained = true }
            return (isDone, isEmpty, turn)
        }
        if let turn {
            setSounding(false)
            do throws(PCM.Failure) { try endFlow() } catch { lose(error) }
            (self.stream, isStarved) = (turn.to, false)
            report(.advanced(turn.from, to: turn.to))
            // The next stream's decoder, and this thread, which has nothing of it yet, or its end.
            ring.followerWake.signal()
            ring.readerWake.signal()
        } else if isDone {
            noteDrained()
        } else if isEmpty, !isRunning || overlay.isActive && !isSounding, wantsSound {
            isFlowing = false
            setStarved(true)
        }
    }

    /// Everything of the stream was heard, and nothing follows it.
    func noteDrained() {
        guard let stream else { return }
        hasDrained = true
        setSounding(false)
        setStarved(false)
        do throws(PCM.Failure) { try endFlow() } catch { lose(error) }
        // Nobody wakes this thread to give the device up.
        if keeper.status.state != .null { closeAt = MonotonicClock.now() + closeDelay }
        report(.drained(stream))
    }

    private var wantsSound: Bool { ring.state.withLock { $0.isPlaying && !$0.isFlushing && $0.heard != nil } }
}
