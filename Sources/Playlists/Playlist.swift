// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// A list of media as somebody wrote it, with addresses that can be fetched.
///
/// It is made from bytes of others: it has limits for everything, and what cannot be read is left out.
package struct Playlist: Equatable, Sendable {
    /// The dialects that are read; each is told by its content.
    package enum Format: String, Sendable, CaseIterable {
        /// Lines of addresses, with or without `#EXTINF`; also RealAudio's metafiles and `text/uri-list`.
        case m3u
        /// `[playlist]` with numbered keys, and Windows Media's `[Reference]`.
        case pls
        case xspf
        /// Advanced Stream Redirector, as XML or nearly so.
        case asx
        /// SMIL, and WPL which is written in it.
        case smil
        /// The page that a web server makes of a folder.
        case index
    }

    /// One thing to play.
    package struct Entry: Equatable, Sendable {
        /// Where it is, in ASCII, resolved against the playlist's address; never empty. Those after the first are
        /// other places of the same content, for when the first does not work.
        package var urls: [String]
        package var title: String?
        package var artist: String?
        package var album: String?
        /// Nil: not said, or without end.
        package var duration: MediaTime?
        /// The name to fetch it under, if the playlist asks for one.
        package var userAgent: String?
        /// The `Referer` to send, if the playlist asks for one.
        package var referrer: String?

        package init(
            urls: [String], title: String? = nil, artist: String? = nil, album: String? = nil,
            duration: MediaTime? = nil, userAgent: String? = nil, referrer: String? = nil
        ) {
            (self.urls, self.title, self.artist, self.album) = (urls, title, artist, album)
            (self.duration, self.userAgent, self.referrer) = (duration, userAgent, referrer)
        }
    }

    package let format: Format
    package internal(set) var title: String?
    package internal(set) var entries: [Entry]
    /// True if a limit left something out.
    package internal(set) var isCut = false

    package init(format: Format, title: String? = nil, entries: [Entry] = []) {
        (self.format, self.title, self.entries) = (format, title, entries)
    }

    /// What is taken at most of one playlist.
    package struct Limits: Sendable {
        /// Bytes that are read; the rest is not looked at. Eight thousand stations fit.
        package var bytes = 1 << 20
        package var entries = 10_000
        /// Bytes of a line or of an XML value, as written. Signed addresses have up to 4 KiB.
        package var line = 8_192
        /// Bytes of a title or name.
        package var text = 1_024
        /// Places of one entry.
        package var alternatives = 8
        /// Bytes of all addresses when resolved: a long base makes much of short entries.
        package var addresses = 4 << 20
        package init() {}
    }

    /// Reads a playlist. `base` is the address that its bytes came from, after all redirects.
    package init(
        decoding bytes: [UInt8], as format: Format, base: String, limits: Limits = Limits()
    ) {
        var builder = PlaylistBuilder(format, base: base, limits: limits)
        builder.playlist.isCut = bytes.count > limits.bytes
        let text = PlaylistText.utf8(bytes.prefix(limits.bytes))
        switch format {
        case .m3u: builder.readM3U(text)
        case .pls: builder.readPLS(text)
        case .xspf: builder.readXSPF(text)
        case .asx: builder.readASX(text)
        case .smil: builder.readSMIL(text)
        case .index: builder.readIndex(text)
        }
        self = builder.playlist
    }
}
