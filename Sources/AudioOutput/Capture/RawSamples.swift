// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// Makes stereo floating frames of raw samples, whose bytes may come in any portions.
struct RawSamples {
    private let format: CaptureSource.Format
    private let channels: Int
    /// Bytes of a frame whose end has not come.
    private var rest: [UInt8] = []
    private(set) var frames: [Float] = []

    init(format: CaptureSource.Format, channels: Int) {
        (self.format, self.channels) = (format, max(1, channels))
    }

    var frameBytes: Int { format.bytesPerSample * channels }

    /// Takes the first `count` bytes; afterwards `frames` holds what is whole. One channel is heard on both sides, and of more
    /// than two the first two.
    mutating func take(_ bytes: [UInt8], count: Int) {
        let count = min(count, bytes.count)
        frames.removeAll(keepingCapacity: true)
        var first = 0
        if !rest.isEmpty {
            first = min(count, frameBytes - rest.count)
            rest += bytes[..<first]
            guard rest.count == frameBytes else { return }
            add(rest, at: 0)
            rest.removeAll(keepingCapacity: true)
        }
        while count - first >= frameBytes {
            add(bytes, at: first)
            first += frameBytes
        }
        if first < count { rest += bytes[first..<count] }
    }

    private mutating func add(_ bytes: [UInt8], at place: Int) {
        let left = sample(bytes, at: place)
        frames.append(left)
        frames.append(channels > 1 ? sample(bytes, at: place + format.bytesPerSample) : left)
    }

    private func sample(_ bytes: [UInt8], at place: Int) -> Float {
        switch format {
        case .s16le:
            return Float(Int16(truncatingIfNeeded: Int(bytes[place]) | Int(bytes[place + 1]) << 8)) / 32_768
        case .s24le:
            let value =
                UInt32(bytes[place]) << 8 | UInt32(bytes[place + 1]) << 16 | UInt32(bytes[place + 2]) << 24
            return Float(Int32(bitPattern: value) >> 8) / 8_388_608
        case .s32le:
            let low = UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8
            let high = UInt32(bytes[place + 2]) << 16 | UInt32(bytes[place + 3]) << 24
            return Float(Int32(bitPattern: high | low)) / 2_147_483_648
        }
    }
}
