// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Measures tones in 16-bit samples at 48 kHz: each channel's peak, and its frequency between its first and last loud sample.
final class Meter: CustomStringConvertible {
    private struct Channel {
        var peak = 0
        var first: Int?
        var last = 0
        var risings = 0
        var previous = 0
    }

    private static let loud = 500
    private var channels: [Channel]
    private var frames = 0
    private var partial: [UInt8] = []

    init(channels: Int) { self.channels = Array(repeating: Channel(), count: max(channels, 1)) }

    func take(_ bytes: [UInt8]) {
        partial += bytes
        let size = 2 * channels.count
        let whole = partial.count / size
        for frame in 0..<whole {
            for channel in channels.indices {
                let place = frame * size + 2 * channel
                let sample = Int(Int16(bitPattern: UInt16(partial[place]) | UInt16(partial[place + 1]) << 8))
                add(sample, to: &channels[channel])
            }
            frames += 1
        }
        partial.removeFirst(whole * size)
    }

    private func add(_ sample: Int, to channel: inout Channel) {
        channel.peak = max(channel.peak, abs(sample))
        if abs(sample) > Self.loud {
            channel.first = channel.first ?? frames
            channel.last = frames
        }
        if channel.first != nil, channel.previous < 0, sample >= 0 { channel.risings += 1 }
        channel.previous = sample
    }

    var description: String {
        let parts = channels.map { channel in
            let length = channel.last - (channel.first ?? 0)
            let hertz = length > 0 ? channel.risings * 48_000 / length : 0
            return "peak \(channel.peak) hertz \(hertz)"
        }
        return "frames \(frames) " + parts.joined(separator: " ")
    }
}
