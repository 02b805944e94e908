// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// JSON text in and out. The coders are FoundationEssentials'; a scan in front of them makes our own limits exact, whatever
/// the coder and the stack allow.
package enum JSONText {
    /// Why a text was not taken.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The deepest nesting that is taken.
    package static let depthLimit = 32

    /// Decodes one value. `limit` bounds the text in bytes.
    package static func decode(_ text: String, limit: Int) throws(Failure) -> JSONValue {
        if let problem = scan(text.utf8.span, limit: limit) { throw Failure(description: problem) }
        do { return try JSONDecoder().decode(Decoded.self, from: Data(text.utf8)).value } catch {
            throw Failure(description: "the text is not valid JSON")
        }
    }

    /// What is wrong before the decoder needs to look, or nil.
    static func scan(_ bytes: Span<UInt8>, limit: Int) -> String? {
        guard bytes.count <= limit else { return "the message has more than \(limit) bytes" }
        guard bytes.count > 0 else { return "the message is empty" }
        if bytes[0] == 0xef { return "the text begins with a byte order mark" }
        var depth = 0
        var isInText = false
        var isEscaped = false
        for index in 0..<bytes.count {
            let byte = bytes[index]
            if byte == 0 { return "the text holds a NUL byte" }
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > depthLimit { return "the text is nested more than \(depthLimit) deep" }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return nil
    }

    /// Encodes a value. A number that is not finite becomes null: JSON has no name for it.
    package static func encode(_ value: JSONValue) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let data = try? encoder.encode(Encoded(value: value)) else { return "null" }
        return String(decoding: data, as: UTF8.self)
    }

    private struct Encoded: Encodable {
        let value: JSONValue
        func encode(to encoder: any Encoder) throws {
            switch value {
            case .array(let elements):
                var container = encoder.unkeyedContainer()
                for element in elements { try container.encode(Encoded(value: element)) }
            case .object(let members):
                var container = encoder.container(keyedBy: Key.self)
                for (key, member) in members {
                    try container.encode(Encoded(value: member), forKey: Key(stringValue: key))
                }
            default:
                var container = encoder.singleValueContainer()
                switch value {
                case .bool(let bool): try container.encode(bool)
                case .integer(let integer): try container.encode(integer)
                case .number(let number) where number.isFinite: try container.encode(number)
                case .text(let text): try container.encode(text)
                default: try container.encodeNil()
                }
            }
        }
    }

    private struct Decoded: Decodable {
        let value: JSONValue
        init(from decoder: any Decoder) throws {
            // Keyed and unkeyed containers fail at once on another kind of value; of the single ones text is the commonest.
            if let container = try? decoder.container(keyedBy: Key.self) {
                var members: [String: JSONValue] = [:]
                for key in container.allKeys {
                    members[key.stringValue] = try container.decode(Decoded.self, forKey: key).value
                }
                value = .object(members)
            } else if var container = try? decoder.unkeyedContainer() {
                var elements: [JSONValue] = []
                while !container.isAtEnd { elements.append(try container.decode(Decoded.self).value) }
                value = .array(elements)
            } else {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) {
                    value = .text(text)
                } else if let integer = try? container.decode(Int64.self) {
                    value = .integer(integer)
                } else if let bool = try? container.decode(Bool.self) {
                    value = .bool(bool)
                } else if let number = try? container.decode(Double.self) {
                    value = .number(number)
                } else if container.decodeNil() {
                    value = .null
                } else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "no JSON value")
                }
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
