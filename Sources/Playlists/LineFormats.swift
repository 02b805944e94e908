// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension PlaylistBuilder {
    /// M3U: each line that is no comment is an address, and the comments that begin with `#EXT` tell about the next one.
    mutating func readM3U(_ text: [UInt8]) {
        var rest = text[...]
        var details = Details()
        while !isFull, let line = PlaylistText.cutLine(&rest) {
            guard line.count <= limits.line else {
                playlist.isCut = true
                continue
            }
            if line.first == 0x23 {
                readComment(line, &details)
            } else if let first = line.first, first != 0x3c, PlaylistText.after("--stop--", in: line) == nil {
                add(details, at: [line], .path)
                details = Details()
            }
        }
    }

    private mutating func readComment(_ line: ArraySlice<UInt8>, _ details: inout Details) {
        if let value = PlaylistText.after("#EXTINF:", in: line) {
            // The length ends at a comma, or at attributes such as `tvg-id="…"`, whose values may have commas.
            let head = value.prefix { $0 != 0x2c && !PlaylistText.isSpace($0) }
            details.duration = PlaylistText.duration(head)
            if let comma = Self.comma(in: value) { details.title = value[(comma + 1)...] }
        } else if let value = PlaylistText.after("#EXTVLCOPT:", in: line) {
            if let name = PlaylistText.after("http-user-agent=", in: value) { details.userAgent = name }
            if let url = PlaylistText.after("http-referrer=", in: value) { details.referrer = url }
        } else if let value = PlaylistText.after("#EXTART:", in: line) {
            details.artist = value
        } else if let value = PlaylistText.after("#EXTALB:", in: line) {
            details.album = value
        } else if let value = PlaylistText.after("#PLAYLIST:", in: line), playlist.title == nil {
            playlist.title = self.text(value)
        }
    }

    /// The first comma that is in no quotation marks; if they do not match, the first.
    private static func comma(in value: ArraySlice<UInt8>) -> Int? {
        var isQuoted = false
        for index in value.indices {
            if value[index] == 0x22 { isQuoted.toggle() }
            if value[index] == 0x2c, !isQuoted { return index }
        }
        return value.firstIndex(of: 0x2c)
    }

    /// PLS: keys with a number, in any order and with holes; what counts is the number.
    mutating func readPLS(_ text: [UInt8]) {
        var rest = text[...]
        var addresses: [Int: ArraySlice<UInt8>] = [:]
        var details: [Int: Details] = [:]
        while let line = PlaylistText.cutLine(&rest) {
            guard line.count <= limits.line else {
                playlist.isCut = true
                continue
            }
            guard let equals = line.firstIndex(of: 0x3d) else { continue }
            let key = PlaylistText.trim(line[..<equals])
            let value = PlaylistText.trim(line[(equals + 1)...])
            let letters = key.prefix { !(0x30...0x39).contains($0) }
            guard let number = PlaylistText.number(key[letters.endIndex...]) else { continue }
            guard addresses.count < limits.entries || addresses[number] != nil,
                details.count < limits.entries || details[number] != nil
            else {
                playlist.isCut = true
                continue
            }
            switch PlaylistText.lowercased(letters) {
            case "file", "ref": if addresses[number] == nil { addresses[number] = value }
            case "title": details[number, default: Details()].title = value
            case "length": details[number, default: Details()].duration = PlaylistText.duration(value)
            default: break
            }
        }
        for number in addresses.keys.sorted() {
            guard !isFull, let address = addresses[number] else { break }
            add(details[number] ?? Details(), at: [address], .path)
        }
    }
}
