// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SessionCore

// Announcements, from the wire's words to the core's and back.

extension Announcement {
    init(_ request: AnnouncementRequest) {
        self.init(
            item: MediaItem(uri: request.url, headers: request.headers, userAgent: request.userAgent),
            volume: Volume(level: request.volume ?? 1), ducking: request.ducking ?? Self.usualDucking)
    }
}

extension Announcements {
    /// As the state shows it, without members that are null; null while there is nothing to tell.
    var json: JSONValue {
        if entries.isEmpty, last == nil { return .null }
        return .compact([
            "queue": .array(
                entries.map { entry in
                    .compact([
                        "id": .text(entry.id.text), "route": JSONValue(entry.route?.text),
                        "sender": .text(entry.sender), "name": .text(entry.name),
                        "phase": .text(entry.phase.rawValue),
                    ])
                }),
            "last": last.map { ended in
                .compact([
                    "id": .text(ended.id.text), "sender": .text(ended.sender), "name": .text(ended.name),
                    "reason": .text(ended.end.name), "error": ended.end.failure?.json ?? .null,
                ])
            } ?? .null,
        ])
    }
}

extension AnnouncementEnd {
    /// The name on the wire.
    var name: String {
        switch self {
        case .finished: "finished"
        case .cancelled: "cancelled"
        case .failed: "failed"
        case .routeEnded: "routeEnded"
        case .shutdown: "shutdown"
        }
    }

    fileprivate var failure: MediaFailure? { if case .failed(let failure) = self { failure } else { nil } }

    func notification(_ announcement: AnnouncementID) -> JSONValue {
        var by: String?
        if case .cancelled(let name) = self { by = name }
        return Notification.announcementEnded(
            announcement: announcement.text, reason: name, by: by, error: failure)
    }
}
