// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverTestKit
import SystemProbe

/// What two cards heard of the same sound.
struct PairSound {
    static let periods = ["0-5 s", "5-20 s", "after 20 s"]
    private(set) var begin: Int64?
    /// Sizes of offsets in microseconds, of each period.
    private(set) var offsets = [Samples(), Samples(), Samples()]
    private(set) var underruns = 0
    /// The largest offset after the first second.
    private(set) var largest = 0.0

    init() {}

    /// `stride`: how many windows of the meter lie between two that are looked at.
    init(
        _ one: CardRecording, _ other: CardRecording, from start: Int64, until end: Int64,
        stride count: Int = 1
    ) {
        begin = Self.begin(one, other, from: start)
        guard let begin else { return }
        var meter = OffsetMeter(one, other)
        let window = OffsetMeter.window
        let step = window * Int64(count)
        for time in Swift.stride(from: begin + window / 2, to: end - window, by: Int(step)) {
            let since = time - begin
            let period = since < 5_000_000_000 ? 0 : since < 20_000_000_000 ? 1 : 2
            let offset = meter.offset(at: time).map { ($0 / 1_000).magnitude }
            offsets[period].add(offset)
            if since > 1_000_000_000, let offset { largest = max(largest, offset) }
        }
        for case .underrun(let time) in one.events + other.events where time > begin && time < end {
            underruns += 1
        }
    }

    /// When the later of the two is heard first.
    static func begin(_ one: CardRecording, _ other: CardRecording, from start: Int64) -> Int64? {
        guard let first = one.firstSound(from: start, channel: 0),
            let second = other.firstSound(from: start, channel: 0)
        else { return nil }
        return max(first, second)
    }
}

extension CardRecording {
    /// What an exact card would record that plays the item from `start` on.
    init(item path: String, from start: Int64, rate: Int = 48_000) throws {
        self.init()
        guard let bytes = readBytes(path, limit: 200 << 20), bytes.count > 44 else {
            throw ProbeFailure("\(path) is missing", 0)
        }
        add(line: "O 0 pid=1 rate=\(rate) ch=2 ppm=0")
        add(line: "S 0 \(start) \(rate).0")
        add(frames: Array(bytes.dropFirst(44)))
    }

    /// The longest time without sound between `start` and `end`, in milliseconds; noise is never silent for one.
    func longestGap(from start: Int64, until end: Int64) -> Double {
        var (last, longest) = (start, Int64(0))
        for segment in segments {
            let range = segment.firstFrame..<min(segment.endFrame ?? frameCount, frameCount)
            let skipped = Int(max(0, Double(start - segment.start) * 1e-9 * segment.rate))
            for frame in range.dropFirst(skipped) where samples[frame * channels].magnitude >= 4 {
                let time = segment.start + Int64(Double(frame - segment.firstFrame) / segment.rate * 1e9)
                guard time < end else { break }
                longest = max(longest, time - last)
                last = time
            }
        }
        return Double(max(longest, end - last)) / 1e6
    }
}

extension Workspace {
    /// A served file of noise, the same on both sides, with little just below half the rate; its name.
    func noise(seconds: Int = 110, rate: Int = 48_000) throws -> String {
        // A round length, so that few files lie there.
        let seconds = max(60, (seconds + 59) / 60 * 60)
        let name = "noise-\(rate)-\(seconds).wav"
        let frames = rate * seconds
        if fileSize("\(media)/\(name)") == 44 + frames * 4 { return name }
        var bytes = Workspace.waveHeader(rate: rate, frames: frames)
        bytes.reserveCapacity(44 + frames * 4)
        var state: UInt32 = 2_463_534_242
        var (last, before) = (0.0, 0.0)
        for _ in 0..<frames {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            let white = Double(Int32(bitPattern: state)) / 2_147_483_648
            let sample = Int16((white + 2 * last + before) * 0.12 * 32_767)
            (before, last) = (last, white)
            let pair = [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
            bytes += pair
            bytes += pair
        }
        try writeBytes(bytes, to: "\(media)/\(name)")
        return name
    }
}
