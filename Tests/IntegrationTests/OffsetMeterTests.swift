// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReceiverTestKit
import SeededNumbers
import Testing

/// The measure of the bench `sync`, on sounds whose offset is known.
struct OffsetMeterTests {
    /// A sum of tones, which can be sampled at any moment exactly.
    private struct Chord {
        private var tones: [(frequency: Double, phase: Double)] = []

        init(seed: UInt64) {
            var numbers = SeededNumbers(seed: seed)
            for _ in 0..<40 {
                tones.append(
                    (Double.random(in: 100...12_000, using: &numbers), .random(in: 0...6, using: &numbers)))
            }
        }

        /// What a card records that hears it `late` seconds late, from `start` on.
        func recording(late: Double, ppm: Double, start: Int64, seconds: Double = 0.6) -> CardRecording {
            let rate = 48_000 * (1 + ppm * 1e-6)
            var bytes: [UInt8] = []
            for frame in 0..<Int(seconds * rate) {
                let time = Double(start) * 1e-9 + Double(frame) / rate - late
                let sum = tones.reduce(0) { $0 + sin(2 * Double.pi * $1.frequency * time + $1.phase) }
                let sample = UInt16(bitPattern: Int16(sum * 700))
                bytes += [UInt8(sample & 0xFF), UInt8(sample >> 8), 0, 0]
            }
            var recording = CardRecording()
            recording.add(line: "O 0 pid=1 rate=48000 ch=2 ppm=\(ppm)")
            recording.add(line: "S 0 \(start) \(rate)")
            recording.add(frames: bytes)
            return recording
        }
    }

    @Test(arguments: [
        (0.0, 0.0), (9.4, 0.0), (10.4, 0.0), (19.8, 0.0), (37.3, 50.0), (-412.7, -80.0), (5_001.3, 50.0),
        (-21_700.2, 0.0),
    ])
    func `an offset is found to a tenth of a microsecond, whatever the rates of the cards`(
        late: Double, ppm: Double
    ) throws {
        let chord = Chord(seed: 7)
        let one = chord.recording(late: 0, ppm: 0, start: 1_000_000_000)
        let other = chord.recording(late: late * 1e-6, ppm: ppm, start: 1_003_210_987)
        var meter = OffsetMeter(one, other)
        for time: Int64 in [1_200_000_000, 1_290_000_000, 1_350_000_000] {
            let found = meter.offset(at: time)
            let offset = try #require(found)
            #expect(abs(offset - late * 1_000) < 100)
        }
    }

    @Test func `another sound has no offset`() {
        let one = Chord(seed: 1).recording(late: 0, ppm: 0, start: 0)
        let other = Chord(seed: 2).recording(late: 0, ppm: 0, start: 0)
        var meter = OffsetMeter(one, other)
        let found = meter.offset(at: 300_000_000)
        #expect(found == nil)
    }

    @Test func `where one of the two is silent there is no offset`() {
        let one = Chord(seed: 1).recording(late: 0, ppm: 0, start: 0)
        var meter = OffsetMeter(one, CardRecording())
        let found = meter.offset(at: 300_000_000)
        #expect(found == nil)
    }
}
