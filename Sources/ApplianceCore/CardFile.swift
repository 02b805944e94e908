// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The lines of `linnet.conf`, as people write them with any editor: one line that makes no sense costs nothing but itself.
/// Values are taken as they stand, without escapes, since keys of networks have any characters.
package struct CardFile: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let group: String
        package let key: String
        package let value: String
        /// Counted from 1.
        package let line: Int
    }

    /// What is wrong, where, and what is allowed.
    package struct Mistake: Equatable, Sendable, CustomStringConvertible {
        /// 0 for what is wrong with the file as a whole.
        package let line: Int
        package let message: String
        package init(line: Int, _ message: String) { (self.line, self.message) = (line, message) }
        package var description: String { line > 0 ? "line \(line): \(message)" : message }
    }

    /// More than anybody writes, and little to hold.
    package static let sizeLimit = 65_536

    package private(set) var entries: [Entry] = []
    package private(set) var mistakes: [Mistake] = []

    package init(_ bytes: [UInt8]) {
        guard bytes.count <= Self.sizeLimit else {
            mistakes = [Mistake(line: 0, "the file is longer than \(Self.sizeLimit) bytes")]
            return
        }
        guard let text = Self.text(of: bytes) else {
            mistakes = [
                Mistake(line: 0, "the file is no text in UTF-8; save it as UTF-8, not as Unicode or UTF-16")
            ]
            return
        }
        var group: String?
        for (index, line) in Self.lines(of: text).enumerated() {
            let line = Self.trimmed(line)
            if line.isEmpty || line.first == "#" || line.first == ";" { continue }
            if line.first == "[", line.last == "]" {
                group = Self.trimmed(line.dropFirst().dropLast())
            } else if let equals = line.firstIndex(of: "="), line.first != "=" {
                guard let group else {
                    mistakes.append(Mistake(line: index + 1, "stands before any [group], such as [device]"))
                    continue
                }
                entries.append(
                    Entry(
                        group: group, key: Self.trimmed(line[..<equals]),
                        value: Self.trimmed(line[line.index(after: equals)...]), line: index + 1))
            } else {
                // Not quoted: it may be a secret in the wrong place.
                mistakes.append(Mistake(line: index + 1, "is no 'key = value', no [group] and no # comment"))
            }
        }
    }

    /// What stands in the place of the `secrets` (lines, counted from 1): remarks that are as long, so that the file is
    /// changed where it lies, and no copy of a secret stays behind in what the file system gave up.
    package static func blanks(
        for secrets: Set<Int>, in bytes: [UInt8], day: String
    ) -> [(offset: Int, bytes: [UInt8])] {
        var (blanks, offset): ([(offset: Int, bytes: [UInt8])], Int) = ([], 0)
        for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            defer { offset += line.count + 1 }
            guard secrets.contains(index + 1) else { continue }
            let length = line.last == 13 ? line.count - 1 : line.count
            let remarks = ["# taken over on \(day)", "# taken over", "#"].map { Array($0.utf8) }
            let remark = remarks.first { $0.count <= length } ?? []
            blanks.append((offset, remark + Array(repeating: 32, count: length - remark.count)))
        }
        return blanks
    }

    /// Without the mark that some editors put first. Nil if it is not UTF-8.
    private static func text(of bytes: [UInt8]) -> String? {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let body = bytes.starts(with: mark) ? Array(bytes.dropFirst(3)) : bytes
        guard !body.contains(0) else { return nil }
        return String(validating: body, as: UTF8.self)
    }

    /// Not by characters: to Swift, a carriage return and a line feed are one.
    private static func lines(of text: String) -> [Substring] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { Substring($0) }
    }

    private static func trimmed(_ text: Substring) -> String {
        var scalars = text.unicodeScalars
        while let first = scalars.first, isBlank(first) { scalars.removeFirst() }
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        return String(scalars)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\r"
    }
}
