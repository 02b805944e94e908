// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinnetApplication
import RouteKit

/// One queue for everybody with a session. Messages are lines of text:
///
///     add URL [TITLE]    skip    list
///
/// After each change everybody is told who did what, and what plays: `Ann added Blue in Green`, `playing So What (Ben)`.
@RouteActor final class Party: ApplicationDelegate, SessionDataChannelDelegate {
    private struct Track {
        let title: String
        let guest: String
    }

    private var application: Application?
    private var guests: [ObjectIdentifier: ApplicationSession] = [:]
    /// What was added, by the item's name in the queue.
    private var tracks: [String: Track] = [:]
    private var media: MediaSession?
    private var current: String?

    func host(_ application: Application) { self.application = application }

    // MARK: Guests

    func application(_ application: Application, opened session: ApplicationSession) async throws {
        guests[ObjectIdentifier(session.dataChannel)] = session
        session.dataChannel.delegate = self
        await tell("\(session.sender.name) is here")
    }

    func application(_ application: Application, closed session: ApplicationSession, reason: String) async {
        guests[ObjectIdentifier(session.dataChannel)] = nil
        await tell("\(session.sender.name) is gone")
    }

    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
        guard let guest = guests[ObjectIdentifier(channel)] else { return }
        let words = String(decoding: message, as: UTF8.self).split(
            separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        switch words.first {
        case "add" where words.count >= 2:
            let title = words.count > 2 ? String(words[2]) : String(words[1].split(separator: "/").last ?? "")
            try await add(String(words[1]), Track(title: title, guest: guest.sender.name))
            await tell("\(guest.sender.name) added \(title)")
        case "skip":
            guard let media else { throw Fault("nothing plays") }
            try await media.playbackControl.queue.next()
            await tell("\(guest.sender.name) skipped")
        case "list":
            let order = media?.playbackControl.queue.items ?? []
            let lines = order.map { item in
                let track = tracks[item.id]
                return "\(item.id == current ? "*" : " ") \(track?.title ?? "?") (\(track?.guest ?? "?"))"
            }
            try await channel.post(Array((lines.isEmpty ? "empty" : lines.joined(separator: "\n")).utf8))
        default: throw Fault("say: add URL [TITLE], skip, or list")
        }
    }

    private struct Fault: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private func tell(_ text: String) async { await application?.broadcast(Array(text.utf8)) }

    // MARK: The queue

    private func add(_ url: String, _ track: Track) async throws {
        if let media, media.endReason == nil {
            var item = QueueItem(url: url)
            item.title = track.title
            for name in try await media.playbackControl.queue.insert([item]) { tracks[name] = track }
            return
        }
        guard let application else { throw Fault("not yet") }
        var options = RouteSession.Options()
        options.title = track.title
        let media = try await application.play(url, options: options)
        self.media = media
        tracks = [:]
        if let first = media.playbackControl.queue.currentID { tracks[first] = track }
        Task { await follow(media) }
    }

    /// Tells what plays, until the queue has ended.
    private func follow(_ media: MediaSession) async {
        let updates = media.playbackControl.updates()
        for await _ in updates {
            let now = media.playbackControl.queue.currentID
            guard let now, now != current, media.playbackControl.isReady else { continue }
            current = now
            if let track = tracks[now] { await tell("playing \(track.title) (\(track.guest))") }
        }
        guard self.media === media else { return }
        (self.media, current) = (nil, nil)
        await tell("the queue is empty")
    }
}
