// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel

/// Adaptive streams whose server is gone for a while, or has lost a part.
extension GStreamerRenderer {
    /// The pause before the first attempt; each later one is twice as long, up to the last.
    private static let firstPause = 0.5
    private static let longestPause = 8.0
    /// An attempt that has led to nothing by then is given up for the next one.
    private var attemptLimit: Duration { min(.seconds(15), configuration.outageLimit / 2) }
    /// How long it is told that a part was passed over.
    private static let telling = Duration.seconds(10)

    /// True if the failure of an adaptive stream that has played is waited out.
    func survives(_ failure: MediaFailure) -> Bool {
        guard let current = playback, current.outage != nil || current.pipeline?.demuxer != nil else {
            return false
        }
        guard current.hasReportedLoaded, current.outage != nil || current.phase != .loading else {
            return false
        }
        switch failure.code {
        case .network, .timeout, .httpStatus, .notFound: break
        // What a demuxer says of a playlist that was cut.
        case .decode, .unsupportedFormat: guard current.outage != nil else { return false }
        default: return false
        }
        if current.outage == nil {
            // The current item is not over where it breaks off.
            cancelPreparation()
            playback?.outage = Playback.Outage(since: AudioOutput.now())
            report(.errorChanged(current.id, failure))
            // What was read ahead is heard first.
            if current.isSounding, !current.isBuffering { return true }
        }
        planRecovery()
        return true
    }

    /// What was read before the outage has been heard.
    func outputRanDry() {
        guard let outage = playback?.outage, outage.isDraining else { return }
        planRecovery()
    }

    private func planRecovery() {
        guard let current = playback, var outage = current.outage else { return }
        if outage.isDraining {
            // What is heard from what was read ahead is no outage to the listener.
            (outage.isDraining, outage.since) = (false, AudioOutput.now())
            let here = current.timeline.isLive ? 0 : place()
            playback?.place = here
        }
        guard AudioOutput.now() - outage.since < Int64(configuration.outageLimit / .nanoseconds(1)) else {
            let seconds = configuration.outageLimit.components.seconds
            return fail(
                MediaFailure(.timeout, "The media's server did not come back within \(seconds) seconds."))
        }
        outage.attempt += 1
        outage.isTrying = false
        playback?.outage = outage
        // What a demuxer still gives after it gave up would be heard until the next attempt takes its place.
        output.setPlaying(false, for: current.stream)
        setBuffering(true)
        reportPosition()
        let pause = min(Self.firstPause * Double(1 << min(outage.attempt - 1, 10)), Self.longestPause)
        later(.seconds(pause), .recoveryDue(current.id, attempt: outage.attempt))
    }

    /// Begins again where playback stopped, or at the newest moment of a live stream.
    func tryToRecover() {
        guard let current = playback, let outage = current.outage else { return }
        let attempt = outage.attempt
        // The attempt before leads to nothing.
        if outage.isTrying { return planRecovery() }
        playback?.outage?.isTrying = true
        reload(at: current.place)
        later(attemptLimit, .recoveryDue(current.id, attempt: attempt))
    }

    /// Sound has come again.
    func recovered() {
        guard let current = playback, current.outage != nil else { return }
        playback?.outage = nil
        report(.errorChanged(current.id, nil))
    }

    // MARK: Items that are no adaptive streams, whose source asks again by itself

    /// How often it is looked what the source says of its server while nothing is heard.
    private static let lookingInterval = Duration.milliseconds(500)

    /// Tells why nothing is heard, if it is the server's fault.
    func watchServer() {
        guard let current = playback, let pipeline = current.pipeline, pipeline.demuxer == nil,
            current.isBuffering, !current.isTroubleTold
        else { return }
        if let trouble = pipeline.sourceTrouble {
            playback?.isTroubleTold = true
            report(.errorChanged(current.id, trouble))
        } else {
            later(Self.lookingInterval, .serverDue(pipeline: pipeline.number))
        }
    }

    /// Sound has come again.
    func forgetTrouble() {
        guard let current = playback, current.isTroubleTold else { return }
        playback?.isTroubleTold = false
        report(.errorChanged(current.id, nil))
    }

    // MARK: Parts that are not there

    /// Reports segments that were passed over.
    func reportHoles() {
        guard let current = playback, current.outage == nil, let skipped = current.pipeline?.demuxer?.skipped,
            skipped > current.skipped
        else { return }
        playback?.skipped = skipped
        report(
            .errorChanged(
                current.id, MediaFailure(.notFound, "A part of the stream is not there and was passed over."))
        )
        later(Self.telling, .troubleOver(current.id, skipped: skipped))
    }
}
