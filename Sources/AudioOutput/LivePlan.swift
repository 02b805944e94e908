// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

/// How a live stream is played: how long what comes waits until it is heard, and where.
package struct LivePlan: Equatable, Sendable {
    /// From when the last frame of a usual portion comes until it is heard.
    package let latency: Duration
    /// What the card has queued of it.
    let queued: Duration
    /// Sound is made in portions of this length.
    let block: Duration
    /// A usual portion of the source.
    let portion: Duration

    /// `latency`: 30 ms to 500 ms. `portion`: what the source brings at a time.
    package init(latency: Duration, portion: Duration) {
        self.latency = min(max(latency, .milliseconds(30)), .milliseconds(500))
        let isShort = self.latency <= .milliseconds(50)
        queued =
            isShort ? .milliseconds(15) : min(max(self.latency / 4, .milliseconds(20)), .milliseconds(60))
        block = isShort ? .milliseconds(5) : .milliseconds(10)
        self.portion = min(portion, self.latency / 3)
    }

    /// What waits before and in the card at least, when the next portion is due.
    var lowest: Duration { latency - portion }
    /// What must have come before it begins.
    var start: Duration { latency - queued }
    var queue: CardQueue { CardQueue(buffer: queued * 2 + .milliseconds(20), period: .milliseconds(5)) }
}

/// Times of live streams.
enum LiveTiming {
    /// Sound fades in and out over this time where it begins and ends.
    static let fade = Duration.milliseconds(20)
    /// What waits beyond the measure by so many seconds is left out.
    static let slack = 0.025
    /// A card that has played silence for so long, in nanoseconds, stands until there is sound again.
    static let silence: Int64 = 2_000_000_000
    /// Frames that are kept behind the place that is read.
    static let behind: Int64 = 64
}

extension AudioOutput {
    /// Begins a stream whose frames come at the pace of somebody else's clock, by `writeLive`: what is heard follows them at
    /// the plan's distance, whatever happens. In place of the one before.
    package func openLive(_ stream: StreamID, playing: Bool, plan: LivePlan) {
        ring.change {
            $0.flush()
            $0.group.bindings += 1
            $0.binding = Binding(anchor: nil, number: $0.group.bindings, live: plan)
            ($0.stream, $0.follower, $0.isFlushing, $0.isPlaying) = (stream, nil, false, playing)
            $0.cues.removeAll(keepingCapacity: true)
            ($0.mediaVolume, $0.heard) = (.full, nil)
        }
    }

    /// Takes stereo frames of a live stream. Never waits for room: what nobody takes in time is forgotten, the oldest first, and
    /// so is all that comes while the stream is paused.
    package func writeLive(_ samples: Span<Float>, for stream: StreamID) -> WriteOutcome {
        ring.writeLive(samples, for: stream)
    }
}

extension FrameRing {
    func writeLive(_ samples: Span<Float>, for stream: StreamID) -> WriteOutcome {
        let all = samples.count / Self.channels
        enum Step {
            case copy(FrameStore, Int64, Int, UInt64)
            case stop(WriteOutcome)
        }
        let step: Step = state.withLock { state in
            guard state.writer == stream else { return .stop(.closed) }
            guard let store = state.store, state.rate > 0, !state.hasEnded else { return .stop(.closed) }
            let count = min(all, store.capacity / 2)
            guard state.isPlaying, !state.isWriting, count > 0 else { return .stop(.written) }
            if state.free < count {
                // What is being copied stays; that is over soon.
                guard state.reading == nil else { return .stop(.written) }
                state.kept = min(state.head, state.kept + Int64(count - state.free))
                state.next = max(state.next, state.kept)
            }
            let rate = Double(state.rate)
            let position = state.marks.place(of: state.head)?.position ?? 0
            state.marks.note(MediaPlace(position: position, step: 1e9 / rate), at: state.head)
            state.isWriting = true
            return .copy(store, state.head, count, state.epoch)
        }
        guard case .copy(let store, let head, let count, let epoch) = step else {
            if case .stop(let outcome) = step { return outcome }
            return .closed
        }
        store.store(samples, offset: all - count, count: count, at: head)
        let (isReaderWaiting, isOtherWaiting) = state.withLock { state in
            state.isWriting = false
            let isOtherWaiting = state.isWriterWaiting
            state.isWriterWaiting = false
            guard state.epoch == epoch, state.writer == stream else { return (false, isOtherWaiting) }
            state.head = head + Int64(count)
            defer { state.isReaderWaiting = false }
            return (state.isReaderWaiting, isOtherWaiting)
        }
        if isReaderWaiting { readerWake.signal() }
        if isOtherWaiting { wakeWriter() }
        return .written
    }
}
