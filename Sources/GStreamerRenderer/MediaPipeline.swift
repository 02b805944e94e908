// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel
import MediaSource
import Soup
import Synchronization

/// The elements that play one item, and the worker that does with them what may take long.
final class MediaPipeline: Sendable {
    /// Numbers pipelines; messages carry it, so that those of an earlier one are told.
    let number: UInt64
    let feed: StreamFeed
    /// When it was made, in nanoseconds of the monotonic clock.
    let begun = AudioOutput.now()
    private let pipeline: Element
    private let head: Element
    private let sink: AudioSink
    private let worker = SerialWorker()
    private let parts = Parts()
    private let wanted: WantedAudio
    let pictures: PictureBranch?
    /// Where sound goes, also the silence beside pictures without any.
    private let tail: Element
    private let readers: Readers

    /// What is asked of the item's server, and of the elements.
    struct Request: Sendable {
        var uri: String
        var headers: [HeaderField]
        var userAgent: String
        var allowsInvalidCertificate: Bool
        var rates: [Int32]
        /// Where pictures go; nil if they go nowhere and are not decoded.
        var pictures: PictureBranch?
        /// The sound that is wanted, as `TrackTable` names it; nil is the item's own choice.
        var audio: String?
        var contexts: [Context]
        var fetcher: MediaFetcher
        /// The item's server if it is being read already; the pipeline closes it.
        var source: MediaSource?
        /// Where in what the server has the media begins.
        var origin: Int64 = 0
        /// True if playback begins elsewhere than the media.
        var isHeld = false
        /// How long the server of an adaptive stream may be silent within an answer.
        var answerLimit = Duration.seconds(10)
    }

    /// Builds the elements and starts nothing. `onAdaptive` hears of a demuxer of adaptive streams. Throws the failure
    /// to report if one of them is not installed.
    init(
        number: UInt64, request: Request, feed: StreamFeed, onAdaptive: @escaping @Sendable () -> Void,
        onMessage: @escaping @Sendable (PipelineMessage) -> Void
    ) throws(MediaFailure) {
        (self.number, self.feed, pictures) = (number, feed, request.pictures)
        wanted = WantedAudio(request.audio)
        readers = Readers(request)
        pipeline = Element.pipeline(named: "item-\(number)")
        tail = Element.bin(named: "tail")
        func make(_ factory: String) throws(MediaFailure) -> Element {
            guard let element = Element(factory: factory) else {
                throw MediaFailure(.missingPlugin, "The GStreamer element \(factory) is not installed.")
            }
            return element
        }
        guard let sink = AudioSink(rates: request.rates, target: feed) else {
            throw MediaFailure(.missingPlugin, "The GStreamer element appsink is not installed.")
        }
        self.sink = sink
        head = try make("uridecodebin3")
        let chain = [
            try make("audioconvert"), try make("scaletempo"), try make("audioresample"), sink.element,
        ]
        for element in chain { tail.add(element) }
        for (one, next) in zip(chain, chain.dropFirst()) { _ = one.link(to: next) }
        chain[0].placeChannels()
        tail.exposePad("sink", of: chain[0])
        let relay = PadRelay(to: tail)
        // Before the head comes: it has elements in it already.
        pipeline.onElementAdded { [parts, readers] element in
            if element.factoryName == "multiqueue" { relay.watch(element) }
            parts.note(element.factoryName)
            if element.factoryName == "decodebin3" { parts.decoder = element }
            readers.serve(element)
            if element.factoryName == "qtdemux", parts.isHLS { element.joinTimes() }
            if Element.adaptiveDemuxers.contains(element.factoryName) {
                let line = RequestTap.Line(
                    userAgent: request.userAgent, fields: request.headers.map { ($0.name, $0.value) },
                    address: request.uri, answerLimit: request.answerLimit,
                    acceptsAnyCertificate: request.allowsInvalidCertificate)
                parts.demuxer = AdaptiveDemuxer(element, line: line, isHeld: request.isHeld)
                onAdaptive()
            }
            Self.setUp(element, for: request, feed: feed)
        }
        pipeline.add(tail)
        pipeline.add(head)
        head.set("uri", string: request.uri)
        head.linkPads(ofType: "audio/", through: relay)
        if let pictures { pictures.attach(to: pipeline, head: head) } else { head.set("caps", .sound) }
        feed.fill { [pictures] position in pictures?.outlasts(position) ?? false }
        // What a demuxer of adaptive streams plays is chosen by this and by `AdaptiveDemuxer.select`.
        head.onStreamOffered { [wanted] stream, set in
            guard stream.kind == .audio, let audio = wanted.identifier else { return nil }
            var table = TrackTable(set.streams)
            guard table.contains(audio, kind: .audio) else { return nil }
            table.currentAudio = audio
            return table.selectedAudioStreams.contains(stream.identifier)
        }
        for context in request.contexts { pipeline.setContext(context) }
        pipeline.onMessage { [weak self, head, parts] message in
            // The choice must be made before this call returns, each time the message comes, or the element makes one of
            // its own.
            switch message {
            case .streamsFound(let set):
                if let (before, all) = parts.chainGoesOn(with: set.streams) {
                    // Those that end are heard to their end; then the relay goes over to those that begin.
                    relay.promiseSuccessor()
                    _ = head.selectStreams(all)
                    return onMessage(.streamsFound(set.without(before)))
                }
                let selected = self?.selected(from: set) ?? []
                if !selected.isEmpty { _ = head.selectStreams(selected) }
            case .streamsOffered(let set):
                return parts.demuxer?.select(self?.selected(from: set) ?? []) ?? ()
            default: break
            }
            onMessage(message)
        }
    }

    /// Chooses streams if the item has more than sound: others are not decoded unless they are shown. None if the
    /// choice is the element's.
    private func selected(from set: StreamSet) -> [String] {
        let streams = set.streams
        var table = TrackTable(streams)
        if let audio = wanted.identifier, table.contains(audio, kind: .audio) { table.currentAudio = audio }
        let selected = table.selectedAudioStreams + (pictures?.select(from: table) ?? [])
        if let pictures, pictures.isSilent {
            pictures.feed.whenFirstComes { [weak self] in self?.addSilence() }
        }
        return streams.count > 1 ? selected : []
    }

    /// Gives pictures without sound a silent one, which is the clock that they follow.
    private func addSilence() {
        guard !parts.hasSilence, let silence = Element(factory: "audiotestsrc") else { return }
        silence.set("wave", "silence")
        silence.set("samplesperbuffer", "4800")
        pipeline.add(silence)
        _ = silence.link(to: tail)
        silence.syncStateWithParent()
    }

    /// Sets up an element that another one made.
    private static func setUp(_ element: Element, for request: Request, feed: StreamFeed) {
        switch element.factoryName {
        case "multiqueue":
            // The queue's own limit, which is a quarter of a second, would hold back frame by frame.
            element.set("min-interleave-time", "3000000000")
            let pictures = request.pictures
            // Whoever reads the sound ahead reads the pictures, too, and those are wanted soon.
            element.onSoundOffered { if pictures?.isSelected != true { feed.holdBack(at: $0) } }
        case "mpegaudioparse":
            element.onEncoderDelay { delay in
                let step = 1e9 / Double(delay.rate)
                feed.cut(before: Double(delay.frames) * step, length: delay.length.map { Double($0) * step })
            }
        case "aacparse": element.guardHeaders()
        default:
            // Of a decoder: damaged frames are passed over, however many, and what can be heard is heard.
            if element.hasProperty("max-errors") { element.set("max-errors", "-1") }
        }
    }

    // MARK: What may take long

    func start() {
        worker.perform { [pipeline, parts] in
            // The source of `uridecodebin3` of GStreamer 1.22 is started first. What it brings while `decodebin3` is not ready
            // to play is refused by an element that `decodebin3` makes for it, and everything stands, without an error.
            let decoder = parts.decoder
            decoder?.lockState(true)
            decoder?.setState(.paused)
            pipeline.setState(.playing)
            decoder?.lockState(false)
            decoder?.syncStateWithParent()
        }
    }

    /// The demuxer of an adaptive stream; nil for other media, and before it is known.
    var demuxer: AdaptiveDemuxer? { parts.demuxer }

    /// Where the item comes from, if that is a server of HTTP, to be read on by the caller, who closes it.
    func takeSource() -> MediaSource? { readers.takeItem() }

    /// What was read for it of HTTP, and whether it waits for a server; nil if that is not known.
    var reading: (reads: Int, isWaiting: Bool)? { readers.progress }

    /// True if it has read nothing since `reads` and waits for no server, or, where how far it has read is not known, does
    /// nothing that was asked for.
    func stands(since reads: Int) -> Bool {
        if isLocal { return !isAtWork }
        return reading.map { $0.reads == reads && !$0.isWaiting } ?? false
    }

    /// True while it starts, or does something else that was asked for.
    var isAtWork: Bool { worker.isAtWork }

    /// True if the item does not come from a server of HTTP.
    var isLocal: Bool { readers.isLocal }

    /// True if the titles of streams name tracks, not the item, which has a `single` stream or more.
    func hasTrackTitles(ofSingle single: Bool) -> Bool { parts.hasTrackTitles(ofSingle: single) }

    /// True if the item is what a station sends now, whenever it is asked.
    var isEndless: Bool { readers.isEndless }

    /// True if one piece may follow another in the same stream, each with tags of its own.
    var isChained: Bool { parts.isChained }

    /// How a position is looked for.
    enum Precision: Equatable, Sendable {
        /// The nearest place that is quick.
        case nearest
        case exact
        /// Exactly, and wherever that leads.
        case final
        /// Exactly, by looking at this position, in nanoseconds, which may be wrong.
        case guess(Int64)
    }

    /// True if a new pipeline is to take the place of this one for each move: libsndfile's decoder (of GStreamer 1.22) gives
    /// nothing after a move once it has come to the end, and reads ahead to it.
    var movesByReload: Bool { demuxer?.hasPeriods == true || parts.movesByReload }

    /// True if guessing finds exact positions: a parser of FLAC knows where it is from every frame, but without
    /// a guess it reads the file from the last place that it knows.
    var canGuess: Bool { parts.isPlainFLAC }

    /// Moves to `position`; `done` hears whether that can be, before anything has arrived from there.
    func seek(
        to position: Int64, rate: Double, precision: Precision, done: @escaping @Sendable (Bool) -> Void
    ) {
        worker.perform { [sink, pictures, feed] in
            var (place, isAccurate) = (position, false)
            switch precision {
            case .nearest: feed.aim(at: nil)
            case .exact, .final:
                isAccurate = true
                feed.aim(at: StreamFeed.Target(position: Double(position), isChecked: precision == .exact))
            case .guess(let guess):
                place = guess
                feed.aim(at: StreamFeed.Target(position: Double(position), isGuess: true, isChecked: true))
            }
            let found = place + Int64(feed.trim)
            // One end asks for all of them; where silence was put in, it asks for that alone.
            let isMoved = pictures?.seek(to: found, rate: rate, isAccurate: isAccurate) ?? true
            done(isMoved && sink.element.seek(to: found, rate: rate, isAccurate: isAccurate))
        }
    }

    /// What is known of a failure that is that of the item's server; nil for others.
    func sourceFailure(_ failure: PipelineFailure) -> MediaFailure? {
        failure.element == ByteSourceElement.factory ? readers.failure : nil
    }

    /// What is wrong with the item's server, which is asked again; nil while all is well.
    var sourceTrouble: MediaFailure? { readers.trouble }
    /// True if the item would be played if its server gave parts of it.
    var lacksPlaces: Bool { readers.lacksPlaces }
    /// True of the failure of a demuxer that had everything: those of GStreamer 1.22 fail when a short stream was read to its
    /// end before a decoder was there for it.
    func wasOvertaken(_ failure: PipelineFailure) -> Bool {
        guard let demuxer, Element.adaptiveDemuxers.contains(failure.element) else { return false }
        // The status is that of the last answer.
        return failure.domain == .resource && failure.httpStatus ?? 200 < 400 && demuxer.hasAllAnswers
    }

    /// Changes to another stream of sound; `streams` are those to play from then on.
    func select(audio identifier: String, streams: [String]) {
        wanted.identifier = identifier
        worker.perform { [head, parts] in
            if parts.demuxer != nil { AdaptiveDemuxer.awaitSending() }
            _ = head.selectStreams(streams)
        }
    }

    /// What the pipeline knows of its timeline.
    struct Facts: Equatable, Sendable {
        /// Nanoseconds.
        var duration: Int64?
        /// True of files, whose end is known even while their duration is not.
        var hasSize: Bool
        var isSeekable: Bool
        var seekableStart: Int64
        var seekableEnd: Int64?
    }

    func ask(_ done: @escaping @Sendable (Facts) -> Void) {
        worker.perform { [sink, head, pictures] in
            let end = pictures?.silentSink ?? sink.element
            let duration = end.duration()
            let seekable = end.seekable()
            done(
                Facts(
                    duration: duration, hasSize: duration != nil || head.hasSize(),
                    isSeekable: seekable?.isPossible ?? false,
                    seekableStart: seekable?.start ?? 0, seekableEnd: seekable?.end))
        }
    }

    /// Ends the sound; what remains is to be taken apart once it is quiet.
    func close() {
        feed.close()
        pictures?.feed.close()
        demuxer?.close()
    }

    /// Takes everything apart, some time. The feed is closed before: a thread that waits there holds locks of the
    /// pipeline.
    func tearDown() {
        feed.close()
        pictures?.feed.close()
        readers.close()
        worker.perform { [pipeline] in pipeline.setState(.null) }
    }
}

/// The factories of a pipeline's elements, noted as they are made.
private final class Parts: Sendable {
    private let names = Mutex<Set<String>>([])
    private let sounds = Mutex<Set<String>>([])

    /// In a chain of Ogg streams, the next link's are announced while those before have not ended. Gives the names of those
    /// before, and of all; nil if `streams` are not of that kind.
    func chainGoesOn(with streams: [MediaStream]) -> (before: Set<String>, all: [String])? {
        let all = streams.filter { $0.kind == .audio }.map(\.identifier)
        let before = sounds.withLock { sounds in
            defer { sounds = Set(all) }
            return sounds.intersection(all)
        }
        // Items with pictures have them chosen, too.
        guard isChained, all.count == streams.count, !before.isEmpty, before.count < all.count else {
            return nil
        }
        return (before, all)
    }
    private let adaptive = Mutex<AdaptiveDemuxer?>(nil)
    var demuxer: AdaptiveDemuxer? {
        get { adaptive.withLock { $0 } }
        set { adaptive.withLock { $0 = newValue } }
    }
    private let decodebin = Mutex<Element?>(nil)
    var decoder: Element? {
        get { decodebin.withLock { $0 } }
        set { decodebin.withLock { $0 = newValue } }
    }
    func note(_ name: String) { names.withLock { if $0.count < 64 { $0.insert(name) } } }
    func hasTrackTitles(ofSingle single: Bool) -> Bool {
        names.withLock { $0.contains("matroskademux") || !single && $0.contains("qtdemux") }
    }
    var isChained: Bool { names.withLock { $0.contains("oggdemux") } }
    var isHLS: Bool { names.withLock { $0.contains("hlsdemux2") } }
    var movesByReload: Bool { names.withLock { $0.contains("linnetsfdec") } }
    var hasSilence: Bool { names.withLock { $0.contains("audiotestsrc") } }
    var isPlainFLAC: Bool {
        names.withLock {
            $0.contains("flacparse") && !$0.contains { $0.hasSuffix("demux") && $0 != "id3demux" }
        }
    }
}

/// The stream of sound that was asked for; nil is the item's own choice.
private final class WantedAudio: Sendable {
    private let value: Mutex<String?>
    init(_ identifier: String?) { value = Mutex(identifier) }
    var identifier: String? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
