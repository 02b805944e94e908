// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel
import Settings

/// The item that follows the one that plays. Its pipeline is built shortly before its turn, and all that the pipeline says is
/// kept until then.
struct NextItem {
    /// What is kept of a pipeline that waits; some dozens are usual. Pictures are large.
    private static let inputLimit = 256
    private static let pictureLimit = 4

    let load: LoadID
    let item: MediaItem
    var stream = StreamID(0)
    /// Nil until it is made ready.
    var pipeline: MediaPipeline?
    /// True if it can be begun only when its turn comes.
    var isLate = false
    var wasBegunAgain = false
    /// True while it is due to be looked at.
    var isWatched = false
    private(set) var inputs: [GStreamerRenderer.Input] = []

    /// Keeps what the pipeline says until its turn comes. False if there is no more room.
    mutating func keep(_ input: GStreamerRenderer.Input) -> Bool {
        guard inputs.count < Self.inputLimit else { return false }
        if input.hasPicture, inputs.count(where: \.hasPicture) >= Self.pictureLimit { return false }
        inputs.append(input)
        return true
    }

    /// True once frames of it stand behind those of the current item.
    var hasArrived: Bool {
        for case .arrived(_, .frames) in inputs { return true }
        return false
    }

    /// What an element said is not installed.
    var missing: String? {
        for case .message(_, .pluginMissing(let what, _)) in inputs { return what }
        return nil
    }
}

// The next item is made ready when the current one has ten seconds left, or is decoded to its end; then no more than a few
// seconds of coded media are held of it. Its frames join those of the current one in the output. What moves the current
// item on its timeline, or changes its speed, gives the preparation up; it is made anew when it is due again.
extension GStreamerRenderer {
    /// Before the end of the current item, in nanoseconds: time enough to open most servers, and little memory.
    private static let preparation: Int64 = 10_000_000_000

    func prepareNext(_ upcoming: UpcomingItem?) {
        cancelPreparation()
        playback?.next = upcoming.map { NextItem(load: $0.load, item: $0.item) }
        considerNext()
    }

    /// Makes the next item ready, if it is time.
    func considerNext() {
        guard let current = playback, let next = current.next, next.pipeline == nil, !next.isLate,
            current.failure == nil, current.outage == nil, current.phase == .ready, current.seek == nil,
            current.nextSeek == nil, current.scan == nil, current.walk == nil,
            current.bond == nil
        else { return }
        let isNearBeginning = (next.item.startPosition.nanoseconds ?? 0) <= Self.nearBeginning
        // Pictures of two items have one screen.
        guard configuration.video == .none else { return }
        // Another speed, or a place far inside, is reached by a move, which begins when its turn comes.
        guard current.pipelineRate == 1, isNearBeginning, !current.timeline.isLive else { return }
        guard current.isDecoded || isEndNear(current) else { return }
        startNext(next)
    }

    private func isEndNear(_ current: Playback) -> Bool {
        guard let end = current.timeline.range.end.nanoseconds, current.timeline.range != .empty else {
            return false
        }
        return end - place() <= Self.preparation
    }

    private func startNext(_ upcoming: NextItem) {
        guard let current = playback, !isCrowded else { return }
        guard let scheme = Library.scheme(of: upcoming.item.uri), configuration.schemes.contains(scheme)
        else {
            return failNext(MediaFailure(.unsupportedScheme, "Addresses of this kind are not played."))
        }
        var next = upcoming
        pipelineCount += 1
        next.stream = StreamID(pipelineCount)
        output.follow(next.stream, after: current.stream)
        let start = next.item.startPosition.nanoseconds ?? 0
        let feed = self.feed(for: next.stream, beginning: start > 0 ? Double(start) : nil)
        do throws(MediaFailure) {
            next.pipeline = try makePipeline(next.item, audio: nil, feed: feed)
        } catch { return failNext(error) }
        playback?.next = next
        next.pipeline?.start()
        watchNext()
    }

    /// Looks in a while whether the next item has got on. One that stands would be begun again in its turn, late.
    private func watchNext() {
        guard let pipeline = playback?.next?.pipeline else { return }
        playback?.next?.isWatched = true
        later(
            Self.beginningLimit, .beginningDue(pipeline: pipeline.number, reads: pipeline.reading?.reads ?? 0)
        )
    }

    private func beginNextAgainIfStuck(reads: Int) {
        playback?.next?.isWatched = false
        guard let next = playback?.next, let pipeline = next.pipeline, !next.hasArrived,
            pipeline.demuxer == nil, !next.wasBegunAgain
        else { return }
        guard pipeline.stands(since: reads) else { return watchNext() }
        Journal.log(.warning, "renderer", "the next item is begun again", ["load": "\(next.load.number)"])
        cancelPreparation()
        playback?.next?.wasBegunAgain = true
        considerNext()
    }

    /// Gives up what was made ready. The item stays the one that follows.
    func cancelPreparation() {
        guard let next = playback?.next, let pipeline = next.pipeline else { return }
        playback?.next = NextItem(load: next.load, item: next.item)
        output.close(next.stream)
        end(pipeline)
    }

    /// What the pipeline of the next item says.
    func handleNext(_ input: Input, of pipeline: UInt64) {
        guard let next = playback?.next, next.pipeline?.number == pipeline else { return }
        switch input {
        case .message(_, .failed(let failure)):
            // What has joined the current item is heard, up to the damage.
            if next.hasArrived, playback?.next?.keep(input) == true { return }
            if next.pipeline?.wasOvertaken(failure) == true { return postponeNext() }
            nextFailed(
                next.pipeline?.sourceFailure(failure) ?? MediaFailure(failure, missing: next.missing))
        case .message(_, .streamsSelected(let streams)) where streams.isEmpty && next.missing != nil:
            nextFailed(.missing(next.missing))
        case .message(_, .contextMade(let context)): keep(context)
        case .beginningDue(_, let reads): beginNextAgainIfStuck(reads: reads)
        case .message(_, .streamsFound(let set)) where isSilent(set):
            nextFailed(MediaFailure(.unsupportedFormat, "The media has no sound."))
        default:
            guard playback?.next?.keep(input) == true else { return }
            // The answer is there when the first of these frames is heard.
            if case .arrived(_, .frames) = input { ask(next.pipeline) }
        }
    }

    private func isSilent(_ set: StreamSet) -> Bool {
        let table = TrackTable(set.streams)
        return !table.hasAudio && table.hasVideo && configuration.video == .none
    }

    private func nextFailed(_ failure: MediaFailure) {
        let mayHavePlugin =
            failure.code == .missingPlugin && !hasAddedPlugins && configuration.fallbackPlugins != nil
        let mayBePlaylist = playback?.next.map { Self.canBePlaylist(failure, at: $0.item.uri) } == true
        // That is looked into when its turn comes.
        if mayHavePlugin || mayBePlaylist { postponeNext() } else { failNext(failure) }
    }

    /// Leaves the beginning of the next item to its turn.
    private func postponeNext() {
        cancelPreparation()
        playback?.next?.isLate = true
    }

    private func failNext(_ failure: MediaFailure) {
        guard let current = playback, let next = current.next else { return }
        cancelPreparation()
        playback?.next = nil
        report(.nextFailed(current.id, next: next.load, failure))
    }

    // MARK: Its turn

    /// The output went on to the stream that followed.
    func advanced(from old: StreamID, to new: StreamID) {
        guard let current = playback, current.stream == old else { return }
        guard let next = current.next, next.stream == new, let pipeline = next.pipeline else {
            // It was given up at the same moment, and the current item has been heard to its end.
            output.close(new)
            if let seek = current.nextSeek ?? current.seek { reload(at: seek.position) } else { drained() }
            return
        }
        var successor = Playback(id: next.load, item: next.item, playing: current.isPlaying)
        (successor.stream, successor.pipeline) = (next.stream, pipeline)
        (successor.volume, successor.speed) = (current.volume, current.speed)
        (successor.isHeld, successor.isSounding) = (false, current.isSounding)
        answerSeeks(of: current)
        if let pipeline = current.pipeline { end(pipeline) }
        playback = successor
        report(.advanced(current.id, to: next.load))
        output.setMediaVolume(successor.volume, for: successor.stream)
        applyPlaying()
        if successor.isPlaying, !successor.isSounding { setBuffering(true) }
        for input in next.inputs { handle(input) }
        if playback?.phase == .loading, !next.isWatched { watchBeginning(of: pipeline) }
        updateTicking()
        reportPosition()
    }

    /// The current item was heard to its end, and the next one has to be begun.
    func beginNext() {
        cancelPreparation()
        guard let current = playback, let next = current.next else { return }
        answerSeeks(of: current)
        endPipeline(of: current)
        var successor = Playback(id: next.load, item: next.item, playing: current.isPlaying)
        (successor.volume, successor.speed) = (current.volume, current.speed)
        playback = successor
        report(.advanced(current.id, to: next.load))
        begin()
        updateTicking()
    }
}

extension GStreamerRenderer.Input {
    /// The pipeline that it came from.
    var pipeline: UInt64? {
        switch self {
        case .message(let pipeline, _), .arrived(let pipeline, _), .seekAnswered(let pipeline, _, _),
            .seekIsSlow(let pipeline, _), .asked(let pipeline, _), .askAgain(let pipeline),
            .freezeDue(let pipeline, _), .pictures(let pipeline, _),
            .beginningDue(let pipeline, _), .serverDue(let pipeline), .news(let pipeline, _, _),
            .streamsTold(let pipeline):
            pipeline
        case .command, .output, .adaptiveFound, .endDue, .recoveryDue, .troubleOver, .pluginsAdded, .examined,
            .screenLost, .handed, .handedDue, .capture, .heard, .tick, .scanTick, .metadataDue, .quit:
            nil
        }
    }

    fileprivate var hasPicture: Bool {
        if case .news(_, _, .tags(let values)) = self { values.picture != nil } else { false }
    }
}
