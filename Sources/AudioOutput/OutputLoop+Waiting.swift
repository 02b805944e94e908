// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

extension OutputLoop {
    /// What the other threads want, as of one moment.
    struct Wish {
        var stream: StreamID?
        var epoch: UInt64
        var isPlaying: Bool
        var hasEnded: Bool
        var rate: Int32
        var queued: Int
        var head: Int64
        var device: String?
        var outputVolume: Volume
        var mediaVolume: Volume
        var isQuitting: Bool
        var mustRewind: Bool
        var overlay: OverlayWish
        var binding: Binding?
        var group: GroupTime
    }

    func look() -> Wish {
        let overlay = lookAtOverlay()
        return ring.state.withLock {
            Wish(
                stream: $0.stream, epoch: $0.epoch, isPlaying: $0.isPlaying, hasEnded: $0.hasEnded,
                rate: $0.rate,
                queued: $0.queued, head: $0.head, device: $0.device, outputVolume: $0.outputVolume,
                mediaVolume: $0.mediaVolume, isQuitting: $0.isQuitting, mustRewind: $0.mustRewind,
                overlay: overlay, binding: $0.binding, group: $0.group)
        }
    }

    /// Waits for the card, a signal, or the next moment at which something is due.
    func wait(_ wish: Wish) {
        if isBound(wish), keeper.card != nil { return waitBound(wish) }
        let now = MonotonicClock.now()
        var limit: Int64?
        func within(_ time: Int64) { limit = min(limit ?? .max, max(0, time)) }
        if let retryAt = keeper.retryAt { within(retryAt - now) }
        if let closeAt { within(closeAt - now) }
        if wish.binding?.live != nil {
            // Until the device is there again, or something else is wanted.
            return ring.readerWake.wait(timeout: limit.map { .nanoseconds($0) })
        }
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
        if isNews || isOverlayNews(wish.overlay) { return }
        if overlay.isActive, keeper.card != nil { return waitWithOverlay(wish, limit: limit) }
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
