// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import RouteWire

extension ReceiverLink: CommandPerformer {
    func perform(
        _ command: PlaybackCommand, session: String,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void
    ) {
        requests.send(Codec.request(for: command, session: session)) { completion(Codec.outcome(of: $0)) }
        socket?.letReaderRun()
    }

    func perform(
        _ command: QueueCommand, session: String,
        completion: @escaping @RouteActor (Result<[String], RoutingError>) -> Void
    ) {
        requests.send(Codec.request(for: command, session: session)) { completion(Codec.items(of: $0)) }
    }

    func perform(
        _ command: DeviceCommand,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void
    ) {
        let isToggle = command == .toggleMute
        requests.send(Codec.request(for: command)) { completion(Codec.outcome(of: $0, isMute: isToggle)) }
    }

    /// Starts a session. Its object exists before anything else that the receiver says of it is read.
    func start(
        url: String, mode: RouteSession.LaunchMode, options: RouteSession.Options
    ) async throws -> PlaybackControl {
        let request = try Codec.start(url: url, mode: mode, options: options)
        return try await withCheckedThrowingContinuation { continuation in
            requests.send(request) { [mirror] answer in
                continuation.resume(with: answer.flatMap { mirror.started($0) })
            }
            socket?.letReaderRun()
        }
    }

    /// Waits until the application of a session runs.
    func untilActive(_ control: PlaybackControl) async throws {
        let updates = mirror.updates()
        func isActive() throws -> Bool {
            switch control.end {
            case nil: return mirror.state?.applicationSessions[control.sessionID]?.isActive == true
            case .applicationFailed(let failure): throw RoutingError(failure)
            case .some(let end):
                throw RoutingError(
                    .ended, family: .session, "the session ended before the application ran: \(end)")
            }
        }
        if try isActive() { return }
        for await _ in updates {
            if try isActive() { return }
        }
        if try !isActive() {
            throw RoutingError(.ended, family: .session, "the route ended before the application ran")
        }
    }

    /// Stops a session; nil is the one that owns the player.
    func stop(session: String?) async throws {
        _ = try await requests.send(.stop(session: session))
    }
}

extension RoutingError {
    /// An answer that makes no sense.
    static let badAnswer = RoutingError(
        .badAnswer, family: .connection, "the receiver's answer makes no sense")

    /// Any error as one of this library.
    static func describing(_ error: any Error) -> RoutingError {
        switch error {
        case let error as RoutingError: error
        case is RouteError: .badAnswer
        case let failure as Failure where failure == .timedOut:
            RoutingError(.timeout, family: .connection, "no answer in time")
        default: RoutingError(.connectionFailed, family: .connection, Connector.words(for: error))
        }
    }
}
