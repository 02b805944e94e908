// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What is announced, in the state (`Docs/protocols/route.md`, section 7).
package struct AnnouncementsDocument: Equatable, Sendable {
    /// In the order in which they are heard.
    package var queue: [AnnouncementDocument]
    /// The one that was over last.
    package var last: EndedAnnouncementDocument?

    package init(queue: [AnnouncementDocument] = [], last: EndedAnnouncementDocument? = nil) {
        (self.queue, self.last) = (queue, last)
    }

    /// Null while there is nothing to tell.
    package var json: JSONValue {
        if queue.isEmpty, last == nil { return .null }
        return ["queue": .array(queue.map(\.json)), "last": last?.json ?? .null]
    }

    /// What a receiver without announcements says is that there are none.
    init(_ reader: ParamReader?) throws(RouteError) {
        self.init()
        guard let reader else { return }
        for one in try reader.objects("queue", limit: 64) { queue.append(try AnnouncementDocument(one)) }
        if let ended = try reader.optionalObject("last") { last = try EndedAnnouncementDocument(ended) }
    }
}

/// One announcement in the state.
package struct AnnouncementDocument: Equatable, Sendable {
    package var id: String
    /// Nil once its sender has gone.
    package var route: String?
    package var sender: String
    package var name: String
    /// `waiting`, `loading`, `playing`, or what only a later receiver knows.
    package var phase: String

    package init(id: String, route: String?, sender: String, name: String, phase: String) {
        (self.id, self.route, self.sender, self.name, self.phase) = (id, route, sender, name, phase)
    }

    package var json: JSONValue {
        [
            "id": .text(id), "route": JSONValue(route), "sender": .text(sender), "name": .text(name),
            "phase": .text(phase),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            id: try reader.text("id", bytes: 1...128),
            route: try reader.optionalText("route", bytes: 1...128),
            sender: try reader.optionalText("sender", bytes: 0...1_024) ?? "",
            name: try reader.optionalText("name", bytes: 0...1_024) ?? "",
            phase: try reader.optionalText("phase", bytes: 1...64) ?? "waiting")
    }
}

/// An announcement that is over.
package struct EndedAnnouncementDocument: Equatable, Sendable {
    package var id: String
    package var sender: String
    package var name: String
    package var reason: String
    package var error: MediaFailure?

    package init(id: String, sender: String, name: String, reason: String, error: MediaFailure? = nil) {
        (self.id, self.sender, self.name) = (id, sender, name)
        (self.reason, self.error) = (reason, error)
    }

    package var json: JSONValue {
        [
            "id": .text(id), "sender": .text(sender), "name": .text(name), "reason": .text(reason),
            "error": error?.json ?? .null,
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            id: try reader.text("id", bytes: 1...128),
            sender: try reader.optionalText("sender", bytes: 0...1_024) ?? "",
            name: try reader.optionalText("name", bytes: 0...1_024) ?? "",
            reason: try reader.text("reason", bytes: 1...64))
        if let failure = try reader.optionalObject("error") { error = try MediaFailure(failure) }
    }
}
