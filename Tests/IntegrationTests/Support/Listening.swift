// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit

extension MediaTime {
    static func seconds(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64(seconds * 1e9)) }
}

extension CardRecording {
    /// The second of the test media that is heard at a moment; nil where there is none.
    func second(at time: Int64, window: Duration = .milliseconds(60)) -> Int? {
        let sound = heard(from: time, for: window)
        return sound.isSilent ? nil : sound.positionSecond
    }

    /// When second `second` of the test media begins to be heard, searched from `time` on; nil if it is not heard.
    /// Exact to a few milliseconds.
    func beginning(ofSecond second: Int, from time: Int64) -> Int64? {
        guard let end = lastSound(), let start = segments.first?.start else { return nil }
        let step: Int64 = 5_000_000
        let middle = 390 + 20 * Double(second)
        var at = max(time, start)
        while at < end - 100_000_000 {
            // The window is half and half where its frequency is in the middle of both. A window that is partly silent
            // may have any frequency, so what follows must be of that second.
            if let frequency = heard(from: at, for: .milliseconds(40)).frequency, frequency >= middle,
                frequency < middle + 25, self.second(at: at + 40_000_000) == second
            {
                return at + 20_000_000
            }
            at += step
        }
        return nil
    }
}

extension Sequence {
    /// The first value that `body` finds.
    fileprivate func firstNonNil<Value>(_ body: (Element) -> Value?) -> Value? {
        for element in self { if let value = body(element) { return value } }
        return nil
    }
}

extension SimulatedCard {
    /// Waits until second `second` of the test media begins to be heard, and has been for a while; says when.
    mutating func beginning(
        ofSecond second: Int, from time: Int64, within limit: Duration = .seconds(30)
    ) async throws -> Int64 {
        var found: Int64?
        var looked: Int64 = 0
        let recording = await recording(within: limit) { recording in
            // A look costs; nothing is missed by taking one only every 50 ms.
            guard Self.now - looked > 50_000_000 else { return false }
            looked = Self.now
            found = recording.beginning(ofSecond: second, from: time)
            return found.map { $0 + 100_000_000 < Self.now } ?? false
        }
        guard recording != nil, let found else {
            throw TestFailure(
                "second \(second) is not heard within \(limit); now: \(String(describing: self.recording().second(at: Self.now - 100_000_000)))"
            )
        }
        return found
    }

    /// Waits until a program that opened the card after `time` is heard; what was in the card when the one before died
    /// does not count. Says when its first sound was heard.
    mutating func soundAfterDeath(at time: Int64, within limit: Duration = .seconds(30)) async throws -> Int64
    {
        var start: Int64?
        let recording = await recording(within: limit) { recording in
            let opened = recording.events.firstNonNil { event in
                if case .opened(let at) = event, at > time { at } else { nil }
            }
            guard let opened, let segment = recording.segments.first(where: { $0.start > opened }) else {
                return false
            }
            start = recording.firstSound(from: segment.start)
            return start != nil
        }
        guard recording != nil, let start else { throw TestFailure("nothing is heard again within \(limit)") }
        return start
    }

    /// Waits for `length` of sound after the first that is heard from `time` on, and says when that was.
    mutating func sound(
        from time: Int64, for length: Duration = .milliseconds(200), within limit: Duration = .seconds(30)
    ) async throws -> (start: Int64, recording: CardRecording) {
        let nanoseconds = Int64(length / .nanoseconds(1))
        var start: Int64?
        let recording = await recording(within: limit) { recording in
            if start == nil { start = recording.firstSound(from: time) }
            return start.map { $0 + nanoseconds < Self.now } ?? false
        }
        guard let recording, let start else { throw TestFailure("no sound within \(limit)") }
        return (start, recording)
    }
}

extension CardRecording {
    /// True if a tone alone is heard for 0.2 s, all the time.
    fileprivate func isTone(_ hertz: Double, at time: Int64, channel: Int) -> Bool {
        (0..<4).allSatisfy { part in
            let sound = heard(
                from: time + Int64(part) * 50_000_000, for: .milliseconds(50), channel: channel)
            return sound.peak > 1_000 && ((sound.frequency ?? 0) - hertz).magnitude < hertz / 50
        }
    }
}

extension SimulatedCard {
    /// Waits until a tone alone is heard for 0.2 s after `time`, and says when that was.
    @discardableResult
    mutating func hears(
        _ hertz: Double, after time: Int64 = now, channel: Int = 1, within limit: Duration = .seconds(40)
    ) async throws -> Int64 {
        var at = time
        let recording = await recording(within: limit) { recording in
            while at + 250_000_000 < Self.now {
                if recording.isTone(hertz, at: at, channel: channel) { return true }
                at += 20_000_000
            }
            return false
        }
        guard recording != nil else {
            let last = self.recording().heard(
                from: Self.now - 300_000_000, for: .milliseconds(200), channel: channel)
            throw TestFailure(
                "\(hertz) Hz is not heard within \(limit); now: peak \(last.peak), "
                    + "\(String(describing: last.frequency)) Hz")
        }
        return at
    }
}
