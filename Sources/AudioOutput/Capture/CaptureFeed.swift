// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
package import MediaModel

/// Reads sound that comes by itself on a thread of its own, and gives it to a live stream of the output.
///
/// It reads on whatever becomes of the stream, until it is stopped: who sends is never held up.
package final class CaptureFeed: Sendable {
    /// What is reported, on the thread that reads.
    package enum Event: Equatable, Sendable {
        /// It can be read, and so many frames come in a second.
        case began(rate: Int32)
        /// Whoever sent has gone, or the device has.
        case ended
        case failed(MediaFailure)
    }

    /// The usual latencies: see `Docs/captures.md`.
    static let deviceLatency = Duration.milliseconds(35)
    static let descriptorLatency = Duration.milliseconds(90)
    static let devicePortion = Duration.milliseconds(5)
    /// What a pipe brings at a time: bluez-alsa writes eight to eleven milliseconds.
    static let descriptorPortion = Duration.milliseconds(10)
    /// What a device keeps while this thread does not run.
    private static let deviceBuffer = Duration.milliseconds(200)
    /// A device that somebody else is about to let go is waited for so often, for so long.
    private static let openings = 50
    private static let openingPause = Duration.milliseconds(20)

    private let stream: StreamID
    private let output: AudioOutput
    private let source: CaptureSource
    private let wake: WakeUp
    private let isStopped = StopFlag()
    private let listener: (@Sendable ([Float], Int32) -> Void)?
    private let report: @Sendable (Event) -> Void

    /// Opens the live stream and begins to read. `descriptor`: what a source of that kind is read from; it stays the caller's.
    /// `listener`: hears all frames, and their rate. Nil if the system has no thread or descriptor left.
    package init?(
        _ source: CaptureSource, descriptor: Int32?, stream: StreamID, playing: Bool, output: AudioOutput,
        listener: (@Sendable ([Float], Int32) -> Void)? = nil, report: @escaping @Sendable (Event) -> Void
    ) {
        guard let wake = WakeUp() else { return nil }
        (self.source, self.stream, self.output, self.wake) = (source, stream, output, wake)
        (self.listener, self.report) = (listener, report)
        var pipe: BytePipe?
        if let descriptor {
            pipe = BytePipe(duplicating: descriptor)
            if pipe == nil { return nil }
        }
        output.openLive(stream, playing: playing, plan: Self.plan(of: source))
        let started = OutputThread.start(named: "linnet-capture") { [self, pipe] in
            if let pipe { read(pipe) } else { readDevice() }
        }
        if !started {
            output.close(stream)
            return nil
        }
    }

    /// Ends the thread, soon. Nothing is reported afterwards that was not under way.
    package func stop() {
        isStopped.set()
        wake.signal()
    }

    static func plan(of source: CaptureSource) -> LivePlan {
        let asked = source.latencyNanoseconds > 0 ? Duration.nanoseconds(source.latencyNanoseconds) : nil
        switch source.kind {
        case .device: return LivePlan(latency: asked ?? deviceLatency, portion: devicePortion)
        case .descriptor: return LivePlan(latency: asked ?? descriptorLatency, portion: descriptorPortion)
        }
    }

    private func tell(_ event: Event) { if !isStopped.isSet { report(event) } }

    // MARK: A descriptor

    private func read(_ pipe: BytePipe) {
        guard begin(rate: source.sampleRate) else { return }
        var samples = RawSamples(format: source.format, channels: Int(source.channels))
        // All that a pipe holds, so that one that was not read for a while is emptied at once.
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while !isStopped.isSet {
            switch pipe.read(into: &bytes, from: 0) {
            case .bytes(0): pipe.wait(or: wake, timeout: nil)
            case .bytes(let count):
                samples.take(bytes, count: count)
                give(samples.frames, rate: source.sampleRate)
            case .end:
                output.end(stream)
                return tell(.ended)
            }
        }
    }

    // MARK: A device

    private func readDevice() {
        guard case .device(let name) = source.kind else { return }
        var failure = PCM.Failure(status: 0)
        for _ in 0..<Self.openings {
            do throws(PCM.Failure) {
                var pcm = try PCM(capturing: name)
                let setup = try pcm.configure(
                    rate: source.sampleRate, bufferTime: Self.deviceBuffer, periodTime: Self.devicePortion)
                try pcm.start()
                guard begin(rate: setup.rate) else { return }
                read(&pcm, setup)
                output.end(stream)
                return tell(.ended)
            } catch { failure = error }
            guard failure.isBusy, !isStopped.isSet else { break }
            wake.wait(timeout: Self.openingPause)
        }
        tell(.failed(Self.reason(failure, name)))
    }

    private static func reason(_ failure: PCM.Failure, _ name: String) -> MediaFailure {
        if failure.isBusy { return MediaFailure(.accessDenied, "The capture device \(name) is in use.") }
        if failure.isAbsence { return MediaFailure(.notFound, "There is no capture device \(name).") }
        return MediaFailure(.internalFailure, "The capture device \(name) cannot be read: \(failure).")
    }

    /// Reads until the device is gone.
    private func read(_ pcm: inout PCM, _ setup: PCM.Setup) {
        var samples = RawSamples(format: setup.format.name, channels: Int(setup.channels))
        let room = max(setup.bufferFrames, 1)
        var bytes = [UInt8](repeating: 0, count: room * setup.frameBytes)
        while !isStopped.isSet {
            do throws(PCM.Failure) {
                switch try pcm.read(into: &bytes, room: room, frameBytes: setup.frameBytes) {
                case .frames(0): _ = pcm.wait(or: wake, timeout: .seconds(1))
                case .frames(let count):
                    samples.take(bytes, count: count * setup.frameBytes)
                    give(samples.frames, rate: setup.rate)
                case .underrun:
                    try pcm.prepare()
                    try pcm.start()
                }
            } catch { return }
        }
    }

    // MARK: The output

    private func begin(rate: Int32) -> Bool {
        guard output.setRate(rate, for: stream) == .written, !isStopped.isSet else { return false }
        tell(.began(rate: rate))
        return true
    }

    private func give(_ frames: [Float], rate: Int32) {
        guard !frames.isEmpty else { return }
        _ = output.writeLive(frames.span, for: stream)
        listener?(frames, rate)
    }
}

extension PCM.Format {
    var name: CaptureSource.Format {
        switch self {
        case .int16: .s16le
        case .int24: .s24le
        case .int32: .s32le
        }
    }
}
