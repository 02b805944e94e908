// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The queue of a session in the state (`Docs/protocols/route.md`, section 7): what each item is, and beside it their order,
/// so that a change of one is a small step.
package struct QueueDocument: Equatable, Sendable {
    package var current: String
    package var order: [String]
    package var items: [String: QueueItemDocument]
    package var repeats: WireRepeat

    package init(
        current: String, order: [String], items: [String: QueueItemDocument], repeats: WireRepeat = .off
    ) {
        (self.current, self.order, self.items, self.repeats) = (current, order, items, repeats)
    }

    package var json: JSONValue {
        [
            "current": .text(current), "order": .array(order.map { .text($0) }),
            "items": .object(items.mapValues(\.json)), "repeat": .text(repeats.rawValue),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        current = try reader.text("current", bytes: 1...WireLimits.queueItemID)
        order = try reader.texts("order", limit: WireLimits.queue, bytes: 1...WireLimits.queueItemID)
        items = [:]
        for (id, item) in reader.optional("items")?.objectValue ?? [:] {
            items[id] = try QueueItemDocument(try ParamReader(item, path: "\(reader.path).items.\(id)"))
        }
        // A way that only a later receiver knows is shown as none.
        repeats = WireRepeat(rawValue: try reader.optionalText("repeat", bytes: 1...64) ?? "off") ?? .off
    }
}

/// One item of a queue in the state.
package struct QueueItemDocument: Equatable, Sendable {
    /// For people where there is no title.
    package var name: String
    package var title: String?
    package var subtitle: String?
    package var identifier: String?
    /// Why it could not be played.
    package var error: MediaFailure?

    package init(
        name: String, title: String? = nil, subtitle: String? = nil, identifier: String? = nil,
        error: MediaFailure? = nil
    ) {
        (self.name, self.title, self.subtitle) = (name, title, subtitle)
        (self.identifier, self.error) = (identifier, error)
    }

    package var json: JSONValue {
        [
            "name": .text(name), "title": JSONValue(title), "subtitle": JSONValue(subtitle),
            "identifier": JSONValue(identifier), "error": error?.json ?? .null,
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        name = try reader.optionalText("name", bytes: 0...1_024) ?? ""
        title = try reader.optionalText("title", bytes: 0...65_536)
        subtitle = try reader.optionalText("subtitle", bytes: 0...65_536)
        identifier = try reader.optionalText("identifier", bytes: 0...1_024)
        let failure = try reader.optionalObject("error")
        error = nil
        if let failure { error = try MediaFailure(failure) }
    }
}
