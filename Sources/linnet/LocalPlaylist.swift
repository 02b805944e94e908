// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Playlists
import RouteKit
import Settings

/// A playlist in a local file, told by its content, whose media files are served with it.
struct LocalPlaylist {
    let list: Playlist

    /// Nil: the file is no playlist, or one for the adaptive demuxers, which is served as it is.
    init?(_ path: String) throws(CommandFailure) {
        let sniffer = ContentSniffer(url: path)
        guard let path = FileSystem.absolute(path),
            let start = FileSystem.beginning(of: path, count: ContentSniffer.window),
            case .playlist(let format) = sniffer.look(at: start, isComplete: true), format != .index,
            let bytes = FileSystem.beginning(of: path, count: Playlist.Limits().bytes)
        else { return nil }
        list = Playlist(decoding: bytes, as: format, base: Self.address(of: path))
        guard !list.entries.isEmpty else {
            throw CommandFailure(.failure, "the playlist '\(TerminalText.clean(path))' has no entries")
        }
    }

    /// The `file:` address of an absolute path.
    private static func address(of path: String) -> String {
        let marks: [UInt8: String] = [0x23: "%23", 0x25: "%25", 0x3f: "%3F", 0x5c: "%5C"]
        let bytes = path.utf8.flatMap { byte in marks[byte].map { Array($0.utf8) } ?? [byte] }
        return "file://" + String(decoding: bytes, as: UTF8.self)
    }

    /// Serves the list, in which the local files have the addresses where they are served.
    @RouteActor func server(reachedAt address: String) throws -> MediaFileServer {
        let files = list.entries.map { $0.mediaFile.map { existing($0) } }
        let served = files.compactMap { $0 }
        return try MediaFileServer(
            files: served, name: "list.m3u", type: "audio/x-mpegurl", reachedAt: address
        ) { urls in
            var rest = urls[...]
            let entries = zip(list.entries, files).map { entry, file in
                var entry = entry
                if file != nil, let url = rest.popFirst() { entry.urls = [url] }
                return entry
            }
            return Playlist(format: .m3u, title: list.title, entries: entries).m3u
        }
    }

    /// The path, or what it means if its letters were encoded as in an address.
    private func existing(_ path: String) -> String {
        guard !FileSystem.exists(path) else { return path }
        let entry = Playlist.Entry(urls: ["file://\(path)"])
        return entry.mediaFile.flatMap { FileSystem.exists($0) ? $0 : nil } ?? path
    }
}
