// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GStreamer
import Synchronization

/// What becomes of the samples of an item.
enum SampleStatus: Equatable, Sendable {
    /// So much is decoded behind the place that is asked for that it can be heard.
    case enqueued
    /// What should be heard is not there.
    case suspended
    /// The item was heard to its end.
    case finished
    case failed(String)
}

/// The decoded samples of one item round the place that is heard: a pipeline of GStreamer fills them in order and is held back, and
/// the pump reads them.
final class SampleWindow: AudioSinkTarget {
    static let rate = 48_000
    /// Frames kept behind the place that is read, and decoded ahead of it.
    private static let behind = Int64(rate)
    private static let ahead = Int64(2 * rate)
    /// Frames that must be there for a start: a quarter of a second.
    private static let enough = Int64(rate / 4)

    /// The frames that are there.
    private struct Window {
        var samples: [Float] = []
        /// The number of the first; the first after a seek is 0.
        var first: Int64 = 0
        /// The item's nanoseconds at frame 0, and for each frame. Nil before a frame came.
        var origin: Double?
        var step = 1e9 / Double(rate)
        /// The frame that is read next.
        var read: Int64 = 0
        var hasEnded = false
        var isFlushing = false
        /// Seeks that are not done.
        var seeks = 0
        /// What was told last.
        var status: SampleStatus?

        /// Neither at its end nor broken.
        var isMoving: Bool { [nil, .enqueued, .suspended].contains(status) }
        var head: Int64 { first + Int64(samples.count / 2) }
    }

    private let window = Mutex(Window())
    private let gate = Gate()
    private let tell: @Sendable (SampleStatus) -> Void

    /// `tell` is called on any thread.
    init(tell: @escaping @Sendable (SampleStatus) -> Void) { self.tell = tell }

    /// A flush comes, with what follows it.
    func seekBegan() {
        window.withLock { window in
            window.seeks += 1
            window.status = nil
        }
        gate.open()
    }

    func seekEnded(isDone: Bool) {
        change { window in
            window.seeks -= 1
            if !isDone { window.status = .failed("the item cannot be moved in") }
        }
    }

    // MARK: Reading

    /// The frame in which a place of the item lies, as the numbers run since the last seek. Nil before anything is there.
    func frame(of place: Double) -> Double? {
        window.withLock { window in
            guard window.seeks == 0, let origin = window.origin else { return nil }
            return (place - origin) / window.step
        }
    }

    /// The item's nanoseconds for each frame.
    var step: Double { window.withLock { $0.step } }

    /// Whether a place could be heard at once.
    func isReady(for place: Double) -> Bool {
        window.withLock { window in
            guard window.seeks == 0, let origin = window.origin else { return false }
            let frame = Int64(((place - origin) / window.step).rounded(.down))
            return frame >= window.first && (window.hasEnded || frame + Self.enough <= window.head)
        }
    }

    /// Whether decoding on would bring a place soon; else only a seek does.
    func isNear(_ place: Double) -> Bool {
        window.withLock { window in
            guard window.seeks == 0, let origin = window.origin else { return window.seeks > 0 }
            let frame = Int64(((place - origin) / window.step).rounded(.down))
            return frame >= window.first && frame <= window.head + Self.ahead / 2
        }
    }

    enum Reading { case frames, missing, ended }

    /// Copies frames from number `first` on; what lies before the item or behind its end is silence.
    func read(_ first: Int64, count: Int, into target: inout [Float]) -> Reading {
        let reading: Reading = window.withLock { window in
            guard window.seeks == 0, window.origin != nil else { return .missing }
            let isLate = first < window.first && window.first > 0
            guard !isLate, window.hasEnded || first + Int64(count) <= window.head else { return .missing }
            guard first < window.head else { return .ended }
            for index in 0..<count * 2 {
                let place = Int(first - window.first) * 2 + index
                target[index] = window.samples.indices.contains(place) ? window.samples[place] : 0
            }
            window.read = max(window.read, first)
            return .frames
        }
        if reading == .frames { gate.open() }
        return reading
    }

    /// The place that is to be heard next: frames behind it are let go, and it is told when it could be heard.
    func want(_ place: Double) {
        change { window in
            guard window.seeks == 0, let origin = window.origin, window.isMoving else { return }
            let frame = Int64(((place - origin) / window.step).rounded(.down))
            window.read = max(window.read, min(frame, window.head))
            let isReady = frame >= window.first && (window.hasEnded || frame + Self.enough <= window.head)
            if isReady {
                window.status = .enqueued
            } else if window.status == .enqueued {
                window.status = nil
            }
        }
    }

    /// The pump lacks frames, or has come to the end.
    func note(_ status: SampleStatus) { change { $0.status = status } }

    private func change(_ body: (inout Window) -> Void) {
        let news: SampleStatus? = window.withLock { window in
            let before = window.status
            body(&window)
            return window.status == before ? nil : window.status
        }
        gate.open()
        if let news { tell(news) }
    }

    // MARK: From the pipeline

    func setRate(_ rate: Int32) -> SinkFlow { .ok }

    func write(_ frames: Span<Float>, position: Double, step: Double) -> SinkFlow {
        while true {
            let ticket = gate.ticket
            let flow: SinkFlow? = window.withLock { window in
                if window.isFlushing { return .flushing }
                if window.head - window.read > Self.ahead { return nil }
                if window.origin == nil, !position.isNaN { (window.origin, window.step) = (position, step) }
                for index in 0..<frames.count { window.samples.append(frames[index]) }
                let old = window.read - Self.behind - window.first
                if old > Self.behind {
                    window.samples.removeFirst(Int(old) * 2)
                    window.first += old
                }
                return .ok
            }
            if let flow { return flow }
            // Whoever reads opens the gate; the time is for nothing but a lost reader.
            gate.pass(ticket, timeout: .seconds(1))
        }
    }

    func ended() { change { $0.hasEnded = true } }

    func flushStarted() {
        window.withLock { $0.isFlushing = true }
        gate.open()
    }

    func flushStopped() {
        change { window in
            let seeks = window.seeks
            window = Window()
            window.seeks = seeks
        }
    }
}
