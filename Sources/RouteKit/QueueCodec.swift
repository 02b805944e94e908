// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire

// The queue, between this library's words and those of the protocol.

extension Codec {
    /// Bytes of items in one request: a frame of 64 KiB holds them and the rest.
    static let insertLimit = 48 * 1024

    /// The items in parts that fit a request each. Refuses an item that fits none.
    static func parts(_ items: [QueueItem], limit: Int = insertLimit) throws(RoutingError) -> [[QueueItem]] {
        var parts: [[QueueItem]] = []
        var size = 0
        for item in items {
            guard item.url.utf8.count <= WireLimits.url, item.headers.count <= WireLimits.headers,
                item.segments.count <= WireLimits.segments,
                item.headers.allSatisfy({
                    $0.name.utf8.count + $0.value.utf8.count <= WireLimits.headerBytes
                })
            else {
                throw RoutingError(
                    .tooLong, family: .session,
                    "an item has a URL of at most 8 KiB, 16 headers of 4 KiB each and 64 segments")
            }
            let bytes = JSONText.encode(QueueItemRequest(item).json).utf8.count + 1
            if parts.isEmpty || size + bytes > limit {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].append(item)
            size += bytes
        }
        return parts
    }

    static func request(for command: QueueCommand, session: String?) -> RouteRequest {
        let wire: RouteWire.QueueCommand =
            switch command {
            case .insert(let items, let place): .insert(items.map { QueueItemRequest($0) }, place.wire)
            case .remove(let items): .remove(items)
            case .move(let item, let place): .move(item, place.wire)
            case .jump(let item): .jump(item)
            case .next(let from): .next(from: from)
            case .previous(let from): .previous(from: from)
            case .setRepeat(let mode): .setRepeat(mode.wire)
            case .clear: .clear
            }
        return .queue(session: session, wire)
    }

    /// The names of items that were put in; none for other commands.
    static func items(of result: Result<JSONValue, RoutingError>) -> Result<[String], RoutingError> {
        result.flatMap { answer in
            guard let outcome = try? Outcome(json: answer) else { return .failure(.badAnswer) }
            guard case .value(.array(let names)) = outcome else { return .success([]) }
            return .success(names.compactMap(\.textValue))
        }
    }
}

extension QueueItemRequest {
    init(_ item: QueueItem) {
        self.init(
            url: item.url, headers: item.headers, userAgent: item.userAgent,
            allowsInvalidCertificate: item.allowsInvalidCertificate,
            startPosition: item.startPosition ?? .zero, title: item.title, subtitle: item.subtitle,
            segments: item.segments, identifier: item.identifier)
    }
}

extension QueuedItem {
    init(id: String, _ item: QueueItemDocument) {
        self.init(
            id: id, name: item.name, title: item.title, subtitle: item.subtitle,
            identifier: item.identifier, error: item.error)
    }
}

extension QueuePlace {
    fileprivate var wire: WireQueuePlace {
        switch self {
        case .start: .start
        case .next: .next
        case .end: .end
        case .after(let item): .after(item)
        }
    }
}

extension RepeatMode {
    var wire: WireRepeat {
        switch self {
        case .off: .off
        case .one: .one
        case .all: .all
        }
    }

    init(_ mode: WireRepeat) {
        self =
            switch mode {
            case .off: .off
            case .one: .one
            case .all: .all
            }
    }
}
