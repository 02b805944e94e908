// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A JSON value. Numbers that fit stay integers, so that 64-bit counts survive.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The member of an object; nil for any other value.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// What kind of value it is, in words for people.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .text: "text"
        case .array: "an array"
        case .object: "an object"
        }
    }

    package var isNull: Bool { if case .null = self { true } else { false } }
    package var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var textValue: String? { if case .text(let value) = self { value } else { nil } }
    package var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    package var objectValue: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

    /// An integer, also one that stands with a fraction of zero.
    package var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    package var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// Text, or null for nil.
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    package init(_ value: Int) { self = .integer(Int64(value)) }
    package init(_ value: Int32) { self = .integer(Int64(value)) }
    package init(_ value: Int64) { self = .integer(value) }
    package init(_ value: Double) { self = .number(value) }
    package init(_ value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { first, _ in first })
    }
}
