// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Timing

/// A bound stream as the output's thread sees it: what is known of the card, and the place that is read.
struct BoundPlay {
    /// True while the card runs with the short queue, with silence where nothing is to be heard.
    private(set) var isRunning = false
    private(set) var model = CardModel(rate: 48_000)
    private var refitAt: Int64 = 0
    /// Of the card, kept over its stops; nil until it was measured.
    private var drift: Double?
    let reader = FractionalReader()
    var servo = OutputServo()
    var window: [Float] = []

    /// The anchor that is in force, and the number of the binding that it came with.
    private(set) var anchor: PlaybackAnchor?
    private(set) var number: UInt64 = 0
    /// The last line of the group's clock.
    var clock: ClockLine?
    /// The time of the item before which nothing is heard, since the anchor was to come.
    private(set) var gate: Int64?

    /// The place that the next frame reads, in frames of the ring; nil if there is none.
    var place: Double?
    /// How far the place went with each frame.
    var pace = 1.0
    /// True if the last block has sound of the stream.
    var isVoiced = false
    /// The loudness of the next frame while sound fades in.
    var fade: Float = 1
    /// The last frame that was made, which fades away if nothing follows.
    var last: (left: Float, right: Float) = (0, 0)
    /// True once sound of this stretch of frames was made.
    var wasVoiced = false
    /// Since when the place that is read is far from that which belongs there.
    private var farSince: Int64?
    /// When sound was to begin that is not there.
    var missingSince: Int64?
    /// The card's frame behind the last one of the item.
    var end: Int64?
    /// The frame of the ring that is heard.
    var heard: Int64 = 0

    var isReady = false
    /// When it was told that the place is elsewhere.
    private var strayedAt: Int64?

    /// What is reported once a second.
    private var errors: [Double] = []
    private var reportAt: Int64?
    private var resyncs: UInt32 = 0
    private var underruns: UInt32 = 0

    // MARK: The card

    /// `drift`: what was known of the card's before.
    mutating func start(rate: Int32, drift known: Double? = nil) {
        (isRunning, refitAt) = (true, 0)
        model = CardModel(rate: Double(rate), drift: drift ?? known ?? 0)
        errors.reserveCapacity(Self.errorLimit)
        fallSilent()
    }

    /// The card does not run any more.
    mutating func stop() {
        isRunning = false
        fallSilent()
    }

    mutating func noteUnderrun() { underruns &+= 1 }

    /// Notes what the card said.
    mutating func look(played: Int64, at now: Int64) {
        model.add(played: played, at: now)
        guard now >= refitAt else { return }
        model.refit()
        if model.isReady { drift = model.drift }
        refitAt = now + (model.count < 100 ? 20_000_000 : 100_000_000)
    }

    private var seed: UInt32 = 0x2545_F491

    /// A random number.
    mutating func noise() -> UInt32 {
        seed ^= seed << 13
        seed ^= seed >> 17
        seed ^= seed << 5
        return seed
    }

    // MARK: The place

    /// Nothing is made of the stream from now on, until it is begun again in its place.
    mutating func fallSilent() {
        (isVoiced, fade, place, farSince) = (false, 1, nil, nil)
        last = (0, 0)
    }

    /// Frames and places of before are of no use any more.
    mutating func begin(binding: Binding?) {
        (isVoiced, fade, place, wasVoiced) = (false, 1, nil, false)
        (missingSince, end, strayedAt, farSince) = (nil, nil, nil, nil)
        if binding == nil { forget() }
    }

    /// The stream is bound no more.
    mutating func forget() {
        (anchor, number, gate, isReady) = (nil, 0, nil, false)
        (resyncs, underruns, reportAt) = (0, 0, nil)
        errors.removeAll(keepingCapacity: true)
    }

    /// Takes up another anchor, as soon as its time has come if there is sound by the one before. `clockTime`: that of the
    /// end of the next block.
    mutating func follow(_ binding: Binding?, until clockTime: Int64) {
        guard let binding, binding.number != number else { return }
        if isVoiced, let next = binding.anchor, next.clockTime > clockTime { return }
        (anchor, number, strayedAt, end) = (binding.anchor, binding.number, nil, nil)
        gate = isVoiced ? nil : binding.anchor.flatMap { $0.clockTime > clockTime ? $0.itemTime : nil }
        missingSince = nil
    }

    /// Whether what is read is to jump to its place: not at once, since a new clock and the anchor by it come one after the other.
    mutating func mustJump(isFar: Bool, at time: Int64) -> Bool {
        guard isFar else {
            farSince = nil
            return false
        }
        let since = farSince ?? time
        farSince = since
        return time - since >= BoundTiming.jumpAfter
    }

    /// What came before the beginning is not near any more.
    mutating func openGate() { gate = nil }

    /// True if it is to be told that the place is elsewhere.
    mutating func strays(at now: Int64) -> Bool {
        if let strayedAt, now - strayedAt < BoundTiming.strayAgain { return false }
        strayedAt = now
        return true
    }

    // MARK: What is reported

    /// A block lasts 5 ms, and a report comes each second.
    private static let errorLimit = 512

    mutating func noteResync() { resyncs &+= 1 }

    /// Notes by how many nanoseconds a block is heard later than it should.
    mutating func note(error: Double) { if errors.count < Self.errorLimit { errors.append(error) } }

    /// The report of the last second, if it is due.
    mutating func report(at now: Int64) -> SyncReport? {
        guard let due = reportAt else {
            reportAt = now + 1_000_000_000
            return nil
        }
        guard now >= due, !errors.isEmpty else { return nil }
        reportAt = now + 1_000_000_000
        let largest = errors.max { $0.magnitude < $1.magnitude } ?? 0
        errors.sort()
        let report = SyncReport(
            error: Int64(errors[errors.count / 2].rounded()),
            largestError: Int64(largest.magnitude.rounded()),
            cardDrift: model.drift, clockDrift: (clock?.skew ?? 0) * 1e6, resyncs: resyncs,
            underruns: underruns)
        errors.removeAll(keepingCapacity: true)
        return report
    }
}
