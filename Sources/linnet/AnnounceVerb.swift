// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

extension Verb {
    static let announce = Verb(
        name: "announce", arguments: "URL|FILE|cancel",
        summary: "Has something short heard over what plays, which goes on softly meanwhile.",
        options: [
            .init(
                "volume", "v", .string, "Its loudness, in percent of the receiver's volume. Default: 100.",
                argument: "PERCENT"),
            .init(
                "duck", "d", .string,
                "Lower what plays by so many decibels, 0 to 60; 60 is silence. Default: 20.", argument: "DB"),
            .init(
                "header", "H", .list, "Send this with every request for the media. May be repeated.",
                argument: "'NAME: VALUE'"),
            .init("no-wait", "n", .flag, "Return when the receiver has taken it on. URLs only."),
        ],
        examples: [
            ("linnet announce doorbell.wav", "Rings over the music, and returns when it was heard."),
            ("linnet announce dinner.mp3 --volume 60 --duck 30", "Softer, over still softer music."),
            ("linnet announce cancel", "Ends all announcements."),
        ]
    ) { invocation in
        let word = try invocation.words(1, 1)[0]
        if word == "cancel" {
            return try await withRoute(invocation) { route in
                try await route.cancelAnnouncements()
                return .success
            }
        }
        return try await hear(AnnounceRequest(word, invocation), invocation)
    }
}

/// What the user asked to have announced.
private struct AnnounceRequest {
    let source: String
    var isFile: Bool { !ValueText.isURL(source) }
    let waits: Bool
    var options = RouteAnnouncement.Options()

    init(_ source: String, _ invocation: Invocation) throws(CommandFailure) {
        self.source = source
        waits = !invocation.has("no-wait")
        guard waits || !isFile else {
            throw CommandFailure(
                .usage, "--no-wait needs a URL",
                advice: "A local file is served by this command, so it must stay until the end.")
        }
        if isFile { try requireFile(source) }
        if let text = invocation.text("volume") {
            guard let percent = ValueText.percent(text) else {
                throw CommandFailure(.usage, "'\(text)' is no volume", advice: "Write 0 to 100.")
            }
            options.volume = percent
        }
        if let text = invocation.text("duck") {
            guard let ducking = ValueText.decibels(text) else {
                throw CommandFailure(.usage, "'\(text)' is no ducking", advice: "Write 0 to 60.")
            }
            options.ducking = ducking
        }
        options.headers = try invocation.headers()
    }
}

@RouteActor private func hear(
    _ request: AnnounceRequest, _ invocation: Invocation
) async throws -> ExitCode {
    let interruption = Interruption()
    let receiver = try await Finder.receiver(invocation.on)
    return try await withRoute(to: receiver) { route, controller in
        var server: MediaFileServer?
        defer { server?.stop() }
        var url = request.source
        if request.isFile {
            let address = try servingAddress(of: route)
            let made = try MediaFileServer(file: request.source, reachedAt: address)
            (server, url) = (made, made.url)
        }
        let announcement = try await route.announce(url: url, options: request.options)
        guard request.waits else {
            // The route would take it with it.
            await controller.leave(route)
            return .success
        }
        let interrupt = Task { @RouteActor in
            await interruption.wait()
            try? await announcement.cancel()
        }
        let end = await announcement.ended()
        interrupt.cancel()
        if interruption.isRequested { return .interrupted }
        return try exitCode(for: end, at: TerminalText.clean(receiver.displayName))
    }
}

private func exitCode(for end: AnnouncementEnd?, at receiver: String) throws(CommandFailure) -> ExitCode {
    switch end {
    case .finished, nil: return .success
    case .cancelled(let other):
        print("cancelled by \(TerminalText.clean(other))")
        return .success
    case .failed(let failure):
        throw CommandFailure(
            .mediaFailed, "\(receiver): \(TerminalText.clean(failure.message))", advice: advice(for: failure))
    case .routeEnded: throw CommandFailure(.failure, "\(receiver): the route was ended")
    case .shutdown: throw CommandFailure(.failure, "\(receiver): the receiver went away")
    case .lost:
        throw CommandFailure(
            .failure, "\(receiver): the connection was lost, and nobody told what became of it",
            advice: CommandFailure.advice(for: .connectionLost))
    }
}
