// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

extension Receiver {
    /// The port that receivers have unless somebody chose another.
    public static let defaultPort: UInt16 = 7380

    /// Asks who answers at an address, for networks without discovery.
    public static func at(_ address: Address) async throws -> Receiver {
        try await Connector.identity(at: address, timeout: LinkTiming().request)
    }
}
