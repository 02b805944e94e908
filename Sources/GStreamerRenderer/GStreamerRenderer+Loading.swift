// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamer
import MediaModel
import MediaSource
import Playlists
import Settings

extension GStreamerRenderer {
    /// Pipelines whose end is waited for at most, before no more are begun.
    private static let stuckLimit = SerialWorker.threadLimit - 2

    /// So long may a pipeline work at what it has read before it gives a sound or reads on, and so often is it tried.
    static let beginningLimit = Duration.seconds(3)
    private static let beginningCount = 2
    /// A disk takes this long to start up.
    private static let localBeginningLimit = Duration.seconds(10)

    /// Up to here, in nanoseconds, reading through is as quick as a move, and cannot fail.
    static let nearBeginning: Int64 = 3_000_000_000

    func load(_ id: LoadID, _ item: MediaItem, playing: Bool) {
        // The display stays open for the next item's pictures.
        giveUp(closesScreen: false)
        playback = Playback(id: id, item: item, playing: playing)
        begin()
    }

    /// Begins what is current.
    func begin() {
        guard let current = playback else { return }
        guard let scheme = Library.scheme(of: current.item.uri) else {
            return fail(MediaFailure(.invalidURL, "The media's address is not valid."))
        }
        guard configuration.schemes.contains(scheme) else {
            return fail(
                MediaFailure(.unsupportedScheme, "Addresses that begin with \(scheme): are not played."))
        }
        startPipeline()
        if current.isPlaying { setBuffering(true) }
    }

    /// True if so many pipelines do not end that no more are begun.
    var isCrowded: Bool { SerialWorker.busy >= Self.stuckLimit }

    /// Builds the pipeline of the current load and starts it, also for the second time with more plugins. It goes on with
    /// `source` if that is not nil.
    func startPipeline(from source: MediaSource? = nil) {
        guard !isCrowded else {
            source?.close()
            return fail(MediaFailure(.internalFailure, "Too many pipelines do not end."))
        }
        pipelineCount += 1
        playback?.stream = StreamID(pipelineCount)
        let isNear = (playback?.place ?? 0) <= Self.nearBeginning && playback?.pipelineRate == 1
        if isNear { playback?.isHeld = false }
        guard let current = playback else { return source?.close() ?? () }
        readinessChanged(false)
        output.open(
            current.stream, playing: current.isPlaying && !current.isHeld,
            binding: current.bond.map { $0.anchor })
        output.setMediaVolume(current.volume, for: current.stream)
        let beginning = isNear && current.place > 0 ? Double(current.place) : nil
        let pictures = makePictures(for: current, pipeline: current.stream.number)
        if beginning != nil { pictures?.feed.begin(at: current.place) }
        do throws(MediaFailure) {
            let pipeline = try makePipeline(
                current.opened, audio: current.table.currentAudio,
                feed: feed(for: current.stream, beginning: beginning), pictures: pictures,
                isHeld: current.isHeld, source: source, origin: current.origin)
            playback?.pipeline = pipeline
            pipeline.start()
            watchBeginning(of: pipeline)
        } catch {
            fail(error)
        }
    }

    /// What carries frames into a stream of the output, which is named like its pipeline; those before `beginning`
    /// are dropped.
    func feed(for stream: StreamID, beginning: Double?) -> StreamFeed {
        let (inputs, number) = (inputs, stream.number)
        let feed = StreamFeed(
            stream: stream, output: output,
            onArrival: { inputs.yield(.arrived(pipeline: number, $0)) },
            onNews: { inputs.yield(.news(pipeline: number, cue: $0, $1)) },
            onCue: { inputs.yield(.output(.cueReached(stream, $0))) })
        if let beginning { feed.begin(at: beginning) }
        return feed
    }

    /// The pipeline of an item, not started.
    func makePipeline(
        _ item: MediaItem, audio: String?, feed: StreamFeed, pictures: PictureBranch? = nil,
        isHeld: Bool = false, source: MediaSource? = nil, origin: Int64 = 0, rates: [Int32]? = nil
    ) throws(MediaFailure) -> MediaPipeline {
        let number = feed.stream.number
        let request = MediaPipeline.Request(
            uri: item.uri, headers: item.headers, userAgent: item.userAgent ?? configuration.userAgent,
            allowsInvalidCertificate: item.allowsInvalidCertificate, rates: rates ?? self.rates,
            pictures: pictures,
            audio: audio, contexts: contexts, fetcher: fetcher, source: source, origin: origin,
            isHeld: isHeld,
            answerLimit: min(.seconds(10), max(.seconds(1), configuration.outageLimit / 4)))
        return try MediaPipeline(
            number: number, request: request, feed: feed,
            onAdaptive: { [inputs] in inputs.yield(.adaptiveFound) },
            onMessage: { [inputs] message in
                // Sinks say these in the order of the sound.
                if case .tagged(let values) = message { return feed.tell(.tags(values)) }
                inputs.yield(.message(pipeline: number, message))
            })
    }

    /// Gives a pipeline up that has read and stands, without a sound and without an error: now and then an element of
    /// GStreamer 1.22 misses that its source has begun. If that does not help, the media is the reason. What
    /// reads on, or waits for its server, has time.
    func beginAgainIfStuck(reads: Int) {
        guard let current = playback, let pipeline = current.pipeline, current.phase == .loading,
            current.outage == nil, current.failure == nil
        else { return }
        if pipeline.demuxer != nil {
            // A list that never names anything to play is asked for again and again.
            guard AudioOutput.now() - pipeline.begun < Int64(configuration.outageLimit / .nanoseconds(1))
            else {
                let seconds = configuration.outageLimit.components.seconds
                return fail(
                    MediaFailure(.timeout, "The stream had nothing to play within \(seconds) seconds."))
            }
        } else if pipeline.isLocal {
            // How far a file was read is not known: a disk that starts up is waited for, and one that hangs may hold up every
            // pipeline that is begun.
            let mayHelp = current.stuckBeginnings == 0 && !pipeline.isAtWork
            if mayHelp, beginAgain(because: "it stands") { return }
        } else if let reading = pipeline.reading, reading.reads == reads, !reading.isWaiting {
            if beginAgain(because: "it stands") { return }
            playback?.stuckBeginnings += 1
            if current.stuckBeginnings >= 2 * Self.beginningCount {
                return fail(
                    MediaFailure(.unsupportedFormat, "The media is of a format that is not played."))
            }
        }
        watchBeginning(of: pipeline)
    }

    /// Looks in a while whether `pipeline` has got on.
    func watchBeginning(of pipeline: MediaPipeline) {
        later(
            pipeline.isLocal ? Self.localBeginningLimit : Self.beginningLimit,
            .beginningDue(pipeline: pipeline.number, reads: pipeline.reading?.reads ?? 0))
    }

    /// Begins a load again that fails for no reason of its own. False if that was done often enough.
    private func beginAgain(because reason: String) -> Bool {
        guard let current = playback, current.stuckBeginnings < Self.beginningCount else { return false }
        playback?.stuckBeginnings += 1
        let facts = ["load": "\(current.id.number)", "reason": reason]
        Journal.log(.warning, "renderer", "a load is begun again", facts)
        reload(at: place())
        return true
    }

    /// Begins again at `place` in nanoseconds with a new pipeline, as if nothing had been heard yet.
    func reload(at place: Int64, from source: MediaSource? = nil) {
        cancelPreparation()
        guard let current = playback else { return source?.close() ?? () }
        answerSeeks(of: current)
        endPipeline(of: current)
        playback?.begin(at: place)
        startPipeline(from: source)
        updateTicking()
        reportPosition()
    }

    /// The rates that the output takes: the device's own, or the one that every device has.
    private var rates: [Int32] {
        if outputStatus?.state == .null { return [] }
        let known = output.supportedRates
        return known.isEmpty ? [48_000] : known
    }

    /// The output may have another device: what it does not play as it is decoded is decoded anew, from where it is.
    func followRates() {
        let (before, now) = (knownRates, rates)
        knownRates = now
        guard now != before, !now.isEmpty, let current = playback, current.pipeline != nil else { return }
        if let rate = output.rate(of: current.stream), now.contains(rate) {
            guard let next = current.next, next.pipeline != nil else { return }
            return prepareNext(UpcomingItem(load: next.load, item: next.item))
        }
        reload(at: current.nextSeek?.position ?? current.seek?.position ?? place())
    }

    /// Ends the current load without a word: nothing of it is heard from now on.
    func giveUp(closesScreen: Bool = true) {
        cancelPreparation()
        if closesScreen { screen?.close() }
        guard let current = playback else { return }
        current.examination?.source.close()
        playback = nil
        answerSeeks(of: current)
        endPipeline(of: current)
        updateTicking()
    }

    /// Lets nothing more be heard of a load's pipeline, and ends it.
    func endPipeline(of current: Playback) {
        output.close(current.stream)
        endCapture(of: current)
        if let pipeline = current.pipeline { end(pipeline) }
    }

    /// Reports the moves that a load will not make any more, so that nobody waits for them.
    func answerSeeks(of current: Playback) {
        for seek in [current.seek, current.nextSeek] {
            if let id = seek?.id { report(.seekFinished(current.id, id, failure: nil)) }
        }
    }

    /// Ends the current load with a failure.
    func fail(_ failure: MediaFailure) {
        guard let id = playback?.id else { return }
        if examine(after: failure) { return }
        switch walkOn({ .failed($0, failure) }) {
        case .goesOn: return
        case .isOver:
            // Other entries were heard.
            if let current = playback { answerSeeks(of: current) }
            playback?.failure = nil
            playback?.seek = nil
            playback?.nextSeek = nil
            return drained()
        case .isNone: break
        }
        giveUp()
        report(.failed(id, failure))
    }

    func handle(_ message: PipelineMessage) {
        switch message {
        case .failed(let failure): pipelineFailed(failure)
        case .pluginMissing(let description, let isForPictures):
            if isForPictures, playback?.pipeline?.pictures == nil { return }
            if !isForPictures, playback?.missing == nil { playback?.missing = description }
            // No plugin plays a text, which may be a playlist.
            if description.hasPrefix("text/") { return }
            if isForPictures || playback?.phase == .loading, addPluginsAndRetry() { return }
            if isForPictures { pictureDecoderMissing(description) }
        case .streamsFound(let set):
            found(set)
        case .streamsSelected(let identifiers):
            // Nothing more comes of a pipeline that decodes none of the streams: no sound, no error, no end.
            if identifiers.isEmpty, playback?.phase == .loading, let missing = playback?.missing {
                return fail(.missing(missing))
            }
            playback?.table.note(selected: identifiers)
            reportTracks()
        case .durationChanged: if playback?.hasReportedLoaded == true { askPipeline() }
        case .contextMade(let context): keep(context)
        case .streamsOffered, .tagged: break
        case .ended:
            playback?.isDecoded = true
            considerNext()
        }
    }

    /// Keeps what the elements of later pipelines can share.
    func keep(_ context: Context) {
        contexts.removeAll { $0.type == context.type }
        // GStreamer knows a handful of kinds.
        if contexts.count < 16 { contexts.append(context) }
    }

    private func pipelineFailed(_ failure: PipelineFailure) {
        guard let current = playback else { return }
        var reason =
            current.pipeline?.sourceFailure(failure) ?? MediaFailure(failure, missing: current.missing)
        if reason.code == .missingPlugin, current.pipeline?.lacksPlaces == true {
            reason = MediaFailure(
                .unsupportedFormat, "Media of this format is played only if its server gives parts of it.")
        }
        if reason.code == .missingPlugin, current.phase == .loading, addPluginsAndRetry() { return }
        if current.phase == .loading, current.pipeline?.wasOvertaken(failure) == true,
            beginAgain(because: "its demuxer was overtaken")
        {
            return
        }
        if survives(reason) { return }
        guard current.phase == .ready, current.isSounding, current.seek == nil, current.nextSeek == nil else {
            return fail(current.failure ?? reason)
        }
        // What came before the damage is heard to its end. Nothing joins it there.
        cancelPreparation()
        playback?.failure = current.failure ?? reason
    }

    /// Loads the fallback plugins, if that was not done, and begins the load again. False if it was.
    @discardableResult
    private func addPluginsAndRetry() -> Bool {
        let folder = configuration.fallbackPlugins
        guard !hasAddedPlugins, let current = playback else { return false }
        if current.phase != .loading { playback?.begin(at: place()) }
        endPipeline(of: current)
        playback?.pipeline = nil
        playback?.missing = nil
        addPlugins(in: folder, for: current.id)
        return true
    }

    /// Loads the fallback plugins, then goes on with a load.
    func addPlugins(in folder: String?, for load: LoadID) {
        SerialWorker().perform { [inputs] in
            PluginFolder.addFallback(in: folder)
            inputs.yield(.pluginsAdded(load))
        }
    }

    // MARK: Playing

    func setPlaying(_ playing: Bool) {
        guard let current = playback, current.isPlaying != playing else { return }
        playback?.isPlaying = playing
        playback?.pausedSince = playing ? nil : AudioOutput.now()
        if playing, isBehindEdge(current) {
            reload(at: 0)
            return setBuffering(true)
        }
        applyPlaying()
        if !playing { setBuffering(false) } else if current.phase == .loading { setBuffering(true) }
    }

    /// After a pause shorter than this, in nanoseconds, a station goes on where it was.
    private static let shortPause: Int64 = 1_000_000_000

    /// True of a station that was paused: what was read then is not what is sent now. Other media without a length may be
    /// a file, which would begin anew; the demuxers of adaptive streams know of themselves where the edge is.
    private func isBehindEdge(_ current: Playback) -> Bool {
        guard let since = current.pausedSince, current.phase == .ready, current.outage == nil else {
            return false
        }
        return current.timeline.isLive && current.pipeline?.isEndless == true
            && AudioOutput.now() - since > Self.shortPause
    }

    /// Tells the output whether to play.
    func applyPlaying() {
        guard let current = playback else { return }
        output.setPlaying(current.isPlaying && !current.isHeld, for: current.stream)
    }

    /// The first frames of the beginning, or after a flush, are in the output.
    func framesArrived(flushes: Int) {
        guard let current = playback else { return }
        if let seek = current.seek, !seek.isExecuting, flushes > seek.flushes {
            finishSeek(nil)
        } else if let seek = current.seek, flushes > seek.flushes {
            // The frames were quicker than the worker's answer.
            playback?.seek?.hasArrived = true
        }
        guard current.phase != .ready else { return }
        if current.phase == .ended {
            playback?.phase = .ready
            return
        }
        guard let now = playback, now.seek == nil else { return }
        if now.isHeld, now.nextSeek == nil {
            let place = groupPlace() ?? now.place
            playback?.nextSeek = Playback.Seek(id: nil, position: place, isAccurate: true)
        }
        if playback?.nextSeek != nil || now.pipelineRate != 1 { return startSeeking() }
        becomeReady()
    }

    func becomeReady() {
        guard playback?.phase == .loading else { return }
        playback?.phase = .ready
        playback?.isHeld = false
        walkOn { .startedPlaying($0) }
        applyPlaying()
        setBuffering(false)
        recovered()
        askPipeline()
        considerNext()
    }

    /// The last frame was heard.
    func drained() {
        guard let current = playback else { return }
        if let failure = current.failure { return fail(failure) }
        if current.seek?.isExecuting == true || current.nextSeek != nil { return }
        if current.outage != nil { return outputRanDry() }
        if beginAgainAtMove() { return }
        if current.seek != nil { finishSeek(nil) }
        if current.phase == .loading { becomeReady() }
        if walkOn({ .ended($0) }) == .goesOn { return }
        if current.next != nil, current.bond == nil { return beginNext() }
        playback?.phase = .ended
        playback?.isSounding = false
        playback?.scan = nil
        screen?.close()
        if let end = current.timeline.range.end.nanoseconds, !current.timeline.isLive, end > 0 {
            playback?.place = end
        }
        updateTicking()
        reportPosition()
        report(.ended(current.id))
    }
}
