// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Playlists

// One input is looked at as the first bytes of an answer and read as every dialect; then a walk is led through what was
// read. A trap is a finding; so is a verdict that changes, an address that is none, and a walk that does not end.

private let base = "http://base.example/dir/list?q"

private func checkVerdict(_ bytes: [UInt8]) {
    let sniffer = ContentSniffer(url: bytes.count % 2 == 0 ? "http://h/x.m3u" : "http://h/x")
    let verdict = sniffer.look(at: bytes, isComplete: true)
    precondition(verdict != .needsMore, "undecided")
    let early = sniffer.look(at: Array(bytes.prefix(bytes.count / 2)), isComplete: false)
    // Quotation marks that are left open may hide a page's title.
    let pages: [ContentSniffer.Verdict] = [.webPage, .playlist(.index)]
    precondition(
        early == .needsMore || early == verdict || pages.contains(early) && pages.contains(verdict), "verdict"
    )
}

private func check(_ list: Playlist) {
    for url in list.entries.flatMap(\.urls) {
        precondition(
            !url.isEmpty && url.contains(":")
                && url.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }, "address")
        let again = Playlist(decoding: Array("#\n\(url)".utf8), as: .m3u, base: base)
        // An address may have become longer than a line.
        precondition(again.isCut || again.entries.first?.urls == [url], "meaning")
    }
    for text in list.entries.flatMap({ [$0.title, $0.artist, $0.album, $0.userAgent, $0.referrer] }) + [
        list.title
    ] {
        guard let text else { continue }
        precondition(
            !text.isEmpty && text.utf8.count <= 1_024 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 },
            "text")
    }
}

/// Leads a walk by the bytes: each says how an item went.
private func checkWalk(_ bytes: [UInt8], _ lists: [Playlist]) {
    var walk = PlaylistWalk(base)
    let failure = MediaFailure(.network, "x")
    var index = 0
    while let item = walk.current {
        let byte = index < bytes.count ? bytes[index] : 0
        let step: PlaylistWalk.Step
        switch byte % 4 {
        case 0: step = walk.apply(.failed(item.number, failure))
        case 1: step = walk.apply(.ended(item.number))
        case 2: step = walk.apply(.startedPlaying(item.number))
        default:
            let list = lists[Int(byte / 4) % lists.count]
            step = walk.apply(.foundPlaylist(item.number, list, at: item.url))
        }
        index += 1
        if case .open(let opened) = step {
            precondition(opened.number > item.number && opened.depth <= 5, "step")
        }
        precondition(index < bytes.count + 20, "no end")
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    checkVerdict(bytes)
    let lists = Playlist.Format.allCases.map { Playlist(decoding: bytes, as: $0, base: base) }
    for list in lists { check(list) }
    checkWalk(bytes, lists)
    return 0
}
