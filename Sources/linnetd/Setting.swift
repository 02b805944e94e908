// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// One thing that an administrator can choose, in a file or by an option. `Setting.all` is the only list of them: the
/// options, `--help`, `--print-config` and the manual are made from it.
struct Setting: Sendable {
    /// What may be written.
    enum Kind: Sendable {
        /// Text of so many bytes of UTF-8.
        case text(ClosedRange<Int>)
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case boolean
        case choice([String])
        /// Words with semicolons between.
        case list
        /// An absolute path, or nothing.
        case path
    }

    let group: String
    let key: String
    /// The long option, without dashes.
    let option: String
    let kind: Kind
    /// What counts when nobody says anything, as it would be written.
    let fallback: String
    /// One line for `--help`.
    let summary: String
    /// More for the manual; may be empty.
    let detail: String

    /// Names the setting in a set of values.
    var name: String { "\(group).\(key)" }

    /// What stands for the value in `--help`.
    var argument: String {
        switch kind {
        case .text: "TEXT"
        case .integer, .number: "NUMBER"
        case .boolean: "yes|no"
        case .choice(let words): words.joined(separator: "|")
        case .list: "LIST"
        case .path: "PATH"
        }
    }

    /// What is allowed, in words.
    var range: String {
        switch kind {
        case .text(let range) where range.lowerBound == 0: "text of at most \(range.upperBound) bytes"
        case .text(let range): "text of \(range.lowerBound) to \(range.upperBound) bytes"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(short(range.lowerBound)) to \(short(range.upperBound))"
        case .boolean: "yes or no"
        case .choice(let words): words.count == 1 ? words[0] : "one of " + words.joined(separator: ", ")
        case .list: "words with semicolons between"
        case .path: "an absolute path"
        }
    }

    /// Reads what was written; nil if it is not allowed.
    func value(of text: String) -> Value? {
        switch kind {
        case .text(let range):
            let isPlain = !text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
            return range.contains(text.utf8.count) && isPlain ? .text(text) : nil
        case .integer(let range):
            guard let number = Int(text), range.contains(number) else { return nil }
            return .integer(number)
        case .number(let range):
            guard let number = Double(text), range.contains(number) else { return nil }
            return .number(number)
        case .boolean:
            switch text {
            case "yes", "true", "on", "1": return .boolean(true)
            case "no", "false", "off", "0": return .boolean(false)
            default: return nil
            }
        case .choice(let words): return words.contains(text) ? .text(text) : nil
        case .list:
            let words = text.split(separator: ";").map { trimmed($0) }.filter { !$0.isEmpty }
            return words.count <= 64 && words.allSatisfy { $0.utf8.count <= 253 } ? .list(words) : nil
        case .path:
            return text.isEmpty || text.hasPrefix("/") && text.utf8.count < 4096 ? .text(text) : nil
        }
    }

    /// What was chosen for a setting.
    enum Value: Equatable, Sendable, CustomStringConvertible {
        case text(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        case list([String])

        /// As it is written in a file.
        var description: String {
            switch self {
            case .text(let text): text
            case .integer(let number): String(number)
            case .number(let number): short(number)
            case .boolean(let flag): flag ? "yes" : "no"
            case .list(let words): words.joined(separator: ";")
            }
        }
    }
}

/// A number without a useless fraction.
private func short(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e9 ? String(Int(number)) : String(number)
}

private func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
}
