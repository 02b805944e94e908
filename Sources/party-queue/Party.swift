// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinnetApplication
import RouteKit

/// One queue for everybody with a session. Messages are lines of text:
///
///     add URL [TITLE]    skip    list
///
/// After each change everybody is told who did what, and then what plays: `Ann added So What`, `playing So What (Ann)`.
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
    /// Changes that their guests are not yet named for; what plays is told after them.
    private var changes = 0

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
            try await change("\(guest.sender.name) added \(title)") {
                try await add(String(words[1]), Track(title: title, guest: guest.sender.name))
            }
        case "skip":
            guard let media else { throw Fault("nothing plays") }
            try await change("\(guest.sender.name) skipped") { try await media.playbackControl.queue.next() }
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
        (self.media, current) = (media, nil)
        tracks = [:]
        if let first = media.playbackControl.queue.currentID { tracks[first] = track }
        Task { await follow(media) }
    }

    private func change(_ news: String, _ make: @RouteActor () async throws -> Void) async throws {
        changes += 1
        do {
            try await make()
            await tell(news)
        } catch {
            changes -= 1
            await tellWhatPlays()
            throw error
        }
        changes -= 1
        await tellWhatPlays()
    }

    private func follow(_ media: MediaSession) async {
        for await _ in media.playbackControl.updates() { await tellWhatPlays() }
        await tellWhatPlays()
    }

    private func tellWhatPlays() async {
        guard changes == 0, let media else { return }
        if media.endReason != nil {
            (self.media, current) = (nil, nil)
            await tell("the queue is empty")
        } else if let now = media.playbackControl.queue.currentID, now != current, let track = tracks[now],
            media.playbackControl.isReady
        {
            current = now
            await tell("playing \(track.title) (\(track.guest))")
        }
    }
}
