// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What a sender asks of a session's queue.
package enum QueueCommand: Equatable, Sendable {
    case insert([QueueItemRequest], WireQueuePlace)
    case remove([String])
    case move(String, WireQueuePlace)
    case jump(String)
    /// Only if this item is still current; nil is whichever is.
    case next(from: String?)
    case previous(from: String?)
    case setRepeat(WireRepeat)
    case clear

    /// The methods, in the order of the page.
    static let methods = [
        "queue.insert", "queue.remove", "queue.move", "queue.jump", "queue.next", "queue.previous",
        "queue.setRepeat", "queue.clear",
    ]
}

/// What happens at the end of the queue or of an item.
package enum WireRepeat: String, Sendable, CaseIterable { case off, one, all }

/// Where an item goes in the queue.
package enum WireQueuePlace: Equatable, Sendable {
    case start, next, end
    case after(String)

    fileprivate enum Name: String, CaseIterable { case start, next, end }
}

/// An item of a queue as a sender gives it.
package struct QueueItemRequest: Equatable, Sendable {
    package var url: String
    package var headers: [HeaderField]
    package var userAgent: String?
    package var allowsInvalidCertificate: Bool
    package var startPosition: MediaTime
    package var title: String?
    package var subtitle: String?
    package var segments: [Segment]
    /// The sender's own name of the item.
    package var identifier: String?

    package init(
        url: String, headers: [HeaderField] = [], userAgent: String? = nil,
        allowsInvalidCertificate: Bool = false, startPosition: MediaTime = .zero, title: String? = nil,
        subtitle: String? = nil,
        segments: [Segment] = [], identifier: String? = nil
    ) {
        (self.url, self.headers, self.userAgent) = (url, headers, userAgent)
        self.allowsInvalidCertificate = allowsInvalidCertificate
        (self.startPosition, self.title, self.subtitle) = (startPosition, title, subtitle)
        (self.segments, self.identifier) = (segments, identifier)
    }

    init(_ reader: ParamReader) throws(RouteError) {
        // The members are those of a session that begins with the item.
        let start = try SessionStart(item: reader)
        self.init(
            url: start.url, headers: start.headers, userAgent: start.userAgent,
            allowsInvalidCertificate: start.allowsInvalidCertificate,
            startPosition: start.startPosition, title: start.title, subtitle: start.subtitle,
            segments: start.segments, identifier: start.identifier)
    }

    package var json: JSONValue {
        let start = SessionStart(
            url: url, headers: headers, userAgent: userAgent,
            allowsInvalidCertificate: allowsInvalidCertificate, startPosition: startPosition, title: title,
            subtitle: subtitle, segments: segments, identifier: identifier)
        return .object(start.itemMembers)
    }
}

// MARK: Writing

extension QueueCommand {
    var method: String {
        switch self {
        case .insert: "queue.insert"
        case .remove: "queue.remove"
        case .move: "queue.move"
        case .jump: "queue.jump"
        case .next: "queue.next"
        case .previous: "queue.previous"
        case .setRepeat: "queue.setRepeat"
        case .clear: "queue.clear"
        }
    }

    var members: [String: JSONValue] {
        switch self {
        case .insert(let items, let place): ["items": .array(items.map(\.json)), "place": place.json]
        case .remove(let items): ["items": .array(items.map { .text($0) })]
        case .move(let item, let place): ["item": .text(item), "place": place.json]
        case .jump(let item): ["item": .text(item)]
        case .next(let from), .previous(let from): from.map { ["from": .text($0)] } ?? [:]
        case .setRepeat(let mode): ["repeat": .text(mode.rawValue)]
        case .clear: [:]
        }
    }
}

extension WireQueuePlace {
    fileprivate var json: JSONValue {
        switch self {
        case .start: "start"
        case .next: "next"
        case .end: "end"
        case .after(let item): ["after": .text(item)]
        }
    }
}

// MARK: Reading

extension QueueCommand {
    /// Nil for any other method.
    init?(method: String, _ reader: ParamReader) throws(RouteError) {
        func item(_ key: String = "item") throws(RouteError) -> String {
            try reader.text(key, bytes: 1...WireLimits.queueItemID)
        }
        func from() throws(RouteError) -> String? {
            try reader.optionalText("from", bytes: 1...WireLimits.queueItemID)
        }
        switch method {
        case "queue.insert":
            var items: [QueueItemRequest] = []
            for item in try reader.objects("items", limit: WireLimits.queue) {
                items.append(try QueueItemRequest(item))
            }
            guard !items.isEmpty else {
                throw ParamReader.fault("params.items", "expected at least one item")
            }
            self = .insert(items, try Self.place(reader, default: .end))
        case "queue.remove":
            let items = try reader.texts("items", limit: WireLimits.queue, bytes: 1...WireLimits.queueItemID)
            guard !items.isEmpty else {
                throw ParamReader.fault("params.items", "expected at least one item")
            }
            self = .remove(items)
        case "queue.move": self = .move(try item(), try Self.place(reader))
        case "queue.jump": self = .jump(try item())
        case "queue.next": self = .next(from: try from())
        case "queue.previous": self = .previous(from: try from())
        case "queue.setRepeat": self = .setRepeat(try reader.choice("repeat", WireRepeat.self))
        case "queue.clear": self = .clear
        default: return nil
        }
    }

    private static func place(
        _ reader: ParamReader, default standard: WireQueuePlace? = nil
    ) throws(RouteError) -> WireQueuePlace {
        let value = reader.optional("place")
        if value == nil, let standard { return standard }
        if case .object = value {
            return .after(try reader.object("place").text("after", bytes: 1...WireLimits.queueItemID))
        }
        return switch try reader.choice("place", WireQueuePlace.Name.self) {
        case .start: .start
        case .next: .next
        case .end: .end
        }
    }
}
