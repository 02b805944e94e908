// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// The overlay as the output's thread sees it.
struct OverlayPlay {
    var stream: StreamID?
    var epoch: UInt64 = 0
    /// True from the moment at which enough of it is there until all of it was heard.
    var isActive = false
    /// True once its first frame was heard.
    var hasBegun = false
    /// True once the card has all of it.
    var isGiven = false
    var gain = GainRamp()
    /// What is left of the stream's sound.
    var duck = GainRamp()
    /// Frames for which the stream stays ducked after the end.
    var hold = 0
    var map = CardMap()
    var reader = OverlayReader()
    /// The card's frame that is heard, as far as that is known, and the one behind the last of the overlay.
    var heard: Int64 = 0
    var end: Int64 = 0
}

// The overlay is added to the stream's frames on their way to the card, so the card's clock moves both, and the place of the
// stream on it is what it would be without. While the stream has nothing to give, or is paused, the card runs for the overlay
// alone: to the stream that is silence in which it stands still.
extension OutputLoop {
    struct OverlayWish {
        var stream: StreamID?
        var epoch: UInt64
        var rate: Int32
        var queued: Int
        var head: Int64
        var hasEnded: Bool
        var isFading: Bool
        var levels: OverlayLevels
    }

    func lookAtOverlay() -> OverlayWish {
        over.state.withLock {
            OverlayWish(
                stream: $0.stream, epoch: $0.epoch, rate: $0.rate, queued: $0.queued, head: $0.head,
                hasEnded: $0.hasEnded, isFading: $0.isFading, levels: $0.levels)
        }
    }

    /// Follows what the other threads did with the overlay.
    func followOverlay(_ wish: OverlayWish) {
        if wish.epoch != overlay.epoch {
            if overlay.isActive { do throws(PCM.Failure) { try rewind() } catch { lose(error) } }
            (overlay.stream, overlay.epoch) = (wish.stream, wish.epoch)
            (overlay.isActive, overlay.hasBegun, overlay.isGiven) = (false, false, false)
        }
        guard wish.stream != nil else { return }
        if wish.isFading, !overlay.isActive || keeper.card == nil { return endOverlay() }
        guard !overlay.isActive, wish.rate > 0 else { return }
        if wish.hasEnded, wish.queued == 0 { return endOverlay() }
        guard wish.hasEnded || wish.queued >= frames(in: OverlayTiming.start, rate: wish.rate) else { return }
        overlay.isActive = true
        (overlay.heard, overlay.end) = (0, 0)
        overlay.map.removeAll()
        overlay.gain.set(VolumeCurve.gain(of: wish.levels.volume))
        overlay.reader.begin(rate: wish.rate, cardRate: keeper.card?.setup?.rate ?? wish.rate)
        let duck = wish.levels.duckedGain
        if isFlowing {
            overlay.duck.approach(
                duck, over: OverlayTiming.ramp, rate: keeper.card?.setup?.rate ?? wish.rate)
        } else {
            overlay.duck.set(duck)
        }
    }

    /// The overlay is over.
    private func endOverlay() {
        guard let stream = overlay.stream else { return }
        (overlay.stream, overlay.isActive, overlay.hasBegun) = (nil, false, false)
        over.change {
            guard $0.epoch == overlay.epoch else { return }
            $0.flush()
            ($0.stream, $0.isFading) = (nil, false)
            overlay.epoch = $0.epoch
        }
        report(.overlayEnded(stream))
    }

    /// What the card holds of the overlay is to be given to it again.
    func rewindOverlay() {
        (overlay.heard, overlay.end, overlay.isGiven) = (0, 0, false)
        overlay.map.removeAll()
        guard overlay.isActive else { return }
        let rate = over.state.withLock { state in
            if state.epoch == overlay.epoch { state.next = state.kept }
            return state.rate
        }
        overlay.reader.begin(rate: rate, cardRate: keeper.card?.setup?.rate ?? rate)
    }

    /// Gives the stream's frames their loudness, and what the overlay leaves of it.
    func applyGains(_ count: Int, rate: Int32) {
        mediaGain.apply(to: &samples, count: count)
        if overlay.duck.target != 1, !overlay.isActive || overlay.isGiven {
            overlay.hold -= count
            if overlay.hold <= 0 { overlay.duck.approach(1, over: OverlayTiming.ramp, rate: rate) }
        }
        overlay.duck.apply(to: &samples, count: count)
    }

    // MARK: Feeding

    private var reserve: Duration { min(OverlayTiming.reserve, configuration.buffer / 3) }

    func feedWithOverlay(_ wish: Wish) throws(PCM.Failure) {
        guard let card = keeper.card else { return }
        let isThere = wish.stream != nil && !hasDrained && wish.rate > 0
        // The overlay follows the rate of the stream; alone it keeps the one that the card has.
        let rate =
            isThere && (isFlowing || wish.queued > 0) ? wish.rate : card.setup?.rate ?? wish.overlay.rate
        if card.setup?.rate != rate || card.queue != keeper.usualQueue {
            noteOverlay()
            forgetCard()
            try configure(rate: rate, queue: keeper.usualQueue)
            rewindOverlay()
        }
        guard let setup = card.setup else { return }
        if isFlowing, !wish.isPlaying {
            try noteHeard()
            setSounding(false)
            try rewind()
        }
        // What a standing card holds is the stream's.
        if !isRunning, isPaused || written > 0 { try rewind() }
        try mix(wish, card: card, setup: setup)
        let isFlowOver = !isFlowing || wish.hasEnded && ring.state.withLock { $0.queued == 0 }
        if overlay.isGiven, isFlowOver, !hasPadded { try writeSilence(card: card, setup: setup) }
        try noteHeard()
        if isOverlayHeard { try finishOverlay() }
    }

    /// True if the stream may be given to the card.
    private func mayFlow(_ wish: Wish, setup: PCM.Setup) -> Bool {
        if isFlowing { return true }
        guard wish.stream != nil, !hasDrained, wish.isPlaying, wish.rate == setup.rate else { return false }
        let threshold = frames(in: isStarved ? CardTiming.refill : CardTiming.start, rate: wish.rate)
        return ring.state.withLock {
            $0.epoch == epoch && $0.queued > 0 && (Int($0.head - $0.kept) >= threshold || $0.hasEnded)
        }
    }

    private func mix(_ wish: Wish, card: any Card, setup: PCM.Setup) throws(PCM.Failure) {
        let chunk = frames(in: CardTiming.start, rate: setup.rate)
        // Both rings are bounded, so this ends when the card is full or they are empty.
        while true {
            guard case .frames(let room) = try card.room() else {
                try recover()
                continue
            }
            guard room > 0 else { return }
            var limit = min(room, chunk)
            var flow: (first: Int64, count: Int)?
            if mayFlow(wish, setup: setup) {
                flow = ring.take(limit, into: &samples)
                if let flow {
                    if !isFlowing {
                        setStarved(false)
                        beginEdge(rate: setup.rate)
                    }
                    isFlowing = true
                    limit = flow.count
                    applyGains(flow.count, rate: setup.rate)
                    edge.apply(to: &samples, count: flow.count)
                } else if isFlowing, !wish.hasEnded,
                    setup.bufferFrames - room > frames(in: reserve, rate: setup.rate)
                {
                    return
                }
            }
            let added = readOverlay(limit, rate: setup.rate)
            guard let count = flow?.count ?? added?.count, count > 0 else {
                return takeOverlay(0, of: added, setup: setup)
            }
            add(added?.count ?? 0, to: flow?.count ?? 0)
            converter.convert(samples, count: count, into: &bytes, setup: setup)
            let done = try write(count, card: card) { (written, done) in
                let place = flow?.first ?? self.ring.state.withLock { $0.next }
                self.map.append(
                    cardFrame: written, ringFrame: flow == nil ? place : place + Int64(done),
                    isSilence: flow == nil)
                self.mapOverlay(added, from: written, done: done)
            }
            if let flow {
                flowEnd = written
                ring.advance(next: flow.first + Int64(done), epoch: epoch)
            }
            takeOverlay(min(done, added?.count ?? 0), of: added, setup: setup)
            hasPadded = false
            if !isRunning, written > 0 {
                try card.start()
                isRunning = true
            }
            if done < count { return }
        }
    }

    /// Writes what was converted; `note` hears of each part before it counts.
    private func write(
        _ count: Int, card: any Card, note: (_ cardFrame: Int64, _ done: Int) -> Void
    ) throws(PCM.Failure) -> Int {
        var done = 0
        while done < count {
            guard case .frames(let taken) = try card.write(bytes, from: done, count: count - done), taken > 0
            else { break }
            note(written, done)
            history.add(bytes, from: done, taken: taken, at: written)
            written += Int64(taken)
            done += taken
        }
        return done
    }

    /// Reads frames of the overlay, with its loudness.
    func readOverlay(_ limit: Int, rate: Int32) -> (first: Int64, count: Int)? {
        let (hasEnded, isFading) = over.state.withLock { ($0.hasEnded, $0.isFading) }
        guard !overlay.isGiven,
            let read = overlay.reader.read(
                limit, from: over, isComplete: hasEnded || isFading, into: &overlaySamples)
        else { return nil }
        if isFading { overlay.gain.approach(0, over: OverlayTiming.ramp, rate: rate) }
        overlay.gain.apply(to: &overlaySamples, count: read.count)
        return read
    }

    /// Adds `count` frames of the overlay to the first of the stream's, of which there are `present`.
    func add(_ count: Int, to present: Int) {
        let size = max(count, present) * 2
        if samples.count < size { samples += [Float](repeating: 0, count: size - samples.count) }
        for index in 0..<count * 2 {
            samples[index] = (index < present * 2 ? samples[index] : 0) + overlaySamples[index]
        }
    }

    func mapOverlay(_ added: (first: Int64, count: Int)?, from cardFrame: Int64, done: Int) {
        if overlay.map.isEmpty {
            let next = over.state.withLock { $0.next }
            overlay.map.append(cardFrame: 0, ringFrame: next, isSilence: true)
        }
        // At another rate only the beginning of what was read is told; that is near enough for what is given again.
        guard let added, done < added.count else { return }
        overlay.map.append(cardFrame: cardFrame, ringFrame: added.first + Int64(done), isSilence: false)
    }

    /// The card took `done` frames of what was read of the overlay.
    func takeOverlay(_ done: Int, of added: (first: Int64, count: Int)?, setup: PCM.Setup) {
        if let added, done > 0 {
            let used = overlay.reader.take(done)
            overlay.end = written
            over.advance(next: added.first + Int64(used), epoch: overlay.epoch)
        }
        let isGiven = over.state.withLock { state in
            guard state.epoch == overlay.epoch else { return false }
            if state.isFading, state.queued == 0 || overlay.gain.isSteady && overlay.gain.gain == 0 {
                // Nothing more of it is wanted.
                (state.head, state.hasEnded) = (state.next, true)
            }
            return state.hasEnded && state.queued == 0
        }
        guard isGiven, !overlay.isGiven else { return }
        overlay.isGiven = true
        overlay.hold = frames(in: OverlayTiming.hold, rate: setup.rate)
    }

    // MARK: What is heard

    /// Asks the card how much of the overlay was heard.
    func noteOverlay() {
        guard overlay.isActive, isRunning, case .frames(let delay)? = try? keeper.card?.delay() else {
            return
        }
        noteOverlay(written - Int64(delay))
    }

    /// Notes that the card plays this frame.
    func noteOverlay(_ cardFrame: Int64) {
        overlay.heard = cardFrame
        guard overlay.isActive, cardFrame >= 0, let place = overlay.map.ringFrame(of: cardFrame) else {
            return
        }
        if !place.isSilence { begun() }
        let last = cardFrame >= overlay.end ? over.state.withLock { $0.next } : place.frame
        over.advance(kept: last, epoch: overlay.epoch)
    }

    /// The card ran dry: all that it was given was heard.
    func noteOverlayHeard() {
        guard overlay.isActive else { return }
        if overlay.end > 0 { begun() }
        let next = over.state.withLock { $0.next }
        over.advance(kept: next, epoch: overlay.epoch)
    }

    private func begun() {
        guard !overlay.hasBegun, let stream = overlay.stream else { return }
        overlay.hasBegun = true
        report(.overlayBegan(stream))
    }

    var isOverlayHeard: Bool {
        over.state.withLock { $0.epoch == overlay.epoch && $0.hasEnded && $0.head == $0.kept }
    }

    func finishOverlay() throws(PCM.Failure) {
        endOverlay()
        if isFlowing { return }
        overlay.duck.set(1)
        overlay.hold = 0
        try resetCard()
    }

    /// Everything of the stream was heard: the card stands, unless it runs for an overlay.
    func endFlow() throws(PCM.Failure) {
        if bound.isRunning { return }
        if overlay.isActive, isRunning { isFlowing = false } else { try resetCard() }
    }

    // MARK: Waiting

    /// True if frames came since the turn began, of which nobody was told.
    func isOverlayNews(_ wish: OverlayWish) -> Bool {
        over.state.withLock { state in
            guard state.stream != nil, !overlay.isActive || state.queued == 0 else { return false }
            if state.head != wish.head || state.epoch != wish.epoch { return true }
            state.isReaderWaiting = true
            return false
        }
    }

    func waitWithOverlay(_ wish: Wish, limit: Int64?) {
        guard let card = keeper.card, let setup = card.setup, isRunning else {
            return ring.readerWake.wait(timeout: limit.map { .nanoseconds($0) })
        }
        var limit = limit
        func within(frames: Int) {
            let time = Int64(Double(max(0, frames)) * 1e9 / Double(setup.rate)) + 500_000
            limit = min(limit ?? .max, time)
        }
        let isFlowEmpty = ring.state.withLock { state in
            // It may be let in as soon as there is enough.
            if !isFlowing || state.queued == 0 { state.isReaderWaiting = true }
            return state.queued == 0
        }
        let isOverlayEmpty = over.state.withLock { $0.queued == 0 }
        guard case .frames(let delay)? = try? card.delay() else { return }
        if overlay.isGiven { within(frames: Int(overlay.end - written) + delay) }
        let mayEnd = isFlowing ? isFlowEmpty : isOverlayEmpty
        // Silence is to follow as soon as there is room for it.
        let isPadDue = overlay.isGiven && (!isFlowing || wish.hasEnded) && !hasPadded
        guard mayEnd, !isPadDue else {
            return card.wait(or: ring.readerWake, timeout: limit.map { .nanoseconds($0) })
        }
        let isLate = isFlowing && !wish.hasEnded && !isOverlayEmpty
        within(frames: delay - (isLate ? frames(in: reserve, rate: setup.rate) : 0))
        ring.readerWake.wait(timeout: limit.map { .nanoseconds($0) })
    }
}
