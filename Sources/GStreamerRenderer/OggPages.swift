// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What the pages in a piece of an Ogg file tell of its streams.
struct OggPages: Equatable {
    /// So much is looked at: all streams begin with the first pages, and a page is no longer than this.
    static let beginning = 4 * 1024
    static let end: Int64 = 64 * 1024
    /// A file up to this size is looked at whole: it is there as soon as its end is.
    static let whole: Int64 = 512 * 1024
    private static let header = 27

    /// The numbers of the streams that have a page here.
    private var streams: Set<[UInt8]> = []
    /// Those whose first page is here.
    private var begun: Set<[UInt8]> = []

    static func begin(at bytes: ArraySlice<UInt8>) -> Bool { bytes.starts(with: Array("OggS".utf8)) }

    init(in bytes: [UInt8]) {
        for place in bytes.indices.dropLast(Self.header) where bytes[place] == UInt8(ascii: "O") {
            guard Self.begin(at: bytes[place...]), bytes[place + 4] == 0 else { continue }
            let stream = Array(bytes[place + 14..<place + 18])
            streams.insert(stream)
            if bytes[place + 5] & 2 != 0 { begun.insert(stream) }
        }
    }

    /// True if these pages are of a later link of a chain than that which begins with `first`. GStreamer plays chains to
    /// their end only where it is pushed.
    func areOfLaterLink(than first: OggPages) -> Bool { !begun.isEmpty || areOfOtherStreams(than: first) }

    /// True if that link's streams have numbers of their own. A demuxer that has seen those at the end takes them for streams
    /// of the first link, and plays nothing of the others.
    func areOfOtherStreams(than first: OggPages) -> Bool { !streams.isSubset(of: first.begun) }
}
