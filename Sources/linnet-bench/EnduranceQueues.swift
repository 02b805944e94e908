// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import SystemProbe

extension EnduranceSenders {
    /// Plays a queue of `length` items of all formats to its end, and changes it and its playback meanwhile.
    func playQueue(_ length: Int) async {
        // Five failures in a row, or one at the end, would end the session with a failure.
        let playable = items.filter(\.isPlayable)
        guard let last = playable.first else { return }
        var chosen: [EnduranceMedia.Item] = []
        while chosen.count + 1 < length {
            let kinds = chosen.last?.isPlayable == false ? playable : items
            if let item = kinds.randomElement(using: &random) { chosen.append(item) }
        }
        chosen.append(last)
        do {
            var options = RouteSession.Options()
            options.identifier = chosen[0].path
            options.following = chosen.dropFirst().map(queueItem)
            let session = RouteSession(url: "\(mediaURL)/\(chosen[0].path)", options: options)
            guard try await route(of: chance(2)).addSession(session) else {
                throw ProbeFailure("the session was not taken on", 0)
            }
            let media = try await session.start()
            let queue = media.playbackControl.queue
            let course = QueueCourse()
            let watching = Task { @RouteActor in
                for await _ in queue.updates() { course.note(queue) }
            }
            defer { watching.cancel() }
            let limit = monotonicNanoseconds() + 3_000_000_000 * Int64(chosen.count)
            while media.endReason == nil, monotonicNanoseconds() < limit {
                _ = await within(.milliseconds(chance(400))) { await media.ended() }
                if media.endReason == nil, chance(2) == 0 { await change(media.playbackControl, course) }
            }
            if media.endReason != .finished {
                let current = queue.current?.identifier ?? "nothing"
                problem("a queue: \(media.endReason.map { "\($0)" } ?? "no end, at \(current)")")
            }
            await session.stop()
            judge(course)
        } catch { problem("a queue: \(error)") }
    }

    private func queueItem(_ item: EnduranceMedia.Item) -> QueueItem {
        var queued = QueueItem(url: "\(mediaURL)/\(item.path)")
        queued.identifier = item.path
        return queued
    }

    /// Does one of the things that senders do to a queue while it plays. What comes too late is refused, and that is well.
    private func change(_ control: PlaybackControl, _ course: QueueCourse) async {
        let queue = control.queue
        guard let here = queue.items.firstIndex(where: { $0.id == queue.currentID }) else { return }
        // The last item stays the last.
        let coming = queue.items[(here + 1)...].dropLast().map(\.id)
        switch chance(9) {
        case 0, 1:
            control.isPlaying = false
            await rest(milliseconds: 150)
            control.isPlaying = true
        case 2: control.seek(to: place())
        case 3: for _ in 0..<5 { control.seek(to: place()) }
        case 4: control.volume = Double(chance(11)) / 10
        case 5 where !coming.isEmpty:
            course.left.insert(queue.items[here].id)
            try? await queue.next()
        case 6:
            guard let target = coming.dropFirst().first else { return }
            course.left.formUnion([queue.items[here].id, coming[0]])
            try? await queue.jump(to: target)
        case 7:
            guard let one = coming.randomElement(using: &random) else { return }
            // Where it lands depends on what plays when the command arrives.
            course.left.insert(one)
            if chance(2) == 0 {
                try? await queue.remove([one])
            } else {
                try? await queue.move(one, to: .next)
            }
        default:
            guard let item = items.filter(\.isPlayable).randomElement(using: &random) else { return }
            _ = try? await queue.insert([queueItem(item)], at: .next)
        }
    }

    /// Compares what became of each item with what should have.
    private func judge(_ course: QueueCourse) {
        let playable = Set(items.filter(\.isPlayable).map(\.path))
        for item in course.items.values {
            guard let path = item.identifier else { continue }
            if playable.contains(path) {
                if let error = item.error { problem("\(path) in a queue: \(error)") }
                count("queued")
            } else if item.error != nil {
                count("passed over")
            } else if !course.left.contains(item.id) {
                problem("\(path) in a queue: no failure")
            }
        }
    }
}

/// What was seen of a queue.
@RouteActor private final class QueueCourse {
    /// By their names, as they were seen last.
    private(set) var items: [String: QueuedItem] = [:]
    /// Those that need not be heard to their end.
    var left: Set<String> = []

    func note(_ queue: QueueControl) {
        for item in queue.items { items[item.id] = item }
    }
}
