// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// Times of fades.
enum FadeTiming {
    /// Sound that is taken away dies over this time, and sound that begins anywhere but at the beginning of its item comes up over it.
    static let length = Duration.milliseconds(20)
    /// The same for sound that comes up after a move or a pause: that is waited for.
    static let rise = Duration.milliseconds(2)
    /// What the card plays next is not touched: it may be under way already.
    static let lead = Duration.milliseconds(5)
    /// An item that begins nearer to its beginning than this, in nanoseconds, begins there.
    static let beginning = 1e6
}

// Sound that is taken away at once would click. So what the card has queued is taken back, but for the next few milliseconds, and
// given to it again as it dies away. A card that cannot take frames back is stopped, as before. This thread waits meanwhile; nothing
// else is for it to do.
extension OutputLoop {
    /// Lets what is heard die away. Returns the card's frame from which on it did; nil if nothing is heard, or the card cannot.
    func fadeOut() -> Int64? {
        guard isRunning, isSounding, !overlay.isActive, !bound.isRunning, let card = keeper.card,
            let setup = card.setup
        else { return nil }
        let lead = frames(in: FadeTiming.lead, rate: setup.rate)
        let taken = card.takeBack(leaving: lead)
        guard taken > 0, Int64(taken) <= written else { return nil }
        let end = written
        written -= Int64(taken)
        let begin = written
        let wanted = min(frames(in: FadeTiming.length, rate: setup.rate), taken)
        let count = history.read(wanted, from: begin, backward: false, written: end, into: &bytes)
        history.takeBack(taken)
        setup.fade(&bytes, count: count)
        do throws(PCM.Failure) {
            // Silence behind it, so that the card does not run dry before it is stopped.
            try give(count, card: card)
            try giveSilence(min(taken - count, setup.bufferFrames), card: card, setup: setup)
        } catch { return nil }
        rest(frames: lead + count, rate: setup.rate)
        return begin
    }

    func pause(_ setup: PCM.Setup) throws(PCM.Failure) {
        try noteHeard()
        guard isRunning else { return setSounding(false) }
        let faded = fadeOut()
        if let faded, let (frame, _) = map.ringFrame(of: faded) { stand(at: frame) }
        setSounding(false)
        if faded != nil {
            try rewind()
        } else if setup.canPause, (try? keeper.card?.pause(true)) != nil {
            (isPaused, isRunning, isFlowing) = (true, false, false)
        } else {
            try rewind()
        }
    }

    /// The card holds frames that are not wanted any more.
    func takeBack() throws(PCM.Failure) {
        if let faded = fadeOut(), let (frame, _) = map.ringFrame(of: faded) {
            ring.advance(kept: frame, epoch: epoch)
        }
        try rewind()
    }

    /// What is heard next is this frame, whenever that will be.
    func stand(at frame: Int64) {
        ring.advance(kept: frame, epoch: epoch)
        let now = MonotonicClock.now()
        ring.state.withLock { state in
            guard state.epoch == epoch, let place = state.marks.place(of: state.kept) else { return }
            state.heard = HeardPosition(position: Int64(place.position), clockTime: now, rate: 0)
        }
    }

    /// Lets a live stream die away behind the little that is queued: its last frames, backward.
    func fadeOutLive() {
        guard bound.isRunning, bound.isVoiced, let card = keeper.card, let setup = card.setup else { return }
        let wanted = frames(in: FadeTiming.length, rate: setup.rate)
        let count = history.read(wanted, from: written, backward: true, written: written, into: &bytes)
        setup.fade(&bytes, count: count)
        guard count > 0, (try? give(count, card: card)) != nil else { return }
        bound.last = (0, 0)
        fadeEnd = written
    }

    /// Waits until what dies away behind a short queue was heard.
    func letFadeEnd() {
        guard let end = fadeEnd, let card = keeper.card, let setup = card.setup else { return }
        fadeEnd = nil
        guard isRunning, case .frames(let delay)? = try? card.delay() else { return }
        rest(frames: Int(end - written) + delay, rate: setup.rate)
    }

    /// The first frames after a silence are about to be made: what begins within its item comes up slowly.
    func beginEdge(rate: Int32) {
        let isWithin = ring.state.withLock { state in
            (state.marks.place(of: state.next)?.position ?? 0) > FadeTiming.beginning
        }
        edge.set(isWithin ? 0 : 1)
        edge.approach(1, over: risesSlowly ? FadeTiming.length : FadeTiming.rise, rate: rate)
        risesSlowly = false
    }

    /// At most a tenth of a second: a card that says more is wrong.
    private func rest(frames count: Int, rate: Int32) {
        let time = Int64(Double(max(0, count)) * 1e9 / Double(max(rate, 1))) + 500_000
        MonotonicClock.rest(nanoseconds: min(time, 100_000_000))
    }

    private func give(_ count: Int, card: any Card) throws(PCM.Failure) {
        guard count > 0 else { return }
        guard case .frames(let taken) = try card.write(bytes, from: 0, count: count) else { return }
        history.add(bytes, from: 0, taken: taken, at: written)
        written += Int64(taken)
    }

    private func giveSilence(_ count: Int, card: any Card, setup: PCM.Setup) throws(PCM.Failure) {
        guard count > 0 else { return }
        let size = count * setup.frameBytes
        if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
        for index in 0..<size { bytes[index] = 0 }
        try give(count, card: card)
    }
}
