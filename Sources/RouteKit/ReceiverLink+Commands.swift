// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire

extension ReceiverLink: CommandPerformer {
    func perform(
        _ command: PlaybackCommand, session: String,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void
    ) {
        let (method, params) = Codec.request(for: command, session: session)
        requests.request(method, params) { completion(Codec.outcome(of: $0)) }
    }

    func perform(
        _ command: DeviceCommand,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void
    ) {
        let (method, params) = Codec.request(for: command)
        let isToggle = command == .toggleMute
        requests.request(method, params) { completion(Codec.outcome(of: $0, isMute: isToggle)) }
    }

    /// Starts a session. Its object exists before anything else that the receiver says of it is read.
    func start(
        url: String, mode: RouteSession.LaunchMode, options: RouteSession.Options
    ) async throws -> PlaybackControl {
        let params = try Codec.start(url: url, mode: mode, options: options)
        return try await withCheckedThrowingContinuation { continuation in
            requests.request("session.start", params) { [mirror] result in
                continuation.resume(
                    with: result.flatMap { answer in
                        guard let started = Codec.started(answer) else { return .failure(.badAnswer) }
                        if let state = started.state {
                            mirror.replace(version: started.version, document: state, isFresh: false)
                        }
                        return mirror.started(started.session).map { .success($0) } ?? .failure(.badAnswer)
                    })
            }
        }
    }

    /// Stops a session; nil is the one that owns the player.
    func stop(session: String?) async throws {
        _ = try await requests.request("session.stop", Codec.session(session))
    }
}

extension RoutingError {
    /// An answer that makes no sense.
    static let badAnswer = RoutingError(
        .badAnswer, family: .connection, "the receiver's answer makes no sense")

    /// Any error as one of this library.
    static func describing(_ error: any Error) -> RoutingError {
        (error as? RoutingError)
            ?? RoutingError(.connectionFailed, family: .connection, Connector.words(for: error))
    }
}
