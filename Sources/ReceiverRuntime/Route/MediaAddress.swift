// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire

/// What a sender means by the address of media: senders write addresses as they know them, which is not always as this
/// machine must ask for them. Whether an address is any good is not decided here.
enum MediaAddress {
    /// The address to ask for. Blanks around it are left out and those within its path are escaped; “any address”
    /// (`0.0.0.0`, `[::]`), at which programs listen, is the sender's own; and an IPv6 address that counts on one link
    /// (`fe80::…`) is sought on a link of this machine, since the sender's name of the link (`%wlan0`) means nothing here.
    static func meant(by written: String, of client: any Client) -> String {
        let url = trimmed(written)
        guard let start = authority(of: url) else { return url }
        let bytes = Array(url.utf8)
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
        var place = text(bytes[start..<end])
        if let host = host(in: bytes[start..<end]), let better = replacement(for: text(host), of: client) {
            place = text(bytes[start..<host.startIndex]) + better + text(bytes[host.endIndex..<end])
        }
        return text(bytes[..<start]) + place + escaped(bytes[end...])
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Array(bytes), as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static func trimmed(_ url: String) -> String {
        let start = url.utf8.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: start[...last], as: UTF8.self)
    }

    /// Blanks as an address may hold them; anything else that is wrong in it is left for others to find.
    private static func escaped(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(0x20) else { return text(bytes) }
        return text(bytes.flatMap { $0 == 0x20 ? Array("%20".utf8) : [$0] })
    }

    /// Where the authority of an address of HTTP begins, as a number of bytes.
    private static func authority(of url: String) -> Int? {
        ["http://", "https://"].first { url.prefix($0.count).lowercased() == $0 }?.utf8.count
    }

    /// The host within an authority, with its brackets.
    private static func host(in authority: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        if host.first == UInt8(ascii: "[") {
            return host.firstIndex(of: UInt8(ascii: "]")).map { host[...$0] }
        }
        return host.prefix { $0 != UInt8(ascii: ":") }
    }

    private static func replacement(for host: String, of client: any Client) -> String? {
        if host == "0.0.0.0" || host == "[::]" {
            // An application is not on the network, and means this machine.
            let isNumeric = client.address.utf8.allSatisfy { UInt8.isOfAddress($0) }
            return literal(isNumeric ? client.address : "127.0.0.1", of: client)
        }
        guard host.first == "[" else { return nil }
        let inner = host.dropFirst().dropLast()
        let address = inner.prefix { $0 != "%" }
        guard isOfLink(address) else { return nil }
        // The zone is written `%25eth0`, or as people do.
        var zone = inner[address.endIndex...].dropFirst()
        if zone.hasPrefix("25") { zone = zone.dropFirst(2) }
        return literal(String(address), of: client, zone: String(zone))
    }

    private static func isOfLink(_ address: some StringProtocol) -> Bool {
        // fe80::/10
        let start = address.prefix(4).lowercased()
        return ["fe8", "fe9", "fea", "feb"].contains { start.hasPrefix($0) } && start.count == 4
    }

    /// An address as the host of a URL.
    private static func literal(_ address: String, of client: any Client, zone: String = "") -> String? {
        guard address.utf8.contains(UInt8(ascii: ":")) else { return address.isEmpty ? nil : address }
        let mapped = "::ffff:"
        if address.hasPrefix(mapped), address.utf8.contains(UInt8(ascii: ".")) {
            return String(address.dropFirst(mapped.count))
        }
        guard isOfLink(address) else { return "[\(address)]" }
        let zones = client.linkZones(for: address)
        let known = zones.contains(zone) ? zone : zones.first
        return known.map { "[\(address)%25\($0)]" } ?? "[\(address)]"
    }
}

extension UInt8 {
    /// True of what numeric addresses are written with.
    fileprivate static func isOfAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
    }
}

extension RouteRequest {
    /// The request with the addresses of media as they are meant.
    func locating(_ meant: (String) -> String) -> RouteRequest {
        switch self {
        // An application is handed what its sender wrote.
        case .start(var start) where start.mode == .player:
            start.url = meant(start.url)
            for index in start.items.indices { start.items[index].url = meant(start.items[index].url) }
            return .start(start)
        case .queue(let session, .insert(var items, let place)):
            for index in items.indices { items[index].url = meant(items[index].url) }
            return .queue(session: session, .insert(items, place))
        case .announce(var announcement):
            announcement.url = meant(announcement.url)
            return .announce(announcement)
        default: return self
        }
    }
}
