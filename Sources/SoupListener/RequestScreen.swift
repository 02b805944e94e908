// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Tells requests of senders from those that a browser makes for a stranger's page (section 3 of
/// `Docs/protocols/route.md`): the page's `Origin` gives it away, or the name that it had resolved to this address.
package struct RequestScreen {
    private let names: Set<String>

    package init(names: Set<String>) { self.names = Set(names.map { $0.lowercased() }) }

    /// The status that refuses a request, or nil.
    package func refusal(host: String?, origin: String?) -> UInt32? {
        guard let host, let name = Self.name(in: host), isOurs(name) else { return 421 }
        guard let origin else { return nil }
        return origin.lowercased() == "http://\(host.lowercased())" ? nil : 403
    }

    private func isOurs(_ name: String) -> Bool {
        name == "localhost" || names.contains(name) || Self.isAddress(name)
    }

    /// The host of `host[:port]`, in lower case, without brackets and without a dot at the end.
    static func name(in host: String) -> String? {
        var name = host.lowercased()[...]
        if name.first == "[" {
            guard let end = name.firstIndex(of: "]"), isPort(name[name.index(after: end)...]) else {
                return nil
            }
            let inner = name[name.index(after: name.startIndex)..<end]
            return inner.contains(":") ? String(inner) : nil
        }
        if let colon = name.firstIndex(of: ":") {
            guard isPort(name[colon...]) else { return nil }
            name = name[..<colon]
        }
        if name.last == "." { name.removeLast() }
        return name.isEmpty ? nil : String(name)
    }

    /// Empty, or a colon and a number.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || text.first == ":" && (text.dropFirst().isEmpty || UInt16(text.dropFirst()) != nil)
    }

    /// Nobody can make a browser resolve an address, so any address is fine; only its form counts.
    static func isAddress(_ name: String) -> Bool {
        if name.contains(":") { return name.utf8.allSatisfy { isAddressByte($0) } }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { (48...57).contains($0) }
                    && UInt8(part) != nil
            }
    }

    /// Hexadecimal digits, colons, dots of an embedded IPv4 address, and the scope behind a percent sign.
    private static func isAddressByte(_ byte: UInt8) -> Bool {
        (48...58).contains(byte) || (97...122).contains(byte) || byte == 46 || byte == 37
    }
}
