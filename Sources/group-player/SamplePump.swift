// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GStreamer
import MediaModel
import Synchronization
import Timing

/// Keeps a card running, in silence too, with what belongs to each moment: a thread makes blocks of 5 ms and pushes them, in order, into
/// an `appsrc`.
final class SamplePump: Sendable {
    static let block = SampleWindow.rate / 200
    /// So many frames are on their way to the card: more than what its buffer holds.
    private static let queued = Int64(SampleWindow.rate / 10)
    private static let bufferTime = 60_000
    private static let periodTime = 5_000
    /// What is missing for so many blocks is a stall.
    private static let patience = 40

    private struct Orders {
        var wish = Synchroniser.Wish()
        var source: SampleWindow?
        var isStopped = false
    }

    private let orders = Mutex(Orders())
    private let pipeline: Element
    private let input: SoundSource
    private let report: @Sendable (SyncReport) -> Void

    /// Opens the card. `report` is called once a second on the pump's thread, while there is sound. Nil: an element is not
    /// installed.
    init?(
        device: String, report: @escaping @Sendable (SyncReport) -> Void,
        failed: @escaping @Sendable (String) -> Void
    ) {
        self.report = report
        pipeline = Element.pipeline(named: "output")
        guard let input = SoundSource(rate: Int32(SampleWindow.rate), limit: Self.block * 4 * 4),
            let convert = Element(factory: "audioconvert"), let sink = Element(factory: "alsasink")
        else { return nil }
        self.input = input
        sink.set("device", string: device)
        sink.set("buffer-time", "\(Self.bufferTime)")
        sink.set("latency-time", "\(Self.periodTime)")
        for element in [input.element, convert, sink] { pipeline.add(element) }
        _ = input.element.link(to: convert)
        _ = convert.link(to: sink)
        pipeline.onMessage { if case .failed(let failure) = $0 { failed(failure.message) } }
    }

    func start() {
        pipeline.setState(.playing)
        BackgroundThread.run(named: "pump") { self.run() }
    }

    func stop() {
        orders.withLock { $0.isStopped = true }
        pipeline.setState(.null)
    }

    /// What is heard from now on, and of what.
    func play(_ wish: Synchroniser.Wish, of source: SampleWindow?) {
        orders.withLock { ($0.wish, $0.source) = (wish, source) }
    }

    private func run() {
        var synchroniser = Synchroniser(rate: SampleWindow.rate)
        let reader = FractionalReader()
        var window = [Float](repeating: 0, count: 2_048)
        var samples = [Float](repeating: 0, count: Self.block * 2)
        var bytes = [UInt8](repeating: 0, count: Self.block * 4)
        var written: Int64 = 0
        var missing = 0
        var reported: Int64 = 0
        let rest = Gate()
        while true {
            let orders = orders.withLock { $0 }
            if orders.isStopped { return }
            let played = (pipeline.runningTime() ?? 0) * Int64(SampleWindow.rate) / 1_000_000_000
            let now = MonotonicClock.nanoseconds
            // Before a whole buffer has been played the card may not run yet.
            if played > Self.queued { synchroniser.look(played: played, at: now) }
            // What would come too late is left out: each block says itself where it belongs.
            if written < played { written = played + Self.queued }
            guard written - played < Self.queued else {
                // At random distances, so that a position that moves in steps is seen in all its phases.
                rest.pass(rest.ticket, timeout: .microseconds(.random(in: 1_500...4_500)))
                continue
            }
            var made = Synchroniser.Block.silence
            var silent = 0
            if let source = orders.source,
                let wanted = synchroniser.wanted(written, count: Self.block, orders.wish)
            {
                silent = wanted.silent
                source.want(wanted.place)
                if let frame = source.frame(of: wanted.place) {
                    made = synchroniser.block(
                        at: written, frame: frame, step: source.step, wish: orders.wish)
                }
                switch read(&made, of: source, by: reader, &window, &samples) {
                case .frames: missing = 0
                case .ended: source.note(.finished)
                case .missing:
                    missing += 1
                    if missing == Self.patience { source.note(.suspended) }
                }
            }
            let unheard = made == .silence ? Self.block : silent
            for index in 0..<unheard * 2 { samples[index] = 0 }
            synchroniser.took(Self.block, made)
            for (index, sample) in samples.enumerated() {
                let value = Int16(max(-32_768, min(32_767, (sample * 32_767).rounded())))
                bytes[index * 2] = UInt8(truncatingIfNeeded: value)
                bytes[index * 2 + 1] = UInt8(truncatingIfNeeded: value >> 8)
            }
            let time = written * 1_000_000_000 / Int64(SampleWindow.rate)
            guard input.push(bytes, at: time, lasting: 5_000_000) else {
                rest.pass(rest.ticket, timeout: .milliseconds(5))
                continue
            }
            written += Int64(Self.block)
            if now - reported > 1_000_000_000, let line = orders.wish.line {
                reported = now
                if let news = synchroniser.report(line) { report(news) }
            }
        }
    }

    /// Makes the samples of a block; one that cannot be made becomes silence.
    private func read(
        _ made: inout Synchroniser.Block, of source: SampleWindow, by reader: FractionalReader,
        _ window: inout [Float], _ samples: inout [Float]
    ) -> SampleWindow.Reading {
        guard case .sound(let from, let pace) = made else { return .missing }
        let first = Int64(from.rounded(.down)) - Int64(FractionalReader.before)
        let count = min(
            Int(Double(Self.block) * pace) + FractionalReader.taps + 2, window.count / 2)
        let reading = source.read(first, count: count, into: &window)
        guard reading == .frames else {
            made = .silence
            return reading
        }
        reader.read(window, from: from - Double(first), ratio: pace, count: Self.block, into: &samples)
        return .frames
    }
}
