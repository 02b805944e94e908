// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// One thing that can be chosen on the card. `CardSetting.all` is the only list of them.
package struct CardSetting: Sendable {
    package let group: String
    package let key: String
    /// What is allowed, in words.
    package let range: String
    /// Taken off the card once it was taken over.
    package var isSecret = false
    /// The value to keep; nil if what was written is not allowed.
    let value: @Sendable (String) -> String?

    package var name: String { "\(group).\(key)" }

    package static let all: [CardSetting] = [
        CardSetting(group: "device", key: "name", range: "a name of 1 to 63 bytes") { plain($0, 1...63) },
        CardSetting(group: "wifi", key: "country", range: "two letters, such as DE") { text in
            let isCode = text.utf8.count == 2 && text.utf8.allSatisfy { isLetter($0) }
            return isCode ? text.uppercased() : nil
        },
        CardSetting(group: "wifi", key: "ssid", range: "the network's name of 1 to 32 bytes") {
            plain($0, 1...32)
        },
        CardSetting(
            group: "wifi", key: "key", range: "8 to 63 plain characters, or nothing for an open network",
            isSecret: true
        ) { text in
            let isPlain = text.utf8.allSatisfy { (32...126).contains($0) }
            let isRaw = text.utf8.count == 64 && text.utf8.allSatisfy { isHexDigit($0) }
            return text.isEmpty || (8...63).contains(text.utf8.count) && isPlain || isRaw ? text : nil
        },
        CardSetting(group: "wifi", key: "hidden", range: "yes or no", value: yesOrNo),
        CardSetting(
            group: "output", key: "device",
            range: "auto, null, or a card or ALSA device of at most 255 bytes such as Headphones"
        ) { plain($0, 1...255) },
        CardSetting(group: "output", key: "volume-limit", range: "a whole number from 1 to 100") { text in
            Int(text).flatMap { (1...100).contains($0) ? String($0) : nil }
        },
        CardSetting(
            group: "output", key: "dac", range: "none, or the name of an overlay, such as hifiberry-dac"
        ) { text in
            let isName = (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { isNameByte($0) }
            return isName ? text : nil
        },
        CardSetting(group: "access", key: "policy", range: "open") { $0 == "open" ? $0 : nil },
        CardSetting(
            group: "ssh", key: "key", range: "a public key on one line, such as ssh-ed25519 AAAA… me@home",
            value: publicKey),
        CardSetting(group: "update", key: "url", range: "an address that begins with https:// or http://") {
            text in
            let isWeb = text.hasPrefix("https://") || text.hasPrefix("http://")
            let isPlain = text.utf8.allSatisfy { (33...126).contains($0) && $0 != 34 && $0 != 92 }
            return isWeb && isPlain && text.utf8.count <= 1024 ? text : nil
        },
        CardSetting(
            group: "update", key: "interval-hours", range: "a whole number from 1 to 720"
        ) { text in
            Int(text).flatMap { (1...720).contains($0) ? String($0) : nil }
        },
    ]

    private static func plain(_ text: String, _ length: ClosedRange<Int>) -> String? {
        let isPlain = !text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
        return length.contains(text.utf8.count) && isPlain ? text : nil
    }

    @Sendable private static func yesOrNo(_ text: String) -> String? {
        switch text {
        case "yes", "true", "on", "1": "yes"
        case "no", "false", "off", "0": "no"
        default: nil
        }
    }

    /// Kind, key and at most one remark: options in front of the kind could name a program.
    @Sendable private static func publicKey(_ text: String) -> String? {
        let kinds = [
            "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
            "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
        ]
        let parts = text.split(separator: " " as Character, maxSplits: 2)
        guard parts.count >= 2, kinds.contains(String(parts[0])), parts[1].utf8.count >= 48,
            text.utf8.count <= 4096, plain(text, 1...4096) != nil
        else { return nil }
        let isBase64 = parts[1].utf8.allSatisfy { byte in
            isLetter(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: "/")
                || byte == UInt8(ascii: "=")
        }
        return isBase64 ? text : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte)
    }
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
    private static func isNameByte(_ byte: UInt8) -> Bool {
        (97...122).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "-")
    }
}
