// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Cuts something like XML into tags and texts, in one pass and without a tree.
///
/// It takes what people write: any case, unquoted values, bare `&`, tags that are never closed. There are no entities
/// but the predefined and numbered ones, so nothing that is read becomes longer than it was, and no nesting is kept, so
/// depth costs nothing.
struct TagScanner {
    enum Token: Equatable {
        /// A tag's name without prefix, in lower case, and its attributes likewise.
        case open(String, [Attribute])
        case close(String)
        case text([UInt8])
    }

    struct Attribute: Equatable {
        let name: String
        let value: [UInt8]
    }

    private var rest: ArraySlice<UInt8>
    /// The name of a tag that ended with `/>`, whose end is the next token.
    private var closing: String?
    /// A longer name or value, and more attributes, are left out.
    private let longest: Int
    private let mostAttributes = 32

    init(_ text: [UInt8], longest: Int) {
        rest = text[...]
        self.longest = longest
    }

    mutating func next() -> Token? {
        if let name = closing {
            closing = nil
            return .close(name)
        }
        while let first = rest.first {
            guard first == 0x3c else { return text() }
            if rest.starts(with: "<!--".utf8) {
                skip(past: Array("-->".utf8))
            } else if rest.starts(with: "<![CDATA[".utf8) {
                return cdata()
            } else if rest.starts(with: "<!".utf8) {
                skipDeclaration()
            } else if rest.starts(with: "<?".utf8) {
                skip(past: Array("?>".utf8))
            } else if let token = tag() {
                return token
            }
        }
        return nil
    }

    private mutating func text() -> Token {
        let end = rest.firstIndex(of: 0x3c) ?? rest.endIndex
        defer { rest = rest[end...] }
        return .text(end - rest.startIndex <= longest ? Self.decoded(rest[..<end]) : [])
    }

    private mutating func cdata() -> Token {
        rest = rest.dropFirst("<![CDATA[".utf8.count)
        let text = skip(past: Array("]]>".utf8))
        return .text(text.count <= longest ? Array(text) : [])
    }

    /// Moves behind the first `end`, or to the end of everything; returns what is before it.
    @discardableResult private mutating func skip(past end: [UInt8]) -> ArraySlice<UInt8> {
        let start = rest
        while let next = rest.firstIndex(of: end[0]) {
            rest = rest[next...]
            if rest.starts(with: end) {
                rest = rest.dropFirst(end.count)
                return start[..<next]
            }
            rest = rest.dropFirst()
        }
        rest = []
        return start
    }

    /// Moves behind `<!…>`, in whose brackets there may be more of them.
    private mutating func skipDeclaration() {
        var brackets = 0
        while let byte = rest.popFirst() {
            switch byte {
            case 0x5b: brackets += 1
            case 0x5d: brackets -= 1
            case 0x3e where brackets <= 0: return
            default: break
            }
        }
    }

    private mutating func tag() -> Token? {
        rest = rest.dropFirst()
        let isEnd = rest.first == 0x2f
        if isEnd { rest = rest.dropFirst() }
        let name = name()
        if isEnd {
            skip(past: [0x3e])
            return name.isEmpty ? nil : .close(name)
        }
        // A `<` that begins no name is text that nobody misses.
        guard !name.isEmpty else { return nil }
        var attributes: [Attribute] = []
        while true {
            rest = rest.drop { PlaylistText.isSpace($0) }
            guard let byte = rest.first, byte != 0x3c else { break }
            if byte == 0x3e {
                rest = rest.dropFirst()
                break
            }
            if byte == 0x2f {
                rest = rest.dropFirst()
                if rest.first == 0x3e { closing = name }
                continue
            }
            guard let attribute = attribute() else {
                rest = rest.dropFirst()
                continue
            }
            if attributes.count < mostAttributes { attributes.append(attribute) }
        }
        return .open(name, attributes)
    }

    /// A name without prefix, in lower case; empty if there is none.
    private mutating func name() -> String {
        let letters = rest.prefix { byte in
            switch byte {
            // < > / = " '
            case 0x3c, 0x3e, 0x2f, 0x3d, 0x22, 0x27: false
            default: !PlaylistText.isSpace(byte)
            }
        }
        rest = rest[letters.endIndex...]
        let colon = letters.lastIndex(of: 0x3a).map { $0 + 1 } ?? letters.startIndex
        return PlaylistText.lowercased(letters[colon...].prefix(64))
    }

    private mutating func attribute() -> Attribute? {
        let name = name()
        guard !name.isEmpty else { return nil }
        rest = rest.drop { PlaylistText.isSpace($0) }
        guard rest.first == 0x3d else { return Attribute(name: name, value: []) }
        rest = rest.dropFirst().drop { PlaylistText.isSpace($0) }
        if let quote = rest.first, quote == 0x22 || quote == 0x27 {
            let inside = rest.dropFirst()
            // A quotation mark that nothing matches ends with the tag.
            if let end = inside.prefix(longest + 1).firstIndex(of: quote) {
                rest = inside[(end + 1)...]
                return Attribute(name: name, value: Self.decoded(inside[..<end]))
            }
            rest = inside
        }
        let value = rest.prefix { !PlaylistText.isSpace($0) && $0 != 0x3e }
        // `<ref href=name/>`: the slash belongs to the tag.
        let isLast = rest[value.endIndex...].first == 0x3e && value.last == 0x2f
        rest = rest[(isLast ? value.endIndex - 1 : value.endIndex)...]
        let taken = isLast ? value.dropLast() : value
        return Attribute(name: name, value: taken.count <= longest ? Self.decoded(taken) : [])
    }

    /// The text with the predefined and the numbered entities in place of their names; others stay as they are written.
    static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard bytes.contains(0x26) else { return Array(bytes) }
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            // The longest is `&#x10FFFF;`.
            if byte == 0x26, let end = rest.prefix(10).firstIndex(of: 0x3b), let scalar = entity(rest[..<end])
            {
                result += Array(String(Character(scalar)).utf8)
                rest = rest[(end + 1)...]
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func entity(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        switch PlaylistText.lowercased(name) {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        case "nbsp": return " "
        case let text:
            guard text.hasPrefix("#") else { return nil }
            let digits = text.dropFirst()
            let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return value.flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
        }
    }
}
