// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

@testable import Playlists

/// Latin-1 text as bytes: each scalar is one of them.
func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

/// UTF-16 as bytes.
func utf16(_ text: String, isBigEndian: Bool) -> [UInt8] {
    text.utf16.flatMap { unit -> [UInt8] in
        let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
        return isBigEndian ? [high, low] : [low, high]
    }
}

func read(
    _ text: String, _ format: Playlist.Format = .m3u, base: String = "http://example.org/lists/mine.m3u"
) -> Playlist {
    Playlist(decoding: Array(text.utf8), as: format, base: base)
}

extension Playlist {
    var urls: [String] { entries.map { $0.urls[0] } }
    var titles: [String?] { entries.map(\.title) }
}

func milliseconds(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 1_000) }

/// The same numbers in every run.
struct Random: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_f491_4f6c_dd1d
    }
}
