// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

// The verbs that change what plays and return.
extension Verb {
    static let pause = Verb(
        name: "pause", arguments: "", summary: "Pauses what plays.",
        examples: [
            ("linnet pause", "Pauses on the only receiver."),
            ("linnet pause --on Kitchen", "Pauses on one of several."),
        ]
    ) { invocation in
        _ = try invocation.words(0, 0)
        return try await withRoute(invocation) { route in
            let player = try await playing(on: route)
            try await player.perform(.setPlaying(false))
            print("paused: \(ProgressLine(player, route.device).heading)")
            return .success
        }
    }

    static let resume = Verb(
        name: "resume", arguments: "", summary: "Goes on with what is paused.",
        examples: [("linnet resume", "Goes on on the only receiver.")]
    ) { invocation in
        _ = try invocation.words(0, 0)
        return try await withRoute(invocation) { route in
            let player = try await playing(on: route)
            try await player.perform(.setPlaying(true))
            print("playing: \(ProgressLine(player, route.device).heading)")
            return .success
        }
    }

    static let seek = Verb(
        name: "seek", arguments: "TIME|+TIME|-TIME", summary: "Moves to a position, or by a step from here.",
        options: [.init("quick", "q", .flag, "Take the quickest place nearby instead of the exact one.")],
        examples: [
            ("linnet seek 1:30", "Moves to one minute and a half. 90 and 1m30s are the same."),
            ("linnet seek +30", "Moves half a minute forward."),
            ("linnet seek -10", "Moves ten seconds back."),
        ]
    ) { invocation in
        let words = try invocation.words(1, 1)
        guard let target = ValueText.seekTarget(words[0]) else {
            throw CommandFailure(
                .usage, "'\(words[0])' is no time",
                advice: "Write 90, 1:30, 1:02:03 or 1m30s; + or - for a step.")
        }
        let isQuick = invocation.has("quick")
        return try await withRoute(invocation) { route in
            let player = try await playing(on: route)
            let position: MediaTime =
                switch target {
                case .position(let time): time
                case .offset(let step):
                    MediaTime(
                        nanoseconds: max((player.position().nanoseconds ?? 0) &+ (step.nanoseconds ?? 0), 0))
                }
            let outcome = try await player.perform(
                .seek(to: position, tolerance: isQuick ? .positiveInfinity : .zero))
            if case .clampedTime(let time) = outcome {
                print("position \(ProgressLine.clock(time)), the nearest that can be reached")
            } else {
                print("position \(ProgressLine.clock(position))")
            }
            return .success
        }
    }

    static let speed = Verb(
        name: "speed", arguments: "FACTOR", summary: "Plays slower or faster, with the pitch kept.",
        examples: [
            ("linnet speed 1.5", "Half as fast again."), ("linnet speed 1", "Back to normal."),
        ]
    ) { invocation in
        let words = try invocation.words(1, 1)
        guard let speed = ValueText.speed(words[0]) else {
            throw CommandFailure(.usage, "'\(words[0])' is no speed", advice: "Write 0.25 to 4, such as 1.5.")
        }
        return try await withRoute(invocation) { route in
            let outcome = try await playing(on: route).perform(.setSpeed(speed))
            if case .clampedNumber(let real) = outcome {
                print("speed \(ProgressLine.short(real)), the nearest that the receiver can do")
            } else {
                print("speed \(ProgressLine.short(speed))")
            }
            return .success
        }
    }

    static let volume = Verb(
        name: "volume", arguments: "[N|+N|-N]", summary: "Shows or sets the receiver's volume, in percent.",
        examples: [
            ("linnet volume", "Shows it."), ("linnet volume 40", "Sets it."),
            ("linnet volume -5", "Makes it a little softer."),
        ]
    ) { invocation in
        guard let word = try invocation.words(0, 1).first else {
            return try await watching(invocation) { connection in
                print("volume \(level(connection.device))")
                return .success
            }
        }
        guard let change = ValueText.volume(word) else {
            throw CommandFailure(.usage, "'\(word)' is no volume", advice: "Write 0 to 100, or +N or -N.")
        }
        return try await withRoute(invocation) { route in
            let wanted: Double =
                switch change {
                case .level(let value): value
                case .offset(let step): min(max(route.device.volume + step, 0), 1)
                }
            let outcome = try await route.device.perform(.setVolume(wanted))
            if case .clampedNumber(let real) = outcome {
                print("volume \(Int((real * 100).rounded())) %, the most that the receiver lets one set")
            } else {
                print("volume \(Int((wanted * 100).rounded())) %\(route.device.isMuted ? " (muted)" : "")")
            }
            return .success
        }
    }

    static let mute = Verb(
        name: "mute", arguments: "[on|off|toggle]", summary: "Mutes the receiver; the volume stays as it is.",
        examples: [("linnet mute", "Mutes."), ("linnet mute off", "Ends the mute.")]
    ) { invocation in
        let word = try invocation.words(0, 1).first ?? "on"
        guard let change = ValueText.mute(word) else {
            throw CommandFailure(.usage, "'\(word)' is neither on, off nor toggle")
        }
        return try await withRoute(invocation) { route in
            var isMuted = change == .on
            let command: DeviceCommand = change == .toggle ? .toggleMute : .setMuted(isMuted)
            switch try await route.device.perform(command) {
            case .muted(let value): isMuted = value
            default: if change == .toggle { isMuted = route.device.isMuted }
            }
            print(isMuted ? "muted" : "not muted")
            return .success
        }
    }

    static let trim = Verb(
        name: "trim", arguments: "[MILLISECONDS]",
        summary: "Shows or sets how much later than its card says the receiver is heard.",
        examples: [
            ("linnet trim", "Shows it."),
            (
                "linnet trim 35.5",
                "For a television that takes 35.5 ms; in a group it plays that much earlier."
            ),
        ]
    ) { invocation in
        func words(_ trim: Duration) -> String { "trim \(ProgressLine.short(trim / .milliseconds(1))) ms" }
        guard let word = try invocation.words(0, 1).first else {
            return try await watching(invocation) { connection in
                print(words(connection.device.outputTrim))
                return .success
            }
        }
        guard let value = Double(word), (-10_000...10_000).contains(value) else {
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(word))' is no trim", advice: "Write -500 to 500, such as 35.5."
            )
        }
        return try await withRoute(invocation) { route in
            let wanted = Duration.nanoseconds(Int64((value * 1e6).rounded()))
            let outcome = try await route.device.perform(.setOutputTrim(wanted))
            if case .clampedNumber(let real) = outcome {
                print("\(words(.nanoseconds(Int64(real)))), the nearest that the receiver takes")
            } else {
                print(words(wanted))
            }
            return .success
        }
    }

    static let stop = Verb(
        name: "stop", arguments: "", summary: "Stops what plays, whoever started it.",
        examples: [("linnet stop", "Stops on the only receiver.")]
    ) { invocation in
        _ = try invocation.words(0, 0)
        return try await withRoute(invocation) { route in
            let heading = route.player.map { ProgressLine($0, route.device).heading }
            try await route.stopPlayer()
            print(heading.map { "stopped: \($0)" } ?? "nothing plays")
            return .success
        }
    }

    static let rename = Verb(
        name: "rename", arguments: "NAME", summary: "Gives the receiver another name.",
        examples: [("linnet rename --on 192.168.1.20 'Living room'", "Names it for everybody.")]
    ) { invocation in
        let name = try invocation.words(1, 1)[0]
        guard !name.isEmpty else { throw CommandFailure(.usage, "the name is empty") }
        return try await withRoute(invocation) { route in
            let outcome = try await route.device.perform(.rename(name))
            if case .clampedText(let real) = outcome {
                print("renamed to '\(TerminalText.clean(real))', as much as fits into 63 bytes")
            } else {
                print("renamed to '\(TerminalText.clean(name))'")
            }
            return .success
        }
    }
}

@RouteActor private func level(_ device: DeviceControl) -> String {
    "\(Int((device.volume * 100).rounded())) %\(device.isMuted ? " (muted)" : "")"
}

extension ProgressLine {
    /// The line for a session as it is now.
    @RouteActor init(_ player: PlaybackControl, _ device: DeviceControl) {
        let activity: Activity =
            if !player.isReady {
                .loading
            } else if player.state == .scanning {
                .scanning
            } else if player.state == .scrubbing {
                .scrubbing
            } else if !player.isPlaying {
                .paused
            } else if player.isBuffering {
                .buffering
            } else {
                .playing
            }
        self.init(
            title: player.metadata.title, subtitle: player.metadata.subtitle, activity: activity,
            position: player.position(), range: player.timeRange,
            isLive: player.containsLiveStreamingContent, speed: player.playbackSpeed, volume: device.volume,
            isMuted: device.isMuted || player.isMuted, fault: player.error?.message)
        if let current = player.queue.current { fallback = current.displayName }
    }
}
