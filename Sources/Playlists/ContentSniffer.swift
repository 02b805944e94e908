// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// Tells playlists from media by the first bytes of an answer.
///
/// What is decided on the first bytes stays so whatever follows. The declared type and the name only help with plain
/// lists of file names, which are like any other text; they never make media a playlist, nor the reverse.
package struct ContentSniffer: Sendable {
    /// Enough to decide on everything.
    package static let window = 4_096

    package enum Verdict: Equatable, Sendable {
        /// Ask again with more bytes.
        case needsMore
        /// Read the rest, at most `Playlist.Limits.bytes`, and make a `Playlist` of it.
        case playlist(Playlist.Format)
        /// A playlist of segments or of variants, which is for the adaptive demuxer.
        case hls
        /// A manifest, likewise.
        case dash
        /// A manifest of Smooth Streaming, likewise.
        case smoothStreaming
        /// A page for people, such as a sign-in or an error.
        case webPage
        /// None of these: media, or what the decoders will say is none.
        case other
    }

    private let suggestsPlaylist: Bool

    /// `type` is what the server declared, `url` the address after all redirects.
    package init(type: String? = nil, url: String) {
        suggestsPlaylist = MediaNames.isPlaylist(type: type, url: url)
    }

    /// Looks at all bytes so far; `isComplete` says that no more will come.
    package func look(at bytes: [UInt8], isComplete: Bool) -> Verdict {
        let isLast = isComplete || bytes.count >= Self.window
        guard bytes.count >= 4 || isLast else { return .needsMore }
        let text = PlaylistText.utf8(bytes.prefix(Self.window), keepsNUL: true)
        let start = text.drop { PlaylistText.isSpace($0) }
        guard let first = start.first else { return isLast ? .other : .needsMore }
        return first == 0x3c ? lookAtTags(start, isLast) : lookAtLines(start, isLast)
    }

    // MARK: Lines

    /// So many bytes of a list of names must be text. A joined stream has a line end before its first byte that no
    /// text has once in fifteen times; so many bytes of it without one never.
    private static let sample = 512

    private func lookAtLines(_ text: ArraySlice<UInt8>, _ isLast: Bool) -> Verdict {
        var rest = text
        var isMarked = false
        var entries = 0
        while !rest.isEmpty {
            let isWhole = rest.contains { $0 == 0x0a || $0 == 0x0d }
            guard let line = PlaylistText.cutLine(&rest) else { break }
            // Behind a playlist's own mark anything is let pass.
            if !isMarked, line.contains(where: Self.isBinary) { return .other }
            guard isWhole || isLast else { break }
            guard let first = line.first else { continue }
            if first == 0x23 {
                if Self.isHLS(line) { return .hls }
                if PlaylistText.after("#!AMR", in: line) != nil { return .other }
                if Self.marks.contains(where: { PlaylistText.after($0, in: line) != nil }) { isMarked = true }
            } else if isMarked {
                entries += 1
                // The tags of HLS come before its segments; two entries without one are a list.
                if entries == 2 { return .playlist(.m3u) }
            } else if Self.isPLS(line) {
                return .playlist(.pls)
            } else if Self.schemes.contains(where: { PlaylistText.after($0, in: line) != nil }) {
                return .playlist(.m3u)
            } else if isName(line) {
                guard isLast || text.count >= Self.sample else { return .needsMore }
                return text.prefix(Self.sample).contains(where: Self.isBinary) ? .other : .playlist(.m3u)
            } else {
                return .other
            }
        }
        guard isLast else { return .needsMore }
        return isMarked ? .playlist(.m3u) : .other
    }

    private static let marks: [StaticString] = ["#EXTM3U", "#EXTINF"]

    private static func isBinary(_ byte: UInt8) -> Bool {
        byte < 0x09 || (0x0e...0x1f).contains(byte) && byte != 0x1b || byte == 0x7f
    }

    private static let hlsTags: [StaticString] = [
        "#EXT-X-TARGETDURATION", "#EXT-X-STREAM-INF", "#EXT-X-I-FRAME", "#EXT-X-MEDIA", "#EXT-X-VERSION",
        "#EXT-X-PLAYLIST-TYPE", "#EXT-X-KEY", "#EXT-X-MAP", "#EXT-X-BYTERANGE", "#EXT-X-DISCONTINUITY",
        "#EXT-X-PROGRAM-DATE-TIME", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-SERVER-CONTROL", "#EXT-X-PART",
        "#EXT-X-ENDLIST", "#EXT-X-ALLOW-CACHE", "#EXT-X-START:", "#EXT-X-GAP", "#EXT-X-DEFINE",
        "#EXT-X-BITRATE",
    ]

    private static func isHLS(_ line: ArraySlice<UInt8>) -> Bool {
        PlaylistText.after("#EXT-X-", in: line) != nil
            && hlsTags.contains { PlaylistText.after($0, in: line) != nil }
    }

    private static func isPLS(_ line: ArraySlice<UInt8>) -> Bool {
        if PlaylistText.after("[playlist]", in: line) != nil
            || PlaylistText.after("[Reference]", in: line) != nil
        {
            return true
        }
        let key = PlaylistText.trim(line.prefix { $0 != 0x3d })
        guard key.endIndex < line.endIndex else { return false }
        if PlaylistText.lowercased(key) == "numberofentries" { return true }
        return PlaylistText.after("file", in: key).map { PlaylistText.number($0) != nil } ?? false
    }

    /// The schemes of lists; a text that begins with another address is a text.
    private static let schemes: [StaticString] = [
        "http://", "https://", "rtsp://", "rtmp://", "mms://", "mmsh://", "mmst://", "icy://", "ftp://",
        "file:/",
        "udp://", "rtp://", "srt://",
    ]

    /// True if the line is a name that a list of files may have.
    private func isName(_ line: ArraySlice<UInt8>) -> Bool {
        guard line.count <= 1_024, let first = line.first, !"{}[]<>".utf8.contains(first) else {
            return false
        }
        return suggestsPlaylist || MediaNames.isMedia(ForeignText.string(line)[...])
    }

    // MARK: Tags

    private func lookAtTags(_ start: ArraySlice<UInt8>, _ isLast: Bool) -> Verdict {
        var rest = start
        while rest.first == 0x3c {
            if rest.count < 4, !isLast { return .needsMore }
            if PlaylistText.after("<!doctype html", in: rest) != nil { return lookAtPage(rest, isLast) }
            let end: [UInt8]
            if rest.starts(with: "<!--".utf8) {
                end = Array("-->".utf8)
            } else if rest.starts(with: "<?".utf8) {
                if PlaylistText.after("<?wpl", in: rest) != nil { return .playlist(.smil) }
                end = Array("?>".utf8)
            } else if rest.starts(with: "<!".utf8) {
                // A document type with declarations of its own ends with its brackets.
                let head = rest.prefix { $0 != 0x5b && $0 != 0x3e }
                end = rest[head.endIndex...].first == 0x5b ? Array("]>".utf8) : [0x3e]
            } else {
                return lookAtRoot(rest, isLast)
            }
            while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst() }
            rest = rest.dropFirst(end.count).drop { PlaylistText.isSpace($0) }
        }
        return rest.isEmpty && !isLast ? .needsMore : .other
    }

    private func lookAtRoot(_ rest: ArraySlice<UInt8>, _ isLast: Bool) -> Verdict {
        let word = rest.dropFirst().prefix { !PlaylistText.isSpace($0) && $0 != 0x3e && $0 != 0x2f }
        guard word.endIndex < rest.endIndex || isLast else { return word.count > 64 ? .other : .needsMore }
        let name = word.lastIndex(of: 0x3a).map { word[($0 + 1)...] } ?? word
        switch PlaylistText.lowercased(name) {
        case "mpd": return .dash
        case "smoothstreamingmedia": return .smoothStreaming
        case "playlist", "tracklist": return .playlist(.xspf)
        case "asx": return .playlist(.asx)
        case "smil": return .playlist(.smil)
        case "html", "head", "body", "title", "meta", "script", "h1": return lookAtPage(rest, isLast)
        default: return .other
        }
    }

    /// What web servers call the page of a folder.
    private static let indexTitles: [StaticString] = ["index of ", "directory listing for ", "directory: "]

    private func lookAtPage(_ rest: ArraySlice<UInt8>, _ isLast: Bool) -> Verdict {
        var scanner = TagScanner(Array(rest), longest: Self.window)
        while let token = scanner.next() {
            switch token {
            case .open("title", _):
                guard case .text(let bytes) = scanner.next() else { return isLast ? .webPage : .needsMore }
                let title = PlaylistText.trim(bytes[...])
                if Self.indexTitles.contains(where: { PlaylistText.after($0, in: title) != nil }) {
                    return .playlist(.index)
                }
                // The title may not have come whole.
                return isLast || title.count >= 24 || scanner.next() != nil ? .webPage : .needsMore
            default: break
            }
        }
        return isLast ? .webPage : .needsMore
    }
}
