// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What a group plays one after the other, as its host tells its members: what each item is, and beside it their order, so that
/// a change of one is a small step (`Docs/protocols/group.md`, section 4).
package struct WireGroupQueue: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let id: UInt64
        package let item: QueueItemRequest
        /// Why no member could play it.
        package let error: MediaFailure?
        package init(id: UInt64, item: QueueItemRequest, error: MediaFailure? = nil) {
            (self.id, self.item, self.error) = (id, item, error)
        }
    }

    /// Another one for each queue, so that a request to one is not taken for one to a later one.
    package let id: String
    package let current: UInt64
    /// In order.
    package let entries: [Entry]
    package let repeats: WireRepeat
    /// The greatest number that was given to an item.
    package let last: UInt64
    /// Written once: the host tells of its group every second.
    package let json: JSONValue

    package init(id: String, current: UInt64, entries: [Entry], repeats: WireRepeat = .off, last: UInt64) {
        (self.id, self.current, self.entries) = (id, current, entries)
        (self.repeats, self.last) = (repeats, last)
        var items: [String: JSONValue] = [:]
        for entry in entries { items[String(entry.id)] = entry.json }
        json = [
            "id": .text(id), "current": .text(String(current)),
            "order": .array(entries.map { .text(String($0.id)) }), "items": .object(items),
            "repeat": .text(repeats.rawValue), "last": .text(String(last)),
        ]
    }

    package static func == (one: WireGroupQueue, other: WireGroupQueue) -> Bool {
        one.id == other.id && one.current == other.current && one.repeats == other.repeats
            && one.last == other.last && one.entries == other.entries
    }

    /// Whether it is small enough to be told.
    package var isTellable: Bool { JSONText.encode(json).utf8.count <= WireLimits.groupQueue }

    /// The same without the words for failures.
    package var withoutWords: WireGroupQueue {
        WireGroupQueue(
            id: id, current: current,
            entries: entries.map {
                Entry(
                    id: $0.id, item: $0.item,
                    error: $0.error.map { MediaFailure($0.code, "", httpStatus: $0.httpStatus) })
            }, repeats: repeats, last: last)
    }

    package init(json: JSONValue) throws(RouteError) {
        let reader = try ParamReader(json, path: "group.queue")
        let order = try reader.texts("order", limit: WireLimits.queue, bytes: 1...WireLimits.queueItemID)
        let items = try reader.object("items")
        guard items.names.count == order.count, Set(order).count == order.count else {
            throw ParamReader.fault("group.queue.order", "expected the names of the items, each once")
        }
        var entries: [Entry] = []
        for name in order {
            let item = try items.object(name)
            let error = try item.optionalObject("error").map { reader throws(RouteError) in
                try MediaFailure(reader)
            }
            entries.append(
                Entry(
                    id: try Self.number(name, "order"), item: try QueueItemRequest(item),
                    error: error))
        }
        self.init(
            id: try reader.groupItem("id"), current: try Self.number(reader, "current"), entries: entries,
            repeats: try reader.choice("repeat", WireRepeat.self), last: try Self.number(reader, "last"))
        guard entries.contains(where: { $0.id == current }) else {
            throw ParamReader.fault("group.queue.current", "expected one of the items")
        }
        guard last <= WireLimits.queueItemNumber, entries.allSatisfy({ $0.id <= last }) else {
            throw ParamReader.fault("group.queue.last", "expected the greatest number of all")
        }
    }

    private static func number(_ reader: ParamReader, _ key: String) throws(RouteError) -> UInt64 {
        try number(try reader.text(key, bytes: 1...WireLimits.queueItemID), key)
    }

    /// Written in one way only, so that no two names are one number.
    private static func number(_ text: String, _ key: String) throws(RouteError) -> UInt64 {
        guard let number = UInt64(text), String(number) == text else {
            throw ParamReader.fault("group.queue.\(key)", "expected a number")
        }
        return number
    }
}

extension WireGroupQueue.Entry {
    fileprivate var json: JSONValue {
        guard let error, case .object(var members) = item.json else { return item.json }
        members["error"] = error.json
        return .object(members)
    }
}
