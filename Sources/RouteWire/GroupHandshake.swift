// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// 32 random bytes that only members know, or that are used once: a ticket, a nonce, a proof. On the wire in base64url.
package struct GroupSecret: Equatable, Sendable {
    package static let count = 32
    package let bytes: [UInt8]

    /// Nil unless there are 32 of them.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    /// Reads base64url without padding; nil if it is anything else than 32 bytes, or not as it would be written.
    package init?(_ text: String) {
        guard text.utf8.count == 43 else { return nil }
        var bytes: [UInt8] = []
        var (held, count): (UInt32, UInt32) = (0, 0)
        for character in text.utf8 {
            guard let value = Self.value(of: character) else { return nil }
            held = (held << 6 | UInt32(value)) & 0xffff
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: held >> count))
            }
        }
        guard held & (1 << count - 1) == 0 else { return nil }
        self.init(bytes: bytes)
    }

    package var text: String {
        var characters: [UInt8] = []
        var (held, count): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            held = (held << 8 | UInt32(byte)) & 0xffff
            count += 8
            while count >= 6 {
                count -= 6
                characters.append(Self.alphabet[Int(held >> count & 63)])
            }
        }
        if count > 0 { characters.append(Self.alphabet[Int(held << (6 - count) & 63)]) }
        return String(decoding: characters, as: UTF8.self)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// Takes the same time for every pair.
    package static func == (one: GroupSecret, other: GroupSecret) -> Bool {
        zip(one.bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// What both ends of a link sign with the ticket (`Docs/protocols/group.md`, section 9).
package struct GroupHandshake: Equatable, Sendable {
    package enum Role: String, Sendable { case host, member }
    package var group: String
    package var member: String
    package var host: String
    package var epoch: Int64
    package var memberNonce: GroupSecret
    package var hostNonce: GroupSecret

    package init(
        group: String, member: String, host: String, epoch: Int64, memberNonce: GroupSecret,
        hostNonce: GroupSecret
    ) {
        (self.group, self.member, self.host, self.epoch) = (group, member, host, epoch)
        (self.memberNonce, self.hostNonce) = (memberNonce, hostNonce)
    }

    /// The bytes of which the proof is the code.
    package func message(of role: Role) -> [UInt8] {
        var bytes = Self.text(of: [role.rawValue, group, member, host], after: "linnet-group-1")
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: epoch >> Int64(shift)))
        }
        return bytes + memberNonce.bytes + hostNonce.bytes
    }

    /// The bytes whose code, made with the ticket, is a player's pass: what it uses in the ticket's place.
    package static func passMessage(group: String, player: String) -> [UInt8] {
        text(of: [group, player], after: "linnet-player-1")
    }

    private static func text(of parts: [String], after beginning: String) -> [UInt8] {
        var bytes = Array(beginning.utf8)
        for text in parts {
            let count = UInt16(truncatingIfNeeded: text.utf8.count)
            bytes += [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + text.utf8
        }
        return bytes
    }
}
