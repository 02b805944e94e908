// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// Frames between the thread that decodes and the thread that feeds the card, with the place of each on the
/// media timeline, and what both sides ask of each other.
///
/// Every lock is held for a handful of assignments; samples are copied outside of it. A frame stays until it
/// was *heard*, so that what a card had queued when it was lost or dropped can be given to it again.
final class FrameRing: Sendable {
    /// Stereo; the converter makes what the card needs.
    static let channels = 2
    /// Sound decoded ahead, and the card's queue, whose frames are kept as well.
    static let ahead = Duration.milliseconds(300)
    /// A decoder that waits is let go when this much is free: few wake-ups, each for many small buffers.
    static let refillBurst = Duration.milliseconds(200)

    struct State {
        var stream: StreamID?
        /// Counts flushes: frames of an earlier number are not wanted any more.
        var epoch: UInt64 = 0
        var isFlushing = false
        var isPlaying = false
        var hasEnded = false
        /// True once the stream was ended at once: what its decoder still has is not wanted.
        var isFinished = false
        /// True once everything was heard.
        var hasDrained = false
        /// What is to be heard next, before and after frames of it are here.
        var follower: Follower?
        var joint: Joint?
        /// True if the card holds frames that are not wanted any more.
        var mustRewind = false
        var rate: Int32 = 0
        var store: FrameStore?
        /// Frames stored so far.
        var head: Int64 = 0
        /// The first frame that the card was not given.
        var next: Int64 = 0
        /// The first frame that was not heard.
        var kept: Int64 = 0
        /// The first of the frames that the output thread is copying.
        var reading: Int64?
        /// True while a decoder copies: that of an older stream may still be at it when a new one begins.
        var isWriting = false
        var marks = MarkList()
        var cues: [Cue] = []
        var isWriterWaiting = false
        var isReaderWaiting = false
        /// The device in place of the configured one.
        var device: String?
        var outputVolume = Volume.full
        var mediaVolume = Volume.full
        /// Of an overlay: how it lies over the stream, and whether it is fading away and takes no more frames.
        var levels = OverlayLevels()
        var isFading = false
        var heard: HeardPosition?
        /// How the stream is bound to a group's time; nil if it is not.
        var binding: Binding?
        var group = GroupTime()
        var isQuitting = false

        var queued: Int { Int(head - next) }
        var free: Int { (store?.capacity ?? 0) - Int(head - min(kept, reading ?? kept)) }

        /// Forgets all frames.
        mutating func flush() {
            epoch += 1
            (next, kept, hasEnded, hasDrained) = (head, head, false, false)
            isFinished = false
            // Frames behind the joint are gone as well, so their stream is of no use any more.
            (joint, mustRewind) = (nil, false)
            marks.removeAll()
            reachAllCues()
        }
    }

    let state = Mutex(State())
    /// Wakes the output thread.
    let readerWake: WakeUp
    private let writerWake: WakeUp
    /// Wakes the decoder of the stream that follows, beside that of the stream that is heard.
    let followerWake: WakeUp

    /// What the card has queued at most.
    private let buffer: Duration

    /// `readerWake`: that of another ring which the same thread reads.
    init?(buffer: Duration, readerWake shared: WakeUp? = nil) {
        guard let readerWake = shared ?? WakeUp(), let writerWake = WakeUp(), let followerWake = WakeUp()
        else {
            return nil
        }
        self.buffer = buffer
        (self.readerWake, self.writerWake, self.followerWake) = (readerWake, writerWake, followerWake)
    }

    /// Changes the state, and wakes both sides.
    func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        readerWake.signal()
        writerWake.signal()
        followerWake.signal()
    }

    /// Changes what only the output's thread looks at.
    func changeOutput(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        readerWake.signal()
    }

    /// Lets a decoder look again whether it has to wait.
    func wakeWriter() { writerWake.signal() }

    // MARK: The decoder's side

    /// Sets the rate of the frames that follow. Waits until earlier ones of another rate were heard, and until it is the
    /// stream's turn.
    func setRate(_ rate: Int32, for stream: StreamID) -> WriteOutcome {
        while true {
            var isFollower = false
            let outcome: WriteOutcome? = state.withLock { state in
                if state.follower?.stream == stream {
                    state.follower?.rate = rate
                    state.join()
                }
                if state.follower?.stream == stream {
                    isFollower = true
                    return nil
                }
                if state.writer != stream { return .closed }
                if state.isFlushing { return .flushing }
                if state.rate == rate { return .written }
                guard state.head == state.kept, state.reading == nil, !state.isWriting else {
                    state.isWriterWaiting = true
                    return nil
                }
                let time = Self.ahead + buffer
                state.store = FrameStore(capacity: frames(in: time, rate: rate), channels: Self.channels)
                state.rate = rate
                return .written
            }
            if let outcome { return leave(outcome) }
            (isFollower ? followerWake : writerWake).wait(timeout: nil)
        }
    }

    /// Stores all frames of `samples`, the first of them standing at `place`; waits for room.
    func write(_ samples: Span<Float>, at place: MediaPlace, for stream: StreamID) -> WriteOutcome {
        let count = samples.count / Self.channels
        var done = 0
        var epoch: UInt64?
        while done < count {
            enum Step {
                case copy(FrameStore, Int64, Int)
                case wait
                case stop(WriteOutcome)
            }
            let step: Step = state.withLock { state in
                if state.writer != stream { return .stop(.closed) }
                // A flush that came and went while this thread waited has ended this call as well.
                if state.isFlushing || state.isFinished || state.epoch != epoch ?? state.epoch {
                    return .stop(.flushing)
                }
                epoch = state.epoch
                guard let store = state.store else { return .stop(.closed) }
                guard state.free > 0, !state.isWriting else {
                    state.isWriterWaiting = true
                    return .wait
                }
                state.isWriting = true
                state.marks.note(place.advanced(by: Int64(done)), at: state.head)
                return .copy(store, state.head, min(count - done, state.free))
            }
            switch step {
            case .stop(let outcome): return leave(outcome)
            case .wait: writerWake.wait(timeout: nil)
            case .copy(let store, let head, let part):
                store.store(samples, offset: done, count: part, at: head)
                let (isReaderWaiting, isOtherWaiting) = state.withLock { state in
                    state.isWriting = false
                    // This thread does not wait, so if one does it is the decoder of another stream.
                    let isOtherWaiting = state.isWriterWaiting
                    state.isWriterWaiting = false
                    // A flush meanwhile moved everything on: these frames belong to nobody then.
                    if state.epoch != epoch || state.writer != stream { return (false, isOtherWaiting) }
                    state.head = head + Int64(part)
                    state.hasEnded = false
                    defer { state.isReaderWaiting = false }
                    return (state.isReaderWaiting, isOtherWaiting)
                }
                done += part
                if isReaderWaiting { readerWake.signal() }
                if isOtherWaiting { writerWake.signal() }
            }
        }
        return .written
    }

    /// The decoder of another stream may wait for the same signal: a thread that gives up passes it on.
    private func leave(_ outcome: WriteOutcome) -> WriteOutcome {
        if outcome != .written {
            writerWake.signal()
            followerWake.signal()
        }
        return outcome
    }

    // MARK: The output thread's side

    /// Copies up to `limit` frames that the card was not given, of one line only. Returns how many and where
    /// they begin.
    func take(_ limit: Int, into target: inout [Float]) -> (first: Int64, count: Int)? {
        let range: (FrameStore, Int64, Int)? = state.withLock { state in
            guard let store = state.store, state.queued > 0, limit > 0 else { return nil }
            state.reading = state.next
            return (store, state.next, min(limit, state.queued))
        }
        guard let (store, first, count) = range else { return nil }
        if target.count < count * Self.channels {
            target += [Float](repeating: 0, count: count * Self.channels - target.count)
        }
        store.load(count, from: first, into: &target)
        state.withLock { $0.reading = nil }
        return (first, count)
    }

    /// Notes what the card took and what was heard. Nothing happens if a flush came in between. A decoder that waits is let
    /// go when `refill` is free.
    func advance(
        next: Int64? = nil, kept: Int64? = nil, epoch: UInt64, refill: Duration = FrameRing.refillBurst
    ) {
        let wakesWriter = state.withLock { state in
            guard state.epoch == epoch else { return false }
            if let next { state.next = max(state.kept, min(next, state.head)) }
            if let kept { state.kept = max(state.kept, min(kept, state.next)) }
            state.marks.forget(before: state.kept)
            guard state.isWriterWaiting, let store = state.store else { return false }
            let burst = min(frames(in: refill, rate: state.rate), store.capacity / 2)
            guard state.free >= max(burst, 1) || state.head == state.kept else { return false }
            state.isWriterWaiting = false
            return true
        }
        if wakesWriter { writerWake.signal() }
    }
}
