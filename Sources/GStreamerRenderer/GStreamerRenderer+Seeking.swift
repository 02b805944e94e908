// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import MediaModel

extension GStreamerRenderer {
    /// The speeds that are played.
    static let speeds = 0.25...4.0
    /// Questions for a length that an element still computes, and the time between them.
    static let askLimit = 20
    static let askAgainAfter = Duration.milliseconds(100)
    /// Guesses at a position before it is looked for by reading.
    private static let guessLimit = 4
    /// A scan by visits makes a step this often: enough of each place to know it by.
    private static let scanStep = Duration.milliseconds(250)

    func seek(_ id: SeekID, to position: MediaTime, tolerance: MediaTime) {
        guard let current = playback else { return }
        let isMovable = !current.hasReportedLoaded || current.timeline.capabilities.contains(.seek)
        if !isMovable, !current.timeline.isUnfinished || current.asked >= Self.askLimit {
            return report(
                .seekFinished(
                    current.id, id, failure: MediaFailure(.unsupportedFormat, "The media cannot be moved on.")
                ))
        }
        guard let wanted = current.timeline.seekTarget(for: position, isKnown: current.hasReportedLoaded)
        else {
            return report(
                .seekFinished(
                    current.id, id, failure: MediaFailure(.internalFailure, "There is no such position.")))
        }
        // Sound alone is found exactly as quickly as nearly; only pictures have far-apart places to start at.
        let isAccurate = tolerance.isNumeric || !(current.table.hasVideo && configuration.video != .none)
        if var scan = current.scan, !scan.isPlayed {
            scan.position = Double(wanted)
            playback?.scan = scan
        }
        queueSeek(Playback.Seek(id: id, position: wanted, isAccurate: isAccurate), isMovable: isMovable)
    }

    /// Puts a move after the one under way, in place of one that waits.
    func queueSeek(_ seek: Playback.Seek, isMovable: Bool = true) {
        guard let current = playback else { return }
        var seek = seek
        if let older = current.nextSeek?.id {
            if seek.id == nil {
                // A change of the rate takes a waiting seek along.
                seek = Playback.Seek(
                    id: older, position: current.nextSeek?.position ?? seek.position, isAccurate: true)
            } else {
                report(.seekFinished(current.id, older, failure: nil))
            }
        }
        playback?.nextSeek = seek
        playback?.place = seek.position
        // A file whose length is still computed will be movable soon; `learn` looks at it again.
        if isMovable, current.phase != .loading || current.seek != nil { startSeeking() }
        reportPosition()
    }

    /// Begins the waiting move, or one to where playback stands if only the rate changed.
    func startSeeking() {
        guard let current = playback, let pipeline = current.pipeline, current.seek?.isExecuting != true
        else {
            return
        }
        cancelPreparation()
        playback?.isDecoded = false
        // A pipeline that has failed moves no more.
        if current.failure != nil { return reload(at: current.nextSeek?.position ?? place()) }
        if let older = current.seek?.id { report(.seekFinished(current.id, older, failure: nil)) }
        var seek = current.nextSeek ?? Playback.Seek(id: nil, position: place(), isAccurate: true)
        let number = current.seekCount + 1
        (seek.number, seek.isExecuting, seek.flushes) = (number, true, pipeline.feed.flushes)
        seek.guess = seek.position
        playback?.nextSeek = nil
        playback?.seekCount = number
        playback?.place = seek.position
        perform(
            seek, on: pipeline,
            precision: !seek.isAccurate ? .nearest : pipeline.canGuess ? .guess(seek.guess) : .exact)
    }

    private func perform(
        _ seek: Playback.Seek, on pipeline: MediaPipeline, precision: MediaPipeline.Precision
    ) {
        playback?.seek = seek
        let (name, number) = (pipeline.number, seek.number)
        // A move that takes longer than this is noticed as buffering.
        later(.milliseconds(200), .seekIsSlow(pipeline: name, number: number))
        if pipeline.movesByReload, playback?.phase != .loading {
            return reload(at: seek.position)
        }
        move(seek, on: pipeline, precision: precision)
    }

    func move(_ seek: Playback.Seek, on pipeline: MediaPipeline, precision: MediaPipeline.Precision) {
        let (name, number) = (pipeline.number, seek.number)
        pipeline.demuxer?.release()
        pipeline.seek(to: seek.position, rate: playback?.pipelineRate ?? 1, precision: precision) {
            [inputs] in
            inputs.yield(.seekAnswered(pipeline: name, number: number, accepted: $0))
        }
    }

    /// A guess led to `found` in nanoseconds: looks elsewhere, and in the end without guessing.
    func guessAgain(flushes: Int, found: Double) {
        guard let current = playback, var seek = current.seek, flushes > seek.flushes,
            let pipeline = current.pipeline
        else { return }
        seek.guesses += 1
        seek.flushes = flushes
        // A little before, since too early is cheap and too late is another request.
        seek.guess = max(0, seek.guess + seek.position - Int64(found) - 200_000_000)
        seek.number = current.seekCount + 1
        playback?.seekCount = seek.number
        seek.isExecuting = true
        let isGuess = pipeline.canGuess && seek.guesses < Self.guessLimit
        perform(seek, on: pipeline, precision: isGuess ? .guess(seek.guess) : .final)
    }

    func seekAnswered(_ number: UInt64, accepted: Bool) {
        guard let seek = playback?.seek, seek.number == number else { return }
        playback?.seek?.isExecuting = false
        if !accepted, seek.id == nil, playback?.phase == .loading, let current = playback,
            current.asked < Self.askLimit
        {
            // The place to begin at: the file cannot be moved on before its length was computed.
            playback?.seek = nil
            playback?.nextSeek = current.nextSeek ?? seek
            playback?.asked += 1
            if let number = current.pipeline?.number {
                later(Self.askAgainAfter, .askAgain(pipeline: number))
            }
        } else if !accepted {
            finishSeek(MediaFailure(.unsupportedFormat, "The media cannot be moved on."))
        } else if playback?.nextSeek != nil {
            startSeeking()
        } else if seek.hasArrived {
            finishSeek(nil)
        } else {
            watchForFreeze()
        }
    }

    /// Ends the move under way and begins the next one.
    func finishSeek(_ failure: MediaFailure?) {
        guard let current = playback, let seek = current.seek else { return }
        playback?.seek = nil
        learnLead()
        if let id = seek.id { report(.seekFinished(current.id, id, failure: failure)) }
        if current.nextSeek != nil { return startSeeking() }
        if current.phase == .loading { becomeReady() } else { playback?.phase = .ready }
        if playback?.isHeld == true, current.scan == nil {
            playback?.isHeld = false
            applyPlaying()
        }
        if current.isPlaying { setBuffering(false) }
        reportPosition()
        considerNext()
    }

    // MARK: Speed and scan

    func setSpeed(_ speed: Double) {
        guard let current = playback, speed.isFinite else { return }
        let wanted = min(max(speed, Self.speeds.lowerBound), Self.speeds.upperBound)
        guard wanted != current.speed else { return }
        let here = place()
        playback?.speed = wanted
        if current.scan == nil { changeRate(at: here) }
    }

    private func changeRate(at here: Int64) {
        guard let current = playback, current.phase == .ready || current.seek != nil else { return }
        queueSeek(Playback.Seek(id: nil, position: current.nextSeek?.position ?? here, isAccurate: true))
    }

    func setScan(_ rate: Double?) {
        guard let current = playback else { return }
        let here = place()
        guard let rate, rate.isFinite, rate != 0 else {
            guard current.scan != nil else { return }
            playback?.scan = nil
            release()
            return changeRate(at: here)
        }
        let needed: SeekCapabilities = rate > 0 ? .scanForward : .scanBackward
        guard current.timeline.capabilities.contains(needed) else { return }
        let isPlayed = Self.speeds.contains(rate)
        scanCount += 1
        playback?.scan = Playback.Scan(
            rate: rate, isPlayed: isPlayed, position: Double(here), clockTime: AudioOutput.now(),
            number: scanCount)
        if isPlayed { changeRate(at: here) } else { later(Self.scanStep, .scanTick(scanCount)) }
        release()
        reportPosition()
    }

    /// Lets a playback go on that a scan held at the beginning.
    private func release() {
        guard playback?.isHeld == true, playback?.phase == .ready else { return }
        playback?.isHeld = false
        applyPlaying()
    }

    /// Visits the next place of a scan.
    func scanTick(_ number: UInt64) {
        guard var scan = playback?.scan, scan.number == number, let current = playback else { return }
        later(Self.scanStep, .scanTick(number))
        guard current.isPlaying, current.seek == nil, current.phase == .ready, !current.isHeld else { return }
        let range = current.timeline.range
        let start = Double(range.start.nanoseconds ?? 0)
        let end = Double(range.end.nanoseconds ?? 0)
        scan.position += scan.rate * (Self.scanStep / .nanoseconds(1))
        scan.clockTime = AudioOutput.now()
        if end > start, scan.position >= end { scan.position = max(start, end - 1) }
        let isAtStart = scan.position <= start
        scan.position = max(scan.position, start)
        playback?.scan = scan
        if isAtStart {
            // Here the scan stands, in silence, until it ends.
            playback?.isHeld = true
            applyPlaying()
        }
        queueSeek(Playback.Seek(id: nil, position: Int64(scan.position), isAccurate: true))
    }
}

extension Timeline {
    /// True of a file whose length is not known yet.
    var isUnfinished: Bool { !isLive && range == .empty }

    /// The nanoseconds that a request for `position` means; nil if it means none.
    fileprivate func seekTarget(for position: MediaTime, isKnown: Bool) -> Int64? {
        let end = range.end.nanoseconds ?? 0
        if position == .positiveInfinity { return end }
        if position == .negativeInfinity { return range.start.nanoseconds }
        guard let wanted = position.nanoseconds else { return nil }
        guard isKnown, end > 0 else { return max(0, wanted) }
        return min(max(wanted, range.start.nanoseconds ?? 0), end)
    }
}
