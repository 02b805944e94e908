// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import RouteKit
import Settings

// The verbs that speak with applications at the receiver.
extension Verb {
    private static let url = Settings.CommandLine.Option(
        "url", "u", .string, "The URL that the application is handed, when it is named by its id.",
        argument: "URL")
    private static let count = Settings.CommandLine.Option(
        "count", "c", .integer, "End after so many messages from the application.", argument: "N")
    private static let raw = Settings.CommandLine.Option(
        "raw", "r", .flag, "Write messages as they are, without a line end after each.")

    static let launch = Verb(
        name: "launch", arguments: "URL|ID",
        summary: "Starts an application at the receiver, and prints what it says until it ends.",
        options: [
            url, .init("no-wait", "n", .flag, "Return when it runs; it goes on if its maker wants that."),
        ],
        examples: [
            ("linnet launch org.linnet.captions", "Starts an application by its id."),
            ("linnet launch captions:hall", "Starts the one that claims the URL."),
        ]
    ) { invocation in
        let target = try ApplicationTarget(try invocation.words(1, 1)[0], invocation)
        return try await withApplication(invocation, target) { speaker in
            print("\(target.words) runs on \(speaker.receiver)")
            if invocation.has("no-wait") {
                speaker.isLeft = true
                return .success
            }
            return try await speaker.listen()
        }
    }

    /// The words that may stand first, for completion.
    static let dataWords = ["send", "listen", "pipe"]

    static let data = Verb(
        name: "data", arguments: "send URL|ID MESSAGE… | listen URL|ID | pipe URL|ID",
        summary: "Exchanges messages with an application at the receiver.",
        options: [
            url, count, raw,
            .init("file", "f", .string, "Send what is in the file as one message.", argument: "FILE"),
        ],
        examples: [
            (
                "linnet data send captions:hall 'Good evening'",
                "Sends a message, and waits until it was taken."
            ),
            ("linnet data send org.linnet.echo hello --count 1", "Prints the message that comes back."),
            ("linnet data listen org.example.sensor", "Prints what comes, one message a line."),
            ("tail -f words | linnet data pipe captions:hall", "Sends each line, prints what comes."),
        ]
    ) { invocation in
        var words = try invocation.words(2, 1000)
        let (action, place) = (words.removeFirst(), words.removeFirst())
        let target = try ApplicationTarget(place, invocation)
        switch action {
        case "send":
            var messages = words.map { Array($0.utf8) }
            if let file = invocation.text("file") {
                messages.append(try contents(of: file))
            }
            guard !messages.isEmpty else {
                throw CommandFailure(.usage, "something is missing", advice: "Give a message, or --file.")
            }
            return try await withApplication(invocation, target) { speaker in
                for message in messages { try await speaker.channel.send(message) }
                return speaker.limit == nil ? .success : try await speaker.listen()
            }
        case "listen", "pipe":
            guard words.isEmpty else {
                throw CommandFailure(.usage, "'\(TerminalText.clean(words[0]))' is too much")
            }
            return try await withApplication(invocation, target) { speaker in
                action == "pipe" ? try await speaker.pipe() : try await speaker.listen()
            }
        default:
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(action))' is nothing to do with data",
                advice: "There are: \(dataWords.joined(separator: ", ")).")
        }
    }
}

/// A file as one message.
private func contents(of file: String) throws(CommandFailure) -> [UInt8] {
    let limit = SessionDataChannel.maximumMessage
    do { return try FileSystem.read(file, maximum: limit) } catch {
        let size = FileSystem.entry(file)?.size ?? 0
        guard size > limit else { throw CommandFailure(.failure, TerminalText.clean(error.message)) }
        throw CommandFailure(
            .failure, "'\(TerminalText.clean(file))' has \(size) bytes, and a message has at most 1 MiB")
    }
}

/// An application as the user named it.
struct ApplicationTarget {
    let mode: RouteSession.LaunchMode
    let url: String
    /// For people.
    let words: String

    init(_ id: ApplicationID, url: String?) {
        (mode, self.url, words) = (.application(id.text), url ?? Self.noURL, id.text)
    }

    /// What an application is handed that was named by its id alone.
    private static let noURL = "launch:"

    init(_ text: String, _ invocation: Invocation) throws(CommandFailure) {
        words = TerminalText.clean(text)
        if let id = ApplicationID(text) {
            mode = .application(id.text)
            url = invocation.text("url") ?? Self.noURL
        } else if text.utf8.contains(UInt8(ascii: ":")) {
            guard invocation.text("url") == nil else {
                throw CommandFailure(.usage, "'\(words)' is a URL already", advice: "--url goes with an id.")
            }
            (mode, url) = (.application(""), text)
        } else {
            throw CommandFailure(
                .usage, "'\(words)' is neither a URL nor the id of an application",
                advice: "An id is like org.example.party; `linnet app list` shows what a receiver has.")
        }
    }
}

@RouteActor func withApplication(
    _ invocation: Invocation, _ target: ApplicationTarget,
    _ body: @escaping @RouteActor (ApplicationSpeaker) async throws -> ExitCode
) async throws -> ExitCode {
    let interruption = Interruption()
    let receiver = try await Finder.receiver(invocation.on)
    let name = TerminalText.clean(receiver.displayName)
    return try await withRoute(to: receiver) { route, controller in
        let session = RouteSession(url: target.url, mode: target.mode)
        route.addSession(session)
        let work = Task { @RouteActor in
            let media = try await session.start()
            guard let channel = media.dataChannel else { throw RoutingError.badChannel }
            let speaker = ApplicationSpeaker(media, channel, receiver: name, invocation)
            let code = try await body(speaker)
            if speaker.isLeft { await controller.leave(route) }
            return code
        }
        let stop = Task { @RouteActor in
            await interruption.wait()
            guard interruption.isRequested else { return }
            // In this order: the end of what the user ends is no news.
            work.cancel()
            await session.stop()
        }
        let result = await work.result
        stop.cancel()
        return interruption.isRequested ? .interrupted : try result.get()
    }
}

extension RoutingError {
    fileprivate static let badChannel = RoutingError(
        .badAnswer, family: .connection, "the receiver gave the session no data channel")
}

/// The user's end of a data channel: prints what comes.
@RouteActor final class ApplicationSpeaker: SessionDataChannelDelegate {
    let media: MediaSession
    let channel: SessionDataChannel
    let receiver: String
    /// Messages after which to end.
    let limit: Int?
    /// True: the application is to go on without us.
    var isLeft = false
    private let isRaw: Bool
    private var count = 0
    private let counted: AsyncStream<Void>
    private let reached: AsyncStream<Void>.Continuation

    init(_ media: MediaSession, _ channel: SessionDataChannel, receiver: String, _ invocation: Invocation) {
        (self.media, self.channel, self.receiver) = (media, channel, receiver)
        limit = invocation.line.integers["count"].map { max(Int($0), 1) }
        isRaw = invocation.has("raw")
        (counted, reached) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        channel.delegate = self
    }

    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
        if let limit, count >= limit { throw RoutingError(.ended, family: .session, "enough was read") }
        count += 1
        if isRaw {
            Machine.write(message, to: .output)
        } else {
            Machine.write(TerminalText.clean(String(decoding: message, as: UTF8.self)) + "\n", to: .output)
        }
        if count == limit { reached.finish() }
    }

    /// Waits for the end of the session, or for enough messages.
    func listen() async throws -> ExitCode {
        let isEnough = Task { @RouteActor in
            for await _ in counted {}
            return SessionEnd?.none
        }
        let ended = Task { @RouteActor in await media.ended() }
        let end = await withTaskGroup(of: SessionEnd?.self) { group in
            for task in [isEnough, ended] {
                group.addTask {
                    await withTaskCancellationHandler {
                        await task.value
                    } onCancel: {
                        task.cancel()
                    }
                }
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        return try exitCode(for: end, at: receiver)
    }

    /// Sends each line of standard input until its end, and then waits for as many messages as were asked for.
    /// `staysOpen`: its end is not the end.
    func pipe(staysOpen: Bool = false) async throws -> ExitCode {
        let lines = LineReader()
        let feeding = Task { @RouteActor in
            while let line = await lines.next() {
                try await channel.post(line) { [weak self] in self?.note($0) }
            }
            // What was sent is answered before the end.
            while channel.unanswered > 0 { try await Task.sleep(for: .milliseconds(10)) }
        }
        let watch = Task { @RouteActor in
            if await media.ended() != nil { feeding.cancel() }
        }
        defer { watch.cancel() }
        let result = await withTaskCancellationHandler {
            await feeding.result
        } onCancel: {
            feeding.cancel()
        }
        if let end = media.endReason { return try exitCode(for: end, at: receiver) }
        try result.get()
        return limit == nil && !staysOpen ? .success : try await listen()
    }

    /// A refused line is told, and the next one goes on.
    private func note(_ answer: Result<Void, RoutingError>) {
        guard case .failure(let error) = answer, media.endReason == nil else { return }
        Machine.write("linnet: \(TerminalText.clean(error.message))\n", to: .error)
    }
}

/// Lines of standard input, read by a thread as they are asked for. A reading that is given up leaves its thread behind, and
/// the line with it.
@RouteActor private final class LineReader {
    private var waiting: CheckedContinuation<[UInt8]?, Never>?

    /// Nil at the end, or when the task is cancelled.
    func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                waiting = continuation
                BackgroundThread.run(named: "stdin") {
                    let line = readLine(strippingNewline: true).map { Array($0.utf8) }
                    Task { await self.take(line) }
                }
            }
        } onCancel: {
            Task { await self.take(nil) }
        }
    }

    private func take(_ line: [UInt8]?) {
        waiting?.resume(returning: line)
        waiting = nil
    }
}
