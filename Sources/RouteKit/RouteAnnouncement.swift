// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel
import RouteWire

/// Why an announcement is over.
public enum AnnouncementEnd: Sendable, Equatable {
    /// It was heard to its end.
    case finished
    /// A sender, by this name, cancelled it.
    case cancelled(by: String)
    /// It could not be played, or no further. What else plays is not touched by that.
    case failed(MediaFailure)
    /// Its route is over.
    case routeEnded
    /// The receiver went away in good order.
    case shutdown
    /// It ended while the connection was down, so nobody told why.
    case lost
}

/// Something short that is heard over whatever plays at a receiver, which goes on softly meanwhile. `Route.announce` makes
/// them.
@RouteActor public final class RouteAnnouncement: Identifiable {
    /// What a receiver is told beside the URL.
    public struct Options: Sendable, Equatable {
        /// Request headers for fetching the media, at most 16 of 4 KiB each.
        public var headers: [HeaderField] = []
        /// In place of the receiver's own.
        public var userAgent: String?
        /// Its loudness within the device's volume, 0 to 1.
        public var volume = 1.0
        /// How far what plays is lowered meanwhile, in decibels from 0 to 60, which is silence; nil is the receiver's choice.
        public var ducking: Double?
        /// The defaults.
        public init() {}
    }

    /// How far it has come.
    public enum Phase: String, Sendable {
        /// Other announcements come before it.
        case waiting
        /// It is the next, and nothing of it was heard.
        case loading
        /// It is heard.
        case playing
    }

    /// The announcement's name on the wire.
    public let id: String
    /// How far it has come; nil once it is over.
    public private(set) var phase: Phase? = .waiting
    /// Why it is over; nil while it lasts.
    public private(set) var end: AnnouncementEnd?
    private let link: ReceiverLink
    private let announcer = Announcer()

    init(id: String, link: ReceiverLink) { (self.id, self.link) = (id, link) }

    /// A value after each change, the latest only; ends with the announcement.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    /// Waits for the end and says why. Nil if the waiting task is cancelled.
    public func ended() async -> AnnouncementEnd? {
        for await _ in updates() {}
        return end
    }

    /// Lets it fade away, or takes it out before it is heard. No effect for one that is over.
    public func cancel() async throws {
        guard end == nil else { return }
        _ = try await link.requests.send(.cancelAnnouncement(id))
    }

    func mirror(_ document: AnnouncementDocument) {
        guard end == nil, let now = Phase(rawValue: document.phase), now != phase else { return }
        phase = now
        announcer.announce()
    }

    func finish(_ end: AnnouncementEnd) {
        guard self.end == nil else { return }
        (self.end, phase) = (end, nil)
        announcer.finish()
    }
}

/// An announcement at a receiver, whosever it is.
public struct AnnouncementInfo: Sendable, Equatable, Identifiable {
    /// Its name on the wire.
    public let id: String
    /// The name of its sender.
    public let sender: String
    /// The end of its address, for people.
    public let name: String
    /// How far it has come.
    public let phase: RouteAnnouncement.Phase
}

extension ReceiverConnection {
    /// The announcements that are not over, in the order in which they are heard.
    public var announcements: [AnnouncementInfo] { link.mirror.allAnnouncements }
}

extension Route {
    /// The announcements at the receiver that are not over, whosever they are, in the order in which they are heard.
    public var announcements: [AnnouncementInfo] { link.mirror.allAnnouncements }

    /// Has the media at a URL heard over whatever plays, or alone. Returns when the receiver has taken it on;
    /// `RouteAnnouncement.ended()` tells the rest. Several are heard one after the other.
    public func announce(
        url: String, options: RouteAnnouncement.Options = .init()
    ) async throws -> RouteAnnouncement {
        try await link.announce(url: url, options: options)
    }

    /// Ends all announcements at the receiver, whosever they are.
    public func cancelAnnouncements() async throws {
        _ = try await link.requests.send(.cancelAnnouncement(nil))
    }
}

extension ReceiverLink {
    /// The object exists before anything else that the receiver says of it is read.
    func announce(url: String, options: RouteAnnouncement.Options) async throws -> RouteAnnouncement {
        let request = AnnouncementRequest(
            url: url, headers: options.headers, userAgent: options.userAgent,
            volume: options.volume == 1 ? nil : options.volume, ducking: options.ducking)
        return try await withCheckedThrowingContinuation { continuation in
            requests.send(.announce(request)) { [weak self] answer in
                continuation.resume(
                    with: answer.flatMap { value in
                        guard let self, case .value(.text(let id))? = try? Outcome(json: value) else {
                            return .failure(.badAnswer)
                        }
                        let announcement = RouteAnnouncement(id: id, link: self)
                        self.mirror.add(announcement)
                        return .success(announcement)
                    })
            }
        }
    }
}

extension ReceiverMirror {
    var allAnnouncements: [AnnouncementInfo] {
        (state?.announcements.queue ?? []).map {
            AnnouncementInfo(
                id: $0.id, sender: $0.sender, name: $0.name, phase: .init(rawValue: $0.phase) ?? .waiting)
        }
    }

    /// Follows an announcement that a receiver took on.
    func add(_ announcement: RouteAnnouncement) {
        announcements[announcement.id] = announcement
        mirrorAnnouncements(isFresh: false)
    }

    /// Takes over what the state says of them. `isFresh`: those that it does not name ended unheard.
    func mirrorAnnouncements(isFresh: Bool) {
        guard !announcements.isEmpty, let state else { return }
        for document in state.announcements.queue { announcements[document.id]?.mirror(document) }
        guard isFresh else { return }
        let present = Set(state.announcements.queue.map(\.id))
        for id in announcements.keys where !present.contains(id) {
            let last = state.announcements.last.flatMap { $0.id == id ? $0 : nil }
            announcementEnded(
                id, last.map { AnnouncementEnd(reason: $0.reason, by: nil, error: $0.error) } ?? .lost)
        }
    }

    func announcementEnded(_ id: String, _ end: AnnouncementEnd) {
        announcements.removeValue(forKey: id)?.finish(end)
        announce()
    }
}

extension AnnouncementEnd {
    init(reason: String, by: String?, error: MediaFailure?) {
        self =
            switch reason {
            case "finished": .finished
            case "cancelled": .cancelled(by: by ?? "another sender")
            case "failed":
                .failed(error ?? MediaFailure(.internalFailure, "the receiver did not say why"))
            case "routeEnded": .routeEnded
            case "shutdown": .shutdown
            default: .lost
            }
    }
}
