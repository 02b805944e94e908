// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA

/// What a card was given last, as bytes: sound that is to end is faded from there, since its frames may be gone already.
struct CardHistory {
    private var bytes: [UInt8] = []
    private var frameBytes = 1
    /// How many frames there is room for, and how many are known.
    private var capacity = 0
    private var count = 0

    /// Makes room for so many frames, and forgets what was.
    mutating func begin(frames: Int, frameBytes: Int) {
        count = 0
        guard frames != capacity || frameBytes != self.frameBytes else { return }
        (capacity, self.frameBytes) = (max(0, frames), max(1, frameBytes))
        bytes = [UInt8](repeating: 0, count: capacity * self.frameBytes)
    }

    mutating func forget() { count = 0 }

    /// The card gave the last frames back.
    mutating func takeBack(_ taken: Int) { count = max(0, count - taken) }

    /// Notes that the card took `taken` frames of `source`, from its frame `first` on, as those from `frame` on.
    mutating func add(_ source: [UInt8], from first: Int, taken: Int, at frame: Int64) {
        guard capacity > 0, taken > 0, (first + taken) * frameBytes <= source.count else { return }
        var index = max(0, taken - capacity)
        while index < taken {
            let to = Int((frame + Int64(index)) % Int64(capacity))
            let part = min(taken - index, capacity - to)
            let from = (first + index) * frameBytes
            bytes[to * frameBytes..<(to + part) * frameBytes] = source[from..<from + part * frameBytes]
            index += part
        }
        count = min(capacity, count + taken)
    }

    /// Copies the card's frames from `frame` on, or those before it backward, to `target`. Returns how many of the `wanted` ones are
    /// known. `written`: the frame behind the last one.
    func read(
        _ wanted: Int, from frame: Int64, backward: Bool, written: Int64, into target: inout [UInt8]
    ) -> Int {
        let oldest = written - Int64(count)
        let known = backward ? Int(frame - oldest) : Int(written - frame)
        guard frame >= oldest, known > 0 else { return 0 }
        let length = min(wanted, known)
        if target.count < length * frameBytes {
            target += [UInt8](repeating: 0, count: length * frameBytes - target.count)
        }
        for index in 0..<length {
            let place = backward ? frame - 1 - Int64(index) : frame + Int64(index)
            let from = Int(place % Int64(capacity)) * frameBytes
            for byte in 0..<frameBytes { target[index * frameBytes + byte] = bytes[from + byte] }
        }
        return length
    }
}

extension PCM.Setup {
    /// Lets the first `count` frames of `bytes` die away, evenly, from full loudness to silence.
    func fade(_ bytes: inout [UInt8], count: Int) {
        let width = format.bytesPerSample
        guard count > 0, bytes.count >= count * frameBytes else { return }
        for frame in 0..<count {
            // In 2^16ths.
            let factor = Int64(65_536 - (frame + 1) * 65_536 / count)
            for place in stride(from: frame * frameBytes, to: (frame + 1) * frameBytes, by: width) {
                var value: Int64 = 0
                for byte in 0..<width { value |= Int64(bytes[place + byte]) << (8 * Int64(byte)) }
                let shift = Int64(64 - 8 * width)
                let faded = ((value << shift) >> shift) * factor / 65_536
                for byte in 0..<width {
                    bytes[place + byte] = UInt8(truncatingIfNeeded: faded >> (8 * Int64(byte)))
                }
            }
        }
    }
}
