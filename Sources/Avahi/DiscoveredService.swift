// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A service on the network, with all addresses it was found at.
package struct DiscoveredService: Equatable, Sendable {
    /// One address, and the network interface of ours it was heard through.
    package struct Address: Hashable, Sendable {
        /// The address in numbers, without a scope.
        package let text: String
        package let isIPv6: Bool
        package let interface: Int32

        package init(text: String, isIPv6: Bool, interface: Int32) {
            (self.text, self.isIPv6, self.interface) = (text, isIPv6, interface)
        }

        /// Addresses that mean something on one interface only.
        package var isLinkLocal: Bool {
            isIPv6 ? text.lowercased().hasPrefix("fe80:") : text.hasPrefix("169.254.")
        }

        /// How a URI writes the address: in brackets, with a scope where one is needed.
        package var uriHost: String {
            guard isIPv6 else { return text }
            guard isLinkLocal else { return "[\(text)]" }
            return "[\(text)%25\(interfaceName ?? String(interface))]"
        }

        package var interfaceName: String? {
            guard interface > 0 else { return nil }
            var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE) + 1)
            guard unsafe if_indextoname(UInt32(interface), &name) != nil else { return nil }
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    package let name: String
    package var host: String
    package var port: UInt16
    /// IPv4 first, addresses of one interface last.
    package var addresses: [Address]
    package var text: [String]

    package init(name: String, host: String, port: UInt16, addresses: [Address], text: [String]) {
        (self.name, self.host, self.port) = (name, host, port)
        (self.addresses, self.text) = (addresses, text)
    }

    /// The value of a text entry `key=value`; keys are compared whatever their case, the first one counts.
    package func value(_ key: String) -> String? {
        let key = key.lowercased()
        for entry in text {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0].lowercased() == key { return parts.count > 1 ? String(parts[1]) : "" }
        }
        return nil
    }
}
