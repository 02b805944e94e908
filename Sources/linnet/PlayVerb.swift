// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

extension Verb {
    static let play = Verb(
        name: "play", arguments: "URL|FILE",
        summary: "Plays a URL or a local file, and shows how far it is until it ends.",
        options: [
            .init("start", "s", .string, "Begin at this time.", argument: "TIME"),
            .init("speed", nil, .string, "Play at this speed, 0.25 to 4.", argument: "FACTOR"),
            .init(
                "header", "H", .list, "Send this with every request for the media. May be repeated.",
                argument: "'NAME: VALUE'"),
            .init("user-agent", nil, .string, "Fetch the media under this name.", argument: "TEXT"),
            .init("title", "t", .string, "Show this title instead of the media's own.", argument: "TEXT"),
            .init("paused", nil, .flag, "Load and wait for resume."),
            .init("no-wait", "n", .flag, "Return when it plays, and leave it playing. URLs only."),
        ],
        examples: [
            ("linnet play song.flac", "Serves the file to the receiver for as long as it plays."),
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
    /// The URL, or the path of a file.
    let source: String
    let isFile: Bool
    let waits: Bool
    /// What stands for a title: the last part of the path, without a query.
    var name: String {
        let path = isFile ? source[...] : source.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map { String($0) } ?? "untitled"
    }
    var options = RouteSession.Options()
    var speed: Double?

    init(_ invocation: Invocation) throws(CommandFailure) {
        source = try invocation.words(1, 1)[0]
        isFile = !ValueText.isURL(source)
        waits = !invocation.has("no-wait")
        guard waits || !isFile else {
            throw CommandFailure(
                .usage, "--no-wait needs a URL",
                advice: "A local file is served by this command, so it must stay until the end.")
        }
        if isFile, !FileSystem.exists(source) {
            throw CommandFailure(
                .failure, "there is no file '\(TerminalText.clean(source))'",
                advice: "A URL begins with http:// or https://.")
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
        for text in invocation.line.lists["header"] ?? [] {
            guard let header = ValueText.header(text) else {
                throw CommandFailure(.usage, "'\(text)' is no header", advice: "Write 'Name: value'.")
            }
            options.headers.append(header)
        }
        options.userAgent = invocation.text("user-agent")
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
    let controller = RouteController(sender: SenderIdentity(name: "linnet on \(Machine.hostName)"))
    do {
        let route = try await controller.activate(receiver)
        var server: MediaFileServer?
        if request.isFile {
            guard let address = route.localAddress else {
                throw CommandFailure(.failure, "cannot tell the address that \(name) reaches us at")
            }
            server = try MediaFileServer(file: request.source, reachedAt: address)
        }
        defer { server?.stop() }
        let session = RouteSession(url: server?.url ?? request.source, options: request.options)
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
            await controller.deactivate(route)
            Screen.restore()
            return .interrupted
        }
        Screen.restore()
        if request.waits || end != nil {
            await controller.deactivate(route)
        } else {
            await controller.leave(route)
        }
        return try exitCode(for: end, at: name)
    } catch {
        Screen.restore()
        for route in controller.routes { await controller.deactivate(route) }
        throw CommandFailure(error, at: name)
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

private func exitCode(for end: SessionEnd?, at receiver: String) throws(CommandFailure) -> ExitCode {
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
    case .routeEnded: throw CommandFailure(.failure, "\(receiver): the route was ended")
    case .shutdown: throw CommandFailure(.failure, "\(receiver): the receiver went away")
    case .lost:
        throw CommandFailure(
            .failure, "\(receiver): the connection was lost, and the session with it",
            advice: CommandFailure.advice(for: .connectionLost))
    }
}

/// What a person can do about media that does not play.
private func advice(for failure: MediaFailure) -> String? {
    switch failure.code {
    case .invalidURL, .unsupportedScheme: "Receivers fetch http:// and https://."
    case .notFound: "Is the URL right? The receiver fetches it, not this machine."
    case .accessDenied: "Does it need a header? See --header in `linnet play --help`."
    case .network, .timeout: "Can the receiver reach that server?"
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
    line.fallback = name
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
