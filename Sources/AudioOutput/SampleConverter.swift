// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA

/// Turns stereo floating samples into what a card takes: gain without clicks, dither where bits are lost.
struct SampleConverter {
    /// A change of the gain is spread over this time, so that it does not click.
    static let ramp = Duration.milliseconds(10)

    private var ramp = GainRamp()
    private var seed: UInt32 = 0x9E37_79B9

    /// Sets the gain at once, for a stream that begins.
    mutating func set(_ gain: Float) { ramp.set(gain) }

    /// Moves towards a gain.
    mutating func approach(_ gain: Float, rate: Int32) { ramp.approach(gain, over: Self.ramp, rate: rate) }

    /// Converts `count` stereo frames; `output` grows to what is needed.
    mutating func convert(_ input: [Float], count: Int, into output: inout [UInt8], setup: PCM.Setup) {
        let bytes = count * setup.frameBytes
        if output.count < bytes { output += [UInt8](repeating: 0, count: bytes - output.count) }
        let isExact = ramp.isUnity && setup.format == .int16 && Self.fits16(input, count: count * 2)
        let isSilent = ramp.isSteady && ramp.gain == 0
        var position = 0
        for frame in 0..<count {
            let gain = ramp.next()
            let left = input[frame * 2] * gain
            let right = input[frame * 2 + 1] * gain
            for channel in 0..<Int(setup.channels) {
                let sample: Float =
                    setup.channels == 1 ? (left + right) / 2 : channel == 0 ? left : channel == 1 ? right : 0
                switch setup.format {
                case .int16:
                    let dither = isExact || isSilent || channel > 1 ? 0 : noise()
                    store16(sample * 32768 + dither, at: position, in: &output)
                    position += 2
                case .int24:
                    store24(sample, at: position, in: &output)
                    position += 3
                case .int32:
                    store32(sample, at: position, in: &output)
                    position += 4
                }
            }
        }
    }

    /// True if no bit would be lost, as with a 16-bit source at full volume: then nothing is added.
    private static func fits16(_ input: [Float], count: Int) -> Bool {
        for index in 0..<count {
            let scaled = input[index] * 32768
            if scaled != scaled.rounded(.towardZero) { return false }
        }
        return true
    }

    /// Triangular noise of two steps' width, which makes the rounding error independent of the signal.
    private mutating func noise() -> Float {
        func next() -> Float {
            seed ^= seed << 13
            seed ^= seed >> 17
            seed ^= seed << 5
            return Float(seed >> 8) / Float(1 << 24)
        }
        return next() - next()
    }

    private func store16(_ value: Float, at position: Int, in output: inout [UInt8]) {
        let rounded = value.rounded()
        let sample = rounded.isNaN ? 0 : Int16(max(-32_768, min(32_767, rounded)))
        output[position] = UInt8(truncatingIfNeeded: sample)
        output[position + 1] = UInt8(truncatingIfNeeded: sample >> 8)
    }

    private func store24(_ value: Float, at position: Int, in output: inout [UInt8]) {
        let scaled = (value * 8_388_608).rounded()
        let sample = scaled.isNaN ? 0 : Int32(max(-8_388_608, min(8_388_607, scaled)))
        output[position] = UInt8(truncatingIfNeeded: sample)
        output[position + 1] = UInt8(truncatingIfNeeded: sample >> 8)
        output[position + 2] = UInt8(truncatingIfNeeded: sample >> 16)
    }

    private func store32(_ value: Float, at position: Int, in output: inout [UInt8]) {
        let scaled = (Double(value) * 2_147_483_648).rounded()
        let sample = scaled.isNaN ? 0 : Int32(max(-2_147_483_648, min(2_147_483_647, scaled)))
        for byte in 0..<4 { output[position + byte] = UInt8(truncatingIfNeeded: sample >> (8 * Int32(byte))) }
    }
}
