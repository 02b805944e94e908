// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
package import MediaModel
import Synchronization

/// What a stream of a group is played by.
struct Binding: Equatable, Sendable {
    /// Nil: it stands.
    var anchor: PlaybackAnchor?
    /// Counts bindings.
    var number: UInt64
    /// Not nil of a live stream, which follows its source, and no anchor.
    var live: LivePlan?
}

/// What is known of the group's time, whatever plays.
struct GroupTime: Equatable, Sendable {
    var clock: ClockLine?
    /// Nanoseconds by which sound is heard later than the card says.
    var trim: Int64 = 0
    var bindings: UInt64 = 0
}

/// Times of a bound stream.
enum BoundTiming {
    /// What the card has queued, of the 120 ms that it could.
    static let queued = Duration.milliseconds(60)
    /// Sound is decided on in portions of this length, and fades over one.
    static let block = Duration.milliseconds(5)
    /// Sound that must be decoded before the stream is ready to begin.
    static let ready = Duration.milliseconds(250)
    /// Sound that is left of it when it is not ready any more.
    static let low = Duration.milliseconds(20)
    /// Sound that is kept behind the place that is read, for a resumption a little before it.
    static let behind = Duration.milliseconds(150)
    /// A decoder that waits is let go when so much is free: in bursts, but never far from ready.
    static let refill = Duration.milliseconds(50)
    /// A place this little behind what is there is waited for; one so far ahead of it is soon decoded.
    static let patienceBehind = Duration.milliseconds(200)
    static let patienceAhead = Duration.seconds(1)
    /// A place ahead that is not decoded by then is not decoded soon.
    static let catchingUp: Int64 = 2_000_000_000
    /// How often it is told that a place is elsewhere.
    static let strayAgain: Int64 = 3_000_000_000
    /// Sound that comes later than this after its time, in nanoseconds, is missed, though none was heard yet.
    static let lateBeginning: Int64 = 1_000_000_000
    /// An error that is too large to be slewed away is waited for this long, in nanoseconds.
    static let jumpAfter: Int64 = 20_000_000
    /// How far sound may be from the card's own word.
    static let trimLimit: Int64 = 2_000_000_000
}

extension AudioOutput {
    /// From now on the anchor decides what is heard of the stream, by the group's clock. Nil: it stands.
    ///
    /// The card runs as long as the stream is bound, and longer: its model is kept. `readinessChanged`, `syncChanged` and
    /// `strayed` are reported.
    package func bind(_ stream: StreamID, to anchor: PlaybackAnchor?) {
        ring.changeOutput { if $0.stream == stream { $0.bind(to: anchor) } }
    }

    /// Lets the stream go on by the card's clock from the place that is heard.
    package func unbind(_ stream: StreamID) {
        ring.changeOutput { if $0.stream == stream { $0.binding = nil } }
    }

    /// Says how the group's clock is read by this machine's. Without one, what is heard goes on by the last one.
    package func setGroupClock(_ line: ClockLine?) { ring.state.withLock { $0.group.clock = line } }

    /// Says by how many nanoseconds sound is heard later than the card says.
    package func setOutputTrim(_ trim: Int64) {
        let limit = BoundTiming.trimLimit
        ring.state.withLock { $0.group.trim = min(max(trim, -limit), limit) }
    }
}

extension AudioOutput {
    /// Says how much faster than the clock the card of a device runs, in parts per million, until that is measured.
    package func setCardDrift(_ drift: Double, of device: String) {
        self.device.drifts.withLock { drifts in
            if drifts.count < DeviceFacts.driftLimit || drifts[device] != nil { drifts[device] = drift }
        }
    }
}

extension FrameRing.State {
    mutating func bind(to anchor: PlaybackAnchor?) {
        group.bindings += 1
        binding = Binding(anchor: anchor, number: group.bindings)
    }
}

/// A place of the item in the ring.
struct RingPlace: Equatable, Sendable {
    /// In frames of the ring; those at both ends are not there.
    var frame: Double
    /// Media nanoseconds for each frame.
    var step: Double
    /// True if it lies between two stretches of the item.
    var isHole: Bool
}

extension MarkList {
    /// Where `position`, in nanoseconds of the media, lies among the frames; nil while nothing is known. The stretch around the
    /// frame `near` is preferred, should it lie in several. Only for media that run forward.
    func frame(of position: Double, near: Double?) -> RingPlace? {
        func place(_ index: Int) -> RingPlace? {
            let (mark, next) = (line(index), line(index + 1))
            guard let mark, mark.place.step > 0 else { return nil }
            let frame = Double(mark.frame) + (position - mark.place.position) / mark.place.step
            return RingPlace(
                frame: frame, step: mark.place.step, isHole: next.map { frame > Double($0.frame) } ?? false)
        }
        if let near, let index = lastIndex(before: near), let found = place(index), !found.isHole,
            found.frame >= Double(line(index)?.frame ?? 0) || index == 0
        {
            return found
        }
        for index in stride(from: count - 1, through: 0, by: -1) {
            guard let mark = line(index) else { return nil }
            if index == 0 || position >= mark.place.position { return place(index) }
        }
        return nil
    }
}

extension FrameRing {
    /// What is in the ring for a stream that is bound.
    struct Holding: Equatable, Sendable {
        var first: Int64
        var head: Int64
        var hasEnded: Bool
        var isFinished: Bool
        /// True if nothing is known of what the frames are.
        var isBlank: Bool
    }

    func holding(epoch: UInt64) -> Holding? {
        state.withLock { state in
            guard state.epoch == epoch else { return nil }
            return Holding(
                first: state.kept, head: state.head, hasEnded: state.hasEnded, isFinished: state.isFinished,
                isBlank: state.marks.isEmpty)
        }
    }

    /// Where a time of the item lies in the ring.
    func place(of itemTime: Int64, near frame: Double?) -> RingPlace? {
        state.withLock { $0.marks.frame(of: Double(itemTime), near: frame) }
    }

    /// Copies `count` frames from `first` on, with silence for those that are not there or stand before `low`. False after
    /// a flush.
    func look(
        at first: Int64, count: Int, notBefore low: Int64, epoch: UInt64, into target: inout [Float]
    ) -> Bool {
        if target.count < count * Self.channels {
            target += [Float](repeating: 0, count: count * Self.channels - target.count)
        }
        for index in 0..<count * Self.channels { target[index] = 0 }
        var start: Int64 = 0
        var end: Int64 = 0
        let (isCurrent, store): (Bool, FrameStore?) = state.withLock { state in
            guard state.epoch == epoch else { return (false, nil) }
            start = max(first, low, state.kept)
            end = min(first + Int64(count), state.head)
            guard start < end else { return (true, nil) }
            state.reading = start
            return (true, state.store)
        }
        guard let store else { return isCurrent }
        store.load(Int(end - start), from: start, into: &target, at: Int(start - first))
        state.withLock { $0.reading = nil }
        return true
    }
}
