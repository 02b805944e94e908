// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing
import Timing

/// A card that is looked at by a thread which is now and then held up.
private struct SimulatedLooks {
    let rate = 48_000.0
    /// Parts per million by which the card is fast.
    let drift: Double
    /// Its position moves in steps of so many frames.
    let step: Int64
    let begin: Int64 = 5_000_000_000_000
    private var generator: SeededNumbers
    private(set) var now: Int64

    init(drift: Double, step: Int64, seed: UInt64) {
        (self.drift, self.step) = (drift, step)
        (generator, now) = (SeededNumbers(seed), 0)
        now = begin
    }

    func time(of frame: Double) -> Double { Double(begin) + frame / rate / (1 + drift * 1e-6) * 1e9 }

    /// Looks at the card every 3 to 5 ms for so long, as the output does.
    mutating func look(for seconds: Double, into model: inout CardModel, each: (Int64) -> Void = { _ in }) {
        let end = now + Int64(seconds * 1e9)
        var refitAt = now
        while now < end {
            let exact = Double(now - begin) * 1e-9 * rate * (1 + drift * 1e-6)
            var played = Int64(exact)
            played -= played % step
            let isHeldUp = generator.next(below: 50) == 0
            let late = isHeldUp ? Int64(generator.next(below: 2_000_000)) : Int64(generator.next(below: 900))
            model.add(played: played, at: now + late)
            if now >= refitAt {
                model.refit()
                refitAt = now + (model.count < 100 ? 20_000_000 : 100_000_000)
            }
            each(now)
            now += late + 3_000_000 + Int64(generator.next(below: 2_000_000))
        }
    }
}

private struct SeededNumbers {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next(below limit: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % limit
    }
}

struct CardModelTests {
    /// The error of the model at the frame that is heard 60 ms from now, in microseconds.
    private func error(_ model: CardModel, _ looks: SimulatedLooks) -> Double {
        let frame = (Double(looks.now - looks.begin) * 1e-9 + 0.06) * looks.rate
        return (Double(model.time(of: frame)) - looks.time(of: frame)) * 1e-3
    }

    @Test(
        arguments: [(0.0, Int64(1)), (50, 1), (-120, 1), (50, 48), (-30, 240)], [UInt64(1), 2])
    func `knows when a frame is heard, whatever the card's clock and its steps`(
        card: (drift: Double, step: Int64), seed: UInt64
    ) {
        var looks = SimulatedLooks(drift: card.drift, step: card.step, seed: seed)
        var model = CardModel(rate: 48_000)
        looks.look(for: 5, into: &model)
        #expect(model.isReady)
        let coarse = Double(card.step) / 48_000 * 1e6
        #expect(error(model, looks).magnitude < 3 + coarse * 0.02)
        looks.look(for: 15, into: &model)
        #expect(error(model, looks).magnitude < 2 + coarse * 0.005)
        #expect((model.drift - card.drift).magnitude < (card.step == 1 ? 0.5 : 3))
    }

    @Test func `is ready within 150 ms of looks`() {
        var looks = SimulatedLooks(drift: 20, step: 1, seed: 7)
        var model = CardModel(rate: 48_000)
        looks.look(for: 0.15, into: &model)
        #expect(model.isReady)
        #expect(error(model, looks).magnitude < 10)
    }

    @Test func `begins with what is known of the card's clock`() {
        var looks = SimulatedLooks(drift: 80, step: 48, seed: 9)
        var model = CardModel(rate: 48_000, drift: 80)
        var worst = 0.0
        looks.look(for: 0.3, into: &model)
        for _ in 0..<20 {
            looks.look(for: 0.1, into: &model)
            worst = max(worst, error(model, looks).magnitude)
        }
        #expect(worst < 60)
        #expect((model.drift - 80).magnitude < 5)
    }

    @Test func `takes any numbers`() {
        var model = CardModel(rate: .nan, drift: .infinity)
        for index in 0..<200 {
            model.add(played: Int64(index), at: index % 2 == 0 ? .min : .max)
            model.refit()
        }
        _ = model.time(of: 0)
    }
}

struct OutputServoTests {
    @Test func `corrects slowly what is small, and quicker what is young or large`() {
        var servo = OutputServo()
        servo.begin(at: 0)
        #expect(servo.ratio(pace: 1, error: 30, at: 1_000_000) == 1 + 100e-6)
        #expect(servo.ratio(pace: 1, error: 900, at: 1_000_000) == 1 + 500e-6)
        let old: Int64 = 4_000_000_000
        #expect(servo.ratio(pace: 1, error: 30, at: old) == 1 + 30e-6)
        #expect(servo.ratio(pace: 1, error: -400, at: old) == 1 - 100e-6)
        #expect(servo.ratio(pace: 1, error: 501, at: old) == 1 + 500e-6)
        #expect(servo.ratio(pace: 1.00005, error: 0, at: old) == 1.00005)
    }
}
