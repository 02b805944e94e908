// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamer
import MediaModel
import MediaSource
import Playlists
import Soup

/// A list that was found where an item was looked for.
struct FoundPlaylist: Sendable {
    let playlist: Playlist
    /// Where it came from after all redirections.
    let address: String
}

/// What was found where GStreamer found no media.
enum Finding: Sendable {
    case nothing
    case playlist(FoundPlaylist)
    /// Sound without a container begins there, behind bytes that are none.
    case frames(at: Int64)
}

/// A look at what the server has, for a load that found no media there.
struct Examination: Sendable {
    let source: MediaSource
    /// What the load ends with if there is no list either.
    let failure: MediaFailure
}

// What GStreamer finds no media in may be a list of media, or have sound further in. Only then is what was fetched looked at, so that media pays
// nothing for it, and a stream under a list's name is played as what it is. The entries are played one after the other
// as the one item that the sender asked for.
extension GStreamerRenderer {
    /// Looks at what the current address gave after a failure that a list would have, too, or sound behind other bytes. False
    /// if that was done, or is no use.
    func examine(after failure: MediaFailure) -> Bool {
        guard let current = playback, current.phase == .loading, !current.isExamined,
            Self.canBePlaylist(failure, at: current.opened.uri), let source = current.pipeline?.takeSource()
        else { return false }
        endPipeline(of: current)
        playback?.pipeline = nil
        playback?.isExamined = true
        playback?.examination = Examination(source: source, failure: failure)
        let id = current.id
        SerialWorker().perform { [inputs] in
            let finding = Self.find(in: source, mayBeFrames: failure.code == .unsupportedFormat)
            inputs.yield(.examined(id, finding))
        }
        return true
    }

    /// True if a list at that address would have failed in this way.
    static func canBePlaylist(_ failure: MediaFailure, at uri: String) -> Bool {
        let codes: [MediaFailure.Code] = [.unsupportedFormat, .missingPlugin, .decode]
        return codes.contains(failure.code) && Library.scheme(of: uri)?.hasPrefix("http") == true
    }

    private static func find(in source: MediaSource, mayBeFrames: Bool) -> Finding {
        if let found = playlist(from: source) { return .playlist(found) }
        let frames = mayBeFrames ? SourceReader(source).findFrames() : nil
        return frames.map { .frames(at: $0) } ?? .nothing
    }

    /// Reads until it is clear that it is no list, or to its end.
    private static func playlist(from source: MediaSource) -> FoundPlaylist? {
        let reader = SourceReader(source)
        guard let facts = reader.awaitFacts() else { return nil }
        let sniffer = ContentSniffer(type: facts.contentType, url: source.finalURI)
        let limits = Playlist.Limits()
        var bytes: [UInt8] = []
        var isComplete = false
        var verdict = ContentSniffer.Verdict.needsMore
        while !isComplete, bytes.count <= limits.bytes {
            let reading: MediaSource.Reading = reader.read(at: Int64(bytes.count), maximum: 65_536)
            if case .bytes(let more) = reading {
                bytes += more
            } else {
                isComplete = true
            }
            if verdict == .needsMore {
                let isEnough = isComplete || bytes.count >= ContentSniffer.window
                verdict = sniffer.look(at: Array(bytes.prefix(ContentSniffer.window)), isComplete: isEnough)
            }
            switch verdict {
            case .needsMore, .playlist: continue
            default: return nil
            }
        }
        guard case .playlist(let format) = verdict else { return nil }
        let address = source.finalURI
        return FoundPlaylist(
            playlist: Playlist(decoding: bytes, as: format, base: address, limits: limits), address: address)
    }

    /// Takes what was found at the current address.
    func examined(_ load: LoadID, _ finding: Finding) {
        guard let current = playback, current.id == load, let examination = current.examination else {
            return
        }
        playback?.examination = nil
        if case .frames(let origin) = finding, origin > 0 {
            playback?.origin = origin
            return reload(at: current.place, from: examination.source)
        }
        examination.source.close()
        guard case .playlist(let found) = finding else { return fail(examination.failure) }
        var walk = current.walk ?? PlaylistWalk(current.item.uri)
        guard let item = walk.current else { return fail(examination.failure) }
        let step = walk.apply(.foundPlaylist(item.number, found.playlist, at: found.address))
        playback?.walk = walk
        take(step)
    }

    /// What became of a list after something happened in it.
    enum ListProgress { case isNone, goesOn, isOver }

    /// Goes on in the list, if one is played.
    @discardableResult
    func walkOn(_ event: (Int) -> PlaylistWalk.Event) -> ListProgress {
        guard var walk = playback?.walk, let item = walk.current else { return .isNone }
        let step = walk.apply(event(item.number))
        playback?.walk = walk
        return take(step)
    }

    @discardableResult
    private func take(_ step: PlaylistWalk.Step) -> ListProgress {
        switch step {
        case .open(let entry): open(entry)
        case .none: break
        case .finished:
            playback?.walk = nil
            return .isOver
        case .failed(let failure):
            playback?.walk = nil
            playback?.isExamined = true
            fail(failure)
        }
        return .goesOn
    }

    private func open(_ entry: PlaylistWalk.Item) {
        guard let current = playback else { return }
        guard let scheme = Library.scheme(of: entry.url), configuration.schemes.contains(scheme) else {
            return fail(
                MediaFailure(.unsupportedScheme, "The playlist names an address that is not played."))
        }
        let place = current.entry == nil ? current.place : 0
        playback?.enter(entry)
        reportMetadata()
        reload(at: place)
        if current.isPlaying { setBuffering(true) }
    }
}

extension Playback {
    /// What is opened now: the item itself, or an entry of the list that the item is.
    var opened: MediaItem {
        guard let entry else { return item }
        var opened = item
        opened.uri = entry.url
        opened.userAgent = entry.userAgent ?? item.userAgent
        opened.allowsInvalidCertificate =
            item.allowsInvalidCertificate && RequestTap.isSameHost(entry.url, item.uri)
        opened.headers = item.headers.filter { RequestTap.sends($0.name, to: entry.url, of: item.uri) }
        if let referrer = entry.referrer,
            !opened.headers.contains(where: { $0.name.lowercased() == "referer" })
        {
            opened.headers.append(HeaderField(name: "Referer", value: referrer))
        }
        return opened
    }

    /// Forgets what was known of another entry.
    fileprivate mutating func enter(_ entry: PlaylistWalk.Item) {
        self.entry = entry
        (isExamined, origin, stuckBeginnings, asked, missing, streams) = (false, 0, 0, 0, nil, nil)
        (table, timeline, artwork, isArtworkReported) = (TrackTable(), .unknown, nil, true)
        words = WordsOfMedia()
        words.list = Metadata(
            title: entry.title ?? entry.playlistTitle, subtitle: entry.artist, album: entry.album)
    }
}
