// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

// Announcements are heard one after the other, in the order in which they were asked for, over whatever plays. No session knows
// of them. The first has a number at the renderer; what comes late of an earlier number is dropped.
extension ReceiverState {
    mutating func announce(
        _ request: RequestID, _ wanted: Announcement, fresh: AnnouncementID
    ) throws(Refusal) -> [ReceiverEffect] {
        let route = try activeRoute(request)
        let item = QueueItem(item: wanted.item)
        try item.validate(schemes: policy.allowedSchemes)
        guard announcements.entries.count < Announcements.limit else {
            throw Refusal(.limitReached, "\(Announcements.limit) announcements wait, which is the most.")
        }
        announcements.entries.append(
            Announcements.Entry(
                id: fresh, route: route, sender: routes[route]?.sender.name ?? "", name: item.name,
                announcement: wanted))
        return beginAnnouncement() + [.answer(request, .announced(fresh))]
    }

    /// Nil: all of them.
    mutating func cancelAnnouncement(
        _ request: RequestID, _ id: AnnouncementID?
    ) throws(Refusal) -> [ReceiverEffect] {
        let route = try activeRoute(request)
        let name = routes[route]?.sender.name ?? ""
        return endAnnouncements(.cancelled(by: name)) { id == nil || $0.id == id }
            + [.answer(request, .accepted)]
    }

    /// Gives the first announcement a number and its time, and the renderer the announcement if it is there.
    private mutating func beginAnnouncement() -> [ReceiverEffect] {
        guard let first = announcements.first, first.phase == .waiting else { return [] }
        let load = nextLoad()
        announcements.entries[0].phase = .loading
        announcements.entries[0].load = load
        return render(.announce(load, first.announcement)) + [.armAnnouncementTimer(load, .beginning)]
    }

    /// Ends those that `isMeant` picks.
    mutating func endAnnouncements(
        _ end: AnnouncementEnd, where isMeant: (Announcements.Entry) -> Bool
    ) -> [ReceiverEffect] {
        let ended = announcements.entries.filter(isMeant)
        guard !ended.isEmpty else { return [] }
        announcements.entries.removeAll(where: isMeant)
        let effects = ended.flatMap { entry in
            (entry.load.map { render(.cancelAnnouncement($0)) } ?? []) + [over(entry, end)]
        }
        return effects + beginAnnouncement()
    }

    /// The first announcement is over by itself; the renderer has nothing of it any more.
    private mutating func finishAnnouncement(
        _ load: LoadID, _ end: AnnouncementEnd
    ) -> [ReceiverEffect] {
        guard let first = announcements.first, first.load == load else { return [] }
        announcements.entries.removeFirst()
        return [over(first, end)] + beginAnnouncement()
    }

    private mutating func over(_ entry: Announcements.Entry, _ end: AnnouncementEnd) -> ReceiverEffect {
        announcements.last = .init(id: entry.id, sender: entry.sender, name: entry.name, end: end)
        return .tellAnnouncementEnd(entry.id, end)
    }

    // MARK: What the renderer says

    mutating func announcementBegan(_ load: LoadID) -> [ReceiverEffect] {
        guard let first = announcements.first, first.load == load, first.phase == .loading else { return [] }
        announcements.entries[0].phase = .playing
        return [.armAnnouncementTimer(load, .length)]
    }

    mutating func announcementEnded(_ load: LoadID) -> [ReceiverEffect] {
        finishAnnouncement(load, .finished)
    }

    mutating func announcementFailed(_ load: LoadID, _ failure: MediaFailure) -> [ReceiverEffect] {
        finishAnnouncement(load, .failed(failure))
    }

    mutating func announcementTimedOut(_ load: LoadID, _ limit: AnnouncementLimit) -> [ReceiverEffect] {
        let failure: MediaFailure
        switch limit {
        case .beginning where device.output.state == .lost || device.output.state == .busy:
            failure = MediaFailure(.output, "There is no sound output.")
        case .beginning where !rendererIsUp:
            failure = MediaFailure(.rendererUnavailable, "The renderer did not start in time.")
        case .beginning: failure = MediaFailure(.timeout, "The announcement was not ready in time.")
        case .length: failure = MediaFailure(.timeout, "The announcement was too long, and cut off.")
        }
        return endAnnouncements(.failed(failure)) {
            $0.load == load && ($0.phase == .loading) == (limit == .beginning)
        }
    }

    /// What is said at a moment is of no use later: an announcement does not wait for the card to come back.
    mutating func outputChanged(_ output: OutputStatus) -> [ReceiverEffect] {
        device.output = output
        guard output.state == .lost || output.state == .busy else { return [] }
        let failure = MediaFailure(.output, "The sound output was lost.")
        return endAnnouncements(.failed(failure)) { $0.phase == .playing }
    }

    /// True if the renderer has an announcement, which then may be what it failed with.
    var isAnnouncing: Bool { rendererIsUp && announcements.first != nil }

    /// The renderer is gone, and with it the announcement that it had. `wasForced`: that was not its fault, so one that was not
    /// heard yet is told to the next renderer.
    mutating func announcementLost(wasForced: Bool) -> [ReceiverEffect] {
        guard let first = announcements.first, let load = first.load, !wasForced || first.phase == .playing
        else { return [] }
        let failure = MediaFailure(.rendererCrashed, "The renderer ended in the middle of the announcement.")
        return finishAnnouncement(load, .failed(failure))
    }

    /// What a renderer that has started is told.
    func announcementCommands() -> [ReceiverEffect] {
        guard let first = announcements.first, let load = first.load else { return [] }
        return render(.announce(load, first.announcement))
    }
}
