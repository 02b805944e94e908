// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel

// What is told of the sound travels with it through the pipeline and is kept until the output says that the sound is heard.
extension GStreamerRenderer {
    /// What waits at most: the output takes some dozens of cues. Pictures are large.
    private static let newsLimit = 64
    private static let pictureLimit = 2

    func keep(_ news: StreamFeed.News, cue: Int) {
        guard let waiting = playback?.news else { return }
        let hasManyPictures =
            news.hasPicture && waiting.count(where: \.news.hasPicture) >= Self.pictureLimit
        if waiting.count >= Self.newsLimit || hasManyPictures, let last = waiting.last {
            learnNews(through: last.cue)
        }
        playback?.news.append((cue, news))
    }

    func cueReached(_ cue: Int, in stream: StreamID) {
        guard stream == playback?.stream else {
            if stream == playback?.next?.stream {
                _ = playback?.next?.keep(.output(.cueReached(stream, cue)))
            }
            return
        }
        learnNews(through: cue)
    }

    private func learnNews(through cue: Int) {
        while let first = playback?.news.first, first.cue <= cue {
            playback?.news.removeFirst()
            learn(first.news)
        }
        reportMetadata()
    }

    private func learn(_ news: StreamFeed.News) {
        switch news {
        case .began: if playback?.pipeline?.isChained == true { playback?.words.beginAnew() }
        case .title(let title): playback?.words.told = title
        case .tags(let tags):
            guard let current = playback else { return }
            let isTrackTitle =
                tags.isOfStream
                && current.pipeline?.hasTrackTitles(ofSingle: current.table.isSingle) == true
            playback?.words.learn(tags, isTrackTitle: isTrackTitle)
            if let picture = tags.picture, picture.bytes != current.artwork?.bytes,
                current.artwork == nil || picture.isFrontCover
            {
                playback?.artwork = Artwork(
                    bytes: picture.bytes, type: picture.type, size: PixelSize(ofPicture: picture.bytes))
                playback?.isArtworkReported = false
            }
        }
    }

    /// Reports what is known, if that has changed and it is not too soon after many other changes.
    func reportMetadata() {
        guard let current = playback else { return }
        let metadata = current.words.metadata
        guard metadata != current.metadata || !current.isArtworkReported else { return }
        if let delay = playback?.pacer.delay(now: AudioOutput.now()) {
            if delay > 0 { later(.nanoseconds(delay), .metadataDue(current.id)) }
            return
        }
        if metadata != current.metadata {
            playback?.metadata = metadata
            report(.metadataChanged(current.id, metadata))
        }
        if !current.isArtworkReported, let artwork = current.artwork {
            playback?.isArtworkReported = true
            report(.artworkFound(current.id, artwork))
        }
    }

    func metadataDue(_ load: LoadID) {
        guard playback?.id == load else { return }
        playback?.pacer.isWaiting = false
        reportMetadata()
    }
}

/// What media and server say of what is heard, each in its place.
struct WordsOfMedia: Equatable, Sendable {
    /// What a list said of the entry.
    var list = Metadata()
    var videoSize: PixelSize?
    /// The title that a station tells with the sound; nil if it never told one.
    var told: String?
    private var tagged = Metadata()
    private var albumArtist: String?
    private var station: String?
    private var stationGenre: String?
    private var hasWholeTitle = false
    private var isAnew = false

    /// Another piece follows in the same stream: what its tags say takes the place of all that was said before.
    mutating func beginAnew() { isAnew = true }

    mutating func learn(_ tags: TagValues, isTrackTitle: Bool) {
        func words(_ text: String?) -> String? { text.flatMap { ForeignText.words($0) } }
        if tags.isOfServer {
            station = words(tags.organization) ?? station
            stationGenre = words(tags.genre) ?? stationGenre
            return
        }
        if isAnew { (tagged, albumArtist, hasWholeTitle, isAnew) = (Metadata(), nil, false, false) }
        if let title = words(tags.title), !isTrackTitle, !tags.isOfStream || !hasWholeTitle {
            tagged.title = title
            if !tags.isOfStream { hasWholeTitle = true }
        }
        // Whoever publishes it is better than no name at all.
        tagged.title = tagged.title ?? words(tags.organization)
        tagged.subtitle = words(tags.artist) ?? tagged.subtitle
        albumArtist = words(tags.albumArtist) ?? albumArtist
        tagged.album = words(tags.album) ?? tagged.album
        tagged.genre = words(tags.genre) ?? tagged.genre
    }

    var metadata: Metadata {
        let told = told.flatMap { $0.isEmpty ? nil : $0 }
        return Metadata(
            title: told ?? tagged.title ?? list.title,
            subtitle: tagged.subtitle ?? list.subtitle ?? albumArtist, album: tagged.album ?? list.album,
            videoSize: videoSize, station: station, genre: tagged.genre ?? stationGenre)
    }
}

/// Lets some reports pass at once and then one a second: a stream that says something else with every block is not to keep
/// everybody busy.
struct Pacer: Equatable, Sendable {
    private static let burst: Int64 = 8
    private static let second: Int64 = 1_000_000_000
    /// True while `delay` is waited for.
    var isWaiting = false
    /// When all that may pass at once may pass again, in nanoseconds.
    private var full: Int64 = .min

    /// Nil if a report may pass now. Else how long the next one has to wait; 0 if that is waited for already.
    mutating func delay(now: Int64) -> Int64? {
        if isWaiting { return 0 }
        let free = max(full, now)
        if free - now <= (Self.burst - 1) * Self.second {
            full = free + Self.second
            return nil
        }
        isWaiting = true
        return free - now - (Self.burst - 1) * Self.second
    }
}

extension StreamFeed.News {
    fileprivate var hasPicture: Bool {
        if case .tags(let values) = self { values.picture != nil } else { false }
    }
}
