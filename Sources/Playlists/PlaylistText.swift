// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// The letters and lines of playlists, whose encoding nobody declares.
enum PlaylistText {
    /// The bytes with UTF-16 turned into UTF-8, without byte order mark and, unless they are kept, without NUL bytes.
    ///
    /// Other bytes stay as they are: each value is looked at on its own, since files are put together from others.
    static func utf8(_ bytes: ArraySlice<UInt8>, keepsNUL: Bool = false) -> [UInt8] {
        var bytes = bytes
        switch encoding(of: bytes) {
        case .utf16(let isBigEndian):
            var units: [UInt16] = []
            units.reserveCapacity(bytes.count / 2)
            var rest = bytes
            while rest.count >= 2 {
                let (one, two) = (UInt16(rest.removeFirst()), UInt16(rest.removeFirst()))
                units.append(isBigEndian ? one << 8 | two : two << 8 | one)
            }
            if units.first == 0xfeff { units.removeFirst() }
            return String(decoding: units, as: UTF16.self).utf8.filter { keepsNUL || $0 != 0 }
        case .bytes:
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
            return keepsNUL ? Array(bytes) : bytes.filter { $0 != 0 }
        }
    }

    private enum Encoding {
        case bytes
        case utf16(isBigEndian: Bool)
    }

    /// By the byte order mark, else by the zeros that UTF-16 puts between ASCII letters.
    private static func encoding(of bytes: ArraySlice<UInt8>) -> Encoding {
        let head = Array(bytes.prefix(4))
        if head.starts(with: [0xff, 0xfe]) { return .utf16(isBigEndian: false) }
        if head.starts(with: [0xfe, 0xff]) { return .utf16(isBigEndian: true) }
        guard head.count == 4 else { return .bytes }
        func isText(_ byte: UInt8) -> Bool { (0x20...0x7e).contains(byte) }
        if head[1] == 0, head[3] == 0, isText(head[0]), isText(head[2]) { return .utf16(isBigEndian: false) }
        if head[0] == 0, head[2] == 0, isText(head[1]), isText(head[3]) { return .utf16(isBigEndian: true) }
        return .bytes
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }

    /// The first line, trimmed, and what follows it. CR, LF and both together end a line.
    ///
    /// Both together leave an empty line behind, which no dialect minds.
    static func cutLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        guard let end = rest.firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) else {
            defer { rest = [] }
            return trim(rest)
        }
        defer { rest = rest[(end + 1)...] }
        return trim(rest[..<end])
    }

    static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }

    static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { lowercased($0) }, as: UTF8.self)
    }

    /// What follows `prefix`, whose ASCII letters are compared without case. Nil: it begins otherwise.
    static func after(_ prefix: StaticString, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let wanted = String(describing: prefix).utf8
        guard bytes.count >= wanted.count,
            zip(bytes, wanted).allSatisfy({ lowercased($0) == lowercased($1) })
        else { return nil }
        return bytes.dropFirst(wanted.count)
    }

    /// A length as `12`, `12.5`, `3:05` or `1:02:03.250`; nil for nothing, zero, less, and what is no number.
    static func duration(_ bytes: ArraySlice<UInt8>) -> MediaTime? {
        let text = trim(bytes)
        guard text.count <= 24 else { return nil }
        var milliseconds: Int64 = 0
        let parts = text.split(separator: 0x3a, omittingEmptySubsequences: false)
        guard parts.count <= 3 else { return nil }
        for (index, part) in parts.enumerated() {
            let halves = part.split(separator: 0x2e, maxSplits: 1, omittingEmptySubsequences: false)
            guard let whole = halves.first, let count = number(whole), count < 1_000_000_000 else {
                return nil
            }
            milliseconds = milliseconds * 60 + Int64(count) * 1_000
            if halves.count == 2 {
                let digits = halves[1]
                guard index == parts.count - 1, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
                    return nil
                }
                milliseconds += Int64(number((Array(digits) + [0x30, 0x30, 0x30])[..<3]) ?? 0)
            }
        }
        return milliseconds > 0 ? MediaTime(value: milliseconds, timescale: 1_000) : nil
    }

    /// Digits as a number; nil for nothing, other characters and what does not fit.
    static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self))
    }
}
