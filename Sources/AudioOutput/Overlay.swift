// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel
import Synchronization

/// How a second sound lies over that of the stream.
package struct OverlayLevels: Equatable, Sendable {
    /// The overlay's own loudness, within that of the output.
    package var volume: Volume
    /// What is left of the stream's sound meanwhile, in decibels below it; 60 and more is nothing.
    package var ducking: Double
    package init(volume: Volume = .full, ducking: Double = 20) {
        (self.volume, self.ducking) = (volume, ducking)
    }

    /// The factor for the stream's samples.
    var duckedGain: Float { VolumeCurve.gain(of: Volume(level: 1 - ducking / VolumeCurve.span)) }
}

/// Times of an overlay.
enum OverlayTiming {
    /// Sound that must be there before it begins, so that it does not stumble over its first words.
    static let start = Duration.milliseconds(100)
    /// Quick enough not to be missed, slow enough not to click.
    static let ramp = Duration.milliseconds(40)
    /// How long the stream stays ducked afterwards, in case another overlay follows.
    static let hold = Duration.milliseconds(250)
    /// While the stream's decoder is late, silence takes its place only when so little is left on the card.
    static let reserve = Duration.milliseconds(60)
}

extension AudioOutput {
    /// Begins a second sound, which is heard over that of the stream, or alone: also while the stream is paused, or has
    /// nothing to give. The stream's own timeline is not touched. `overlayBegan` and `overlayEnded` are reported.
    ///
    /// Its frames come by `setRate`, `write` and `end` as those of a stream; `close` lets it fade away.
    package func openOverlay(_ stream: StreamID, levels: OverlayLevels) {
        overlay.change {
            $0.flush()
            ($0.stream, $0.isFlushing, $0.isFading) = (stream, false, false)
            ($0.mediaVolume, $0.levels) = (levels.volume, levels)
        }
    }

    /// Lets the overlay fade away, if it is this one.
    func closeOverlay(_ stream: StreamID) {
        overlay.change { if $0.stream == stream { $0.isFading = true } }
    }

    /// Where the frames of a stream go.
    func ring(of stream: StreamID) -> FrameRing {
        overlay.state.withLock { $0.stream == stream } ? overlay : ring
    }
}

/// Reads an overlay's frames at the card's rate. Usually that is theirs; it is another one if the stream that is heard
/// has it, or gets it meanwhile.
struct OverlayReader {
    /// Frames of the overlay for each of the card's.
    private var step = 1.0
    /// Where the next frame of the card stands behind the next one of the ring.
    private var phase = 0.0
    /// The frame before that of the ring.
    private var previous: (left: Float, right: Float) = (0, 0)
    private var source: [Float] = []
    /// What was read last: frames of the ring, and of the card.
    private var available = 0
    private var count = 0
    private var isLast = false

    /// Begins anew, with the ring's next frame.
    mutating func begin(rate: Int32, cardRate: Int32) {
        step = Double(max(rate, 1)) / Double(max(cardRate, 1))
        (phase, previous, available, count) = (0, (0, 0), 0, 0)
    }

    /// Reads up to `limit` frames of the card's rate. `isComplete`: no frames will follow those in the ring.
    mutating func read(
        _ limit: Int, from ring: FrameRing, isComplete: Bool, into target: inout [Float]
    ) -> (first: Int64, count: Int)? {
        (available, count, isLast) = (0, 0, false)
        guard limit > 0 else { return nil }
        if step == 1 {
            guard let (first, taken) = ring.take(limit, into: &target) else { return nil }
            (available, count) = (taken, taken)
            return (first, taken)
        }
        let wanted = Int(phase + Double(limit - 1) * step) + 3
        guard let (first, taken) = ring.take(wanted, into: &source) else { return nil }
        available = taken
        isLast = isComplete && taken < wanted
        let end = isLast ? taken : taken - 2
        if target.count < limit * 2 { target += [Float](repeating: 0, count: limit * 2 - target.count) }
        while count < limit {
            let place = phase + Double(count) * step
            let frame = Int(place)
            guard frame < end else { break }
            let fraction = Float(place - Double(frame))
            target[count * 2] = interpolate(frame, 0, fraction)
            target[count * 2 + 1] = interpolate(frame, 1, fraction)
            count += 1
        }
        return (first, count)
    }

    /// The frames of the ring that are used up once the card has taken the first `done` of those that were read.
    mutating func take(_ done: Int) -> Int {
        if step == 1 { return done }
        if isLast, done == count {
            phase = 0
            return available
        }
        let place = phase + Double(done) * step
        let used = min(Int(place), available)
        phase = place - Double(used)
        if used > 0 { previous = (source[used * 2 - 2], source[used * 2 - 1]) }
        return used
    }

    /// A curve through four frames; beyond the last one is silence.
    private func interpolate(_ frame: Int, _ channel: Int, _ fraction: Float) -> Float {
        func sample(_ frame: Int) -> Float { frame < available ? source[frame * 2 + channel] : 0 }
        let before = frame > 0 ? sample(frame - 1) : channel == 0 ? previous.left : previous.right
        let (from, to, after) = (sample(frame), sample(frame + 1), sample(frame + 2))
        let slope = (to - before) / 2
        let curve = before - 2.5 * from + 2 * to - after / 2
        let bend = (after - before) / 2 + 1.5 * (from - to)
        return ((bend * fraction + curve) * fraction + slope) * fraction + from
    }
}
