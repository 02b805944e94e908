// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverTestKit
import SystemProbe

/// What one player did with one format: milliseconds from a request to the first heard sample that belongs to it.
struct SoundTimes {
    var play = Samples()
    var seek = Samples()
    var resume = Samples()
}

/// Waits for sounds on one simulated card.
struct Ear {
    private var card: SimulatedCard

    init(_ bench: Workspace, card number: Int) {
        card = SimulatedCard(folder: "\(bench.folder)/card", number: number)
    }

    /// When the first sample of `channel` is heard at or after `time`; nil if that takes over `milliseconds`.
    ///
    /// Nil as well if the channel was not silent shortly before: then what is heard need not be what was asked for.
    mutating func firstSound(
        from time: Int64, channel: Int, threshold: Int16, within milliseconds: Int = 8_000
    ) -> Int64? {
        let limit = time + Int64(milliseconds) * 1_000_000
        while monotonicNanoseconds() < limit {
            // First of all the player is left alone: reading the recording takes a processor for a while.
            pause(milliseconds: 20)
            // Frames that are written but not yet due can still be dropped, so they do not count.
            if let heard = card.recording().firstSound(
                from: time - Self.silence, channel: channel, threshold: threshold),
                heard <= monotonicNanoseconds()
            {
                return heard < time ? nil : heard
            }
        }
        return nil
    }

    /// Shorter than any pause that the bench makes before it asks for a sound.
    private static let silence: Int64 = 150_000_000
}

/// Plays, seeks, pauses and resumes `tries` times. The media sounds on the left in its first minute and on the right in its
/// second, so a seek counts only when the new place is heard.
func measureSounds(
    of player: any Player, ending: String, ear: inout Ear, tries: Int, seeks: Bool
) async throws -> SoundTimes {
    var times = SoundTimes()
    let url = "\(player.baseURL)/track.\(ending)"
    /// From the moment of a request to the first sound on `channel`.
    func listen(since start: Int64, channel: Int, threshold: Int16) -> Double? {
        ear.firstSound(from: start, channel: channel, threshold: threshold).map { Double($0 - start) / 1e6 }
    }
    // The first try warms everything up and does not count.
    for number in 0...tries {
        let time = listen(since: try await player.play(url), channel: 0, threshold: 33)
        if number > 0 { times.play.add(time) }
        pause(milliseconds: 200)
        if number < tries {
            try await player.stop()
            pause(milliseconds: 300)
        }
    }
    guard seeks else {
        try await player.stop()
        return times
    }
    // A lossy format leaks a little into the other channel, so what counts is well above that.
    for number in 0..<tries {
        let isFar = number % 2 == 0
        pause(milliseconds: 450)
        let start = try await player.seek(seconds: (isFar ? 90 : 20) + number % 3)
        times.seek.add(listen(since: start, channel: isFar ? 1 : 0, threshold: 3_000))
    }
    for _ in 0..<tries {
        pause(milliseconds: 250)
        try await player.pause()
        pause(milliseconds: 600)
        let start = try await player.resume()
        times.resume.add(listen(since: start, channel: tries % 2 == 1 ? 1 : 0, threshold: 33))
    }
    try await player.stop()
    pause(milliseconds: 300)
    return times
}

/// `first-sound`, `seek` and `resume`, which share their players.
func benchSounds(
    _ bench: Workspace, wanted: Set<String>, formats endings: [String], players: [String]?, tries: Int,
    report: (Figure) -> Void
) async {
    let seeks = wanted.contains("seek") || wanted.contains("resume")
    var results: [String: [String: SoundTimes]] = [:]
    var missing: [(name: String, reason: String)] = []
    // One after the other, in the same minutes: two players at once would measure each other.
    for name in Bench.players where players?.contains(name) ?? true {
        do {
            if name != "linnet", findProgram(name) == nil {
                throw ProbeFailure("not installed", 0)
            }
            bench.cleanCard(0)
            var ear = Ear(bench, card: 0)
            let player: any Player
            switch name {
            case "linnet":
                let ours = try Ours(bench, device: "plugsim0")
                _ = try await ours.connect()
                player = ours
            case "mpd": player = try MPD(bench, device: "plugsim0")
            case "mpv": player = try MPV(bench, device: "plugsim0")
            default: player = try GMediaRender(bench, device: "plugsim0")
            }
            pause(milliseconds: 1_500)
            for ending in endings {
                results[name, default: [:]][ending] = try await measureSounds(
                    of: player, ending: ending, ear: &ear, tries: tries, seeks: seeks)
            }
            await player.shutDown()
        } catch { missing.append((name, "\(error)")) }
    }
    let kinds: [(bench: String, path: KeyPath<SoundTimes, Samples>, limit: Double)] = [
        ("first-sound", \.play, 0.8), ("seek", \.seek, 1), ("resume", \.resume, 1),
    ]
    for kind in kinds where wanted.contains(kind.bench) {
        for ending in endings {
            var figure = Figure(
                bench: kind.bench, figure: ending, unit: "ms",
                ours: results["linnet"]?[ending]?[keyPath: kind.path] ?? Samples(),
                reach: .ratioAtMost(kind.limit))
            for name in ["mpd", "mpv", "gmediarender"] {
                if let times = results[name]?[ending] {
                    figure.peers.append((name, times[keyPath: kind.path]))
                }
            }
            figure.missing = missing
            report(figure)
        }
    }
}
