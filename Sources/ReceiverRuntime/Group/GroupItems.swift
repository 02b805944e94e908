// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SessionCore

// A session's words for the item and the queue of a group, and back.

extension WireGroupItem {
    init(_ item: QueueItem, named name: String) {
        self.init(
            identifier: name, title: item.metadata.title, subtitle: item.metadata.subtitle,
            media: QueueItemRequest(item))
    }
}

extension QueueItemRequest {
    init(_ item: QueueItem) {
        self.init(
            url: item.item.uri, headers: item.item.headers, userAgent: item.item.userAgent,
            allowsInvalidCertificate: item.item.allowsInvalidCertificate,
            startPosition: item.item.startPosition, title: item.metadata.title,
            subtitle: item.metadata.subtitle, segments: item.segments, identifier: item.identifier)
    }
}

extension WireGroupQueue {
    init(_ queue: PlayQueue, named name: String) {
        self.init(
            id: name, current: queue.current.number,
            entries: queue.entries.map {
                Entry(id: $0.id.number, item: QueueItemRequest($0.given), error: $0.failure)
            }, repeats: WireRepeat(queue.repeats), last: queue.lastID)
    }

    /// Nil for what is beyond the limits of queues.
    var playQueue: PlayQueue? {
        try? PlayQueue(
            restoring: entries.map {
                QueueEntry(id: QueueItemID($0.id), given: QueueItem($0.item), failure: $0.error)
            }, current: QueueItemID(current), lastID: last, repeats: RepeatMode(repeats))
    }
}

/// What a group plays one after the other, as its host keeps it.
struct GroupLine {
    let queue: PlayQueue
    /// The same as members are told it.
    let wire: WireGroupQueue

    init(_ queue: PlayQueue, named name: String) {
        self.queue = queue
        let whole = WireGroupQueue(queue, named: name)
        // What fails comes without being asked for, and finds room without its words.
        wire = whole.isTellable ? whole : whole.withoutWords
    }

    /// With changes.
    func with(_ queue: PlayQueue) -> GroupLine { GroupLine(queue, named: wire.id) }
}
