// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteKit
import Settings

/// A command that only looks: finds the receiver and connects without a route.
@RouteActor func watching(
    _ invocation: Invocation, _ body: @RouteActor (ReceiverConnection) async throws -> ExitCode
) async throws -> ExitCode {
    let receiver = try await Finder.receiver(invocation.on)
    do {
        let connection = try await ReceiverConnection.open(receiver)
        defer { connection.close() }
        return try await body(connection)
    } catch {
        throw CommandFailure(error, at: TerminalText.clean(receiver.displayName))
    }
}

/// A command that shows one thing, once, or with `--watch` again whenever its text is another one. Shown once, and not as JSON, what
/// is not there is the failure `missing`.
@RouteActor func showing(
    _ invocation: Invocation, else missing: CommandFailure,
    isThere: @escaping @RouteActor (ReceiverConnection) -> Bool,
    _ text: @escaping @RouteActor (ReceiverConnection, _ isJSON: Bool) -> String
) async throws -> ExitCode {
    let isJSON = invocation.has("json")
    guard invocation.has("watch") else {
        return try await watching(invocation) { connection in
            if !isThere(connection), !isJSON { throw missing }
            print(text(connection, isJSON))
            return .success
        }
    }
    let interruption = Interruption()
    return try await watching(invocation) { connection in
        let updates = connection.updates()
        let show = Task { @RouteActor in
            var last = ""
            @RouteActor func look() {
                let now = text(connection, isJSON)
                if now != last { print(now) }
                last = now
            }
            look()
            for await _ in updates { look() }
        }
        await interruption.wait()
        show.cancel()
        await show.value
        return .interrupted
    }
}

/// Ctrl-C and a polite kill, as something that can be waited for.
@RouteActor final class Interruption {
    private var sources: [EventSource] = []
    private let continuation: AsyncStream<Void>.Continuation
    private let stream: AsyncStream<Void>
    /// True once it came.
    private(set) var isRequested = false

    /// Takes over the signals until released.
    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        for number: Int32 in [2, 15] {
            sources.append(
                EventSource.signal(number) { [weak self] in
                    guard let self else { return }
                    if isRequested {
                        // Asked twice: whatever is waited for is not worth it.
                        Screen.restore()
                        Machine.exit(ExitCode.interrupted.rawValue)
                    }
                    isRequested = true
                    continuation.yield()
                })
        }
    }

    /// Waits for the first. Returns when the task is cancelled, too.
    func wait() async {
        if isRequested { return }
        for await _ in stream { return }
    }
}

/// One line on a terminal that is drawn over and over.
@RouteActor enum Screen {
    /// True: there is a terminal to draw on.
    static let isLive = Machine.isTerminal(.output)
    private static var isHidden = false

    static func draw(_ line: ProgressLine) { draw { line.terminal(columns: $0) } }
    static func draw(_ text: String) { draw { TerminalText.fit(text, $0) } }

    private static func draw(_ text: (_ columns: Int) -> String) {
        if !isHidden {
            Machine.write("\u{1b}[?25l", to: .output)
            isHidden = true
        }
        // The last column would make some terminals go to the next line.
        let columns = max((Machine.terminalWidth(.output) ?? 80) - 1, 10)
        Machine.write("\r\(text(columns))\u{1b}[K", to: .output)
    }

    /// Leaves the line as it is and gives the cursor back.
    static func restore() {
        guard isHidden else { return }
        isHidden = false
        Machine.write("\u{1b}[?25h\n", to: .output)
    }
}
