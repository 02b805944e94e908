// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization
import Timing

/// A live stream as the output's thread sees it.
struct LivePlay {
    /// That of the binding; 0 before the first.
    var number: UInt64 = 0
    var servo = FillServo(target: 0, slack: 0)
    /// Reads at speeds near `speed`.
    var reader = FractionalReader()
    var speed = 1.0
    /// Fades the sound in and out.
    var edge = GainRamp()
    /// Since when nothing is heard of it.
    var silentSince: Int64?
}

// A live stream comes at the pace of its source's clock, and is heard at that of the card's. It has the machinery of bound streams:
// a card that runs with a short queue, also in silence, and frames that are read between each other. But no time tells which frame is
// heard: they are read in order, a little faster or slower, so that what waits stays as much as it was (`FillServo`). Where frames are
// missing the sound fades out, and begins again at its distance from the newest frame: so no delay grows. See `Docs/captures.md`.
extension OutputLoop {
    func feedLive(_ wish: Wish, _ plan: LivePlan) throws(PCM.Failure) {
        if live.number != wish.binding?.number { beginLive(wish, plan) }
        guard let card = keeper.card else { return finishLiveIfOver(wish) }
        let now = MonotonicClock.now()
        if !bound.isRunning, !overlay.isActive, !isEnough(wish, plan) {
            throwAway(wish)
            return finishLiveIfOver(wish)
        }
        guard let setup = try runBound(wish) else { return }
        guard case .frames(let delay) = try card.delay() else { return try restartBound(wish) }
        noteBound(cardFrame: written - Int64(delay), at: now, setup: setup)
        noteFill(wish, delay: delay, setup: setup, now: now)
        guard try fill(card, to: plan.queued, by: plan.block, wish, setup) else {
            return try restartBound(wish)
        }
        if overlay.isActive, isOverlayHeard { try finishOverlay() }
        try tendLive(wish, now: now)
    }

    private func beginLive(_ wish: Wish, _ plan: LivePlan) {
        let reader = (live.reader, live.speed)
        live = LivePlay()
        (live.reader, live.speed) = reader
        live.number = wish.binding?.number ?? 0
        live.servo = FillServo(target: plan.lowest / .seconds(1), slack: LiveTiming.slack)
        bound.begin(binding: wish.binding)
    }

    /// True if so much waits that the sound can begin.
    private func isEnough(_ wish: Wish, _ plan: LivePlan) -> Bool {
        guard wish.isPlaying, wish.rate > 0, let holding = ring.holding(epoch: epoch) else { return false }
        let waiting = Int(holding.head - holding.first)
        return waiting >= frames(in: plan.start, rate: wish.rate) || holding.hasEnded && waiting > 0
    }

    /// Keeps nothing of what came before a pause.
    private func throwAway(_ wish: Wish) {
        guard !wish.isPlaying, !bound.isVoiced else { return }
        ring.advance(next: .max, kept: .max, epoch: epoch)
    }

    /// The source has ended and the card does not run: nothing more will be heard.
    private func finishLiveIfOver(_ wish: Wish) {
        guard wish.hasEnded, !hasDrained else { return }
        let isOver = ring.state.withLock { state in
            guard state.epoch == epoch, state.hasEnded else { return false }
            state.hasDrained = true
            return true
        }
        if isOver { noteDrained() }
    }

    private func noteFill(_ wish: Wish, delay: Int, setup: PCM.Setup, now: Int64) {
        guard bound.isVoiced, live.edge.target == 1, let place = bound.place, wish.rate > 0,
            let holding = ring.holding(epoch: epoch)
        else { return }
        let waiting = (Double(holding.head) - place) / Double(wish.rate)
        live.servo.note(fill: waiting + Double(delay) / Double(setup.rate), at: now)
    }

    /// Makes the samples of a block. True if there is sound of the stream in it.
    func makeLive(_ wish: Wish, _ plan: LivePlan, rate: Int32, count: Int) -> Bool {
        guard wish.rate > 0, let holding = ring.holding(epoch: epoch) else { return lackLive(count) }
        if !bound.isVoiced {
            guard isEnough(wish, plan) else {
                if holding.hasEnded, holding.head == holding.first, bound.end == nil { bound.end = written }
                return lackLive(count)
            }
            beginSound(wish, plan, holding, rate: rate)
        }
        guard let place = bound.place else { return lackLive(count) }
        let left = (Double(holding.head) - place) / bound.pace
        if left < Double(count) + Double(FractionalReader.after), !holding.hasEnded {
            return lackLive(count)
        }
        if holding.hasEnded, left <= Double(count), bound.end == nil {
            bound.end = written + Int64(max(0, left).rounded(.up))
        }
        bound.pace = live.speed * live.servo.pace
        let target: Float = wish.isPlaying && !live.servo.mustJump ? 1 : 0
        live.edge.approach(target, over: LiveTiming.fade, rate: rate)
        let fade = Double(frames(in: LiveTiming.fade, rate: rate))
        if holding.hasEnded, left < fade + Double(count) {
            live.edge.approach(0, over: .seconds(max(left, 1) / Double(rate)), rate: rate)
        }
        let first = Int64(place.rounded(.down)) - Int64(FractionalReader.before)
        let span = Int(Double(count) * bound.pace) + FractionalReader.taps + 2
        guard ring.look(at: first, count: span, notBefore: holding.first, epoch: epoch, into: &bound.window)
        else { return lackLive(count) }
        live.reader.read(
            bound.window, from: place - Double(first), ratio: bound.pace, count: count, into: &samples)
        live.edge.apply(to: &samples, count: count)
        bound.isVoiced = !(live.edge.isSteady && live.edge.gain == 0)
        bound.last = (samples[count * 2 - 2], samples[count * 2 - 1])
        return true
    }

    /// The sound begins, at its distance from the newest frame.
    private func beginSound(_ wish: Wish, _ plan: LivePlan, _ holding: FrameRing.Holding, rate: Int32) {
        let speed = Double(wish.rate) / Double(max(rate, 1))
        if speed != live.speed { (live.reader, live.speed) = (FractionalReader(speed: speed), speed) }
        live.servo.begin()
        live.edge.set(0)
        let start = Int64(frames(in: plan.start, rate: wish.rate))
        bound.place = Double(max(holding.first, holding.head - start))
        bound.pace = live.speed * live.servo.pace
        bound.isVoiced = true
    }

    /// Nothing is there; where sound broke off, it dies away.
    private func lackLive(_ count: Int) -> Bool {
        fadeLast(count)
        bound.place = nil
        return false
    }

    /// Forgets what was heard, and lets the card stand once there was nothing for a while.
    private func tendLive(_ wish: Wish, now: Int64) throws(PCM.Failure) {
        if bound.isVoiced, let place = bound.place {
            live.silentSince = nil
            let kept = Int64(place) - LiveTiming.behind
            return ring.advance(next: Int64(place), kept: kept, epoch: epoch)
        }
        throwAway(wish)
        let since = live.silentSince ?? now
        live.silentSince = since
        guard now - since > LiveTiming.silence, !overlay.isActive, bound.end == nil else { return }
        setSounding(false)
        try resetCard()
        live.silentSince = nil
    }

    func waitLive(_ wish: Wish, _ plan: LivePlan) {
        guard bound.isRunning else {
            let isNews = ring.state.withLock { state in
                if wish.isPlaying, state.head != wish.head { return true }
                state.isReaderWaiting = wish.isPlaying
                return false
            }
            if isNews || isOverlayNews(wish.overlay) { return }
            return ring.readerWake.wait(timeout: nil)
        }
        ring.readerWake.wait(nanoseconds: Int64(plan.block / .nanoseconds(1)) * 4 / 5)
    }
}
