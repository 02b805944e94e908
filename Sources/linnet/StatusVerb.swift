// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

extension Verb {
    static let status = Verb(
        name: "status", arguments: "", summary: "Shows what plays, and the state of the receiver.",
        options: [
            .init("json", "j", .flag, "Print one JSON object; with --watch one a line."),
            .init("watch", "w", .flag, "Go on and show every change."),
        ],
        examples: [
            ("linnet status", "A few lines for people."),
            ("linnet status --json | jq .playing.title", "The title, for a script."),
            ("linnet status --watch", "A live line on a terminal, lines in a pipe."),
        ]
    ) { invocation in
        _ = try invocation.words(0, 0)
        let isJSON = invocation.has("json")
        guard invocation.has("watch") else {
            return try await watching(invocation) { connection in
                for _ in 0..<50 where connection.clockOffset == nil {
                    try? await Task.sleep(for: .milliseconds(10))
                }
                print(isJSON ? StatusText.json(connection).line : StatusText.people(connection))
                return .success
            }
        }
        let interruption = Interruption()
        return try await watching(invocation) { connection in
            let show = Task { @RouteActor in
                await !isJSON && Screen.isLive ? watchLine(connection) : watchLines(connection, isJSON)
            }
            await interruption.wait()
            show.cancel()
            await show.value
            Screen.restore()
            return .interrupted
        }
    }

    static let tracks = Verb(
        name: "tracks", arguments: "[audio|description|subtitles ID|off]",
        summary: "Lists what can be chosen in what plays, or chooses.",
        examples: [
            ("linnet tracks", "Lists languages and subtitles; * marks what is chosen."),
            ("linnet tracks audio de", "Chooses by id, number or language."),
            ("linnet tracks subtitles off", "Shows none."),
        ]
    ) { invocation in
        let words = try invocation.words(0, 2)
        guard words.count != 1 else {
            throw CommandFailure(.usage, "which one?", advice: "linnet tracks \(words[0]) ID|off")
        }
        guard let kindWord = words.first else {
            return try await watching(invocation) { connection in
                guard let player = connection.player else {
                    throw RoutingError(.noSession, family: .session, "nothing plays")
                }
                print(TrackText.list(player))
                return .success
            }
        }
        guard let kind = TrackText.kind(kindWord) else {
            throw CommandFailure(.usage, "'\(kindWord)' is neither audio, description nor subtitles")
        }
        return try await withRoute(invocation) { route in
            let player = try await playing(on: route)
            let choice = try TrackText.choice(words[1], of: kind, in: player)
            try await player.perform(.selectTrack(kind, identifier: choice?.identifier))
            print("\(kindWord): \(choice.map { TerminalText.clean($0.displayName) } ?? "off")")
            return .success
        }
    }
}

@RouteActor private func watchLine(_ connection: ReceiverConnection) async {
    while !Task.isCancelled {
        let device = connection.device
        if !connection.isConnected {
            Screen.draw("\(TerminalText.clean(device.name)): reconnecting")
        } else if let player = connection.player {
            Screen.draw(ProgressLine(player, device))
        } else {
            Screen.draw("\(TerminalText.clean(device.name)): \(StatusText.silence(device))")
        }
        try? await Task.sleep(for: .milliseconds(200))
    }
}

@RouteActor private func watchLines(_ connection: ReceiverConnection, _ isJSON: Bool) async {
    let updates = connection.updates()
    var last = ""
    func show() {
        let text: String =
            if isJSON {
                StatusText.json(connection).line
            } else if let player = connection.player {
                ProgressLine(player, connection.device).plain
            } else {
                StatusText.silence(connection.device)
            }
        if text != last { print(text) }
        last = text
    }
    show()
    for await _ in updates { show() }
}

/// A receiver's state as text.
@RouteActor enum StatusText {
    /// What is told of a receiver on which nothing plays.
    static func silence(_ device: DeviceControl) -> String {
        "nothing plays (volume \(Int((device.volume * 100).rounded())) %\(device.isMuted ? ", muted" : ""))"
    }

    static func people(_ connection: ReceiverConnection) -> String {
        let device = connection.device
        var lines = ["\(TerminalText.clean(device.name)) (\(TerminalText.clean(device.model)))"]
        if let player = connection.player {
            let line = ProgressLine(player, device)
            lines.append("  \(line.activity.rawValue): \(line.heading)")
            if let album = player.metadata.album { lines.append("  album: \(TerminalText.clean(album))") }
            if let station = player.metadata.station, station != player.metadata.title {
                lines.append("  station: \(TerminalText.clean(station))")
            }
            lines.append("  position: \(line.times), speed \(ProgressLine.short(player.playbackSpeed))")
            if !player.isHeard {
                let other = connection.sources.state?.active.map { TerminalText.clean($0.name) }
                lines.append("  not heard: \(other ?? "another source") has the output")
            }
            if let place = QueueText.place(player.queue) { lines.append("  queue: \(place)") }
            if let reason = player.picture.reason {
                lines.append("  pictures: \(TerminalText.clean(reason))")
            }
            if let error = player.error { lines.append("  trouble: \(TerminalText.clean(error.message))") }
        } else {
            lines.append("  nothing plays")
        }
        for one in connection.announcements {
            let name = TerminalText.clean(one.name.isEmpty ? "something" : one.name)
            lines.append(
                "  announcement: \(name) by \(TerminalText.clean(one.sender)) (\(one.phase.rawValue))")
        }
        let mute = device.isMuted ? " (muted)" : ""
        lines.append("  volume: \(Int((device.volume * 100).rounded())) %\(mute)")
        lines.append("  output: \(output(device.output))")
        if let fault = device.storageFault { lines.append("  not saved: \(TerminalText.clean(fault))") }
        if let layers = device.confinement { lines.append("  decoder: \(confinement(layers))") }
        let names = connection.senders.map {
            TerminalText.clean($0.identity.name) + ($0.isAttached ? "" : " (away)")
        }
        if !names.isEmpty { lines.append("  senders: \(names.joined(separator: ", "))") }
        return lines.joined(separator: "\n")
    }

    static func output(_ output: OutputState) -> String {
        var text = output.device.isEmpty ? "device not known yet," : TerminalText.clean(output.device)
        switch output.state {
        case .open: text += " open" + (output.sampleRate.map { " at \($0) Hz" } ?? "")
        case .closed: text += " ready"
        case .null: text = "none: there is no sound device, sound goes nowhere"
        default: text += " \(output.state.rawValue)"
        }
        return text + (output.reason.map { " (\(TerminalText.clean($0)))" } ?? "")
    }

    /// Which walls stand around the process that decodes, and why others do not.
    static func confinement(_ layers: [ConfinementLayer]) -> String {
        let missing = layers.filter { !$0.isOn }
        guard !missing.isEmpty else {
            return "confined (\(layers.map(\.kind.rawValue).joined(separator: ", ")))"
        }
        guard missing.count < layers.count else {
            return "not confined (\(TerminalText.clean(missing[0].reason ?? "")))"
        }
        let words = missing.map { "\($0.kind.rawValue) (\(TerminalText.clean($0.reason ?? "")))" }
        return "confined, but for \(words.joined(separator: ", "))"
    }

    static func json(_ connection: ReceiverConnection) -> JSONText {
        let device = connection.device
        return .object([
            (
                "receiver",
                .object([
                    ("id", .string(device.id)), ("name", .string(device.name)),
                    ("model", .string(device.model)),
                    ("connected", .bool(connection.isConnected)),
                ])
            ),
            (
                "device",
                .object([
                    ("volume", .number(device.volume)), ("muted", .bool(device.isMuted)),
                    ("volumeCap", .number(device.volumeCap)), ("storageFault", .text(device.storageFault)),
                    (
                        "output",
                        .object([
                            ("state", .string(device.output.state.rawValue)),
                            ("device", .string(device.output.device)),
                            ("reason", .text(device.output.reason)),
                            ("sampleRate", device.output.sampleRate.map { .integer(Int64($0)) } ?? .null),
                        ])
                    ),
                    (
                        "confinement",
                        device.confinement.map { layers in
                            .array(
                                layers.map {
                                    .object([
                                        ("layer", .string($0.kind.rawValue)), ("on", .bool($0.isOn)),
                                        ("reason", .text($0.reason)),
                                    ])
                                })
                        } ?? .null
                    ),
                ])
            ),
            (
                "senders",
                .array(
                    connection.senders.map {
                        .object([("name", .string($0.identity.name)), ("attached", .bool($0.isAttached))])
                    })
            ),
            ("playing", connection.player.map(playing) ?? .null),
        ])
    }

    private static func playing(_ player: PlaybackControl) -> JSONText {
        func seconds(_ time: MediaTime) -> JSONText { time.isNumeric ? .number(time.seconds) : .null }
        return .object([
            ("session", .string(player.sessionID)), ("title", .text(player.metadata.title)),
            ("subtitle", .text(player.metadata.subtitle)), ("album", .text(player.metadata.album)),
            ("station", .text(player.metadata.station)), ("genre", .text(player.metadata.genre)),
            ("isReady", .bool(player.isReady)), ("isPlaying", .bool(player.isPlaying)),
            ("isBuffering", .bool(player.isBuffering)), ("isHeard", .bool(player.isHeard)),
            ("state", .string(player.state.rawValue)),
            ("position", seconds(player.position())), ("start", seconds(player.timeRange.start)),
            ("duration", seconds(player.timeRange.duration)),
            ("isLive", .bool(player.containsLiveStreamingContent)), ("speed", .number(player.playbackSpeed)),
            ("volume", .number(player.volume)), ("muted", .bool(player.isMuted)),
            ("audio", .text(player.currentAudioOption?.identifier)),
            ("subtitles", .text(player.currentLegibleOption?.identifier)),
            (
                "picture",
                .object([
                    ("state", .string(player.picture.state.rawValue)),
                    ("reason", .text(player.picture.reason)),
                ])
            ),
            ("artwork", .array(player.artwork.map { .string($0.url) })),
            ("error", .text(player.error.map(\.message))),
        ])
    }
}

/// Tracks as text, and text as tracks.
@RouteActor enum TrackText {
    static func kind(_ word: String) -> TrackKind? {
        switch word {
        case "audio": .audio
        case "description", "descriptions": .audioDescription
        case "subtitles", "subtitle": .legible
        default: nil
        }
    }

    private static func options(_ kind: TrackKind, _ player: PlaybackControl) -> ([TrackOption], TrackOption?)
    {
        switch kind {
        case .audio: (player.audioOptions, player.currentAudioOption)
        case .audioDescription: (player.audioDescriptionOptions, player.currentAudioDescriptionOption)
        case .legible: (player.legibleOptions, player.currentLegibleOption)
        }
    }

    static func list(_ player: PlaybackControl) -> String {
        let titles: [(TrackKind, String)] = [
            (.audio, "audio"), (.audioDescription, "description"), (.legible, "subtitles"),
        ]
        var lines: [String] = []
        for (kind, title) in titles {
            let (options, current) = options(kind, player)
            guard !options.isEmpty || kind != .audioDescription else { continue }
            lines.append("\(title):\(options.isEmpty ? " none" : "")")
            for (number, option) in options.enumerated() {
                let mark = option.identifier == current?.identifier ? "*" : " "
                let language = option.languageTag.map { " [\(TerminalText.clean($0))]" } ?? ""
                let name = TerminalText.clean(option.displayName)
                lines.append(
                    "  \(mark) \(number + 1)  \(name)\(language)  id \(TerminalText.clean(option.identifier))"
                )
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The option by its id, its number in the list, or the only one of a language; nil for off.
    static func choice(
        _ word: String, of kind: TrackKind, in player: PlaybackControl
    ) throws(CommandFailure) -> TrackOption? {
        let options = options(kind, player).0
        if word == "off", kind != .audio { return nil }
        if let option = options.first(where: { $0.identifier == word }) { return option }
        if let number = Int(word), options.indices.contains(number - 1) { return options[number - 1] }
        let spoken = options.filter { $0.languageTag == word }
        if spoken.count == 1 { return spoken[0] }
        throw CommandFailure(
            .refused, "there is no '\(TerminalText.clean(word))' to choose",
            advice: CommandFailure.advice(for: .trackUnknown))
    }
}
