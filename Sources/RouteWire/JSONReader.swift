// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Reads one JSON value by descent, never deeper than `JSONText.depthLimit`. It relies on the text being UTF-8, as a `String`
/// is: every place where it cuts is ASCII.
struct JSONReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The one value of the text.
    mutating func whole() throws(JSONText.Failure) -> JSONValue {
        guard !bytes.isEmpty else { throw JSONText.Failure(description: "the message is empty") }
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
            throw JSONText.Failure(description: "the text begins with a byte order mark")
        }
        skipBlanks()
        let value = try value(depth: 0)
        skipBlanks()
        guard offset == bytes.count else { throw fault("the end of the text") }
        return value
    }

    private var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func fault(_ expected: String) -> JSONText.Failure {
        JSONText.Failure(description: "the text is not valid JSON: expected \(expected) at byte \(offset)")
    }

    private mutating func skipBlanks() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    private mutating func take(_ expected: UInt8) -> Bool {
        guard byte == expected else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONText.Failure) -> JSONValue {
        guard let byte else { throw fault("a value") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw fault("a value")
        }
    }

    private mutating func word(_ name: String, _ value: JSONValue) throws(JSONText.Failure) -> JSONValue {
        guard bytes[offset...].starts(with: name.utf8) else { throw fault("a value") }
        offset += name.utf8.count
        return value
    }

    private mutating func enter(_ depth: Int) throws(JSONText.Failure) {
        guard depth <= JSONText.depthLimit else {
            throw JSONText.Failure(description: "the text is nested more than \(JSONText.depthLimit) deep")
        }
        offset += 1
        skipBlanks()
    }

    private mutating func array(depth: Int) throws(JSONText.Failure) -> JSONValue {
        try enter(depth)
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma or the end of the list") }
            skipBlanks()
        }
    }

    private mutating func object(depth: Int) throws(JSONText.Failure) -> JSONValue {
        try enter(depth)
        var members: [String: JSONValue] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            guard byte == UInt8(ascii: "\"") else { throw fault("the name of a member") }
            let name = try text()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw fault("a colon") }
            skipBlanks()
            let member = try value(depth: depth)
            if members[name] == nil { members[name] = member }
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma or the end of the object") }
            skipBlanks()
        }
    }

    // MARK: Numbers

    /// Passes digits; false if there are none.
    private mutating func digits() -> Bool {
        let start = offset
        while let byte, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        return offset > start
    }

    private mutating func number() throws(JSONText.Failure) -> JSONValue {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        let leadsWithZero = byte == UInt8(ascii: "0")
        let digitsStart = offset
        guard digits(), !leadsWithZero || offset == digitsStart + 1 else { throw fault("a number") }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() else { throw fault("a digit") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() else { throw fault("a digit") }
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw JSONText.Failure(description: "a number is beyond what can be represented")
        }
        return .number(number)
    }

    // MARK: Text

    private mutating func text() throws(JSONText.Failure) -> String {
        offset += 1
        let start = offset
        // Most texts have no escape: one pass and one copy.
        while let byte {
            if byte == UInt8(ascii: "\"") {
                defer { offset += 1 }
                return String(decoding: bytes[start..<offset], as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            offset += 1
        }
        var unescaped = Array(bytes[start..<offset])
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return String(decoding: unescaped, as: UTF8.self)
            case UInt8(ascii: "\\"):
                offset += 1
                try escape(into: &unescaped)
            case 0..<0x20: throw fault("text without control characters")
            default:
                unescaped.append(byte)
                offset += 1
            }
        }
        throw fault("the end of a text")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONText.Failure) {
        guard let byte else { throw fault("an escape") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            offset += 1
            let scalar = try scalar()
            text.append(contentsOf: String(Character(scalar)).utf8)
            return
        default: throw fault("an escape")
        }
        offset += 1
    }

    /// One character of `\u` escapes: two of them where it needs surrogates (RFC 8259, section 7).
    private mutating func scalar() throws(JSONText.Failure) -> Unicode.Scalar {
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xd800..<0xdc00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault("a pair of surrogates")
        }
        let second = try unit()
        guard (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x1_0000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw fault("a pair of surrogates") }
        return scalar
    }

    /// Four hexadecimal digits.
    private mutating func unit() throws(JSONText.Failure) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            switch byte {
            case .some(let byte) where byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"):
                unit = unit << 4 | UInt32(byte - UInt8(ascii: "0"))
            case .some(let byte)
            where (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "f"):
                unit = unit << 4 | UInt32((byte | 0x20) - UInt8(ascii: "a") + 10)
            default: throw fault("four hexadecimal digits")
            }
            offset += 1
        }
        return unit
    }
}
