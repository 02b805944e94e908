// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a receiver tells an application besides what it tells senders (`Docs/protocols/application.md`, section 3).
package enum ApplicationNotice: Equatable, Sendable {
    /// `isAttached`: its sender is connected.
    case sessionOpened(session: String, channel: UInt32, url: String, sender: SenderInfo?, isAttached: Bool)
    case sessionAttached(session: String, isAttached: Bool)
    case sessionClosed(session: String, channel: UInt32, reason: String)
    case routeOpened(channel: UInt32, route: String, sender: SenderInfo)
    case routeClosed(channel: UInt32)
    /// It has this long before it is asked to exit with a signal.
    case ending(reason: String, milliseconds: Int64)

    /// The notifications, in the order of the page.
    package static let methods = [
        "session.opened", "session.attached", "session.closed", "route.opened", "route.closed",
        "application.ending",
    ]

    package var method: String {
        switch self {
        case .sessionOpened: "session.opened"
        case .sessionAttached: "session.attached"
        case .sessionClosed: "session.closed"
        case .routeOpened: "route.opened"
        case .routeClosed: "route.closed"
        case .ending: "application.ending"
        }
    }

    private var params: JSONValue {
        switch self {
        case .sessionOpened(let session, let channel, let url, let sender, let isAttached):
            [
                "session": .text(session), "channel": .integer(Int64(channel)), "url": .text(url),
                "sender": sender.map(\.json) ?? .null, "attached": .bool(isAttached),
            ]
        case .sessionAttached(let session, let isAttached):
            ["session": .text(session), "attached": .bool(isAttached)]
        case .sessionClosed(let session, let channel, let reason):
            ["session": .text(session), "channel": .integer(Int64(channel)), "reason": .text(reason)]
        case .routeOpened(let channel, let route, let sender):
            ["channel": .integer(Int64(channel)), "route": .text(route), "sender": sender.json]
        case .routeClosed(let channel): ["channel": .integer(Int64(channel))]
        case .ending(let reason, let milliseconds):
            ["reason": .text(reason), "milliseconds": .integer(milliseconds)]
        }
    }

    package var json: JSONValue { ["jsonrpc": "2.0", "method": .text(method), "params": params] }

    /// Nil for any other notification.
    init?(method: String, _ reader: ParamReader) throws(RouteError) {
        func session() throws(RouteError) -> String { try reader.text("session", bytes: 1...128) }
        func channel() throws(RouteError) -> UInt32 {
            UInt32(truncatingIfNeeded: try reader.integer("channel", in: 1...Int64(UInt32.max)))
        }
        switch method {
        case "session.opened":
            let who = try reader.optionalObject("sender")
            var sender: SenderInfo?
            if let who { sender = try SenderInfo(who) }
            self = .sessionOpened(
                session: try session(), channel: try channel(),
                url: try reader.text("url", bytes: 0...WireLimits.url), sender: sender,
                isAttached: try reader.bool("attached"))
        case "session.attached":
            self = .sessionAttached(session: try session(), isAttached: try reader.bool("attached"))
        case "session.closed":
            self = .sessionClosed(
                session: try session(), channel: try channel(),
                reason: try reader.text("reason", bytes: 1...64))
        case "route.opened":
            self = .routeOpened(
                channel: try channel(), route: try reader.text("route", bytes: 1...128),
                sender: try SenderInfo(try reader.object("sender")))
        case "route.closed": self = .routeClosed(channel: try channel())
        case "application.ending":
            self = .ending(
                reason: try reader.text("reason", bytes: 0...1_024),
                milliseconds: try reader.integer("milliseconds", in: 0 ... .max))
        default: return nil
        }
    }
}

extension SenderInfo {
    package var json: JSONValue { ["id": .text(identifier), "name": .text(name)] }

    /// Reads it as a receiver passes it on.
    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            identifier: try reader.text("id", bytes: 1...64), name: try reader.text("name", bytes: 0...1_024))
    }
}
