// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA

/// Where frames go: a sound card, or the clock where there is none. Used by the output thread alone.
protocol Card: AnyObject {
    /// Nil until configured.
    var setup: PCM.Setup? { get }
    /// How what is written is queued; nil until configured.
    var queue: CardQueue? { get }
    func configure(rate: Int32, queue: CardQueue) throws(PCM.Failure)
    func room() throws(PCM.Failure) -> PCM.Outcome
    func write(_ bytes: [UInt8], from first: Int, count: Int) throws(PCM.Failure) -> PCM.Outcome
    /// Frames until one written now is heard.
    func delay() throws(PCM.Failure) -> PCM.Outcome
    func start() throws(PCM.Failure)
    /// Takes back what is queued but for the next `left` frames. Returns how many frames that were; 0 where it cannot.
    func takeBack(leaving left: Int) -> Int
    /// Forgets what is queued and makes ready for a new start.
    func reset() throws(PCM.Failure)
    func pause(_ paused: Bool) throws(PCM.Failure)
    /// Waits until there is room worth a wake-up, for `wakeUp`, or for `timeout`.
    func wait(or wakeUp: WakeUp, timeout: Duration?)
}

/// How much a card is to queue, and in how many portions it takes it.
struct CardQueue: Equatable, Sendable {
    var buffer: Duration
    var period: Duration

    /// A wake-up each 50 ms at most, and three in what is queued.
    static func usual(_ buffer: Duration) -> CardQueue {
        CardQueue(buffer: buffer, period: min(.milliseconds(50), buffer / 3))
    }
    /// For what is played in step with others: short, so that what is to be heard is decided late.
    static let bound = CardQueue(buffer: .milliseconds(120), period: .milliseconds(5))
}

/// Times of the card's queue.
enum CardTiming {
    /// Sound that must be there before the card starts. 5 to 50 ms made no difference when measured.
    static let start = Duration.milliseconds(20)
    /// Sound that must be there before it starts again after it ran out.
    static let refill = Duration.milliseconds(200)
}

/// A playback device of alsa-lib.
final class SoundCardDevice: Card {
    private var pcm: PCM
    private(set) var setup: PCM.Setup?
    private(set) var queue: CardQueue?

    init(adopting pcm: consuming PCM) { self.pcm = pcm }

    func configure(rate: Int32, queue: CardQueue) throws(PCM.Failure) {
        (setup, self.queue) = (nil, nil)
        setup = try pcm.configure(rate: rate, bufferTime: queue.buffer, periodTime: queue.period)
        self.queue = queue
    }

    func room() throws(PCM.Failure) -> PCM.Outcome { try pcm.room() }

    func write(_ bytes: [UInt8], from first: Int, count: Int) throws(PCM.Failure) -> PCM.Outcome {
        try pcm.write(bytes, from: first, count: count, frameBytes: setup?.frameBytes ?? 1)
    }

    func delay() throws(PCM.Failure) -> PCM.Outcome { try pcm.delay() }
    func start() throws(PCM.Failure) { try pcm.start() }
    func takeBack(leaving left: Int) -> Int { pcm.takeBack(leaving: left) }
    func reset() throws(PCM.Failure) {
        try pcm.drop()
        try pcm.prepare()
    }
    func pause(_ paused: Bool) throws(PCM.Failure) { try pcm.pause(paused) }
    func wait(or wakeUp: WakeUp, timeout: Duration?) { _ = pcm.wait(or: wakeUp, timeout: timeout) }
}

/// No card: frames are taken at the pace of the clock and go nowhere.
final class ClockCard: Card {
    private(set) var setup: PCM.Setup?
    private(set) var queue: CardQueue?
    private var written: Int64 = 0
    private var taken: Int64 = 0
    /// When frame 0 was taken, if frames are being taken.
    private var origin: Int64?

    func configure(rate: Int32, queue: CardQueue) {
        self.queue = queue
        setup = PCM.Setup(
            rate: rate, format: .int16, channels: 2, bufferFrames: frames(in: queue.buffer, rate: rate),
            periodFrames: frames(in: queue.period, rate: rate), canPause: true)
        reset()
    }

    private var rate: Double { Double(setup?.rate ?? 48_000) }

    private func heard() -> Int64 {
        guard let origin else { return taken }
        return Int64(Double(MonotonicClock.now() - origin) * rate / 1e9)
    }

    func room() -> PCM.Outcome {
        let queued = written - heard()
        return queued < 0 ? .underrun : .frames(max(0, (setup?.bufferFrames ?? 0) - Int(queued)))
    }

    func write(_ bytes: [UInt8], from first: Int, count: Int) -> PCM.Outcome {
        guard case .frames(let room) = room() else { return .underrun }
        let taken = min(room, count)
        written += Int64(taken)
        return .frames(taken)
    }

    func delay() -> PCM.Outcome {
        let queued = written - heard()
        return queued < 0 ? .underrun : .frames(Int(queued))
    }

    func start() { origin = MonotonicClock.now() - Int64(Double(taken) * 1e9 / rate) }
    func takeBack(leaving left: Int) -> Int { 0 }
    func reset() { (written, taken, origin) = (0, 0, nil) }
    func pause(_ paused: Bool) {
        if paused {
            taken = heard()
            origin = nil
        } else {
            start()
        }
    }

    func wait(or wakeUp: WakeUp, timeout: Duration?) {
        var limit = queue?.period ?? .milliseconds(50)
        if let timeout, timeout < limit { limit = timeout }
        wakeUp.wait(timeout: limit)
    }
}

/// The frames that fill `time`, rounded up.
func frames(in time: Duration, rate: Int32) -> Int {
    Int((time / .nanoseconds(1) * Double(rate) / 1e9).rounded(.up))
}
