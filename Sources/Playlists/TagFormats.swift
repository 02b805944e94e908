// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// What one entry of an XML dialect has had so far.
private struct Draft {
    /// True between the tags of an entry.
    var isOpen = false
    var places: [[UInt8]] = []
    var title: [UInt8] = []
    var artist: [UInt8] = []
    var album: [UInt8] = []
    var duration: MediaTime?

    mutating func begin(in builder: inout PlaylistBuilder) {
        // One that was not closed ends here.
        end(in: &builder)
        isOpen = true
    }

    mutating func end(in builder: inout PlaylistBuilder) {
        if !places.isEmpty {
            let details = PlaylistBuilder.Details(
                title: title[...], artist: artist[...], album: album[...], duration: duration)
            builder.add(details, at: places.map { $0[...] }, .uri)
        }
        self = Draft()
    }
}

extension [TagScanner.Attribute] {
    fileprivate subscript(name: String) -> [UInt8]? { first { $0.name == name && !$0.value.isEmpty }?.value }
}

extension PlaylistBuilder {
    /// Hands the tokens of the text to `read`; a text comes with the name of the tag that it follows.
    private mutating func scan(
        _ text: [UInt8], _ read: (inout PlaylistBuilder, TagScanner.Token, _ name: String) -> Void
    ) {
        var scanner = TagScanner(text, longest: limits.line)
        var name = ""
        while !isFull, let token = scanner.next() {
            switch token {
            case .open(let opened, _): name = opened
            case .close: name = ""
            case .text: break
            }
            read(&self, token, name)
        }
    }

    /// Makes later references relative to this address, itself relative to the one that was in force.
    private mutating func rebase(_ reference: [UInt8]?) {
        guard let reference, let text = address(reference[...], .uri), let new = Address(absolute: text)
        else { return }
        base = new
    }

    /// Takes one more place of an entry.
    private func take(_ place: [UInt8], into places: inout [[UInt8]]) {
        if places.count < limits.alternatives { places.append(place) }
    }

    /// Takes more of a text that may come in pieces, around entities and `CDATA`.
    private func extend(_ value: inout [UInt8], _ bytes: [UInt8]) {
        if value.count + bytes.count <= limits.line { value += bytes }
    }

    mutating func readXSPF(_ text: [UInt8]) {
        var draft = Draft()
        var listTitle: [UInt8] = []
        var place: [UInt8] = []
        var isForeign = false
        scan(text) { builder, token, name in
            switch token {
            case .open("playlist", let attributes), .open("tracklist", let attributes):
                builder.rebase(attributes["base"])
            case .open("track", let attributes):
                draft.begin(in: &builder)
                builder.rebase(attributes["base"])
                isForeign = false
            case .close("track"), .close("tracklist"), .close("playlist"): draft.end(in: &builder)
            case .open("extension", _): isForeign = true
            case .close("extension"): isForeign = false
            case .close("location"):
                if draft.isOpen, !place.isEmpty { builder.take(place, into: &draft.places) }
                place = []
            case .text(let bytes) where !isForeign:
                switch (name, draft.isOpen) {
                case ("location", true): builder.extend(&place, bytes)
                case ("title", true): builder.extend(&draft.title, bytes)
                case ("creator", true): builder.extend(&draft.artist, bytes)
                case ("album", true): builder.extend(&draft.album, bytes)
                case ("duration", true):
                    if let count = PlaylistText.number(PlaylistText.trim(bytes[...])), count > 0 {
                        draft.duration = MediaTime(value: Int64(count), timescale: 1_000)
                    }
                case ("title", false): builder.extend(&listTitle, bytes)
                default: break
                }
            default: break
            }
        }
        draft.end(in: &self)
        playlist.title = self.text(listTitle[...])
    }

    mutating func readASX(_ text: [UInt8]) {
        var draft = Draft()
        var listTitle: [UInt8] = []
        let outer = base
        scan(text) { builder, token, name in
            switch token {
            case .open("entry", _): draft.begin(in: &builder)
            case .close("entry"), .close("asx"): draft.end(in: &builder)
            case .open("base", let attributes):
                builder.base = outer
                builder.rebase(attributes["href"])
            case .open("ref", let attributes):
                guard let place = attributes["href"] else { break }
                builder.take(place, into: &draft.places)
                // One outside of entries is an entry.
                if !draft.isOpen { draft.end(in: &builder) }
            case .open("entryref", let attributes):
                draft.end(in: &builder)
                if let place = attributes["href"] { draft.places = [place] }
                draft.end(in: &builder)
            case .open("duration", let attributes):
                if let value = attributes["value"] { draft.duration = PlaylistText.duration(value[...]) }
            case .text(let bytes):
                switch (name, draft.isOpen) {
                case ("title", true): builder.extend(&draft.title, bytes)
                case ("author", true): builder.extend(&draft.artist, bytes)
                case ("title", false): builder.extend(&listTitle, bytes)
                default: break
                }
            default: break
            }
        }
        draft.end(in: &self)
        playlist.title = self.text(listTitle[...])
    }

    mutating func readSMIL(_ text: [UInt8]) {
        var title: [UInt8] = []
        scan(text) { builder, token, name in
            switch token {
            case .open("meta", let attributes):
                guard let key = attributes["name"], let value = attributes["content"] else { break }
                switch PlaylistText.lowercased(key[...]) {
                case "base": builder.rebase(value)
                case "title": if title.isEmpty { title = value }
                default: break
                }
            case .open("audio", let attributes), .open("video", let attributes),
                .open("media", let attributes),
                .open("ref", let attributes):
                guard let place = attributes["src"] else { break }
                var draft = Draft(places: [place])
                draft.title = attributes["title"] ?? attributes["tracktitle"] ?? []
                draft.artist = attributes["author"] ?? attributes["trackartist"] ?? []
                draft.end(in: &builder)
            case .text(let bytes) where name == "title": builder.extend(&title, bytes)
            default: break
            }
        }
        playlist.title = self.text(title[...])
    }

    /// The links of a folder's page that lead to media, to playlists and to folders inside it.
    mutating func readIndex(_ text: [UInt8]) {
        guard var folder = base else { return }
        folder.path = folder.path.lastIndex(of: 0x2f).map { folder.path[...$0] } ?? [0x2f]
        (folder.query, folder.fragment) = (nil, nil)
        let root = folder.text
        // Some pages link a name and its picture.
        var seen: Set<String> = []
        scan(text) { builder, token, _ in
            guard case .open("a", let attributes) = token, let link = attributes["href"],
                let url = builder.address(link[...], .uri), url.hasPrefix(root),
                url.utf8.count > root.utf8.count,
                !url.utf8.contains(0x3f), url.hasSuffix("/") || MediaNames.isMedia(url[...]),
                seen.insert(url).inserted
            else { return }
            builder.add(Details(), urls: [url])
        }
    }
}
