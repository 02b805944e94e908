// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The rules for names on the network.
package enum ServiceName {
    /// `text` as a name that DNS-SD takes: without control characters and cut to 63 bytes of UTF-8, at the end of a
    /// character. May be empty.
    package static func fitting(_ text: String) -> String {
        let printable = String(
            text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) })
        return cut(printable, to: 63)
    }

    /// The longest beginning of `text` that has at most `limit` bytes and ends with a whole character.
    package static func cut(_ text: String, to limit: Int) -> String {
        var size = 0
        let fitting = text.prefix { character in
            size += character.utf8.count
            return size <= limit
        }
        return String(fitting)
    }
}
