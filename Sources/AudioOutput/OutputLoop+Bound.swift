// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization
import Timing

// A stream that is bound to a group's time. The card runs with a short queue, also in silence. For each block it is asked when its
// frames will be heard, which time of the group that is, and which place of the item belongs there; the frames of that place are
// read between each other. Nothing waits for the decoder: what is not there in its time is silence, and what follows
// comes in its own. See `Docs/synchronised-output.md`.
extension OutputLoop {
    /// True while the card runs for a bound stream, or has run for one and nothing else needs it.
    func isBound(_ wish: Wish) -> Bool {
        if wish.binding != nil { return true }
        guard bound.isRunning, !overlay.isActive else { return false }
        return wish.stream == nil || hasDrained || wish.queued == 0 && !wish.hasEnded
    }

    func feedBound(_ wish: Wish) throws(PCM.Failure) {
        isLive = wish.binding?.live != nil
        if let plan = wish.binding?.live { return try feedLive(wish, plan) }
        if wish.binding == nil, bound.number != 0 { bound.begin(binding: nil) }
        guard let card = keeper.card, let setup = try runBound(wish) else { return setReady(false) }
        guard case .frames(let delay) = try card.delay() else { return try restartBound(wish) }
        let now = MonotonicClock.now()
        bound.look(played: written - Int64(delay), at: now)
        noteBound(cardFrame: written - Int64(delay), at: now, setup: setup)
        if let clock = wish.group.clock { bound.clock = clock }
        guard try fill(card, to: BoundTiming.queued, by: BoundTiming.block, wish, setup) else {
            return try restartBound(wish)
        }
        if overlay.isActive, isOverlayHeard { try finishOverlay() }
        tendBound(wish, setup: setup, now: now)
        if isSounding, let stream, let report = bound.report(at: now) {
            self.report(.syncChanged(stream, report))
        }
    }

    /// Writes blocks until about so much is queued. False if the card does not run as it should.
    func fill(
        _ card: any Card, to queued: Duration, by length: Duration, _ wish: Wish, _ setup: PCM.Setup
    ) throws(PCM.Failure) -> Bool {
        let block = frames(in: length, rate: setup.rate)
        let wanted = min(
            max(frames(in: queued, rate: setup.rate), 2 * setup.periodFrames + block),
            setup.bufferFrames - block)
        // The card is bounded, so this ends when enough is queued.
        while true {
            guard case .frames(let room) = try card.room() else { return false }
            guard room >= block, setup.bufferFrames - room < wanted else { return true }
            guard try writeBound(wish, card: card, setup: setup, count: block) else { return true }
        }
    }

    // MARK: The card

    /// Lets the card run. Nil if it is not known yet at which rate.
    func runBound(_ wish: Wish) throws(PCM.Failure) -> PCM.Setup? {
        guard let card = keeper.card else { return nil }
        let known =
            wish.binding != nil && wish.rate > 0
            ? keeper.playableRate(for: wish.rate) : bound.isRunning ? card.setup?.rate : nil
        // A card that has one rate can begin before the item's is known.
        guard let rate = known ?? keeper.onlyRate else { return nil }
        let plan = wish.binding?.live
        let queue = wish.binding == nil ? card.queue ?? .bound : plan?.queue ?? .bound
        if bound.isRunning, let setup = card.setup, setup.rate == rate, card.queue == queue { return setup }
        letFadeEnd()
        noteOverlay()
        setSounding(false)
        try resetCard()
        ring.state.withLock { if $0.epoch == epoch { $0.next = $0.kept } }
        if card.setup?.rate != rate || card.queue != queue {
            try configure(rate: rate, queue: queue)
        }
        rewindOverlay()
        guard let setup = card.setup else { return nil }
        bound.start(rate: rate, drift: keeper.drift)
        map.append(cardFrame: 0, ringFrame: ring.state.withLock { $0.kept }, isSilence: true)
        let queued = min(
            frames(in: plan?.queued ?? BoundTiming.queued, rate: rate),
            setup.bufferFrames - setup.periodFrames)
        try writeZeros(max(queued, setup.periodFrames), card: card, setup: setup)
        try card.start()
        (isRunning, isFlowing) = (true, true)
        return setup
    }

    private func writeZeros(_ count: Int, card: any Card, setup: PCM.Setup) throws(PCM.Failure) {
        let size = count * setup.frameBytes
        if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
        for index in 0..<size { bytes[index] = 0 }
        if case .frames(let taken) = try card.write(bytes, from: 0, count: count) {
            history.add(bytes, from: 0, taken: taken, at: written)
            written += Int64(taken)
        }
    }

    /// The card ran dry: it begins anew at once, and the sound in its place.
    func restartBound(_ wish: Wish) throws(PCM.Failure) {
        bound.noteUnderrun()
        noteOverlayHeard()
        setSounding(false)
        setReady(false)
        try resetCard()
        _ = try runBound(wish)
    }

    /// Lets an unbound stream have the card, which goes on where it was heard.
    func leaveBound() throws(PCM.Failure) {
        letFadeEnd()
        setReady(false)
        bound.begin(binding: nil)
        var heard: Int64?
        if isRunning, case .frames(let delay)? = try? keeper.card?.delay() {
            heard = map.ringFrame(of: max(0, written - Int64(delay)))?.frame
        }
        noteOverlay()
        try resetCard()
        ring.state.withLock { state in
            guard state.epoch == epoch else { return }
            if let heard { state.kept = max(state.kept, min(heard, state.head)) }
            state.next = state.kept
        }
    }

    /// Follows a flush, or another stream: the card goes on.
    func startBoundAnew() {
        bound.begin(binding: ring.state.withLock { $0.binding })
        setReady(false)
        map.removeAll()
        map.append(cardFrame: 0, ringFrame: ring.state.withLock { $0.kept }, isSilence: true)
    }

    // MARK: What is heard with the next frames

    /// What the next block is made of.
    private enum Block {
        case silence
        /// Sound from `bound.place` on, at `bound.pace`.
        case sound(notBefore: Int64, fadesOut: Bool)
    }

    /// Makes and writes a block. False if the card did not take all of it.
    func writeBound(_ wish: Wish, card: any Card, setup: PCM.Setup, count: Int) throws(PCM.Failure)
        -> Bool
    {
        if samples.count < count * 2 { samples += [Float](repeating: 0, count: count * 2 - samples.count) }
        let isVoiced: Bool
        let place: Double?
        if let plan = wish.binding?.live, !hasDrained {
            isVoiced = makeLive(wish, plan, rate: setup.rate, count: count)
            place = bound.place
        } else {
            let isOver = wish.stream == nil || hasDrained
            let block = isOver ? .silence : decide(wish, rate: setup.rate, count: count)
            place = bound.place
            isVoiced = make(block, count: count)
        }
        applyGains(count, rate: setup.rate)
        let added = overlay.isActive ? readOverlay(count, rate: setup.rate) : nil
        if let added { add(added.count, to: count) }
        converter.convert(samples, count: count, into: &bytes, setup: setup)
        let frame = place ?? Double(ring.state.withLock { $0.kept })
        map.append(cardFrame: written, ringFrame: Int64(frame.rounded(.down)), isSilence: !isVoiced)
        if overlay.isActive { mapOverlay(added, from: written, done: 0) }
        guard case .frames(let taken) = try card.write(bytes, from: 0, count: count) else { return false }
        history.add(bytes, from: 0, taken: taken, at: written)
        written += Int64(taken)
        if overlay.isActive { takeOverlay(min(taken, added?.count ?? 0), of: added, setup: setup) }
        if let place, isVoiced || bound.anchor != nil { bound.place = place + Double(taken) * bound.pace }
        return taken == count
    }

    private func decide(_ wish: Wish, rate: Int32, count: Int) -> Block {
        guard bound.model.isReady, let clock = bound.clock else { return .silence }
        let begin = bound.model.time(of: Double(written)) &+ wish.group.trim
        let end = bound.model.time(of: Double(written + Int64(count))) &+ wish.group.trim
        let (from, to) = (clock.remote(at: begin), clock.remote(at: end))
        bound.follow(wish.binding, until: to)
        guard let holding = ring.holding(epoch: epoch) else { return .silence }
        guard let anchor = bound.anchor else { return stand(holding) }
        // A clock that is lost is trusted for what is heard already.
        if wish.group.clock == nil, !bound.isVoiced { return .silence }
        let wanted = anchor.itemTime(at: from)
        guard let target = ring.place(of: wanted, near: bound.place), !target.isHole,
            (target.step * Double(rate) / 1e9 - anchor.rate).magnitude < anchor.rate * 0.02
        else { return lack(holding, isDue: from >= anchor.clockTime, now: begin) }
        let pace = (Double(anchor.itemTime(at: to)) - Double(wanted)) / target.step / Double(count)
        var isJump = false
        if bound.isVoiced, let place = bound.place {
            let isFar = (target.frame - place).magnitude * 1e6 / Double(rate) > OutputServo.jump
            isJump = bound.mustJump(isFar: isFar, at: begin)
        } else {
            bound.place = target.frame
        }
        let place = bound.place ?? target.frame
        let error = (target.frame - place) * 1e6 / Double(rate)
        bound.pace = isJump ? pace : bound.servo.ratio(pace: pace, error: error, at: begin)
        let block = judge(anchor, holding, from: place, rate: rate, count: count, isJump: isJump)
        if case .sound = block {
            if bound.isVoiced { bound.note(error: error * 1e3) } else { bound.servo.begin(at: begin) }
            setStarved(false)
        } else if from >= anchor.clockTime {
            return lack(holding, isDue: true, now: begin)
        }
        return block
    }

    /// Whether the frames from `place` on are there, or are not to be heard.
    private func judge(
        _ anchor: PlaybackAnchor, _ holding: FrameRing.Holding, from place: Double, rate: Int32, count: Int,
        isJump: Bool
    ) -> Block {
        var low = holding.first
        if let gate = bound.gate, let first = ring.place(of: gate, near: place) {
            low = max(low, Int64(first.frame.rounded()))
            if place > first.frame + Double(FractionalReader.taps) { bound.openGate() }
        }
        let last = place + Double(count) * bound.pace
        guard last > Double(low) - Double(FractionalReader.before) else { return .silence }
        guard place < Double(holding.head) + Double(FractionalReader.before) else { return .silence }
        guard last + Double(FractionalReader.after) < Double(holding.head) || holding.hasEnded else {
            return .silence
        }
        if !bound.isVoiced {
            // Nothing is lost of a beginning that comes in its time. Where sound was before, it fades in.
            bound.fade = low == holding.first && place <= Double(low) ? 1 : 0
        }
        if holding.hasEnded, last >= Double(holding.head), bound.end == nil {
            bound.end = written + Int64(((Double(holding.head) - place) / max(bound.pace, 0.1)).rounded(.up))
        }
        if isJump { bound.noteResync() }
        return .sound(notBefore: low, fadesOut: isJump)
    }

    /// The stream stands: what was heard fades out.
    private func stand(_ holding: FrameRing.Holding) -> Block {
        bound.missingSince = nil
        setStarved(false)
        if bound.isVoiced { return .sound(notBefore: holding.first, fadesOut: true) }
        if bound.place == nil, !holding.isBlank { bound.place = Double(holding.first) }
        return .silence
    }

    /// What belongs here is not there.
    private func lack(_ holding: FrameRing.Holding, isDue: Bool, now: Int64) -> Block {
        let isOver = holding.hasEnded && Double(holding.head) <= (bound.place ?? 0)
        if isOver || holding.isFinished || holding.hasEnded && holding.isBlank {
            if bound.end == nil { bound.end = written }
        } else if isDue {
            let since = bound.missingSince ?? now
            bound.missingSince = since
            if bound.wasVoiced || now - since > BoundTiming.lateBeginning { setStarved(true) }
        }
        return .silence
    }

    /// Makes the samples of a block. True if there is sound of the stream in it.
    private func make(_ block: Block, count: Int) -> Bool {
        guard case .sound(let low, let fadesOut) = block, let place = bound.place else {
            fadeLast(count)
            return false
        }
        let (pace, step) = (bound.pace, 1 / Float(count))
        let first = Int64(place.rounded(.down)) - Int64(FractionalReader.before)
        let span = Int(Double(count) * pace) + FractionalReader.taps + 2
        guard ring.look(at: first, count: span, notBefore: low, epoch: epoch, into: &bound.window) else {
            fadeLast(count)
            return false
        }
        bound.reader.read(
            bound.window, from: place - Double(first), ratio: pace, count: count, into: &samples)
        if fadesOut {
            for frame in 0..<count { scale(frame, by: 1 - Float(frame + 1) * step) }
        } else if bound.fade < 1 {
            for frame in 0..<count {
                scale(frame, by: min(bound.fade, 1))
                if place + Double(frame) * pace >= Double(low) - 0.5 { bound.fade += step }
            }
        }
        (bound.isVoiced, bound.wasVoiced, bound.missingSince) = (!fadesOut, true, nil)
        bound.last = fadesOut ? (0, 0) : (samples[count * 2 - 2], samples[count * 2 - 1])
        return true
    }

    private func scale(_ frame: Int, by factor: Float) {
        samples[frame * 2] *= factor
        samples[frame * 2 + 1] *= factor
    }

    /// Silence; where sound broke off, its last value dies away.
    func fadeLast(_ count: Int) {
        let (left, right) = bound.last
        for frame in 0..<count {
            let factor = left == 0 && right == 0 ? 0 : 1 - Float(frame + 1) / Float(count)
            samples[frame * 2] = left * factor
            samples[frame * 2 + 1] = right * factor
        }
        (bound.isVoiced, bound.last) = (false, (0, 0))
    }

    // MARK: What is heard, and what is to be decoded

    /// Notes that the card plays this frame.
    func noteBound(cardFrame: Int64, at now: Int64, setup: PCM.Setup) {
        noteOverlay(cardFrame)
        guard let (frame, isSilence) = map.ringFrame(of: max(0, cardFrame)) else { return }
        bound.heard = frame
        let isHeard = cardFrame >= 0 && !isSilence
        ring.state.withLock { state in
            guard state.epoch == epoch, let place = state.marks.place(of: frame) else { return }
            let rate = isHeard ? place.step * Double(state.rate) / 1e9 : 0
            state.heard = HeardPosition(position: Int64(place.position), clockTime: now, rate: rate)
        }
        setSounding(isHeard)
        guard !hasDrained, let end = bound.end, cardFrame >= end else { return }
        ring.state.withLock { if $0.epoch == epoch { $0.hasDrained = true } }
        noteDrained()
    }

    /// Keeps in the ring what is needed soon, and tells what is not there.
    private func tendBound(_ wish: Wish, setup: PCM.Setup, now: Int64) {
        guard wish.binding != nil, !hasDrained, let holding = ring.holding(epoch: epoch) else {
            return setReady(false)
        }
        guard !holding.isBlank, let (wanted, itemTime) = wantedPlace(wish, holding, now: now) else {
            return setReady(false)
        }
        func count(_ time: Duration) -> Double { Double(frames(in: time, rate: setup.rate)) }
        let (first, head) = (Double(holding.first), Double(holding.head))
        // Behind the last frame nothing is missing: what the card has is heard to its end.
        let ahead = holding.hasEnded ? .infinity : head - wanted
        let isThere = bound.model.isReady && wanted >= first - 2
        setReady(isThere && ahead >= count(bound.isReady ? BoundTiming.low : BoundTiming.ready))
        let behind = min(BoundTiming.behind, configuration.buffer)
        ring.advance(
            next: Int64(wanted), kept: Int64(wanted - count(behind)), epoch: epoch,
            refill: bound.isReady ? BoundTiming.refill : .zero)
        guard let itemTime, let stream, !bound.isVoiced else { return }
        let isToCome = bound.gate != nil
        let isBehind = wanted < first - (isToCome ? 2 : count(BoundTiming.patienceBehind))
        let isLate = bound.missingSince.map { now - $0 > BoundTiming.catchingUp } ?? false
        let isAhead =
            !holding.hasEnded && (wanted > head + count(BoundTiming.patienceAhead) || isLate && wanted > head)
        guard isBehind || isAhead, bound.strays(at: now) else { return }
        let place = ring.state.withLock { $0.marks.place(of: $0.kept) }
        report(.strayed(stream, wanted: itemTime, first: Int64(place?.position ?? 0)))
    }

    /// The place in the ring that is to be heard next, and the item's time that it belongs to; that is nil if nothing is.
    private func wantedPlace(_ wish: Wish, _ holding: FrameRing.Holding, now: Int64) -> (Double, Int64?)? {
        if bound.isVoiced, let place = bound.place { return (place, nil) }
        guard let anchor = wish.binding?.anchor, let clock = bound.clock else {
            return (bound.place ?? Double(holding.first), nil)
        }
        let queued = Int64(BoundTiming.queued / .nanoseconds(1))
        let time = bound.model.isReady ? bound.model.time(of: Double(written)) : now + queued
        let clockTime = max(clock.remote(at: time &+ wish.group.trim), anchor.clockTime)
        let itemTime = anchor.itemTime(at: clockTime)
        guard let place = ring.place(of: itemTime, near: nil) else { return nil }
        return (min(max(place.frame, -1e15), 1e15), itemTime)
    }

    private func setReady(_ isReady: Bool) {
        guard isReady != bound.isReady else { return }
        bound.isReady = isReady
        if let stream { report(.readinessChanged(stream, isReady)) }
    }

    // MARK: Waiting

    /// Looks at the card are made at random distances, so that all phases of a position that moves in steps are seen.
    func waitBound(_ wish: Wish) {
        if let plan = wish.binding?.live { return waitLive(wish, plan) }
        func random(_ range: ClosedRange<Int64>) -> Int64 {
            let span = UInt64(range.upperBound - range.lowerBound)
            return range.lowerBound + Int64((UInt64(bound.noise()) * span) >> 32)
        }
        guard bound.isRunning else {
            // Until something is decoded, or the device is there.
            ring.state.withLock { $0.isReaderWaiting = true }
            return ring.readerWake.wait(nanoseconds: 20_000_000)
        }
        let isStanding = bound.anchor == nil && !bound.isVoiced && !overlay.isActive && bound.isReady
        ring.readerWake.wait(
            nanoseconds: bound.model.wantsLooks
                ? random(600_000...1_000_000)
                : isStanding ? random(20_000_000...30_000_000) : random(3_000_000...5_000_000))
    }
}
