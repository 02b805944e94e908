// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Names a source by six bytes, as Bluetooth names devices. Sources that have no such address get one that is derived from what
/// they are otherwise known by, so that all are named alike.
package struct SourceAddress: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The six bytes in the order in which they are written, the first one highest.
    package let number: UInt64

    /// Only the lower six bytes count.
    package init(_ number: UInt64) { self.number = number & 0xFFFF_FFFF_FFFF }

    /// Nil unless there are six.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 6 else { return nil }
        self.init(bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Reads `AA:BB:CC:DD:EE:FF`, also in lower case.
    package init?(_ text: String) {
        var number: UInt64 = 0
        var count = 0
        for byte in text.utf8 {
            let isColon = count % 3 == 2
            count += 1
            if isColon {
                guard byte == UInt8(ascii: ":") else { return nil }
                continue
            }
            guard count <= 17, let digit = Self.digit(byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        guard count == 17 else { return nil }
        self.init(number)
    }

    /// An address that nobody has who makes network devices: it is marked as locally administered. The same name always
    /// gives the same one.
    package init(derivedFrom name: String) {
        // FNV-1a. What it protects from is accident: whoever wants to be taken for another source may choose the same name.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let folded = hash ^ hash >> 48
        self.init(folded & ~(1 << 40) | 1 << 41)
    }

    package var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: number >> UInt64(40 - 8 * $0)) } }

    package var text: String {
        let digits = Array("0123456789ABCDEF")
        return bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: ":")
    }

    package var description: String { text }
    package static func < (one: Self, other: Self) -> Bool { one.number < other.number }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
