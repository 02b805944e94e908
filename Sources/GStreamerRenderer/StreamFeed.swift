// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
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
        /// Nanoseconds of the decoder's delay at the beginning of an MP3 file, which belong to no sound.
        var trim: Double = 0
    }

    let stream: StreamID
    private let output: AudioOutput
    private let onArrival: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// `onArrival` is called with the first frames after the beginning and after each flush, and told the number
    /// of flushes before.
    init(stream: StreamID, output: AudioOutput, onArrival: @escaping @Sendable (Int) -> Void) {
        (self.stream, self.output, self.onArrival) = (stream, output, onArrival)
    }

    /// Flushes so far.
    var flushes: Int { state.withLock { $0.flushes } }

    /// Media time by which decoded frames stand late; `position` of everything is corrected by it.
    var trim: Double {
        get { state.withLock { $0.trim } }
        set { state.withLock { $0.trim = newValue } }
    }

    func setRate(_ rate: Int32) -> SinkFlow { flow(output.setRate(rate, for: stream)) }

    func write(_ frames: Span<Float>, position: Double, step: Double) -> SinkFlow {
        let count = frames.count / 2
        let (place, skipped, arrival): (Double, Int, Int?) = state.withLock { state in
            let start = (position.isNaN ? state.expected : position) - (position.isNaN ? 0 : state.trim)
            state.expected = start + step * Double(count)
            let skipped =
                start < -step / 2 && step > 0 ? min(count, Int((-start / step).rounded())) : 0
            guard skipped < count else { return (start, skipped, nil) }
            defer { state.isFresh = false }
            return (start + step * Double(skipped), skipped, state.isFresh ? state.flushes : nil)
        }
        guard skipped < count else { return .ok }
        if let arrival { onArrival(arrival) }
        let kept = frames.extracting(skipped * 2..<count * 2)
        return flow(output.write(kept, position: place, step: step, for: stream))
    }

    func flushStarted() { output.beginFlush(stream) }

    func flushStopped() {
        state.withLock {
            $0.flushes += 1
            $0.isFresh = true
        }
        output.endFlush(stream)
    }

    func ended() { output.end(stream) }

    private func flow(_ outcome: WriteOutcome) -> SinkFlow {
        switch outcome {
        case .written: .ok
        case .flushing: .flushing
        case .closed: .ended
        }
    }
}
