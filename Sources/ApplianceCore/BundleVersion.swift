// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The version of an image, put in order as Debian orders versions: numbers by value, `~` before anything, the end included.
package struct BundleVersion: Comparable, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ text: String) { description = text }

    package static func == (left: Self, right: Self) -> Bool { order(left, right) == 0 }
    package static func < (left: Self, right: Self) -> Bool { order(left, right) < 0 }

    private static func order(_ left: Self, _ right: Self) -> Int {
        var (left, right) = (left.description.utf8[...], right.description.utf8[...])
        while !left.isEmpty || !right.isEmpty {
            while !isDigit(left.first) && !left.isEmpty || !isDigit(right.first) && !right.isEmpty {
                let difference = weight(left.first) - weight(right.first)
                if difference != 0 { return difference }
                left = left.dropFirst()
                right = right.dropFirst()
            }
            // Any number of digits, without a limit to their value.
            let (first, second) = (digits(&left), digits(&right))
            if first.count != second.count { return first.count - second.count }
            for (one, other) in zip(first, second) where one != other { return Int(one) - Int(other) }
        }
        return 0
    }

    private static func digits(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix { isDigit($0) }
        text = text.dropFirst(digits.count)
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func weight(_ byte: UInt8?) -> Int {
        guard let byte, !isDigit(byte) else { return 0 }
        if byte == UInt8(ascii: "~") { return -1 }
        let isLetter = (65...90).contains(byte) || (97...122).contains(byte)
        return isLetter ? Int(byte) : Int(byte) + 256
    }

    private static func isDigit(_ byte: UInt8?) -> Bool { byte.map { (48...57).contains($0) } ?? false }
}
