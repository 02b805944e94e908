// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Names one item of a session's queue. Never used again in that session.
package struct QueueItemID: Equatable, Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// What happens after the last item, or after each.
package enum RepeatMode: String, Equatable, Sendable, CaseIterable { case off, one, all }

/// An item as a sender gives it.
package struct QueueItem: Equatable, Sendable {
    package var item: MediaItem
    /// What the sender knows better than the media.
    package var metadata: Metadata
    package var segments: [Segment]
    /// The sender's own name of the item, passed through.
    package var identifier: String?
    package init(
        item: MediaItem, metadata: Metadata = .init(), segments: [Segment] = [], identifier: String? = nil
    ) {
        (self.item, self.metadata, self.segments) = (item, metadata, segments)
        self.identifier = identifier
    }
}

/// Where an item goes. Never an index: somebody else may have changed the order meanwhile.
package enum QueuePlace: Equatable, Sendable {
    case start
    /// After the current item.
    case next
    case end
    case after(QueueItemID)
}

/// One item of a queue.
package struct QueueEntry: Equatable, Sendable {
    package let id: QueueItemID
    package internal(set) var given: QueueItem
    /// For people where there is no title: the last part of the address's path.
    package let name: String
    /// Why the item could not be played; it is passed over until somebody jumps to it.
    package internal(set) var failure: MediaFailure?

    package init(id: QueueItemID, given: QueueItem, failure: MediaFailure? = nil) {
        (self.id, self.given, self.failure) = (id, given, failure)
        name = given.name
    }
}

/// The items of a session, in order, and which of them is current. A queue has at least one item.
///
/// It decides what follows what, and never what is loaded. Its transitions are in `Docs/state-machines/queue.md`.
package struct PlayQueue: Equatable, Sendable {
    /// The most items.
    package static let limit = 1000
    /// The most bytes of titles, names and identifiers that the state shows, as JSON has them.
    package static let shownLimit = 256 * 1024
    /// The most bytes of addresses and headers that are kept.
    package static let keptLimit = 4 * 1024 * 1024
    /// The longest words for a failure that the state shows, in bytes.
    static let messageLimit = 256
    /// So many items in a row that could not be played end the session.
    package static let failureLimit = 5

    /// In order.
    package private(set) var entries: [QueueEntry] = []
    package private(set) var current: QueueItemID
    package internal(set) var repeats: RepeatMode
    /// Items in a row that could not be played, and why the last of them could not.
    private(set) var failures = 0
    private(set) var lastFailure: MediaFailure?
    /// The greatest number that was given to an item.
    package private(set) var lastID: UInt64 = 0

    /// A queue whose first item is current. Refuses what is beyond the limits.
    package init(_ items: [QueueItem], repeats: RepeatMode = .off) throws(Refusal) {
        (current, self.repeats) = (QueueItemID(1), repeats)
        guard !items.isEmpty else { throw Refusal(.invalidParams, "There is no item.") }
        _ = try insert(items, at: .end)
    }

    /// A queue as another receiver has it. Refuses what is none, and what is beyond the limits.
    package init(
        restoring entries: [QueueEntry], current: QueueItemID, lastID: UInt64, repeats: RepeatMode
    ) throws(Refusal) {
        guard entries.count <= Self.limit, Set(entries.map(\.id)).count == entries.count,
            entries.contains(where: { $0.id == current }), entries.allSatisfy({ $0.id.number <= lastID })
        else { throw Refusal(.invalidParams, "This is no queue.") }
        try Self.checkSize(entries)
        (self.entries, self.current, self.lastID, self.repeats) = (entries, current, lastID, repeats)
    }

    package subscript(_ id: QueueItemID) -> QueueEntry? { index(of: id).map { entries[$0] } }

    private func index(of id: QueueItemID) -> Int? { entries.firstIndex { $0.id == id } }

    private var currentIndex: Int { index(of: current) ?? 0 }

    // MARK: What follows

    /// The item after the current one: when that one is over, or for `explicitly` when somebody asks for the next. Items that
    /// failed are passed over.
    package func successor(explicitly: Bool) -> QueueItemID? {
        if repeats == .one, !explicitly { return current }
        return following(currentIndex)
    }

    private func following(_ index: Int) -> QueueItemID? {
        let later = entries.indices.dropFirst(index + 1)
        let around = repeats == .all ? entries.indices.prefix(index + 1) : entries.indices.prefix(0)
        return (later.first { entries[$0].failure == nil } ?? around.first { entries[$0].failure == nil })
            .map { entries[$0].id }
    }

    /// The item before the current one; nil where there is none.
    package var predecessor: QueueItemID? {
        let index = currentIndex
        let earlier = entries[..<index].last { $0.failure == nil }
        let around = repeats == .all ? entries[(index + 1)...].last { $0.failure == nil } : nil
        return (earlier ?? around)?.id
    }

    /// True if too many items in a row could not be played.
    package var isHopeless: Bool { failures >= Self.failureLimit }

    /// Makes an item current. False if it is not there.
    package mutating func go(to id: QueueItemID) -> Bool {
        guard let index = index(of: id) else { return false }
        entries[index].failure = nil
        current = id
        return true
    }

    /// Notes that an item cannot be played.
    package mutating func fail(_ id: QueueItemID, _ failure: MediaFailure) {
        guard let index = index(of: id) else { return }
        // The words may be an element's, of any length.
        entries[index].failure = MediaFailure(
            failure.code, failure.message.prefix(bytes: Self.messageLimit), httpStatus: failure.httpStatus)
        (failures, lastFailure) = (failures + 1, failure)
    }

    /// Notes that the current item can be played.
    package mutating func succeed() { (failures, lastFailure) = (0, nil) }

    // MARK: Changes

    /// Puts items in, in their order; returns their names.
    package mutating func insert(_ items: [QueueItem], at place: QueuePlace) throws(Refusal) -> [QueueItemID]
    {
        guard entries.count + items.count <= Self.limit else {
            throw Refusal(.limitReached, "A queue has at most \(Self.limit) items.")
        }
        var added: [QueueEntry] = []
        for (offset, item) in items.enumerated() {
            let id = QueueItemID(lastID &+ UInt64(offset) &+ 1)
            added.append(QueueEntry(id: id, given: item))
        }
        try Self.checkSize(entries + added)
        let index = try self.index(for: place)
        lastID &+= UInt64(items.count)
        entries.insert(contentsOf: added, at: index)
        return added.map(\.id)
    }

    /// Replaces what was given with an item; what is nil stays.
    mutating func amend(_ id: QueueItemID, _ metadata: Metadata?, _ segments: [Segment]?) throws(Refusal) {
        var all = entries
        let index = try known(id)
        if let metadata { all[index].given.metadata = metadata }
        if let segments { all[index].given.segments = segments }
        try Self.checkSize(all)
        entries = all
    }

    private static func checkSize(_ entries: [QueueEntry]) throws(Refusal) {
        guard entries.reduce(0, { $0 + $1.shownBytes }) <= shownLimit,
            entries.reduce(0, { $0 + $1.given.keptBytes }) <= keptLimit
        else { throw Refusal(.limitReached, "The titles or addresses of the queue are too long together.") }
    }

    private func index(for place: QueuePlace) throws(Refusal) -> Int {
        switch place {
        case .start: return 0
        case .next: return entries.isEmpty ? 0 : currentIndex + 1
        case .end: return entries.count
        case .after(let id): return try known(id) + 1
        }
    }

    private func known(_ id: QueueItemID) throws(Refusal) -> Int {
        guard let index = index(of: id) else {
            throw Refusal(.itemUnknown, "There is no such item in the queue, or no longer.")
        }
        return index
    }

    /// What became of the current item when items were removed.
    enum Removal: Equatable {
        case kept
        /// It went; this one takes its place.
        case replaced(QueueItemID)
        /// It went, and nothing follows.
        case over
    }

    /// Takes items out; those that are not there are passed over. The queue is not to be used after `over`.
    mutating func remove(_ ids: Set<QueueItemID>) -> Removal {
        guard ids.contains(current), index(of: current) != nil else {
            entries.removeAll { ids.contains($0.id) }
            return .kept
        }
        let index = currentIndex
        let isLeft: (QueueEntry) -> Bool = { !ids.contains($0.id) && $0.failure == nil }
        let heir =
            entries[(index + 1)...].first(where: isLeft)
            ?? (repeats == .all ? entries[..<index].first(where: isLeft) : nil)
        guard let heir else { return .over }
        entries.removeAll { ids.contains($0.id) }
        return .replaced(heir.id)
    }

    /// Puts an item elsewhere. After itself is where it is.
    mutating func move(_ id: QueueItemID, to place: QueuePlace) throws(Refusal) {
        let index = try known(id)
        let target = try self.index(for: place)
        let entry = entries.remove(at: index)
        entries.insert(entry, at: target > index ? target - 1 : target)
    }

    /// Takes out all items but the current one.
    mutating func clear() { entries.removeAll { $0.id != current } }
}

extension QueueEntry {
    fileprivate var shownBytes: Int {
        [name, given.metadata.title, given.metadata.subtitle, given.identifier].reduce(0) { sum, text in
            sum + (text?.utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5c ? 2 : 1) } ?? 0)
        }
    }
}

extension QueueItem {
    /// The longest name that stands for a title, in bytes.
    private static let nameLimit = 128

    fileprivate var keptBytes: Int {
        item.headers.reduce(item.uri.utf8.count + (item.userAgent?.utf8.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        } + segments.reduce(0) { $0 + 64 + ($1.identifier?.utf8.count ?? 0) }
    }

    /// The last part of the address's path, without query and escapes, or the host. A query may hold a secret.
    var name: String {
        let address = item.uri.prefix { $0 != "?" && $0 != "#" }
        let parts = address.split(separator: "/")
        guard let last = parts.last, parts.count > 1 else { return "" }
        // What stands before an @ is a name and a password.
        let part = parts.count == 2 ? last.split(separator: "@").last ?? "" : last
        let text = String(validating: Self.unescaped(part.utf8), as: UTF8.self) ?? String(part)
        return String(text.unicodeScalars.filter { $0.properties.generalCategory != .control })
            .prefix(bytes: Self.nameLimit)
    }

    private static func unescaped(_ text: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
