// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What of a text is nobody's business. A list of what is a secret by its name, since whoever reads a report of a device is a stranger;
/// what has no such name never gets into a report as a file.
package struct Redaction: Sendable {
    /// What stands in the place of a secret.
    package static let mark = "[removed]"

    /// Values that are secret wherever they stand, such as the key of the network.
    private let values: [[UInt8]]

    package init(values: [String]) {
        // The longest first: one may be a part of another. What is shorter is a word that stands everywhere.
        self.values = values.map { Array($0.utf8) }.filter { $0.count >= 8 }.sorted { $0.count > $1.count }
    }

    package func text(_ text: String) -> String {
        text.split(separator: "\n" as Character, omittingEmptySubsequences: false).map { line(String($0)) }
            .joined(
                separator: "\n")
    }

    private func line(_ line: String) -> String {
        var bytes = Array(line.utf8)
        for value in values { bytes = Self.replacing(value, in: bytes) }
        let line = String(decoding: bytes, as: UTF8.self)
        return Self.withoutCredentials(Self.withoutNamed(line))
    }

    /// `key = value`, `psk="…"`, `token: …`, and headers with credentials: the rest of the line goes.
    private static func withoutNamed(_ line: String) -> String {
        let names = [
            "key", "psk", "passphrase", "password", "secret", "token", "ticket", "pin", "code",
            "authorization", "cookie",
            "set-cookie", "proxy-authorization", "private",
        ]
        for index in line.utf8.indices
        where line.utf8[index] == UInt8(ascii: "=") || line.utf8[index] == UInt8(ascii: ":") {
            let before = line.utf8[..<index].reversed().drop { $0 == 32 || $0 == 9 || $0 == 34 }
            let word = String(decoding: before.prefix { isWordByte($0) }.reversed(), as: UTF8.self)
                .lowercased()
            guard isSecret(word, names), line.utf8.index(after: index) < line.utf8.endIndex else { continue }
            return String(decoding: line.utf8[...index], as: UTF8.self) + " \(mark)"
        }
        return line
    }

    private static func isSecret(_ word: String, _ names: [String]) -> Bool {
        names.contains { name in
            word == name || word.hasSuffix("-\(name)") || word.hasSuffix("_\(name)")
                || word.hasPrefix("\(name)-")
                || word.hasPrefix("\(name)_")
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// `scheme://user:password@host` and `?query`: addresses of media carry both.
    private static func withoutCredentials(_ line: String) -> String {
        let bytes = Array(line.utf8)
        let scheme: [UInt8] = Array("://".utf8)
        var (result, place): ([UInt8], Int) = ([], 0)
        while place < bytes.count {
            guard place + 3 <= bytes.count, bytes[place..<(place + 3)].elementsEqual(scheme) else {
                result.append(bytes[place])
                place += 1
                continue
            }
            var end = place + 3
            while end < bytes.count, bytes[end] > 32, ![34, 39, 60, 62].contains(bytes[end]) { end += 1 }
            result += scheme + cleaned(bytes[(place + 3)..<end])
            place = end
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func cleaned(_ address: ArraySlice<UInt8>) -> [UInt8] {
        let host = address.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let at = host.lastIndex(of: UInt8(ascii: "@"))
        let rest = at.map { address[($0 + 1)...] } ?? address
        let kept = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let owner: [UInt8] = at == nil ? [] : Array("\(mark)@".utf8)
        let query: [UInt8] = kept.count < rest.count ? Array("?\(mark)".utf8) : []
        return owner + Array(kept) + query
    }

    private static func replacing(_ value: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= value.count else { return bytes }
        var (result, place): ([UInt8], Int) = ([], 0)
        while place < bytes.count {
            if place + value.count <= bytes.count, bytes[place..<(place + value.count)].elementsEqual(value) {
                result += Array(mark.utf8)
                place += value.count
            } else {
                result.append(bytes[place])
                place += 1
            }
        }
        return result
    }
}
