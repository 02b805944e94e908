// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A service of the receiver that senders reach with data messages on their route's own channel.
package protocol RouteService: AnyObject {
    /// Its name on the wire, such as `org.linnet.echo`; at most 128 bytes.
    var endpoint: String { get }
    /// Takes a message, or refuses it. It may send messages back, during the call or later.
    func handle(_ payload: [UInt8], from peer: any RoutePeer) -> RouteServiceRefusal?
}

/// A sender as a service sees it. Hold it weakly: it ends with its connection.
package protocol RoutePeer: AnyObject {
    /// Sends a message. False: too many are unanswered, or the sender does not read; nothing is kept for later.
    func send(_ payload: [UInt8], from endpoint: String) -> Bool
}

/// Why a service does not take a message.
package struct RouteServiceRefusal: Equatable, Sendable {
    /// A stable name.
    package let reason: String
    package let message: String
    package init(_ reason: String, _ message: String) { (self.reason, self.message) = (reason, message) }
}

/// Sends every message back, so that senders can try their data channel.
final class EchoService: RouteService {
    let endpoint = "org.linnet.echo"

    func handle(_ payload: [UInt8], from peer: any RoutePeer) -> RouteServiceRefusal? {
        peer.send(payload, from: endpoint)
            ? nil : RouteServiceRefusal("tooManyMessages", "too many messages to this sender are unanswered")
    }
}
