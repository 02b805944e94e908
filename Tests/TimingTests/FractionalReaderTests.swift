// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing
import Timing

struct FractionalReaderTests {
    /// A pure tone, by a recurrence that needs no library: exact enough for some hundred frames.
    private func tone(_ turns: Double, _ count: Int) -> [Double] {
        // A rotation by a small angle, made exact by its length.
        let angle = 2 * Double.pi * turns
        var (x, y, term, sine, cosine) = (1.0, 0.0, 1.0, 0.0, 0.0)
        for step in 0..<24 {
            if step > 0 { term *= angle / Double(step) }
            switch step % 4 {
            case 0: cosine += term
            case 1: sine += term
            case 2: cosine -= term
            default: sine -= term
            }
        }
        var values: [Double] = []
        for _ in 0..<count {
            values.append(y)
            (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
        }
        return values
    }

    @Test(arguments: [0.021, 0.1, 0.2, 0.35])
    func `finds what lies between frames`(turns: Double) {
        // Every fourth value of a finer tone is a frame; those between are what is to be found.
        let fine = tone(turns / 4, 4 * 400)
        let source = (0..<400).flatMap { frame -> [Float] in
            [Float(fine[4 * frame]), Float(-fine[4 * frame])]
        }
        var target = [Float](repeating: 0, count: 2 * 240)
        for quarter in 0..<4 {
            FractionalReader().read(
                source, from: 40 + Double(quarter) / 4, ratio: 1, count: 240, into: &target)
            var worst = 0.0
            for frame in 0..<240 {
                let expected = fine[4 * (40 + frame) + quarter]
                worst = max(
                    worst, (Double(target[2 * frame]) - expected).magnitude,
                    (Double(target[2 * frame + 1]) + expected).magnitude)
            }
            // -60 dB, with what falls away at high tones.
            #expect(worst < 0.001)
        }
    }

    @Test func `reads on at the ratio`() {
        let fine = tone(0.01, 2 * 400)
        let source = (0..<400).flatMap { frame -> [Float] in [Float(fine[2 * frame]), 0] }
        var target = [Float](repeating: 0, count: 2 * 240)
        FractionalReader().read(source, from: 20.5, ratio: 1.5, count: 200, into: &target)
        // Places stand on halves of frames: 20.5, 22, 23.5, …
        for frame in 0..<200 {
            #expect((Double(target[2 * frame]) - fine[41 + 3 * frame]).magnitude < 0.001)
        }
    }

    @Test func `leaves alone what it has no frames for`() {
        let source = [Float](repeating: 1, count: 2 * 64)
        var target = [Float](repeating: 9, count: 2 * 64)
        let reader = FractionalReader()
        reader.read(source, from: 3, ratio: 1, count: 64, into: &target)
        reader.read(source, from: -1e300, ratio: 1, count: 64, into: &target)
        reader.read(source, from: 1e300, ratio: 1, count: 64, into: &target)
        reader.read(source, from: .nan, ratio: 1, count: 64, into: &target)
        #expect(target.allSatisfy { $0 == 9 })
        reader.read(source, from: 20, ratio: 1, count: 64, into: &target)
        #expect((target[0] - 1).magnitude < 1e-5 && target[2 * 63] == 9)
    }
}
