// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore

/// Keeps the pictures that sessions show, within fixed bounds: the oldest make room.
struct ArtworkShelf {
    static let byteLimit = 16 * 1024 * 1024
    static let picturesInSession = 4
    /// Where pictures are served.
    static let path = "/v1/artwork/"
    /// A picture comes from a stranger's media: no other type is believed, lest a page is served in our name.
    private static let types: Set<String> = [
        "image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff", "image/avif",
    ]

    struct Picture {
        let session: SessionID
        let key: UInt64
        /// Its name in `/v1/artwork/ID`, and its entity tag: never used for another picture.
        let name: String
        let type: String
        let artwork: Artwork
    }

    private(set) var pictures: [Picture] = []
    private(set) var bytes = 0

    mutating func store(_ artwork: Artwork, session: SessionID, key: UInt64) {
        guard artwork.bytes.count <= Artwork.maximumBytes else { return }
        pictures.append(
            Picture(
                session: session, key: key, name: "\(session.text)-\(key)",
                type: Self.types.contains(artwork.type) ? artwork.type : "application/octet-stream",
                artwork: artwork))
        bytes += artwork.bytes.count
        while pictures.count(where: { $0.session == session }) > Self.picturesInSession {
            guard let oldest = pictures.firstIndex(where: { $0.session == session }) else { break }
            remove(at: oldest)
        }
        while bytes > Self.byteLimit, !pictures.isEmpty { remove(at: 0) }
    }

    mutating func drop(_ session: SessionID) {
        pictures.removeAll { $0.session == session }
        bytes = pictures.reduce(0) { $0 + $1.artwork.bytes.count }
    }

    func picture(named name: String) -> Picture? { pictures.first { $0.name == name } }

    func picture(_ session: SessionID, key: UInt64) -> Picture? {
        pictures.first { $0.session == session && $0.key == key }
    }

    private mutating func remove(at index: Int) {
        bytes -= pictures.remove(at: index).artwork.bytes.count
    }
}
