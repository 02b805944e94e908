// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import MediaModel
import MediaSource
import Synchronization

/// The elements that play one item, and the worker that does with them what may take long.
final class MediaPipeline: Sendable {
    /// Numbers pipelines; messages carry it, so that those of an earlier one are told.
    let number: UInt64
    let feed: StreamFeed
    private let pipeline: Element
    private let head: Element
    private let sink: AudioSink
    private let worker = SerialWorker()
    private let parts = Parts()
    private let wanted: WantedAudio
    private let readers: Readers

    /// What is asked of the item's server, and of the elements.
    struct Request: Sendable {
        var uri: String
        var headers: [HeaderField]
        var userAgent: String
        var rates: [Int32]
        var video: RendererConfiguration.VideoSink
        /// The sound that is wanted, as `TrackTable` names it; nil is the item's own choice.
        var audio: String?
        var contexts: [Context]
        var fetcher: MediaFetcher
        /// Where the item's bytes come from; nil if GStreamer reads them by itself.
        var source: MediaSource?
    }

    /// Builds the elements and starts nothing. Throws the failure to report if one of them is not installed.
    init(
        number: UInt64, request: Request, feed: StreamFeed,
        onMessage: @escaping @Sendable (PipelineMessage) -> Void
    ) throws(MediaFailure) {
        (self.number, self.feed) = (number, feed)
        wanted = WantedAudio(request.audio)
        readers = Readers(request)
        pipeline = Element.pipeline(named: "item-\(number)")
        let tail = Element.bin(named: "tail")
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
        tail.exposePad("sink", of: chain[0])
        // Before the head comes: it has elements in it already.
        pipeline.onElementAdded { [parts, readers] element in
            parts.note(element.factoryName)
            readers.serve(element)
            Self.setUp(element, for: request, feed: feed)
        }
        pipeline.add(tail)
        pipeline.add(head)
        head.set("uri", string: request.uri)
        head.linkPads(ofType: "audio/", to: tail)
        try setUpVideo(request.video)
        for context in request.contexts { pipeline.setContext(context) }
        pipeline.onMessage { [head, wanted] message in
            // The choice must be made before this call returns, or the element makes one of its own.
            if case .streamsFound(let set) = message {
                Self.select(from: set, in: head, wanted: wanted, video: request.video)
            }
            onMessage(message)
        }
    }

    private func setUpVideo(_ choice: RendererConfiguration.VideoSink) throws(MediaFailure) {
        let factory: String? =
            switch choice {
            case .none: nil
            case .auto: "autovideosink"
            case .kms: "kmssink"
            case .x11: "xvimagesink"
            case .wayland: "waylandsink"
            }
        guard let factory else {
            head.set("caps", "audio/x-raw")
            return
        }
        guard let convert = Element(factory: "videoconvert"), let show = Element(factory: factory) else {
            throw MediaFailure(.missingPlugin, "The GStreamer element \(factory) is not installed.")
        }
        let screen = Element.bin(named: "screen")
        screen.add(convert)
        screen.add(show)
        _ = convert.link(to: show)
        screen.exposePad("sink", of: convert)
        pipeline.add(screen)
        head.linkPads(ofType: "video/", to: screen)
    }

    /// Chooses streams if the item has more than sound: others are not decoded unless they are shown.
    private static func select(
        from set: StreamSet, in head: Element, wanted: WantedAudio, video: RendererConfiguration.VideoSink
    ) {
        let streams = set.streams
        var table = TrackTable(streams)
        if let audio = wanted.identifier, table.contains(audio, kind: .audio) { table.currentAudio = audio }
        var selected = table.selectedAudioStreams
        if video != .none, let first = streams.first(where: { $0.kind == .video }) {
            selected.append(first.identifier)
        }
        guard !selected.isEmpty, streams.count > 1 else { return }
        _ = head.selectStreams(selected)
    }

    /// Sets up an element that another one made.
    private static func setUp(_ element: Element, for request: Request, feed: StreamFeed) {
        switch element.factoryName {
        case "hlsdemux2", "dashdemux2", "mssdemux2":
            // Ten seconds of coded media: enough for a bad moment of the network, little memory.
            element.set("max-buffering-time", "10000000000")
        case "multiqueue":
            guard request.video == .none else { return }
            // The queue's own limit, which is a quarter of a second, would hold back frame by frame.
            element.set("min-interleave-time", "3000000000")
            element.onSoundOffered { feed.holdBack(at: $0) }
        case "mpegaudioparse":
            element.onEncoderDelay { frames, rate in feed.trim = Double(frames) * 1e9 / Double(rate) }
        default:
            // Of a decoder: damaged frames are passed over, however many, and what can be heard is heard.
            if element.hasProperty("max-errors") { element.set("max-errors", "-1") }
        }
    }

    // MARK: What may take long

    func start() {
        worker.perform { [pipeline] in pipeline.setState(.playing) }
    }

    /// True if the titles of streams name tracks, not the item, which has a `single` stream or more.
    func hasTrackTitles(ofSingle single: Bool) -> Bool { parts.hasTrackTitles(ofSingle: single) }

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

    /// True if guessing finds exact positions: a parser of FLAC knows where it is from every frame, but without
    /// a guess it reads the file from the last place that it knows.
    var canGuess: Bool { parts.isPlainFLAC }

    /// Moves to `position`; `done` hears whether that can be, before anything has arrived from there.
    func seek(
        to position: Int64, rate: Double, precision: Precision, done: @escaping @Sendable (Bool) -> Void
    ) {
        worker.perform { [pipeline, feed] in
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
            done(pipeline.seek(to: place + Int64(feed.trim), rate: rate, isAccurate: isAccurate))
        }
    }

    /// Changes to another stream of sound; `streams` are those to play from then on.
    func select(audio identifier: String, streams: [String]) {
        wanted.identifier = identifier
        worker.perform { [head] in _ = head.selectStreams(streams) }
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
        worker.perform { [sink, head] in
            let duration = sink.element.duration()
            let seekable = sink.element.seekable()
            done(
                Facts(
                    duration: duration, hasSize: duration != nil || head.hasSize(),
                    isSeekable: seekable?.isPossible ?? false,
                    seekableStart: seekable?.start ?? 0, seekableEnd: seekable?.end))
        }
    }

    /// Takes everything apart, some time. The feed must be closed before: a thread that waits there holds
    /// locks of the pipeline.
    func tearDown() {
        feed.close()
        readers.close()
        worker.perform { [pipeline] in pipeline.setState(.null) }
    }
}

/// The factories of a pipeline's elements, noted as they are made.
private final class Parts: Sendable {
    private let names = Mutex<Set<String>>([])
    func note(_ name: String) { names.withLock { if $0.count < 64 { $0.insert(name) } } }
    func hasTrackTitles(ofSingle single: Bool) -> Bool {
        names.withLock { $0.contains("matroskademux") || !single && $0.contains("qtdemux") }
    }
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
