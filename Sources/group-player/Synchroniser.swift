// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Timing

/// Decides which place of the item belongs to a frame of the card. A value: it reads no clock.
///
///     frame of the card ─ CardModel ▶ local time ─ ClockLine ▶ time of the group ─ PlaybackAnchor ▶ place in the item
struct Synchroniser {
    /// What the group wants, and how its clock is read.
    struct Wish: Equatable, Sendable {
        var line: ClockLine?
        /// Nil: it stands.
        var anchor: PlaybackAnchor?
    }

    /// Looks so much later than the model says, in nanoseconds, for so long mean that the card has stood still.
    private static let gap: Int64 = 8_000_000
    private static let gapTime: Int64 = 300_000_000

    private let rate: Double
    private(set) var model: CardModel
    private var servo = OutputServo()
    private var lastFit: Int64 = 0
    private var gapSince: Int64?
    /// What is heard now, and what takes its place at its moment.
    private var anchor: PlaybackAnchor?
    private var coming: PlaybackAnchor?
    /// The frame of the source that is read next; nil while there is silence.
    private var place: Double?
    /// By how many nanoseconds the sound was late, at each block since the last report.
    private var errors: [Int64] = []
    private(set) var resyncs: UInt32 = 0

    init(rate: Int) {
        self.rate = Double(rate)
        model = CardModel(rate: Double(rate))
    }

    /// Notes how many frames the card has played by now.
    mutating func look(played: Int64, at now: Int64) {
        if model.isReady, now - model.time(of: Double(played)) > Self.gap {
            let since = gapSince ?? now
            gapSince = since
            if now - since > Self.gapTime {
                model = CardModel(rate: rate, drift: model.drift)
                gapSince = nil
            }
        } else {
            gapSince = nil
        }
        model.add(played: played, at: now)
        if now - lastFit > (model.isReady ? 100_000_000 : 20_000_000) {
            model.refit()
            lastFit = now
        }
    }

    /// What a block is made of.
    enum Block: Equatable {
        case silence
        /// Frames of the source from here on, so much further for each frame of the card.
        case sound(from: Double, pace: Double)
    }

    /// The item's place that belongs to a frame of the card, and how many of `count` frames from there on are to be silent, since the start is
    /// among them. Nil: nothing is to be heard then, or no clock is known.
    mutating func wanted(_ frame: Int64, count: Int, _ wish: Wish) -> (place: Double, silent: Int)? {
        guard model.isReady, let line = wish.line else { return nil }
        let time = line.remote(at: model.time(of: Double(frame)))
        if wish.anchor == nil || anchor == nil { (anchor, coming) = (wish.anchor, nil) }
        if wish.anchor != anchor { coming = wish.anchor }
        // What sounds goes on until the new anchor's moment.
        if let next = coming, time >= next.clockTime { (anchor, coming) = (next, nil) }
        guard let anchor else { return nil }
        let early = Int((Double(anchor.clockTime.saturatingSubtracting(time)) * rate / 1e9).rounded())
        guard early < count else { return nil }
        return (Double(anchor.itemTime(at: time)), max(0, early))
    }

    /// What is to be heard from a frame of the card on. `frame`: where the wanted place lies in the source; `step`: the item's
    /// nanoseconds for each frame of the source.
    mutating func block(at cardFrame: Int64, frame: Double, step: Double, wish: Wish) -> Block {
        guard let anchor, let line = wish.line else { return .silence }
        // What was decoded for another rate waits for the anchor that it is meant for.
        guard (step * rate / 1e9 - anchor.rate).magnitude < anchor.rate * 0.02 else { return .silence }
        let time = model.time(of: Double(cardFrame))
        // The item's nanoseconds in a second of the card's frames.
        let second = Double(line.remote(at: model.time(of: Double(cardFrame) + rate)) - line.remote(at: time))
        let pace = second * anchor.rate / step / rate
        guard let old = place else {
            servo.begin(at: time)
            place = frame
            return .sound(from: frame, pace: pace)
        }
        let error = (frame - old) * 1e6 / rate
        guard error.magnitude < OutputServo.jump else {
            resyncs += 1
            place = frame
            return .sound(from: frame, pace: pace)
        }
        if errors.count < 1_024 { errors.append(Int64(error * 1e3)) }
        return .sound(from: old, pace: servo.ratio(pace: pace, error: error, at: time))
    }

    /// The block was made; nil: of silence.
    mutating func took(_ count: Int, _ block: Block) {
        if case .sound(let from, let pace) = block {
            place = from + Double(count) * pace
        } else {
            place = nil
        }
    }

    /// How exactly it played since the last report; nil if it was silent.
    mutating func report(_ line: ClockLine) -> SyncReport? {
        guard !errors.isEmpty else { return nil }
        let sorted = errors.sorted()
        defer { errors.removeAll(keepingCapacity: true) }
        return SyncReport(
            error: sorted[sorted.count / 2],
            largestError: sorted.max { $0.magnitude < $1.magnitude } ?? 0, cardDrift: model.drift,
            clockDrift: line.skew * 1e6, resyncs: resyncs)
    }
}
