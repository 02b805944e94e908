// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import RouteWire
import Soup

@testable import RouteKit

/// A receiver that does what a test tells it: it answers as the protocol says unless a test put an answer of its own in
/// the place, and keeps every request.
@RouteActor final class ScriptedReceiver {
    enum Reply {
        case result(JSONValue)
        case refusal(RouteError)
        /// The answer comes later, by `answer`, or never.
        case silence
    }

    struct Asked {
        let request: RouteRequest
        let id: RequestIdentifier
        let socket: WebSocket
    }

    static let session = "session-1"
    let port: UInt16
    var state: StateDocument
    private(set) var version: Int64 = 1
    private(set) var asked: [Asked] = []
    private(set) var frames: [DataFrame] = []
    /// What members of a group have told it.
    private(set) var told: [GroupLinkRequest] = []
    /// Answers in place of the usual ones, by method.
    var replies: [String: (RouteRequest) -> Reply] = [:]
    /// What becomes of a data frame; nil is an acknowledgement.
    var onFrame: ((DataFrame, WebSocket) -> Void)?

    private let server: Server
    private(set) var sockets: [WebSocket] = []
    private var waiting: [(method: String, count: Int, CheckedContinuation<Void, Never>)] = []

    init() throws {
        server = Server()
        port = try server.listen(port: 0, loopbackOnly: true)
        state = StateDocument(
            device: DeviceDocument(
                id: "2f6b1c7e-0000-4000-8000-000000000001", name: "Kitchen", model: "Test", type: "speaker",
                volume: Volume(level: 0.5), volumeCap: 1,
                output: OutputDocument(state: "closed", device: "null"), advertisementState: "off",
                advertisementName: ""),
            clock: "clock-1", player: nil, routes: [:], sessions: [:])
        server.handle("/v1/receiver") { [unowned self] _ in
            Response(200, "application/json", Array(JSONText.encode(description).utf8))
        }
        var limits = WebSocket.Limits()
        limits.message = UInt64(DataFrame.limit)
        limits.queue = 32 << 20
        server.handleWebSocket("/v1/route", limits: limits) { [unowned self] socket, _ in opened(socket) }
    }

    isolated deinit { server.stop() }

    var address: Receiver.Address { .init(host: "127.0.0.1", port: port) }
    var receiver: Receiver {
        Receiver(id: state.device.id, displayName: state.device.name, addresses: [address])
    }

    private var description: JSONValue {
        ReceiverDescription(
            id: state.device.id, name: state.device.name, model: "Test", software: "Test/1",
            type: "speaker", httpPort: port
        ).json
    }

    private func opened(_ socket: WebSocket) {
        sockets.append(socket)
        socket.onMessage = { [weak self, weak socket] message in
            guard let self, let socket else { return }
            switch message {
            case .text(let text): heard(text, by: socket)
            case .binary(let bytes):
                guard let frame = try? DataFrame(decoding: bytes) else { return }
                frames.append(frame)
                if let onFrame {
                    onFrame(frame, socket)
                } else if frame.kind == .message {
                    send(DataFrame(kind: .acknowledged, channel: frame.channel, message: frame.message))
                }
                wake()
            }
        }
        socket.onClosed = { [weak self, weak socket] _, _ in
            self?.sockets.removeAll { $0 === socket }
            self?.wake()
        }
    }

    private func heard(_ text: String, by socket: WebSocket) {
        guard case .single(let incoming) = IncomingText.decode(text),
            case .success(let request) = incoming.request
        else { return }
        guard let id = incoming.id else {
            if case .link(let word) = request { told.append(word) }
            return wake()
        }
        let asked = Asked(request: request, id: id, socket: socket)
        self.asked.append(asked)
        switch replies[request.method]?(request) ?? .result(usual(request)) {
        case .result(let result): answer(asked, .success(result))
        case .refusal(let error): answer(asked, .failure(error))
        case .silence: break
        }
        wake()
    }

    func usual(_ request: RouteRequest) -> JSONValue {
        switch request {
        case .activate:
            ActivationResult(
                route: "route-1", resumeToken: "token-\(asked.count)", resumed: false, graceSeconds: 30,
                clock: ClockInfo(id: state.clock, now: 0), version: version, state: state.json
            ).json
        case .subscribe, .getState: StateResult(version: version, state: state.json).json
        case .start(let start): begin(start)
        case .ping:
            PingResult(
                id: state.clock, received: MonotonicClock.nanoseconds, sent: MonotonicClock.nanoseconds
            ).json
        default: Outcome.accepted.json
        }
    }

    private func begin(_ start: SessionStart) -> JSONValue {
        state.sessions = [Self.session: Self.document(title: start.title)]
        state.player = Self.session
        version += 1
        return StateResult(session: Self.session, version: version, state: state.json).json
    }

    static func document(title: String? = nil) -> SessionDocument {
        SessionDocument(
            route: "route-1", isLoading: false, isReady: true, isPlaying: true, isBuffering: false,
            state: .normal, speed: 1, scanSpeed: 2, position: .zero,
            timeline: Timeline(
                range: TimeRange(start: .zero, duration: MediaTime(value: 100, timescale: 1)),
                seekableRanges: nil, isLive: false, capabilities: [.seek]),
            segments: [], currentSegment: Segment(range: .empty),
            tracks: Tracks(
                audio: TrackSelection(
                    options: [
                        TrackOption(identifier: "a1", displayName: "English", languageTag: "en"),
                        TrackOption(identifier: "a2", displayName: "Deutsch", languageTag: "de"),
                    ], current: "a1")), hasAudio: true, hasVideo: false, volume: .full,
            metadata: Metadata(title: title), artwork: [], error: nil)
    }

    // MARK: Saying

    func answer(_ asked: Asked, _ result: Result<JSONValue, RouteError>) {
        switch result {
        case .success(let value): say(Response.success(asked.id, value), to: asked.socket)
        case .failure(let error): say(Response.failure(asked.id, error), to: asked.socket)
        }
    }

    /// Changes the state and tells everybody the step. `isTold` false leaves a gap.
    func change(
        by origin: WireOrigin = .device, isTold: Bool = true, _ body: (inout StateDocument) -> Void
    ) {
        let old = state.json
        body(&state)
        version += 1
        guard isTold, let patch = MergePatch.diff(from: old, to: state.json) else { return }
        tell(
            Notification.stateChanged(
                StateChange(version: version, base: version - 1, origin: origin, patch: patch)))
    }

    func tell(_ message: JSONValue) { for socket in sockets { say(message, to: socket) } }

    func send(_ frame: DataFrame) {
        for socket in sockets { if let bytes = frame.bytes { socket.send(.binary(bytes)) } }
    }

    private func say(_ message: JSONValue, to socket: WebSocket) {
        socket.send(.text(JSONText.encode(message)))
    }

    /// Cuts every connection as a pulled cable would.
    func cut() { for socket in sockets { socket.abort() } }
    func close(code: UInt16) { for socket in sockets { socket.close(code: code, reason: "") } }

    // MARK: Waiting

    func requests(_ method: String) -> [Asked] { asked.filter { $0.request.method == method } }

    /// Waits for the `count`th request of a method, counted from 1.
    func waitFor(_ method: String, count: Int = 1) async -> Asked {
        while true {
            let found = requests(method)
            if found.count >= count { return found[count - 1] }
            await withCheckedContinuation { waiting.append((method, count, $0)) }
        }
    }

    /// Waits until something that happens here makes `isTrue` true.
    func until(_ isTrue: () -> Bool) async {
        while !isTrue() { await withCheckedContinuation { waiting.append(("", 0, $0)) } }
    }

    private func wake() {
        let all = waiting
        waiting = []
        for (_, _, continuation) in all { continuation.resume() }
    }
}

/// A time that passes soon, and is still enough for everything else on a busy machine.
let quickTiming = LinkTiming(
    request: .seconds(1), firstRetry: .milliseconds(1), longestRetry: .milliseconds(20),
    clockReading: .seconds(10))

/// Patient, so that nothing runs out of time on a busy machine; retries at once.
let patientTiming = LinkTiming(
    request: .seconds(20), firstRetry: .milliseconds(1), longestRetry: .milliseconds(20),
    clockReading: .seconds(30))

/// Waits until updates make `isTrue` true. False: the updates ended before.
@RouteActor func reached(_ updates: AsyncStream<Void>, _ isTrue: @RouteActor () -> Bool) async -> Bool {
    if isTrue() { return true }
    for await _ in updates where isTrue() { return true }
    return isTrue()
}
