// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import MediaModel
import Synchronization

/// The part of one item's pipeline that is there for pictures: it chooses the streams, and leads decoded pictures to the
/// feed and the texts of all tracks to where they wait to be shown. Any thread may ask it.
final class PictureBranch: Sendable {
    private struct State {
        /// True if a stream of pictures plays.
        var isSelected = false
        /// True if there is no sound beside it.
        var isSilent = false
        /// The texts by the names of their streams.
        var tracks: [String: CueTrack] = [:]
        /// The stream whose texts are shown.
        var shownText: String?
        var sink: Element?
    }

    /// More tracks are not read at the same time; each has a thread of its own.
    static let textLimit = 32

    let feed: PictureFeed
    private let screen: Screen
    private let texts: Texts
    private let state = Mutex(State())

    /// What the feed asks for the text over a picture.
    final class Texts: Sendable {
        private let track = Mutex<CueTrack?>(nil)
        func show(_ shown: CueTrack?) { track.withLock { $0 = shown } }
        func text(at position: Int64) -> String { track.withLock { $0 }?.text(at: position) ?? "" }
    }

    init(feed: PictureFeed, screen: Screen, texts: Texts) {
        (self.feed, self.screen, self.texts) = (feed, screen, texts)
    }

    /// True if pictures are decoded.
    var isSelected: Bool { state.withLock { $0.isSelected } }
    /// True if only pictures are.
    var isSilent: Bool { state.withLock { $0.isSelected && $0.isSilent } }
    /// The end of the branch where there is no sound, whose end knows the media otherwise.
    var silentSink: Element? { state.withLock { $0.isSilent ? $0.sink : nil } }

    /// True if there are pictures after `position` in nanoseconds, or may be.
    func outlasts(_ position: Double) -> Bool {
        guard isSelected, !feed.isOver else { return false }
        return feed.end.map { position < Double($0) } ?? true
    }

    /// Moves the pictures where the sound's end cannot ask for that. False if that cannot be.
    func seek(to position: Int64, rate: Double, isAccurate: Bool) -> Bool {
        silentSink?.seek(to: position, rate: rate, isAccurate: isAccurate) ?? true
    }

    /// Leads what `head` decodes to where it belongs.
    func attach(to pipeline: Element, head: Element) {
        head.linkPads(ofType: "video/", in: pipeline) { [weak self] _ in self?.makePictureSink() }
        head.linkPads(ofType: "text/", in: pipeline) { [weak self] stream in self?.makeTextSink(stream) }
    }

    private func makePictureSink() -> Element? {
        guard let sink = PictureSink(target: feed)?.element else { return nil }
        return state.withLock { state in
            // A second stream of pictures was not asked for.
            guard state.sink == nil else { return nil }
            state.sink = sink
            return sink
        }
    }

    private func makeTextSink(_ stream: String) -> Element? {
        let track = CueTrack()
        guard let sink = TextSink(target: track)?.element else { return nil }
        let isShown = state.withLock { state in
            state.tracks[stream] = track
            return state.shownText == stream
        }
        if isShown { texts.show(track) }
        return sink
    }

    /// Chooses the streams that are there for pictures; none if the display cannot be opened, which is waited for.
    func select(from table: TrackTable) -> [String] {
        guard let video = table.videoStream else {
            screen.close()
            return []
        }
        guard screen.open() else { return [] }
        state.withLock { ($0.isSelected, $0.isSilent) = (true, !table.hasAudio) }
        return [video] + table.textStreams.prefix(Self.textLimit)
    }

    /// Shows the texts of a stream, or none.
    func show(text stream: String?) {
        let track = state.withLock { state in
            state.shownText = stream
            return stream.flatMap { state.tracks[$0] }
        }
        texts.show(track)
    }
}
