// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Testing

@testable import AudioOutput

@Suite struct `The volume curve` {
    @Test(arguments: [(1.0, 0.0), (0.5, -30.0), (0.75, -15.0), (0.1, -54.0)])
    func `is even in decibels`(level: Double, attenuation: Double) {
        #expect((VolumeCurve.attenuation(ofLevel: level) - attenuation).magnitude < 1e-9)
        #expect((VolumeCurve.level(ofAttenuation: attenuation) - level).magnitude < 1e-9)
    }

    @Test func `ends in silence and in full sound`() {
        #expect(VolumeCurve.gain(of: Volume(level: 0)) == 0)
        #expect(VolumeCurve.gain(of: Volume(level: 1)) == 1)
        #expect(VolumeCurve.gain(of: Volume(level: 1, isMuted: true)) == 0)
    }

    @Test(arguments: [(0.5, 0.0316228), (0.9, 0.5011872), (0.2, 0.0039811)])
    func `gives the gain of its decibels`(level: Double, gain: Double) {
        let found = Double(VolumeCurve.gain(of: Volume(level: level)))
        #expect((found / gain - 1).magnitude < 1e-4)
    }
}

@Suite struct `Samples on their way to the card` {
    private static func setup(_ format: PCM.Format, channels: Int32 = 2) -> PCM.Setup {
        PCM.Setup(
            rate: 48_000, format: format, channels: channels, bufferFrames: 4800, periodFrames: 1200,
            canPause: true)
    }

    private static func int16(_ bytes: [UInt8]) -> [Int] {
        stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int(Int16(truncatingIfNeeded: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8))
        }
    }

    @Test func `of 16 bits stay as they are at full volume`() {
        let values = [0, 1, -1, 32767, -32768, 1234]
        var converter = SampleConverter()
        var bytes: [UInt8] = []
        converter.convert(values.map { Float($0) / 32768 }, count: 3, into: &bytes, setup: Self.setup(.int16))
        #expect(Self.int16(bytes) == values)
    }

    @Test func `are dithered when bits are lost, without a shift`() {
        var converter = SampleConverter()
        var bytes: [UInt8] = []
        let count = 20_000
        let value: Float = 1000.3 / 32768
        converter.convert(
            [Float](repeating: value, count: count * 2), count: count, into: &bytes, setup: Self.setup(.int16)
        )
        let found = Self.int16(bytes)
        #expect(Set(found).count > 1)
        let mean = Double(found.reduce(0, +)) / Double(found.count)
        #expect((mean - 1000.3).magnitude < 0.03)
    }

    @Test func `beyond the range are cut, and no number is silence`() {
        var converter = SampleConverter()
        for format in PCM.Format.allCases {
            var bytes: [UInt8] = []
            converter.convert([2, -2, .nan, .infinity], count: 2, into: &bytes, setup: Self.setup(format))
            #expect(bytes.count == 4 * format.bytesPerSample)
            #expect(bytes[format.bytesPerSample - 1] == 0x7F)
            #expect(bytes[2 * format.bytesPerSample - 1] == 0x80)
        }
    }

    @Test func `follow a change of the gain without a step`() {
        var converter = SampleConverter()
        converter.set(1)
        converter.approach(0, rate: 48_000)
        var bytes: [UInt8] = []
        converter.convert(
            [Float](repeating: 0.5, count: 2000), count: 1000, into: &bytes, setup: Self.setup(.int16))
        let left = stride(from: 0, to: 2000, by: 2).map { Self.int16(bytes)[$0] }
        #expect(zip(left, left.dropFirst()).allSatisfy { ($0 - $1).magnitude < 50 })
        #expect(left[100] > 8000)
        #expect(left[500] == 0 && left[999] == 0)
    }

    @Test func `become one channel as their mean`() {
        var converter = SampleConverter()
        var bytes: [UInt8] = []
        converter.convert([0.5, 0.25], count: 1, into: &bytes, setup: Self.setup(.int32, channels: 1))
        #expect(bytes == [0, 0, 0, 0x30])
    }
}

@Suite struct `Places of frames` {
    @Test func `go on along a line and change with a mark`() {
        var marks = MarkList()
        marks.note(MediaPlace(position: 0, step: 10), at: 100)
        marks.note(MediaPlace(position: 505, step: 10), at: 150)
        marks.note(MediaPlace(position: 9000, step: 20), at: 200)
        #expect(marks.place(of: 160) == MediaPlace(position: 600, step: 10))
        #expect(marks.place(of: 205) == MediaPlace(position: 9100, step: 20))
        #expect(marks.place(of: 99) == nil)
        marks.forget(before: 200)
        #expect(marks.place(of: 150) == nil)
        #expect(marks.place(of: 200)?.position == 9000)
    }

    @Test func `of a card stand still in silence`() {
        var map = CardMap()
        map.append(cardFrame: 0, ringFrame: 1000, isSilence: false)
        map.append(cardFrame: 50, ringFrame: 1050, isSilence: false)
        map.append(cardFrame: 80, ringFrame: 1080, isSilence: true)
        #expect(map.ringFrame(of: 60)?.frame == 1060)
        #expect(map.ringFrame(of: 200)?.frame == 1080)
        #expect(map.ringFrame(of: 200)?.isSilence == true)
    }
}
