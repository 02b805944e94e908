// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel
import RouteWire

/// An item to be put into a session's queue.
public struct QueueItem: Sendable, Equatable {
    /// What is played.
    public var url: String
    /// Request headers for fetching the media, at most 16 of 4 KiB each.
    public var headers: [HeaderField] = []
    /// In place of the receiver's own.
    public var userAgent: String?
    /// True to take any certificate of the URL's host, also one that is expired or signed by nobody who is trusted: whoever
    /// is between receiver and host can then listen and pretend to be it. Other hosts are checked as ever.
    public var allowsInvalidCertificate = false
    /// Where to begin; nil is the start, or the live edge.
    public var startPosition: MediaTime?
    /// What is better known here than in the media.
    public var title: String?
    /// What stands below the title.
    public var subtitle: String?
    /// Parts of the timeline with a meaning of their own, at most 64.
    public var segments: [Segment] = []
    /// Our own name of the item, at most 256 bytes; everybody sees it.
    public var identifier: String?
    /// An item of which nothing but its URL is said.
    public init(url: String) { self.url = url }
}

/// An item in a session's queue, as the receiver shows it.
public struct QueuedItem: Sendable, Equatable, Identifiable {
    /// The receiver's name of the item; used once in a session.
    public let id: String
    /// For people where there is no title.
    public let name: String
    /// What the sender called it; the title from the media shows in `PlaybackControl.metadata` when it plays.
    public let title: String?
    /// What stands below the title.
    public let subtitle: String?
    /// The sender's own name of the item.
    public let identifier: String?
    /// Why it could not be played. It is passed over until somebody jumps to it.
    public let error: MediaFailure?

    /// The title, or the name.
    public var displayName: String { title ?? (name.isEmpty ? "untitled" : name) }
}

/// Where items go in a queue. Never an index: other senders may change the order at the same time.
public enum QueuePlace: Sendable, Equatable {
    /// Before all others.
    case start
    /// After the current item.
    case next
    /// After all others.
    case end
    /// After the item of this name.
    case after(String)
}

/// What happens after an item, or after the last one.
public enum RepeatMode: String, Sendable, CaseIterable {
    /// The session ends with the last item.
    case off
    /// Each item follows itself.
    case one
    /// The first item follows the last one.
    case all
}

/// A request to a session's queue.
public enum QueueCommand: Sendable, Equatable {
    /// Puts items in. Lists of any length: those that are too long for one request go in several.
    case insert([QueueItem], at: QueuePlace)
    /// Takes items out, by their names. Those that are gone are passed over.
    case remove([String])
    /// Puts an item elsewhere.
    case move(String, to: QueuePlace)
    /// Goes to an item, from its start.
    case jump(to: String)
    /// Goes to the next item. With `from` only if that one is still current, so that two senders do not skip two.
    case next(from: String?)
    /// Begins the item again, or goes to the one before.
    case previous(from: String?)
    /// What happens after an item, or after the last one.
    case setRepeat(RepeatMode)
    /// Takes out all but the current item.
    case clear
}

/// A queue as a receiver describes it.
struct QueueSnapshot: Equatable, Sendable {
    var items: [QueuedItem] = []
    var current: String?
    var repeatMode = RepeatMode.off

    /// What is known before the receiver says anything, or from a receiver without queues.
    init() {}

    init(_ queue: QueueDocument) {
        items = queue.order.compactMap { id in queue.items[id].map { QueuedItem(id: id, $0) } }
        current = queue.current
        repeatMode = RepeatMode(queue.repeats)
    }
}
