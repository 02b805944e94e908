// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension Playlist {
    /// The playlist as extended M3U, in UTF-8. Of an entry's places only the first is written.
    package var m3u: String {
        var text = "#EXTM3U\n"
        if let title { text += "#PLAYLIST:\(title)\n" }
        for entry in entries {
            if entry.title != nil || entry.duration != nil {
                text += "#EXTINF:\(Self.seconds(entry.duration)),\(entry.title ?? "")\n"
            }
            if let artist = entry.artist { text += "#EXTART:\(artist)\n" }
            if let album = entry.album { text += "#EXTALB:\(album)\n" }
            if let name = entry.userAgent { text += "#EXTVLCOPT:http-user-agent=\(name)\n" }
            if let referrer = entry.referrer { text += "#EXTVLCOPT:http-referrer=\(referrer)\n" }
            text += "\(entry.urls[0])\n"
        }
        return text
    }

    /// Whole seconds with their thousandths; -1 for a length that is not known.
    private static func seconds(_ duration: MediaTime?) -> String {
        guard let nanoseconds = duration?.nanoseconds, nanoseconds > 0 else { return "-1" }
        let (whole, rest) = (nanoseconds / 1_000_000).quotientAndRemainder(dividingBy: 1_000)
        let digits = String(rest)
        return rest == 0
            ? String(whole) : "\(whole).\(String(repeating: "0", count: 3 - digits.count))\(digits)"
    }
}

extension Playlist.Entry {
    /// The path of the local file that the entry names, if its name is one of media or of a playlist; nil if not.
    ///
    /// So a list from elsewhere cannot have other files handed out.
    package var mediaFile: String? {
        guard urls[0].utf8.starts(with: "file:".utf8), let address = Address(absolute: urls[0]),
            address.authority?.isEmpty ?? true
        else { return nil }
        // The ending must be that of what will be opened: not one in a query, nor one behind a NUL.
        let path = Address.decoded(address.path)
        let text = String(decoding: path, as: UTF8.self)
        return path.contains(0) || !MediaNames.isMedia(text[...]) ? nil : text
    }
}
