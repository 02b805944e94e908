// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The endings of names by which a list of files is told from other text. Nothing is played because of its name.
enum MediaNames {
    private static let endings: Set<String> = [
        "aac", "ac3", "aif", "aiff", "amr", "ape", "au", "avi", "caf", "dsf", "dts", "flac", "flv", "m2ts",
        "m4a",
        "m4b", "m4v", "mka", "mkv", "mov", "mp2", "mp3", "mp4", "mpc", "mpeg", "mpg", "oga", "ogg", "ogv",
        "opus",
        "ra", "rm", "spx", "tak", "ts", "tta", "wav", "weba", "webm", "wma", "wmv", "wv",
        "asx", "m3u", "m3u8", "mpd", "pls", "ram", "smil", "wax", "wpl", "wvx", "xspf",
    ]

    private static let playlistEndings: Set<String> = [
        "asx", "m3u", "m3u8", "pls", "ram", "smil", "wax", "wpl", "wvx", "xspf",
    ]

    private static let playlistTypes: Set<String> = [
        "application/mpegurl", "application/pls+xml", "application/smil+xml", "application/vnd.apple.mpegurl",
        "application/vnd.ms-wpl", "application/x-mpegurl", "application/xspf+xml", "audio/mpegurl",
        "audio/scpls", "audio/x-mpegurl", "audio/x-ms-wax", "audio/x-pn-realaudio",
        "audio/x-pn-realaudio-plugin",
        "audio/x-scpls", "text/uri-list", "video/x-ms-asf", "video/x-ms-asx", "video/x-ms-wvx",
    ]

    /// True if the name, or the path of the address, has the ending of media or of a playlist.
    static func isMedia(_ name: Substring) -> Bool { ending(of: name).map { endings.contains($0) } ?? false }

    /// True if the declared type or the address speaks of a playlist.
    static func isPlaylist(type: String?, url: String) -> Bool {
        let name = (type ?? "").lowercased().prefix { $0 != ";" && $0 != " " }
        if playlistTypes.contains(String(name)) { return true }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        return ending(of: path).map { playlistEndings.contains($0) } ?? false
    }

    /// What follows the last dot, in lower case; nil if that is no ending.
    private static func ending(of name: Substring) -> String? {
        guard let dot = name.utf8.lastIndex(of: 0x2e) else { return nil }
        let text = name[dot...].dropFirst()
        return text.utf8.count <= 5 ? text.lowercased() : nil
    }
}
