// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SessionCore

// The queue, from the wire's words to the core's and back.

extension QueueRequest {
    init(_ command: QueueCommand) {
        switch command {
        case .insert(let items, let place): self = .insert(items.map { QueueItem($0) }, QueuePlace(place))
        case .remove(let items): self = .remove(items.map { QueueItemID($0) })
        case .move(let item, let place): self = .move(QueueItemID(item), QueuePlace(place))
        case .jump(let item): self = .jump(QueueItemID(item))
        case .next(let from): self = .next(from: from.map { QueueItemID($0) })
        case .previous(let from): self = .previous(from: from.map { QueueItemID($0) })
        case .setRepeat(let mode): self = .setRepeat(RepeatMode(mode))
        case .clear: self = .clear
        }
    }
}

extension QueueCommand {
    init(_ request: QueueRequest) {
        switch request {
        case .insert(let items, let place):
            self = .insert(items.map { QueueItemRequest($0) }, WireQueuePlace(place))
        case .remove(let items): self = .remove(items.map(\.text))
        case .move(let item, let place): self = .move(item.text, WireQueuePlace(place))
        case .jump(let item): self = .jump(item.text)
        case .next(let from): self = .next(from: from?.text)
        case .previous(let from): self = .previous(from: from?.text)
        case .setRepeat(let mode): self = .setRepeat(WireRepeat(mode))
        case .clear: self = .clear
        }
    }
}

extension QueueItem {
    init(_ item: QueueItemRequest) {
        self.init(
            item: MediaItem(
                uri: item.url, headers: item.headers, userAgent: item.userAgent,
                allowsInvalidCertificate: item.allowsInvalidCertificate,
                startPosition: item.startPosition),
            metadata: Metadata(title: item.title, subtitle: item.subtitle), segments: item.segments,
            identifier: item.identifier)
    }
}

extension QueuePlace {
    init(_ place: WireQueuePlace) {
        switch place {
        case .start: self = .start
        case .next: self = .next
        case .end: self = .end
        case .after(let item): self = .after(QueueItemID(item))
        }
    }
}

extension WireQueuePlace {
    init(_ place: QueuePlace) {
        switch place {
        case .start: self = .start
        case .next: self = .next
        case .end: self = .end
        case .after(let item): self = .after(item.text)
        }
    }
}

extension WireRepeat {
    init(_ mode: RepeatMode) {
        switch mode {
        case .off: self = .off
        case .one: self = .one
        case .all: self = .all
        }
    }
}

extension RepeatMode {
    init(_ mode: WireRepeat) {
        switch mode {
        case .off: self = .off
        case .one: self = .one
        case .all: self = .all
        }
    }
}

extension QueueItemID {
    /// The name on the wire.
    var text: String { String(number) }

    /// What is no name of ours is that of no item.
    init(_ text: String) {
        let number = UInt64(text) ?? 0
        self.init(String(number) == text ? number : 0)
    }
}

extension PlayQueue {
    /// As the state shows it, without members that are null.
    var json: JSONValue {
        var items: [String: JSONValue] = [:]
        for entry in entries { items[entry.id.text] = entry.json }
        return [
            "current": .text(current.text), "order": .array(entries.map { .text($0.id.text) }),
            "items": .object(items), "repeat": .text(repeats.rawValue),
        ]
    }
}

extension QueueEntry {
    fileprivate var json: JSONValue {
        .compact([
            "name": .text(name), "title": JSONValue(given.metadata.title),
            "subtitle": JSONValue(given.metadata.subtitle), "identifier": JSONValue(given.identifier),
            "error": failure?.json ?? .null,
        ])
    }
}
