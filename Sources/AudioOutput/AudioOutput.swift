// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
package import MediaModel
import Synchronization

/// The stage between decoded samples and the card.
///
/// One thread of its own feeds the card; decoders write into a ring and are held back there. At any moment the
/// stage knows which place of the media is heard. Every function may be called on any thread; only `write` and
/// `setRate` wait, and `beginFlush`, `open` and `close` end that.
package final class AudioOutput: Sendable {
    let ring: FrameRing
    /// The frames of a second sound that lies over the stream's.
    let overlay: FrameRing
    let device: DeviceFacts

    /// Starts the output's thread, which looks at the device and reports its state. Nil if the system has no
    /// thread or descriptor left.
    package init?(
        configuration: AudioOutputConfiguration, report: @escaping @Sendable (AudioOutputEvent) -> Void
    ) {
        guard let ring = FrameRing(buffer: configuration.buffer),
            let overlay = FrameRing(buffer: configuration.buffer, readerWake: ring.readerWake)
        else { return nil }
        let device = DeviceFacts()
        (self.ring, self.overlay, self.device) = (ring, overlay, device)
        let isStarted = OutputThread.start(named: "linnet-output") {
            OutputLoop(
                ring: ring, overlay: overlay, device: device, configuration: configuration, report: report
            ).run()
        }
        if !isStarted { return nil }
    }

    deinit { shutDown() }

    /// Ends the thread and closes the device.
    package func shutDown() { ring.change { $0.isQuitting = true } }

    /// Takes another device in place of the configured one, which nil stands for. What is heard dies away at the one and goes on
    /// at the other, where it was.
    package func setDevice(_ device: String?) { ring.changeOutput { $0.device = device } }

    /// The rates that the device plays without conversion. Empty until the device was seen.
    package var supportedRates: [Int32] { device.rates.withLock { $0 } }

    /// Begins a stream and forgets the one before. `binding`: the anchor by which it is bound from the beginning, or standing;
    /// nil if it is not bound.
    package func open(_ stream: StreamID, playing: Bool, binding: PlaybackAnchor?? = nil) {
        ring.change {
            $0.flush()
            $0.binding = nil
            if let binding { $0.bind(to: binding) }
            ($0.stream, $0.follower, $0.isFlushing, $0.isPlaying) = (stream, nil, false, playing)
            $0.cues.removeAll(keepingCapacity: true)
            ($0.mediaVolume, $0.heard) = (.full, nil)
        }
    }

    /// Ends a stream, or one that was to follow: it is not heard from now on. The device is closed a little later.
    package func close(_ stream: StreamID) {
        closeOverlay(stream)
        ring.change {
            $0.unfollow(stream)
            guard $0.stream == stream else { return }
            $0.flush()
            ($0.stream, $0.follower, $0.heard, $0.binding) = (nil, nil, nil, nil)
            $0.cues.removeAll(keepingCapacity: true)
        }
    }

    package func setPlaying(_ isPlaying: Bool, for stream: StreamID) {
        ring.changeOutput { if $0.stream == stream { $0.isPlaying = isPlaying } }
    }

    /// Sets the loudness of everything, by the mixer where one is used.
    package func setVolume(_ volume: Volume) { ring.changeOutput { $0.outputVolume = volume } }

    /// Sets the loudness of one stream, always in software.
    package func setMediaVolume(_ volume: Volume, for stream: StreamID) {
        ring.changeOutput { if $0.stream == stream { $0.mediaVolume = volume } }
    }

    /// Forgets all frames, in the card as well, and refuses new ones until `endFlush`.
    package func beginFlush(_ stream: StreamID) {
        ring(of: stream).change {
            guard $0.stream == stream else { return }
            $0.flush()
            ($0.isFlushing, $0.heard) = (true, nil)
        }
    }

    package func endFlush(_ stream: StreamID) {
        ring(of: stream).change { if $0.stream == stream { $0.isFlushing = false } }
    }

    /// Sets the rate of the frames that follow. Waits until those before were heard, if theirs was another.
    package func setRate(_ rate: Int32, for stream: StreamID) -> WriteOutcome {
        ring(of: stream).setRate(rate, for: stream)
    }

    /// Takes stereo frames, the first of which stands at `position` nanoseconds of the media; each next one
    /// stands `step` nanoseconds on. Waits for room.
    package func write(_ samples: Span<Float>, position: Double, step: Double, for stream: StreamID)
        -> WriteOutcome
    {
        ring(of: stream).write(samples, at: MediaPlace(position: position, step: step), for: stream)
    }

    /// No frames follow: what is there is played out, then `drained` is reported.
    package func end(_ stream: StreamID) {
        ring(of: stream).change {
            if $0.writer == stream, !$0.isFlushing {
                $0.hasEnded = true
                $0.join()
            } else if $0.follower?.stream == stream {
                $0.follower?.hasEnded = true
            }
        }
    }

    /// Ends a stream at once: what is there is forgotten, what comes is refused until the next flush, and `drained` is
    /// reported.
    package func finish(_ stream: StreamID) {
        ring.change {
            guard $0.stream == stream, !$0.isFlushing else { return }
            $0.flush()
            ($0.hasEnded, $0.isFinished) = (true, true)
        }
    }

    /// The rate of a stream's frames; nil before there are any.
    package func rate(of stream: StreamID) -> Int32? {
        ring.state.withLock { $0.stream == stream && $0.rate > 0 ? $0.rate : nil }
    }

    /// What is heard at `time` of the monotonic clock; nil if nothing of the stream was heard yet.
    package func heard(of stream: StreamID, at time: Int64) -> HeardPosition? {
        ring.state.withLock { state in
            guard state.stream == stream, var heard = state.heard else { return nil }
            if heard.rate != 0, time > heard.clockTime {
                // A reading is at most a wake-up old; a thread that was held up longer must not make the
                // position run away.
                let elapsed = min(time - heard.clockTime, 500_000_000)
                heard.position += Int64(Double(elapsed) * heard.rate)
                // What is heard behind it is another stream.
                if let end = state.joint?.end, heard.rate > 0 {
                    heard.position = min(heard.position, Int64(end))
                }
            }
            heard.clockTime = time
            return heard
        }
    }

    package static func now() -> Int64 { MonotonicClock.now() }
}

/// What the output thread found out about the device.
final class DeviceFacts: Sendable {
    static let driftLimit = 32
    let rates = Mutex<[Int32]>([])
    /// How much faster than the clock cards run, by their devices, in parts per million.
    let drifts = Mutex<[String: Double]>([:])
}

/// Reads what the first opening of a device would read, and gives memory back that was freed.
package func finishWarmUp() {
    readALSAConfiguration()
    returnFreeMemory()
}
