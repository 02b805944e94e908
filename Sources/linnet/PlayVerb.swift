// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

extension Verb {
    static let play = Verb(
        name: "play", arguments: "URL|FILE…",
        summary: "Plays URLs or local files, and shows how far it is until they end.",
        options: [
            .init("start", "s", .string, "Begin at this time.", argument: "TIME"),
            .init("speed", nil, .string, "Play at this speed, 0.25 to 4.", argument: "FACTOR"),
            .init(
                "header", "H", .list, "Send this with every request for the media. May be repeated.",
                argument: "'NAME: VALUE'"),
            .init("user-agent", nil, .string, "Fetch the media under this name.", argument: "TEXT"),
            .init(
                "allow-invalid-certificate", nil, .flag,
                "Trust the media's host whatever certificate it shows. Others may then listen and pretend to be it."
            ),
            .init("title", "t", .string, "Show this title instead of the media's own.", argument: "TEXT"),
            .init(
                "repeat", "r", .string, "Play one item, or all of them, over and over.", argument: "one|all"),
            .init("paused", nil, .flag, "Load and wait for resume."),
            .init("no-wait", "n", .flag, "Return when it plays, and leave it playing. URLs only."),
        ],
        examples: [
            ("linnet play song.flac", "Serves the file to the receiver for as long as it plays."),
            ("linnet play *.flac", "Plays an album without gaps; see linnet queue for what follows."),
            ("linnet play album.m3u", "Serves the list and the media files that it names."),
            ("linnet play https://example.org/live.m3u8 --no-wait", "Starts a stream and returns."),
            ("linnet play film.mkv --start 1:02:03 --on 'Living room'", "Begins in the middle."),
            ("linnet play URL -H 'Authorization: Bearer …'", "Fetches what needs a header."),
        ]
    ) { invocation in
        let request = try PlayRequest(invocation)
        return try await withPlayer(invocation, request)
    }
}

/// What the user asked to have played.
private struct PlayRequest {
    /// URLs, and paths of files.
    let sources: [String]
    let waits: Bool
    /// What stands for a title: the last part of the path, without a query.
    var name: String {
        let source = sources[0]
        let path = Self.isFile(source) ? source[...] : source.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map { String($0) } ?? "untitled"
    }
    var files: [String] { sources.filter(Self.isFile) }
    static func isFile(_ source: String) -> Bool { !ValueText.isURL(source) }
    /// Each is served at a port of its own, and a process has some thousand descriptors.
    private static let fileLimit = 250
    var options = RouteSession.Options()
    var speed: Double?

    init(_ invocation: Invocation) throws(CommandFailure) {
        sources = try invocation.words(1, 1000)
        waits = !invocation.has("no-wait")
        guard waits || files.isEmpty else {
            throw CommandFailure(
                .usage, "--no-wait needs URLs",
                advice: "A local file is served by this command, so it must stay until the end.")
        }
        guard files.count <= Self.fileLimit else {
            throw CommandFailure(.usage, "\(files.count) files are too many: \(Self.fileLimit) at a time")
        }
        for file in files { try requireFile(file) }
        if sources.count > 1, invocation.text("title") != nil {
            throw CommandFailure(.usage, "--title is for one item", advice: "Play one, or leave it out.")
        }
        if let text = invocation.text("start") {
            guard let start = ValueText.time(text) else {
                throw CommandFailure(.usage, "'\(text)' is no time", advice: "Write 90, 1:30 or 1m30s.")
            }
            options.startPosition = start
        }
        if let text = invocation.text("speed") {
            guard let value = ValueText.speed(text) else {
                throw CommandFailure(.usage, "'\(text)' is no speed", advice: "Write 0.25 to 4.")
            }
            speed = value
        }
        options.headers = try invocation.headers()
        if let text = invocation.text("repeat") {
            guard let mode = RepeatMode(rawValue: text) else {
                throw CommandFailure(
                    .usage, "'\(text)' is no way to repeat", advice: "Write one or all.")
            }
            options.repeatMode = mode
        }
        options.userAgent = invocation.text("user-agent")
        options.allowsInvalidCertificate = invocation.has("allow-invalid-certificate")
        options.title = invocation.text("title")
        options.isPlaying = !invocation.has("paused")
    }
}

@RouteActor private func withPlayer(
    _ invocation: Invocation, _ request: PlayRequest
) async throws -> ExitCode {
    let interruption = Interruption()
    let receiver = try await Finder.receiver(invocation.on)
    let name = TerminalText.clean(receiver.displayName)
    return try await withRoute(to: receiver) { route, controller in
        defer { Screen.restore() }
        var servers: [MediaFileServer] = []
        defer { for server in servers { server.stop() } }
        var urls: [String] = []
        for source in request.sources {
            guard PlayRequest.isFile(source) else {
                urls.append(source)
                continue
            }
            let address = try servingAddress(of: route)
            let server =
                try LocalPlaylist(source)?.server(reachedAt: address)
                ?? MediaFileServer(file: source, reachedAt: address)
            servers.append(server)
            urls.append(server.url)
        }
        var options = request.options
        options.following = urls.dropFirst().map { url in
            var item = QueueItem(url: url)
            (item.headers, item.userAgent) = (options.headers, options.userAgent)
            item.allowsInvalidCertificate = options.allowsInvalidCertificate
            return item
        }
        let session = RouteSession(url: urls[0], options: options)
        route.addSession(session)
        let media = try await session.start()
        // Asked for now, it is taken on when the media is there.
        if let speed = request.speed { media.playbackControl.playbackSpeed = speed }
        print("playing on \(name)")
        let show = Task { @RouteActor in
            let name = request.name
            await Screen.isLive ? showLine(media, route, name) : showChanges(media, route, name)
        }
        let end = await wait(for: media, route, request, interruption)
        show.cancel()
        await show.value
        if interruption.isRequested {
            await session.stop()
            return .interrupted
        }
        if !request.waits, end == nil { await controller.leave(route) }
        return try exitCode(for: end, at: name)
    }
}

/// Waits for the end, for Ctrl-C, or only until it plays. Nil: it goes on, or was interrupted.
@RouteActor private func wait(
    for media: MediaSession, _ route: Route, _ request: PlayRequest, _ interruption: Interruption
) async -> SessionEnd? {
    let end = Task { @RouteActor in
        if request.waits { return await media.ended() }
        let updates = media.playbackControl.updates()
        if media.playbackControl.isReady { return nil }
        for await _ in updates where media.playbackControl.isReady { return nil }
        return media.endReason
    }
    let interrupt = Task { @RouteActor in
        await interruption.wait()
        end.cancel()
    }
    let reason = await end.value
    interrupt.cancel()
    return reason
}

func exitCode(for end: SessionEnd?, at receiver: String) throws(CommandFailure) -> ExitCode {
    switch end {
    case nil, .finished: return .success
    case .stopped:
        print("stopped at the receiver, or by another sender")
        return .success
    case .preempted(let other):
        throw CommandFailure(.failure, "\(receiver): \(TerminalText.clean(other)) took over")
    case .failed(let failure):
        throw CommandFailure(
            .mediaFailed, "\(receiver): \(TerminalText.clean(failure.message))",
            advice: advice(for: failure))
    case .applicationFailed(let failure):
        throw CommandFailure(RoutingError(failure), at: receiver)
    case .routeEnded: throw CommandFailure(.failure, "\(receiver): the route was ended")
    case .shutdown: throw CommandFailure(.failure, "\(receiver): the receiver went away")
    case .lost:
        throw CommandFailure(
            .failure, "\(receiver): the connection was lost, and the session with it",
            advice: CommandFailure.advice(for: .connectionLost))
    }
}

/// What a person can do about media that does not play.
func advice(for failure: MediaFailure) -> String? {
    switch failure.code {
    case .invalidURL, .unsupportedScheme: "Receivers fetch http:// and https://."
    case .notFound: "Is the URL right? The receiver fetches it, not this machine."
    case .accessDenied: "Does it need a header? See --header in `linnet play --help`."
    case .network, .timeout: "Can the receiver reach that server?"
    case .tls:
        "The receiver checks it against its package ca-certificates. Is its clock right? "
            + "For a host of your own there is --allow-invalid-certificate."
    case .missingPlugin: "The receiver can play this once that is installed on it."
    case .unsupportedFormat: "Does the URL lead to the media itself, and not to a page about it?"
    case .output: "`linnet doctor` shows the state of the receiver's output."
    default: nil
    }
}

/// Draws the line five times a second, from the receiver's last word and the clock.
@RouteActor private func showLine(_ media: MediaSession, _ route: Route, _ name: String) async {
    while !Task.isCancelled, media.endReason == nil {
        Screen.draw(line(media.playbackControl, route, name))
        try? await Task.sleep(for: .milliseconds(200))
    }
    Screen.draw(line(media.playbackControl, route, name))
}

/// Prints a line at each change that a reader of a log wants to see.
@RouteActor private func showChanges(_ media: MediaSession, _ route: Route, _ name: String) async {
    let control = media.playbackControl
    let updates = control.updates()
    var last: ProgressLine?
    func show() {
        let now = line(control, route, name)
        guard last.map({ now.differs(from: $0) }) ?? true else { return }
        last = now
        print(now.plain)
    }
    show()
    for await _ in updates { show() }
}

@RouteActor private func line(_ control: PlaybackControl, _ route: Route, _ name: String) -> ProgressLine {
    var line = ProgressLine(control, route.device)
    // Alone, an item has the name that was typed, which that of its address is made of.
    if control.queue.items.count <= 1 { line.fallback = name }
    if route.state == .reconnecting { line.fault = "reconnecting" }
    return line
}

extension ProgressLine {
    /// True if more than time has passed.
    package func differs(from other: ProgressLine) -> Bool {
        (heading, activity, level, fault) != (other.heading, other.activity, other.level, other.fault)
            || speed != other.speed || !range.duration.isSameMoment(as: other.range.duration) && !isLive
    }
}
