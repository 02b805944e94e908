// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Opens links to hosts.
package protocol MemberConnector: AnyObject {
    /// Tries the addresses in their order, for 10 s at most. The link lives as long as it is held.
    func connect(
        to addresses: [String], port: UInt16, report: @escaping (MemberLinkEvent) -> Void
    ) -> any MemberLink
}

/// One WebSocket to a host. Dropping it closes it.
package protocol MemberLink: AnyObject {
    func send(text: String)
}

package enum MemberLinkEvent: Equatable, Sendable {
    /// At this one of the addresses.
    case opened(address: String)
    case received(String)
    /// It is over, or could not be opened. The last event.
    case closed(reason: String)
}

/// What needs a library for secrets.
package protocol GroupSecrets: AnyObject {
    /// 32 bytes that nobody can guess.
    func random() -> [UInt8]
    /// HMAC-SHA256.
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8]
}
