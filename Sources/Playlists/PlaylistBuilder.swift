// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// Puts a playlist together from what the readers of the dialects find, and keeps its limits.
struct PlaylistBuilder {
    let limits: Playlist.Limits
    /// What relative addresses are relative to.
    var base: Address?
    var playlist: Playlist
    private var room: Int

    init(_ format: Playlist.Format, base: String, limits: Playlist.Limits) {
        self.limits = limits
        self.base = Address(absolute: base)
        playlist = Playlist(format: format)
        room = limits.addresses
    }

    /// True when nothing more is taken.
    var isFull: Bool { playlist.isCut && (room <= 0 || playlist.entries.count >= limits.entries) }

    /// A reference as an address. Nil: it is empty or too long.
    func address(_ reference: ArraySlice<UInt8>, _ style: Address.Style) -> String? {
        guard reference.count <= limits.line else { return nil }
        return Address.resolve(reference, against: base, style)
    }

    /// Adds one entry. Without an address it is left out.
    mutating func add(_ details: Details, at references: [ArraySlice<UInt8>], _ style: Address.Style) {
        if references.contains(where: { $0.count > limits.line }) { playlist.isCut = true }
        let urls = references.prefix(limits.alternatives).compactMap { address($0, style) }
        if !urls.isEmpty { add(details, urls: urls) }
    }

    mutating func add(_ details: Details, urls: [String]) {
        let size = urls.reduce(0) { $0 + $1.utf8.count }
        guard playlist.entries.count < limits.entries, size <= room else {
            playlist.isCut = true
            room = min(room, 0)
            return
        }
        room -= size
        var entry = Playlist.Entry(urls: urls)
        entry.title = text(details.title)
        entry.artist = text(details.artist)
        entry.album = text(details.album)
        entry.duration = details.duration
        entry.userAgent = fieldValue(details.userAgent)
        entry.referrer = fieldValue(details.referrer)
        playlist.entries.append(entry)
    }

    /// A text for people, without control characters. Nil: there is nothing in it.
    func text(_ bytes: ArraySlice<UInt8>?) -> String? {
        guard let bytes, !bytes.isEmpty else { return nil }
        return ForeignText.words(ForeignText.string(bytes), limit: limits.text)
    }

    /// A text that may stand in a request header: printable ASCII. Nil: it is not.
    private func fieldValue(_ bytes: ArraySlice<UInt8>?) -> String? {
        guard let bytes = bytes.map({ PlaylistText.trim($0) }), !bytes.isEmpty, bytes.count <= limits.text,
            bytes.allSatisfy({ (0x20...0x7e).contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What stands beside the address of an entry, as written.
    struct Details {
        var title: ArraySlice<UInt8>?
        var artist: ArraySlice<UInt8>?
        var album: ArraySlice<UInt8>?
        var duration: MediaTime?
        var userAgent: ArraySlice<UInt8>?
        var referrer: ArraySlice<UInt8>?
    }
}
