// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A value to be printed as JSON, on one line, members in the order given.
package indirect enum JSONText: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONText])
    case object([(String, JSONText)])

    package static func text(_ value: String?) -> JSONText { value.map { .string($0) } ?? .null }

    package var line: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        // JSON has no other numbers.
        case .number(let value): value.isFinite ? Self.plain(value) : "null"
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.line).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0)):\($1.line)" }.joined(separator: ",") + "}"
        }
    }

    /// Whole numbers without a fraction; Swift's shortest form else, which is JSON.
    private static func plain(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? String(value)
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                // C1 controls are legal JSON and would still reach a terminal.
                if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}
