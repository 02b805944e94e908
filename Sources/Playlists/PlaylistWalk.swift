// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The way through a playlist and those inside it: what to open next, and when to give up.
///
/// It is told how each item went and says what comes next. Whoever drives it fetches, plays and judges addresses; a
/// walk never ends up in a circle, and never runs through thousands of dead entries.
package struct PlaylistWalk: Equatable, Sendable {
    package struct Limits: Equatable, Sendable {
        /// Playlists inside one another. Stations need two or three.
        package var depth = 5
        /// Items in a row that did not play.
        package var failures = 10
        /// Playlists in a row that were opened before something played.
        package var playlists = 20
        package init() {}
    }

    /// Something to open: media, or a playlist that nobody has looked into.
    package struct Item: Equatable, Sendable {
        /// Counts up; events about an earlier item are dropped.
        package let number: Int
        package let url: String
        /// The entry's title, or that of the entry through which its playlist was reached.
        package var title: String?
        package var artist: String?
        package var album: String?
        /// The name of the innermost playlist that has one.
        package var playlistTitle: String?
        package var duration: MediaTime?
        package var userAgent: String?
        package var referrer: String?
        /// How many playlists it is inside of; 0 is what was asked for.
        package var depth = 0

        /// True if the address is one of a local file.
        package var isLocalFile: Bool { url.utf8.starts(with: "file:".utf8) }
    }

    package enum Event: Equatable, Sendable {
        /// The item is a playlist, and came from `at` after all redirects.
        case foundPlaylist(Int, Playlist, at: String)
        /// The item is heard or seen.
        case startedPlaying(Int)
        case ended(Int)
        case failed(Int, MediaFailure)
    }

    package enum Step: Equatable, Sendable {
        case open(Item)
        /// Go on with what is open.
        case none
        case finished
        case failed(MediaFailure)
    }

    /// A playlist that the walk is in.
    private struct Frame: Equatable, Sendable {
        /// The address that was opened and the one it came from.
        let addresses: [String]
        let playlist: Playlist
        /// The entry that it was reached through, with what that inherited.
        let item: Item
        var entry = 0
        var place = 0
        var hasPlayed = false
    }

    private let limits: Limits
    private var frames: [Frame] = []
    /// What is open; nil when the walk is over.
    package private(set) var current: Item?
    private var isPlaying = false
    private var hasEnded = false
    /// Something played and then failed; `failure` says why.
    private var hasStopped = false
    private var failuresInRow = 0
    private var playlistsInRow = 0
    /// Items that did not play, or stopped.
    package private(set) var failures = 0
    private var failure: MediaFailure?

    /// Begins with what was asked for. It is open from now on.
    package init(_ url: String, title: String? = nil, limits: Limits = Limits()) {
        self.limits = limits
        current = Item(number: 0, url: url, title: title)
    }

    package mutating func apply(_ event: Event) -> Step {
        guard let item = current else { return .none }
        switch event {
        case .foundPlaylist(item.number, let playlist, let address): return enter(playlist, item, address)
        case .startedPlaying(item.number):
            isPlaying = true
            (failuresInRow, playlistsInRow) = (0, 0)
            for index in frames.indices { frames[index].hasPlayed = true }
            return .none
        case .ended(item.number):
            hasEnded = true
            // An item without sound or picture of its own counts as heard.
            for index in frames.indices { frames[index].hasPlayed = true }
            (failuresInRow, playlistsInRow) = (0, 0)
            advance(afterFailure: false)
            return proceed(from: item)
        case .failed(item.number, let failure): return fail(item, failure)
        case .foundPlaylist, .startedPlaying, .ended, .failed: return .none
        }
    }

    private mutating func enter(_ playlist: Playlist, _ item: Item, _ address: String) -> Step {
        playlistsInRow += 1
        if playlistsInRow > limits.playlists {
            return giveUp("\(limits.playlists) playlists in a row lead to nothing that plays")
        }
        if isAbove(item.url) || isAbove(address) { return fail(item, Self.loop(address)) }
        if frames.count >= limits.depth {
            return fail(
                item, MediaFailure(.unsupportedFormat, "playlists are nested more than \(limits.depth) deep"))
        }
        if playlist.entries.isEmpty {
            return fail(item, MediaFailure(.unsupportedFormat, "the playlist has no entries"))
        }
        frames.append(
            Frame(addresses: [Self.bare(item.url), Self.bare(address)], playlist: playlist, item: item))
        return proceed(from: item)
    }

    private mutating func fail(_ item: Item, _ failure: MediaFailure) -> Step {
        if let limit = note(failure) { return limit }
        advance(afterFailure: true)
        return proceed(from: item)
    }

    /// Counts a failure; a step if there are too many.
    private mutating func note(_ new: MediaFailure) -> Step? {
        failures += 1
        failuresInRow += 1
        // What played and stopped tells more than what never did.
        if failure == nil || isPlaying { failure = new }
        hasStopped = hasStopped || isPlaying
        isPlaying = false
        return failuresInRow >= limits.failures && !frames.isEmpty
            ? giveUp("\(failuresInRow) entries in a row do not play; the last: \(new.message)") : nil
    }

    private mutating func giveUp(_ words: String) -> Step {
        (current, frames) = (nil, [])
        return .failed(
            MediaFailure(failure?.code ?? .unsupportedFormat, words, httpStatus: failure?.httpStatus))
    }

    /// Moves on in the innermost playlist: after a failure to another place of the same content, if there is one.
    private mutating func advance(afterFailure: Bool) {
        isPlaying = false
        guard var frame = frames.popLast() else { return }
        let places = frame.playlist.entries[frame.entry].urls.count
        if afterFailure, frame.place + 1 < places {
            frame.place += 1
        } else {
            (frame.entry, frame.place) = (frame.entry + 1, 0)
        }
        frames.append(frame)
    }

    /// Opens the entry that is next, outwards from the innermost playlist.
    private mutating func proceed(from last: Item) -> Step {
        while let frame = frames.last {
            guard frame.entry < frame.playlist.entries.count else {
                frames.removeLast()
                advance(afterFailure: !frame.hasPlayed)
                continue
            }
            let item = item(in: frame, number: last.number + 1)
            if isAbove(item.url) {
                if let limit = note(Self.loop(item.url)) { return limit }
                advance(afterFailure: true)
                continue
            }
            current = item
            return .open(item)
        }
        current = nil
        guard let failure, !hasEnded else { return .finished }
        guard failures > 1, !hasStopped else { return .failed(failure) }
        return .failed(
            MediaFailure(
                failure.code, "nothing in the playlist plays; \(failures) failed, first: \(failure.message)",
                httpStatus: failure.httpStatus))
    }

    private func item(in frame: Frame, number: Int) -> Item {
        let entry = frame.playlist.entries[frame.entry]
        var item = Item(number: number, url: entry.urls[frame.place])
        item.title = entry.title ?? frame.item.title
        item.artist = entry.artist ?? frame.item.artist
        item.album = entry.album ?? frame.item.album
        item.playlistTitle = frame.playlist.title ?? frame.item.playlistTitle
        item.duration = entry.duration
        item.userAgent = entry.userAgent ?? frame.item.userAgent
        item.referrer = entry.referrer ?? frame.item.referrer
        item.depth = frames.count
        return item
    }

    /// True if the walk is inside the playlist of that address.
    private func isAbove(_ url: String) -> Bool {
        let url = Self.bare(url)
        return frames.contains { $0.addresses.contains(url) }
    }

    private static func bare(_ url: String) -> String { String(url.prefix { $0 != "#" }) }

    private static func loop(_ url: String) -> MediaFailure {
        // Neither query nor user may stand in a message.
        let shown = url.prefix { $0 != "?" && $0 != "#" }
        let parts = shown.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let host = parts.count > 2 ? parts[2].split(separator: "@").last ?? "" : ""
        let name = parts.count > 3 ? "\(parts[0])//\(host)/\(parts[3])" : String(shown)
        return MediaFailure(.unsupportedFormat, "the playlist leads back to itself: \(name)")
    }
}
