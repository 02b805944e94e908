// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Texts that strangers wrote, such as titles: in an encoding that nobody declares, of any length, with anything in them.
package enum ForeignText {
    /// A title of more bytes is none.
    package static let limit = 1000

    /// UTF-8 if it is that, else Windows-1252, of which Latin-1 is the printable part. Of a text that `isCut` the last
    /// character may be there in part.
    package static func string(_ bytes: some BidirectionalCollection<UInt8>, isCut: Bool = false) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // A character is at most four bytes.
        let tail = bytes.suffix(3)
        if isCut, let start = tail.lastIndex(where: { $0 >= 0xc2 && $0 <= 0xf4 }),
            tail[start...].dropFirst().allSatisfy({ $0 & 0xc0 == 0x80 }),
            let text = String(validating: bytes[..<start], as: UTF8.self)
        {
            return text
        }
        var text = ""
        for byte in bytes {
            let scalar = (0x80...0x9f).contains(byte) ? windows1252[Int(byte) - 0x80] : Unicode.Scalar(byte)
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    private static let windows1252: [Unicode.Scalar] = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ".unicodeScalars)

    /// A text for people: spaces, control characters and ends of lines in a row become one space, none at the ends;
    /// what turns the direction of writing for all that follows is left out; at most `limit` bytes. Nil: there is nothing
    /// in it.
    package static func words(_ text: String, limit: Int = Self.limit) -> String? {
        var words = ""
        var (size, wantsSpace) = (0, false)
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0...0x20, 0x7f...0x9f, 0x2028, 0x2029:
                wantsSpace = !words.isEmpty
                continue
            case 0x202a...0x202e, 0x2066...0x2069, 0xfeff: continue
            default: break
            }
            size += UTF8.width(scalar) + (wantsSpace ? 1 : 0)
            guard size <= limit else { break }
            if wantsSpace { words.append(" ") }
            wantsSpace = false
            words.unicodeScalars.append(scalar)
        }
        return words.isEmpty ? nil : words
    }
}
