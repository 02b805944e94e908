// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamer
import MediaModel

extension GStreamerRenderer {
    // MARK: Position

    /// Where playback stands, in nanoseconds.
    func place() -> Int64 {
        guard let current = playback else { return 0 }
        return current.position(in: output, at: AudioOutput.now()).position.nanoseconds ?? 0
    }

    /// Less than this is no change: milliseconds are shown to nobody.
    private static let evenness: UInt64 = 3_000_000

    /// Reports the position; if it `isDue` also when it is what the last report lets expect.
    func reportPosition(isDue: Bool = false) {
        guard let current = playback else { return }
        let position = current.position(in: output, at: AudioOutput.now())
        if !isDue, let last = current.reported, last.rate == position.rate,
            let expected = last.position(atClockTime: position.clockTime).nanoseconds,
            let found = position.position.nanoseconds, (expected - found).magnitude < Self.evenness
        {
            return
        }
        playback?.reported = position
        report(.positionChanged(current.id, position))
    }

    func setBuffering(_ isBuffering: Bool) {
        guard let current = playback, current.isBuffering != isBuffering else { return }
        if isBuffering, !current.isPlaying { return }
        playback?.isBuffering = isBuffering
        report(.bufferingChanged(current.id, isBuffering))
    }

    // MARK: Timeline

    func askPipeline() { ask(playback?.pipeline) }

    func ask(_ pipeline: MediaPipeline?) {
        guard let pipeline else { return }
        let number = pipeline.number
        pipeline.ask { [inputs] in inputs.yield(.asked(pipeline: number, $0)) }
    }

    /// Asks once more for a duration that an element still computes.
    private func askAgain(_ timeline: Timeline) {
        guard timeline.isUnfinished, let number = playback?.pipeline?.number else { return }
        playback?.asked += 1
        if let current = playback, current.asked < Self.askLimit {
            later(Self.askAgainAfter, .askAgain(pipeline: number))
        } else if let id = playback?.nextSeek?.id, let load = playback?.id {
            playback?.nextSeek = nil
            report(
                .seekFinished(
                    load, id, failure: MediaFailure(.unsupportedFormat, "The media cannot be moved on.")))
        }
    }

    func learn(_ facts: MediaPipeline.Facts) {
        guard let current = playback else { return }
        let timeline = Timeline(facts, place: place())
        if !current.hasReportedLoaded {
            playback?.timeline = timeline
            playback?.hasReportedLoaded = true
            let hasVideo = current.pipeline?.pictures.map { $0.isSelected && !$0.feed.isOver } ?? false
            report(
                .loaded(
                    current.id,
                    LoadedMedia(
                        timeline: timeline, tracks: current.table.tracks,
                        hasAudio: current.table.hasAudio || current.table.isEmpty, hasVideo: hasVideo)))
            reportPicture()
            reportPosition()
            askAgain(timeline)
        } else if current.timeline != timeline, timeline.tellsMore(than: current.timeline) {
            playback?.timeline = timeline
            report(.timelineChanged(current.id, timeline))
        }
        if current.hasReportedLoaded { askAgain(timeline) }
        considerNext()
        if timeline.capabilities.contains(.seek), playback?.phase != .loading, playback?.nextSeek != nil {
            startSeeking()
        }
    }

    // MARK: Tracks

    func found(_ streams: StreamSet) {
        playback?.streams = streams
        if let number = playback?.pipeline?.number {
            playback?.streamWatch = streams.watch { [inputs] in inputs.yield(.streamsTold(pipeline: number)) }
        }
        learn(streams.streams)
    }

    /// Languages and titles of streams are known a little after the streams.
    func streamsTold() {
        guard let current = playback, let streams = current.streams else { return }
        current.streamWatch?.next()
        learn(streams.streams)
    }

    func learn(_ streams: [MediaStream]) {
        guard let current = playback else { return }
        var table = TrackTable(streams)
        if !table.hasAudio, table.hasVideo, current.pipeline?.pictures?.isSelected != true {
            let reason = screen?.failure.map { " " + $0 } ?? ""
            return fail(MediaFailure(.unsupportedFormat, "The media has no sound.\(reason)"))
        }
        if let audio = current.table.currentAudio, table.contains(audio, kind: .audio) {
            table.currentAudio = audio
        }
        let isShown = current.pipeline?.pictures?.isSelected == true
        table.currentText =
            current.hasChosenText ? current.table.currentText : isShown ? table.defaultText : nil
        playback?.table = table
        showText()
        reportPicture()
        if let size = TrackTable.videoSize(of: streams) {
            playback?.words.videoSize = size
            reportMetadata()
        }
        reportTracks(before: current.table)
    }

    func reportTracks(before: TrackTable? = nil) {
        guard let current = playback, current.hasReportedLoaded, before?.tracks != current.table.tracks else {
            return
        }
        report(.tracksChanged(current.id, current.table.tracks))
    }

    func selectTrack(_ kind: TrackKind, _ identifier: String?) {
        guard let current = playback else { return }
        if let identifier, !current.table.contains(identifier, kind: kind) { return reportTracks() }
        switch kind {
        case .legible:
            playback?.table.currentText = identifier
            playback?.hasChosenText = true
            showText()
        case .audio:
            guard let identifier, identifier != current.table.currentAudio else { return reportTracks() }
            let here = place()
            playback?.table.currentAudio = identifier
            if current.timeline.capabilities.contains(.seek) {
                // What was decoded ahead is of the other stream, and some demuxers have read to the end: a new
                // pipeline is as quick as a change within this one, and works with all of them.
                reload(at: here)
            } else {
                current.pipeline?.select(
                    audio: identifier, streams: playback?.table.selectedAudioStreams ?? [])
            }
        case .audioDescription: break
        }
        reportTracks()
    }
}

extension Playback {
    /// The position at `time` of the monotonic clock.
    func position(in output: AudioOutput, at time: Int64) -> PlaybackPosition {
        func standing(_ place: Int64) -> PlaybackPosition {
            PlaybackPosition(position: MediaTime(nanoseconds: place), clockTime: time, rate: 0)
        }
        if let scan, !scan.isPlayed, phase == .ready, isPlaying {
            // Shown to listeners, a scan by visits moves evenly, not as the bits that are heard do.
            let moved = isHeld ? 0 : min(Double(time - scan.clockTime), 5e8) * scan.rate
            return PlaybackPosition(
                position: MediaTime(nanoseconds: Int64(max(0, scan.position + moved))), clockTime: time,
                rate: isHeld ? 0 : scan.rate)
        }
        if let next = nextSeek { return standing(next.position) }
        if let seek { return standing(seek.position) }
        if phase == .ended || isHeld { return standing(place) }
        guard let heard = output.heard(of: stream, at: time) else { return standing(place) }
        return PlaybackPosition(
            position: MediaTime(nanoseconds: max(0, heard.position)), clockTime: heard.clockTime,
            rate: heard.rate)
    }
}

extension Timeline {
    /// False if this one is only the ignorance of a pipeline at its end.
    fileprivate func tellsMore(than other: Timeline) -> Bool {
        capabilities.contains(.seek) || !other.capabilities.contains(.seek)
    }

    init(_ facts: MediaPipeline.Facts, place: Int64) {
        let capabilities: SeekCapabilities = facts.isSeekable ? [.seek, .scanForward, .scanBackward] : []
        if let duration = facts.duration, duration > 0 {
            self.init(
                range: TimeRange(start: .zero, duration: MediaTime(nanoseconds: duration)),
                seekableRanges: facts.isSeekable ? nil : [], isLive: false, capabilities: capabilities)
        } else if facts.isSeekable, let end = facts.seekableEnd, end > facts.seekableStart {
            self.init(
                range: TimeRange(
                    start: MediaTime(nanoseconds: facts.seekableStart),
                    duration: MediaTime(nanoseconds: end - facts.seekableStart)), seekableRanges: nil,
                isLive: true,
                capabilities: capabilities)
        } else if facts.hasSize {
            self.init(range: .empty, seekableRanges: [], isLive: false, capabilities: [])
        } else {
            self.init(
                range: TimeRange(start: MediaTime(nanoseconds: place), duration: .zero), seekableRanges: [],
                isLive: true, capabilities: [])
        }
    }
}
