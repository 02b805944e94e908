// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a simulated card was given and when each frame was heard, as a value. The format is described in
/// `Tests/Support/simdac/README.md`. Times are nanoseconds of `CLOCK_MONOTONIC`.
package struct CardRecording: Sendable {
    /// A stretch of frames that were heard one after the other.
    package struct Segment: Equatable, Sendable {
        /// Place in the recording.
        package let firstFrame: Int
        /// When the first frame was heard.
        package let start: Int64
        /// Frames a second of the monotonic clock.
        package let rate: Double
        /// The first frame that was not heard any more; nil while the card runs.
        package fileprivate(set) var endFrame: Int?
    }

    package enum Event: Equatable, Sendable {
        case opened(Int64)
        case configured(Int64, rate: Int, format: String, bufferFrames: Int, periodFrames: Int)
        case started(Int64)
        case stopped(Int64)
        case underrun(Int64)
        case drained(Int64)
        case unplugged(Int64)
        case closed(Int64)
    }

    package private(set) var segments: [Segment] = []
    package private(set) var events: [Event] = []
    package private(set) var channels = 2
    /// Interleaved samples, all that were handed over.
    package private(set) var samples: [Int16] = []

    /// The first frame that was taken back since it was asked.
    private var takenBack: Int?

    package init() {}

    /// Forgets the samples that were taken back. Returns how many bytes of the file of frames are still true.
    mutating func forgetTakenBack(readBytes: Int) -> Int {
        guard let frame = takenBack else { return readBytes }
        takenBack = nil
        let count = min(samples.count, frame * channels)
        samples.removeLast(samples.count - count)
        return min(readBytes, count * 2)
    }

    package var frameCount: Int { samples.count / channels }
    package var underruns: Int { count { if case .underrun = $0 { true } else { false } } }
    package var openings: Int { count { if case .opened = $0 { true } else { false } } }

    /// Whether a program holds the card open.
    package var isOpen: Bool {
        let closings = count { if case .closed = $0 { true } else { false } }
        return openings > closings
    }

    /// Whether the card's clock runs.
    package var isRunning: Bool { segments.last.map { $0.endFrame == nil } ?? false }

    private func count(_ matches: (Event) -> Bool) -> Int {
        events.reduce(0) { $0 + (matches($1) ? 1 : 0) }
    }

    // MARK: Reading

    /// Takes one line of the file of segments. Lines of another form are passed over.
    package mutating func add(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard let kind = words.first, words.count >= 2 else { return }
        var named: [Substring: Substring] = [:]
        for word in words {
            let parts = Substring(word).split(separator: "=", maxSplits: 1)
            if parts.count == 2 { named[parts[0]] = parts[1] }
        }
        func integer(_ name: Substring) -> Int { named[name].flatMap { Int($0) } ?? 0 }
        switch kind {
        case "R":
            // The frames that were taken back are read again, as others.
            if words.count >= 3, let frame = Int(words[1]) { takenBack = min(takenBack ?? frame, frame) }
        case "S", "E":
            guard words.count >= 3, let frame = Int(words[1]), let time = Int64(words[2]) else { return }
            if kind == "E" {
                if !segments.isEmpty { segments[segments.count - 1].endFrame = frame }
                events.append(.stopped(time))
            } else if words.count >= 4, let rate = Double(words[3]) {
                segments.append(Segment(firstFrame: frame, start: time, rate: rate, endFrame: nil))
                events.append(.started(time))
            }
        default:
            guard let time = Int64(words[1]) else { return }
            switch kind {
            case "O":
                channels = max(integer("ch"), 1)
                events.append(.opened(time))
            case "P":
                events.append(
                    .configured(
                        time, rate: integer("rate"), format: String(named["fmt"] ?? ""),
                        bufferFrames: integer("buffer"), periodFrames: integer("period")))
            case "X": events.append(.underrun(time))
            case "D": events.append(.drained(time))
            case "F": events.append(.unplugged(time))
            case "C": events.append(.closed(time))
            default: break
            }
        }
    }

    /// Takes more samples from the file of frames: 16 bits each, little endian.
    package mutating func add(frames bytes: [UInt8]) {
        samples.reserveCapacity(samples.count + bytes.count / 2)
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            samples.append(Int16(truncatingIfNeeded: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8))
        }
    }

    // MARK: Listening

    /// The frames of a segment that were heard, or will be if the card runs on.
    private func frames(of segment: Segment) -> Range<Int> {
        let end = min(segment.endFrame ?? frameCount, frameCount)
        return segment.firstFrame..<max(end, segment.firstFrame)
    }

    /// When a frame of a segment is heard.
    private func time(of frame: Int, in segment: Segment) -> Int64 {
        segment.start + Int64((Double(frame - segment.firstFrame) / segment.rate * 1e9).rounded())
    }

    /// When the first sample louder than `threshold` is heard on `channel` (nil: any) at or after `time`.
    package func firstSound(from time: Int64, channel: Int? = nil, threshold: Int16 = 100) -> Int64? {
        let listened = channel.map { $0..<($0 + 1) } ?? 0..<channels
        for segment in segments {
            let range = frames(of: segment)
            let skipped = Double(time - segment.start) * 1e-9 * segment.rate
            let first = max(range.lowerBound, range.lowerBound + Int(max(skipped, 0).rounded(.up)))
            guard first < range.upperBound else { continue }
            for frame in first..<range.upperBound {
                for channel in listened
                where samples[frame * channels + channel].magnitude > threshold.magnitude {
                    return self.time(of: frame, in: segment)
                }
            }
        }
        return nil
    }

    /// When the last sample louder than `threshold` was heard.
    package func lastSound(threshold: Int16 = 100) -> Int64? {
        for segment in segments.reversed() {
            for frame in frames(of: segment).reversed() {
                for channel in 0..<channels
                where samples[frame * channels + channel].magnitude > threshold.magnitude {
                    return time(of: frame, in: segment)
                }
            }
        }
        return nil
    }

    /// What an ear at the card heard on a channel in a stretch of time, at the card's rate; silence where
    /// nothing ran.
    package func heard(from start: Int64, for length: Duration, channel: Int = 0) -> Sound {
        let seconds = Double(length.components.seconds) + Double(length.components.attoseconds) * 1e-18
        let end = start + Int64(seconds * 1e9)
        let overlapping = segments.filter { segment in
            let range = frames(of: segment)
            return !range.isEmpty && segment.start < end && time(of: range.upperBound, in: segment) > start
        }
        let rate = overlapping.first?.rate ?? 48000
        var heard = [Int16](repeating: 0, count: max(Int((seconds * rate).rounded()), 0))
        for segment in overlapping {
            let range = frames(of: segment)
            // The segments of one stream have one rate; others are placed by their first frame.
            let offset = Int((Double(segment.start - start) * 1e-9 * rate).rounded())
            let first = max(0, offset)
            let last = min(heard.count, offset + range.count)
            guard first < last else { continue }
            for place in first..<last {
                heard[place] = samples[(range.lowerBound + place - offset) * channels + channel]
            }
        }
        return Sound(samples: heard, rate: rate)
    }

    /// True if a tone was heard for a tenth of a second after `time`: a busy machine may have lost some of it before and after.
    package func has(tone hertz: Double, from time: Int64) -> Bool {
        (0..<40).contains { part in
            let sound = heard(from: time + Int64(part) * 50_000_000, for: .milliseconds(100))
            guard !sound.isSilent, let frequency = sound.frequency else { return false }
            return (frequency - hertz).magnitude < hertz / 100
        }
    }

    /// A stretch of one channel.
    package struct Sound: Equatable, Sendable {
        package let samples: [Int16]
        package let rate: Double
        package init(samples: [Int16], rate: Double) { (self.samples, self.rate) = (samples, rate) }

        package var peak: Int { samples.reduce(0) { max($0, Int($1.magnitude)) } }
        package var isSilent: Bool { peak <= 100 }

        /// The frequency of a tone, by the moments of its upward crossings; nil when there is none. A crossing
        /// counts after the signal was well below zero, so that noise adds none.
        package var frequency: Double? {
            let margin = max(peak / 10, 50)
            var isArmed = false
            var first: Double?
            var last = 0.0
            var crossings = 0
            for place in 1..<max(samples.count, 1) {
                let (before, now) = (Int(samples[place - 1]), Int(samples[place]))
                if before < -margin { isArmed = true }
                guard isArmed, before < 0, now >= 0 else { continue }
                isArmed = false
                last = Double(place - 1) + Double(-before) / Double(now - before)
                if first == nil { first = last } else { crossings += 1 }
            }
            guard let first, crossings > 0, last > first else { return nil }
            return Double(crossings) * rate / (last - first)
        }

        /// The second of the test media `position.*` whose tone this is: 400 Hz and 20 Hz more for each second.
        package var positionSecond: Int? {
            guard let frequency, frequency > 390 else { return nil }
            return Int(((frequency - 400) / 20).rounded())
        }
    }
}
