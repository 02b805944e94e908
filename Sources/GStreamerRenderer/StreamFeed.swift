// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamer
import Synchronization

/// Carries frames from a pipeline's streaming thread to the output, as one stream of it.
final class StreamFeed: AudioSinkTarget {
    private struct State {
        /// Flushes that are over.
        var flushes = 0
        /// True until the first frames after the beginning or a flush.
        var isFresh = true
        /// Where the next frame stands, for frames without a time.
        var expected: Double = 0
        /// Where frames are wanted from: earlier ones are dropped.
        var target: Target?
        /// The target from the next flush on, until frames have come: a demuxer that looks for a place may flush
        /// more than once.
        var nextTarget: Target?
        /// True while frames are dropped because they come from a wrong place.
        var isAstray = false
        /// The thread that reads ahead is held back until decoding has come to here, in nanoseconds.
        var resumeAt: Double?
        /// True while the decoder waits for the output to take what it has.
        var isWriting = false
        /// True while the decoder gives nothing for what it was fed, such as damaged frames: then nothing is held back.
        var isStarved = false
        var isOver = false
        /// Nanoseconds of the decoder's delay at the beginning of an MP3 file, which belong to no sound.
        var trim: Double = 0
        /// Where the sound ends, in nanoseconds; what follows was added by an encoder. Nil if nobody said.
        var end: Double?
        /// Nanoseconds of the media in each frame.
        var step: Double = 0
        /// Frames a second.
        var rate: Int32 = 0
        /// Counts what was told of the sound, and the last tags.
        var cue = 0
        var tags: TagValues?
        /// Says whether something goes on at a position after the sound.
        var goesOn: @Sendable (Double) -> Bool = { _ in false }
    }

    /// The goal of a move.
    struct Target: Equatable, Sendable {
        /// Nanoseconds.
        var position: Double
        /// True if the place where frames come from was guessed, so that it may be far off.
        var isGuess = false
        /// True if frames that come from behind it are refused, and reported.
        var isChecked = false
    }

    /// What arrived, with the number of flushes before it.
    enum Arrival: Sendable {
        case frames(flushes: Int)
        /// A guess led to this position: too late, or so early that guessing again is quicker than decoding.
        case astray(flushes: Int, position: Double)
    }

    /// What is told of the sound from a place on.
    enum News: Sendable {
        /// It is another stream than before.
        case began
        case tags(TagValues)
        /// A station's title; empty is none.
        case title(String)
    }

    /// Coded sound read ahead of the decoder: bursts of a second instead of a wake-up for every frame of 20 ms.
    private static let readAhead = 1.5e9
    private static let readAgain = 0.5e9
    /// A decoder that wants more before it gives anything is not starved for longer than this.
    private static let shortHold = Duration.milliseconds(250)
    /// While the output is full there is time; what waits is let go all the same, to see that it is needed no more.
    private static let longestHold = 8
    /// Media may have a hole of this length where they begin.
    private static let nearBehind = 1e8
    /// Decoding this much for nothing takes about as long as another request.
    private static let farBefore = 1e9
    /// Frames of silence at a time.
    private static let silence = 1024

    let stream: StreamID
    private let output: AudioOutput
    private let gate = Gate()
    private let onArrival: @Sendable (Arrival) -> Void
    private let onNews: @Sendable (Int, News) -> Void
    private let onCue: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// `onArrival` is called with the first frames after the beginning and after each flush; `onNews` with what is told
    /// of the sound, and a number: it holds once the output's `cueReached`, or `onCue`, comes with that.
    init(
        stream: StreamID, output: AudioOutput, onArrival: @escaping @Sendable (Arrival) -> Void,
        onNews: @escaping @Sendable (Int, News) -> Void, onCue: @escaping @Sendable (Int) -> Void
    ) {
        (self.stream, self.output, self.onArrival) = (stream, output, onArrival)
        (self.onNews, self.onCue) = (onNews, onCue)
    }

    /// Takes up what is told of the sound that comes next. On the thread that brings the sound.
    func tell(_ news: News) {
        let number: Int? = state.withLock { state in
            switch news {
            case .tags(let tags):
                // Parsers say the same again and again, with another bit rate.
                if tags == state.tags { return nil }
                state.tags = tags
            case .began: state.tags = nil
            case .title: break
            }
            state.cue += 1
            return state.cue
        }
        guard let number else { return }
        onNews(number, news)
        if !output.cue(number, in: stream) { onCue(number) }
    }

    func streamBegan() { tell(.began) }

    func titleCame(_ title: String) { tell(.title(title)) }

    /// Flushes so far.
    var flushes: Int { state.withLock { $0.flushes } }

    /// Media time by which decoded frames stand late; `position` of everything is corrected by it.
    var trim: Double { state.withLock { $0.trim } }

    /// Cuts off what an encoder added: nanoseconds in front, and all behind `length`. Before the first frames.
    func cut(before trim: Double, length: Double?) { state.withLock { ($0.trim, $0.end) = (trim, length) } }

    /// Says where the frames after the next flush are wanted from; nil takes them as they come.
    func aim(at target: Target?) { state.withLock { $0.nextTarget = target } }

    /// Drops what comes before `position`, from the beginning on. Before the first frames only.
    func begin(at position: Double) {
        state.withLock { $0.target = Target(position: position) }
    }

    func setRate(_ rate: Int32) -> SinkFlow {
        state.withLock { $0.rate = rate }
        return flow(output.setRate(rate, for: stream))
    }

    func write(_ frames: Span<Float>, position: Double, step: Double) -> SinkFlow {
        let count = frames.count / 2
        let (place, skipped, last, arrival): (Double, Int, Int, Arrival?) = state.withLock { state in
            state.isStarved = false
            var start = (position.isNaN ? state.expected : position) - (position.isNaN ? 0 : state.trim)
            let tempo = step * Double(state.rate) / 1e9
            // At another speed times are those of what went in, off by up to a stride to and fro; what comes out has
            // neither holes nor repetitions.
            if TempoChange.lead(at: tempo) != 0, !state.isFresh,
                (start - state.expected).magnitude < TempoChange.unevenness * tempo
            {
                start = state.expected
            }
            (state.expected, state.step) = (start + step * Double(count), step)
            let last =
                state.end.map { end in
                    step > 0 ? min(count, max(0, Int(((end - start) / step).rounded()))) : count
                } ?? count
            if state.isAstray { return (start, count, last, nil) }
            if let target = state.target, target.isChecked {
                // One block of a coded format may lie between what is there and what is wanted.
                let isFar = target.isGuess && start < target.position - Self.farBefore
                if start > target.position + step * Double(count) + Self.nearBehind || isFar {
                    state.isAstray = true
                    return (start, count, last, .astray(flushes: state.flushes, position: start))
                }
                state.target?.isChecked = false
            }
            let first = max(0, state.target?.position ?? 0)
            let skipped =
                start < first - step / 2 && step > 0 ? min(count, Int(((first - start) / step).rounded())) : 0
            guard skipped < last else { return (start, count, last, nil) }
            state.target = nil
            if state.isFresh { state.nextTarget = nil }
            defer { state.isFresh = false }
            return (
                start + step * Double(skipped) + TempoChange.lead(at: tempo), skipped, last,
                state.isFresh ? .frames(flushes: state.flushes) : nil
            )
        }
        if let arrival { onArrival(arrival) }
        letReadingGoOn()
        guard skipped < count else { return .ok }
        let kept = frames.extracting(skipped * 2..<last * 2)
        state.withLock { $0.isWriting = true }
        defer { state.withLock { $0.isWriting = false } }
        return flow(output.write(kept, position: place, step: step, for: stream))
    }

    /// Holds back the thread that reads coded sound ahead, which has come to `time`, if that is far enough.
    func holdBack(at time: Int64) {
        let ticket = gate.ticket
        let isHeld = state.withLock { state in
            guard !state.isFresh, !state.isOver, !state.isStarved, state.target == nil else { return false }
            let time = Double(time) - state.trim
            guard time > state.expected + Self.readAhead else { return false }
            // Two queues may follow one another; the nearer one must go on first.
            state.resumeAt = min(state.resumeAt ?? .infinity, time - Self.readAgain)
            return true
        }
        guard isHeld else { return }
        for _ in 0..<Self.longestHold {
            if gate.pass(ticket, timeout: Self.shortHold) { return }
            let isFull = state.withLock { state in
                if !state.isWriting { state.isStarved = true }
                return state.isWriting
            }
            guard isFull else { return }
        }
    }

    private func letReadingGoOn() {
        let isDue = state.withLock { state in
            guard let resumeAt = state.resumeAt, state.expected >= resumeAt else { return false }
            state.resumeAt = nil
            return true
        }
        if isDue { gate.open() }
    }

    /// Lets go whoever waits: the stream is over.
    func close() {
        state.withLock { ($0.isOver, $0.resumeAt) = (true, nil) }
        gate.open()
    }

    func flushStarted() {
        state.withLock { ($0.isFresh, $0.resumeAt) = (true, nil) }
        gate.open()
        output.beginFlush(stream)
    }

    func flushStopped() {
        state.withLock {
            $0.flushes += 1
            ($0.isFresh, $0.isAstray) = (true, false)
            $0.target = $0.nextTarget
        }
        output.endFlush(stream)
    }

    /// Lets silence follow the sound for as long as `goesOn` is true of the position it has come to.
    func fill(while goesOn: @escaping @Sendable (Double) -> Bool) { state.withLock { $0.goesOn = goesOn } }

    func ended() {
        let silence = [Float](repeating: 0, count: Self.silence * 2)
        while true {
            let (position, step, goesOn) = state.withLock { ($0.expected, $0.step, $0.goesOn) }
            guard step > 0, goesOn(position) else { break }
            guard write(silence.span, position: .nan, step: step) == .ok else { return }
        }
        output.end(stream)
    }

    private func flow(_ outcome: WriteOutcome) -> SinkFlow {
        switch outcome {
        case .written: .ok
        case .flushing: .flushing
        case .closed: .ended
        }
    }
}

/// What `scaletempo` does to the places of the sound that it lets through, with the settings that it has by itself.
enum TempoChange {
    /// The sound that it puts out at a time, unchanged, and the most by which it moves that to fit what was before.
    private static let stride = 30e6
    private static let search = 14e6
    /// Its times are no better than this, in nanoseconds of sound.
    static let unevenness = 100e6

    /// Nanoseconds of the media by which what is heard is ahead of an even movement, on the average: half of the search,
    /// and half of what a stride goes further, or less far, than the media do meanwhile.
    static func lead(at tempo: Double) -> Double {
        (tempo - 1).magnitude < 1e-6 ? 0 : search / 2 + stride / 2 * (1 - tempo)
    }
}
