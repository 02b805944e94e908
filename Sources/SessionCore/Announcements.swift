// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Names one announcement. Never used again.
package struct AnnouncementID: Equatable, Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// What is announced, what waits for that, and how the last announcement ended.
///
/// `Docs/announcements.md` has the rules.
package struct Announcements: Equatable, Sendable {
    /// Those that wait, with the one that is heard. A sender that asks for more is told so.
    package static let limit = 8

    /// How far an announcement has come.
    package enum Phase: String, Equatable, Sendable, CaseIterable {
        /// Others come before it.
        case waiting
        /// It is the first, and nothing of it was heard.
        case loading
        case playing
    }

    package struct Entry: Equatable, Sendable {
        package let id: AnnouncementID
        /// Nil once its sender has gone.
        package internal(set) var route: RouteID?
        /// Its sender's name.
        package let sender: String
        /// The end of its address, for people.
        package let name: String
        let announcement: Announcement
        package internal(set) var phase = Phase.waiting
        /// Its number at the renderer, once it is the first.
        var load: LoadID?
    }

    /// How an announcement ended.
    package struct Ended: Equatable, Sendable {
        package let id: AnnouncementID
        package let sender: String
        package let name: String
        package let end: AnnouncementEnd
    }

    /// In the order in which they are heard.
    package internal(set) var entries: [Entry] = []
    package internal(set) var last: Ended?

    /// The one that the renderer has, or is to have.
    var first: Entry? { entries.first }
    package init() {}
}

/// Why an announcement is over.
package enum AnnouncementEnd: Equatable, Sendable {
    /// It was heard to its end.
    case finished
    case cancelled(by: String)
    case failed(MediaFailure)
    case routeEnded
    case shutdown
}

/// The times that an announcement has.
package enum AnnouncementLimit: Equatable, Hashable, Sendable {
    /// Until its first sample is heard.
    case beginning
    /// From there to its end.
    case length
}
