// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamer
import Synchronization

/// Carries pictures from a pipeline's streaming thread to the screen, and lets each be shown when the sound of its
/// place is heard.
///
/// Pictures wait at the screen's end, converted and ready, so that nothing but the sink's own work comes after the
/// moment. Both threads that wait here are let go by a flush, by `close`, and by a screen that is lost.
final class PictureFeed: PictureSinkTarget {
    /// A picture between the pipeline and the screen.
    private struct Entry {
        var mark: Int64
        var position: Int64
        /// Shown at once: the first one after the beginning or a flush.
        var isFirst: Bool
    }

    private struct State {
        /// What the screen was given and has not shown.
        var underWay: [Entry] = []
        var isFlushing = false
        var isFresh = true
        var isOver = false
        /// Pictures that end before it are dropped.
        var start: Int64 = 0
        /// Where the next picture stands, for one without a time.
        var expected: Int64 = 0
        /// Where the last picture ends, once it came.
        var end: Int64?
        /// When the last picture was shown, in nanoseconds of the monotonic clock.
        var shown: Int64 = 0
        var hasShown = false
        /// Called with the first picture.
        var onFirst: (@Sendable () -> Void)?
        var dropped = 0
    }

    enum News: Sendable, Equatable {
        /// The first picture was shown.
        case shown
        /// The last one was, for as long as it lasts.
        case finished
    }

    /// Pictures in the screen's pipeline: one that waits for its moment, one that is converted meanwhile.
    private static let limit = 2
    /// A screen that has not shown a picture this long after its moment does not answer.
    private static let patience: Int64 = 2_000_000_000
    /// Where the media does not say: a picture of 25 a second.
    private static let usualDuration: Int64 = 40_000_000
    /// Longer than any change that matters goes unnoticed only if its wake-up is lost.
    private static let longestWait = Duration.seconds(1)

    private let stream: StreamID
    private let output: AudioOutput
    private let screen: Screen
    private let texts: @Sendable (Int64) -> String
    private let gate = Gate()
    private let state = Mutex(State())
    private let onNews: @Sendable (News) -> Void

    /// `texts` gives the text over the picture at a position, as markup.
    init(
        stream: StreamID, output: AudioOutput, screen: Screen, texts: @escaping @Sendable (Int64) -> String,
        onNews: @escaping @Sendable (News) -> Void
    ) {
        (self.stream, self.output, self.screen) = (stream, output, screen)
        (self.texts, self.onNews) = (texts, onNews)
    }

    /// Drops what ends before `position`, from the beginning on. Before the first picture only.
    func begin(at position: Int64) { state.withLock { $0.start = position } }

    /// Runs `body` when the first picture comes out of the pipeline, on the thread that brings it.
    func whenFirstComes(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onFirst = body } }

    var isOver: Bool { state.withLock { $0.isOver } }
    /// Where the last picture ends, in nanoseconds of the media; nil as long as more may come.
    var end: Int64? { state.withLock { $0.end } }

    /// Sound begins or stops to be heard: whoever waits looks again.
    func wake() { gate.open() }

    /// Lets go whoever waits: no more is shown.
    func close() {
        state.withLock {
            $0.isOver = true
            $0.underWay.removeAll()
        }
        gate.open()
    }

    // MARK: The pipeline's side

    func write(_ picture: Picture) -> SinkFlow {
        let length = picture.duration ?? Self.usualDuration
        let mark = screen.nextMark()
        state.withLock { state in
            defer { state.onFirst = nil }
            return state.onFirst
        }?()
        while true {
            let ticket = gate.ticket
            enum Step {
                case give, skip, wait
                case leave(SinkFlow)
            }
            let step: Step = state.withLock { state in
                if state.isOver { return .leave(.ended) }
                if state.isFlushing { return .leave(.flushing) }
                let position = picture.position ?? state.expected
                guard position.addingReportingOverflow(length).partialValue > state.start else {
                    return .skip
                }
                guard state.underWay.count < Self.limit else { return .wait }
                state.underWay.append(Entry(mark: mark, position: position, isFirst: state.isFresh))
                (state.isFresh, state.end) = (false, nil)
                state.expected = position.addingReportingOverflow(length).partialValue
                return .give
            }
            switch step {
            case .leave(let flow): return flow
            case .skip: return .ok
            case .give:
                if !screen.show(picture, mark: mark, of: self) { close() }
                return .ok
            case .wait:
                gate.pass(ticket, timeout: Self.longestWait)
                if isStuck { screen.lose("The display does not answer.", isStuck: true) }
            }
        }
    }

    /// True if a picture's moment is long past and the screen has not even asked for it to be left out.
    private var isStuck: Bool {
        let now = AudioOutput.now()
        guard let heard = output.heard(of: stream, at: now), heard.rate > 0 else { return false }
        return state.withLock { state in
            guard let next = state.underWay.first, !next.isFirst || state.hasShown else { return false }
            return heard.position - next.position > Self.patience && now - state.shown > Self.patience
        }
    }

    func flushStarted() {
        state.withLock {
            $0.isFlushing = true
            $0.underWay.removeAll()
        }
        gate.open()
    }

    func flushStopped() {
        state.withLock { ($0.isFlushing, $0.isFresh, $0.start, $0.end) = (false, true, 0, nil) }
    }

    /// Waits until the last picture was there for as long as it lasts.
    func ended() {
        let end = state.withLock { state in
            state.end = state.expected
            return state.expected
        }
        while true {
            let ticket = gate.ticket
            let isWanted = state.withLock { !$0.isOver && !$0.isFlushing && $0.end == end }
            guard isWanted else { return }
            let now = AudioOutput.now()
            let heard = output.heard(of: stream, at: now)
            switch PictureClock.verdict(at: end, heard: heard, shown: now, now: now) {
            case .show, .drop: return onNews(.finished)
            case .wait(let time): gate.pass(ticket, timeout: Self.duration(time))
            }
        }
    }

    // MARK: The screen's side

    /// The text over the picture of this mark; nil if the picture is not wanted any more.
    func text(of mark: Int64) -> String? {
        state.withLock { state in state.underWay.first { $0.mark == mark }?.position }.map(texts)
    }

    /// Waits for the moment of the picture of this mark. False if it shall not be shown.
    func awaitMoment(of mark: Int64) -> Bool {
        while true {
            let ticket = gate.ticket
            let now = AudioOutput.now()
            let heard = output.heard(of: stream, at: now)
            let (verdict, isNews): (PictureClock.Verdict, Bool) = state.withLock { state in
                // What came before it was lost on the way.
                while let first = state.underWay.first, first.mark < mark { state.underWay.removeFirst() }
                guard let entry = state.underWay.first, entry.mark == mark else { return (.drop, false) }
                let verdict =
                    entry.isFirst
                    ? .show
                    : PictureClock.verdict(at: entry.position, heard: heard, shown: state.shown, now: now)
                if case .wait = verdict { return (verdict, false) }
                state.underWay.removeFirst()
                guard verdict == .show else {
                    state.dropped += 1
                    return (verdict, false)
                }
                state.shown = now
                defer { state.hasShown = true }
                return (verdict, !state.hasShown)
            }
            switch verdict {
            case .wait(let time): gate.pass(ticket, timeout: Self.duration(time))
            case .show:
                gate.open()
                if isNews { onNews(.shown) }
                return true
            case .drop:
                gate.open()
                return false
            }
        }
    }

    private static func duration(_ nanoseconds: Int64?) -> Duration {
        nanoseconds.map { min(.nanoseconds($0), longestWait) } ?? longestWait
    }
}
