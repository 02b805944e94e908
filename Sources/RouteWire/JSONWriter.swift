// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Writes JSON without blanks, members in no order. Only what must be escaped is.
struct JSONWriter {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func put(_ value: JSONValue) {
        switch value {
        case .null: put("null")
        case .bool(let bool): put(bool ? "true" : "false")
        case .integer(let integer): bytes.append(contentsOf: String(integer).utf8)
        case .number(let number): put(number)
        case .text(let text): quote(text)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                put(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            var isFirst = true
            for (name, member) in members {
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                quote(name)
                bytes.append(UInt8(ascii: ":"))
                put(member)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// A whole number stands without fraction, any other as the shortest text that reads back as the same number.
    private mutating func put(_ number: Double) {
        if let whole = Int64(exactly: number), whole.magnitude < 1 << 53 {
            put(String(whole))
        } else {
            put(number.isFinite ? number.description : "null")
        }
    }

    private mutating func put(_ plain: String) { bytes.append(contentsOf: plain.utf8) }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let needsEscapes = text.utf8.contains {
            $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
        }
        if needsEscapes { for byte in text.utf8 { escape(byte) } } else { put(text) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): put("\\\"")
        case UInt8(ascii: "\\"): put("\\\\")
        case 0x0a: put("\\n")
        case 0x0d: put("\\r")
        case 0x09: put("\\t")
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            put("\\u00")
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
}
