// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A sound from which the item's time can be read to a hundredth of a microsecond: a tone of 1000 Hz on the left and one of
/// 1010 Hz on the right, which stand to each other as they do only once in 100 ms.
package enum ToneClock {
    private static let left = 1000.0
    private static let right = 1010.0
    /// Whole periods of both.
    private static let window = 0.1

    /// Interleaved frames, from frame `first` of the item on.
    package static func frames(_ count: Int, from first: Int, rate: Int32) -> [Float] {
        var samples = [Float](repeating: 0, count: count * 2)
        for frame in 0..<count {
            let time = Double(first + frame) / Double(rate)
            samples[frame * 2] = Float(0.5 * sin(2 * .pi * left * time))
            samples[frame * 2 + 1] = Float(0.5 * sin(2 * .pi * right * time))
        }
        return samples
    }

    /// The same as a WAV file of 16 bits.
    package static func wav(seconds: Double, rate: Int32) -> [UInt8] {
        let samples = frames(Int(seconds * Double(rate)), from: 0, rate: rate)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(44 + samples.count * 2)
        func put(_ value: Int, _ width: Int) {
            for byte in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
        }
        bytes += Array("RIFF".utf8)
        put(36 + samples.count * 2, 4)
        bytes += Array("WAVEfmt ".utf8)
        put(16, 4)
        put(1, 2)
        put(2, 2)
        put(Int(rate), 4)
        put(Int(rate) * 4, 4)
        put(4, 2)
        put(16, 2)
        bytes += Array("data".utf8)
        put(samples.count * 2, 4)
        for sample in samples { put(Int((sample * 32_767).rounded()), 2) }
        return bytes
    }

    /// By how many microseconds the item is heard later than `itemTime` says, which gives the item's seconds for a moment of the
    /// clock; in windows of 100 ms from `start` on. Between -50 and 50 ms. Windows in which the card did not run, or was
    /// silent, are left out.
    package static func lateness(
        in recording: CardRecording, from start: Int64, to end: Int64, itemTime: (Int64) -> Double
    ) -> [(time: Int64, late: Double)] {
        var found: [(time: Int64, late: Double)] = []
        for segment in recording.segments {
            let count = Int(window * segment.rate)
            let last = min(segment.endFrame ?? recording.frameCount, recording.frameCount)
            var frame = segment.firstFrame
            func time(_ frame: Int) -> Int64 {
                segment.start + Int64((Double(frame - segment.firstFrame) / segment.rate * 1e9).rounded())
            }
            if start > segment.start {
                frame += Int((Double(start - segment.start) * 1e-9 * segment.rate).rounded(.up))
            }
            while frame + count <= last, time(frame + count) <= end {
                if let late = lateness(recording, frame, count, { itemTime(time($0)) }) {
                    found.append((time(frame), late))
                }
                frame += count
            }
        }
        return found
    }

    private static func lateness(
        _ recording: CardRecording, _ first: Int, _ count: Int, _ itemTime: (Int) -> Double
    ) -> Double? {
        var sums = (leftReal: 0.0, leftOther: 0.0, rightReal: 0.0, rightOther: 0.0)
        for frame in first..<first + count {
            let time = itemTime(frame)
            let (one, other) = (2 * Double.pi * left * time, 2 * Double.pi * right * time)
            let (leftSample, rightSample) = (
                Double(recording.samples[frame * 2]), Double(recording.samples[frame * 2 + 1])
            )
            sums.leftReal += leftSample * sin(one)
            sums.leftOther += leftSample * cos(one)
            sums.rightReal += rightSample * sin(other)
            sums.rightOther += rightSample * cos(other)
        }
        let power = (sums.leftReal * sums.leftReal + sums.leftOther * sums.leftOther).squareRoot()
        guard power / Double(count) > 100 else { return nil }
        // A sound that is late by d lags by 2 pi f d.
        let leftTurns = -atan2(sums.leftOther, sums.leftReal) / (2 * .pi)
        let rightTurns = -atan2(sums.rightOther, sums.rightReal) / (2 * .pi)
        var beat = rightTurns - leftTurns
        beat -= beat.rounded()
        let coarse = beat / (right - left)
        let fine = leftTurns / left
        return (fine + ((coarse - fine) * left).rounded() / left) * 1e6
    }
}
