// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A pattern of URLs: `*` stands for any number of characters, everything else for itself; scheme and host compare
/// without case.
public struct URLPattern: Hashable, Sendable {
    /// The longest in bytes.
    public static let limit = 256

    public let text: String
    private let bytes: [UInt8]

    /// Nil if it is empty, too long, has control characters or blanks, or names no scheme.
    public init?(_ text: String) {
        guard (1...Self.limit).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.utf8.startIndex
        else { return nil }
        self.text = text
        bytes = Self.folded(text)
    }

    /// True if it claims the whole of the URL. Linear in the product of both lengths at the worst.
    public func matches(_ url: String) -> Bool {
        let url = Self.folded(url)
        let star = UInt8(ascii: "*")
        var (at, place) = (0, 0)
        var retry: (at: Int, place: Int)?
        while place < url.count {
            if at < bytes.count, bytes[at] == star {
                at += 1
                retry = (at, place)
            } else if at < bytes.count, bytes[at] == url[place] {
                (at, place) = (at + 1, place + 1)
            } else if let last = retry {
                retry = (last.at, last.place + 1)
                (at, place) = (last.at, last.place + 1)
            } else {
                return false
            }
        }
        return bytes[at...].allSatisfy { $0 == star }
    }

    /// Scheme and host in lower case.
    private static func folded(_ url: String) -> [UInt8] {
        var bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return bytes }
        var end = colon
        if bytes[colon...].starts(with: "://".utf8) {
            end = bytes[(colon + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
        }
        for index in 0..<end where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) {
            bytes[index] |= 0x20
        }
        return bytes
    }
}
