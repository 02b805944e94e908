// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Who a receiver is told that we are.
public struct SenderIdentity: Sendable, Equatable {
    /// A UUID. A sender that keeps it is the same sender after a restart.
    public let identifier: String
    /// The name that people at the receiver see.
    public let name: String

    /// An identity; without an identifier a new one is made.
    public init(name: String, identifier: String? = nil) {
        self.name = name
        self.identifier = identifier ?? RandomText.uuid()
    }
}

/// Text that nobody guesses.
enum RandomText {
    /// A random UUID (RFC 9562, version 4).
    static func uuid() -> String {
        var random = SystemRandomNumberGenerator()
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = bytes.map { hex($0) }
        return [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
            .map { $0.joined() }.joined(separator: "-")
    }

    /// 128 random bits as 32 digits.
    static func token() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<16).map { _ in hex(UInt8.random(in: .min ... .max, using: &random)) }.joined()
    }

    private static func hex(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return byte < 16 ? "0" + text : text
    }
}
