// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import ApplicationModel
import MediaModel
import RouteWire

/// What comes when a connection opens.
struct Greeting {
    var route: String?
    var resumeToken: String?
    var graceTime: Duration?
    var joinsFrames = false
    var clock: String?
    var version: Int64
    var state: JSONValue
}

/// Between this library's words and those of the protocol.
enum Codec {
    static func request(for command: PlaybackCommand, session: String) -> RouteRequest {
        switch command {
        case .setPlaying(let value): .setPlaying(session: session, value)
        case .seek(let position, let tolerance):
            .seek(session: session, position: position, tolerance: tolerance)
        case .setSpeed(let value): .setSpeed(session: session, value)
        case .setState(let value, let scan): .setState(session: session, value.wire, scanSpeed: scan)
        case .selectTrack(let kind, let identifier):
            .selectTrack(session: session, kind, option: identifier)
        case .setVolume(let value): .setVolume(session: session, value)
        case .setMuted(let value): .setMuted(session: session, value)
        }
    }

    static func request(for command: DeviceCommand) -> RouteRequest {
        switch command {
        case .setVolume(let value): .setDeviceVolume(value)
        case .changeVolume(let steps): .changeDeviceVolume(steps: Int64(steps))
        case .setMuted(let value): .setDeviceMuted(value)
        case .toggleMute: .setDeviceMuted(nil)
        case .rename(let name): .rename(name)
        case .setOutputTrim(let trim): .setOutputTrim(trim.nanoseconds)
        }
    }

    static func start(
        url: String, mode: RouteSession.LaunchMode, options: RouteSession.Options
    ) throws(RoutingError) -> RouteRequest {
        guard url.utf8.count <= WireLimits.url, options.headers.count <= WireLimits.headers,
            options.segments.count <= WireLimits.segments,
            options.headers.allSatisfy({ $0.name.utf8.count + $0.value.utf8.count <= WireLimits.headerBytes })
        else {
            throw RoutingError(
                .tooLong, family: .session,
                "a session has a URL of at most 8 KiB, 16 headers of 4 KiB each and 64 segments")
        }
        guard try parts(options.following).count <= 1 else {
            throw RoutingError(
                .tooLong, family: .session, "a session is started with 48 KiB of items at most")
        }
        var application: String?
        if case .application(let id) = mode { application = id }
        return .start(
            SessionStart(
                url: url, mode: application == nil ? .player : .application, application: application,
                headers: options.headers, userAgent: options.userAgent,
                allowsInvalidCertificate: options.allowsInvalidCertificate,
                startPosition: options.startPosition ?? .zero, isPlaying: options.isPlaying,
                title: options.title, subtitle: options.subtitle, segments: options.segments,
                identifier: options.identifier, items: options.following.map { QueueItemRequest($0) },
                repeats: options.repeatMode.wire))
    }

    // MARK: Answers

    static func greeting(_ value: JSONValue, activates: Bool) throws -> Greeting {
        guard activates else {
            let result = try StateResult(json: value)
            return Greeting(version: result.version, state: result.state)
        }
        let result = try ActivationResult(json: value)
        // A day at most, so that nothing overflows.
        let grace = min(result.graceSeconds, 86_400)
        return Greeting(
            route: result.route, resumeToken: result.resumeToken, graceTime: .seconds(grace),
            joinsFrames: result.capabilities.contains(JoinedFrames.capability), clock: result.clock.id,
            version: result.version, state: result.state)
    }

    static func outcome(
        of result: Result<JSONValue, RoutingError>, isMute: Bool = false
    ) -> Result<WriteOutcome, RoutingError> {
        result.flatMap { answer in
            guard let outcome = try? Outcome(json: answer) else { return .failure(.badAnswer) }
            switch outcome {
            case .accepted: return .success(.accepted)
            case .value(let value), .clamped(let value):
                if isMute, let muted = value.boolValue { return .success(.muted(muted)) }
                if let number = value.numberValue {
                    if case .value = outcome { return .success(.level(number)) }
                    return .success(.clampedNumber(number))
                }
                if let text = value.textValue { return .success(.clampedText(text)) }
                return .success(MediaTime(value).map { .clampedTime($0) } ?? .accepted)
            }
        }
    }

    static func end(
        reason: String, by: String?, error: MediaFailure?, application: ApplicationFailure?
    ) -> SessionEnd {
        if let application { return .applicationFailed(application) }
        return switch reason {
        case "stopped": .stopped
        case "finished": .finished
        case "preempted": .preempted(by: by ?? "another sender")
        case "failed": .failed(error ?? MediaFailure(.internalFailure, "the receiver did not say why"))
        case "routeEnded": .routeEnded
        case "shutdown": .shutdown
        default: .lost
        }
    }

    // MARK: Data frames

    /// Why a message was refused.
    static func refusal(_ payload: [UInt8]) -> RoutingError {
        let text = String(decoding: payload, as: UTF8.self)
        let value = (try? JSONText.decode(text, limit: WireLimits.textFrame)) ?? .null
        return RoutingError(
            .init(rawValue: value["reason"]?.textValue ?? "refused"), family: .session,
            value["message"]?.textValue ?? "the message was refused", number: 1)
    }

    static func refusal(reason: String, message: String) -> [UInt8] {
        Array(JSONText.encode(["reason": .text(reason), "message": .text(message)]).utf8)
    }
}

extension Duration {
    /// A whole count, within what the protocol takes.
    fileprivate var nanoseconds: Int64 {
        let limit = Duration.seconds(1_000)
        return Int64(Swift.min(Swift.max(self, .zero - limit), limit) / .nanoseconds(1))
    }
}

extension MediaTime {
    /// The time that a JSON value stands for.
    fileprivate init?(_ value: JSONValue) {
        if let name = value["name"]?.textValue {
            self.init(named: name)
            return
        }
        guard let count = value["value"]?.integerValue,
            let scale = value["timescale"]?.integerValue.flatMap({ Int32(exactly: $0) }), scale >= 1
        else { return nil }
        self.init(value: count, timescale: scale)
    }
}

extension PlaybackState {
    fileprivate var wire: WirePlaybackState {
        switch self {
        case .normal: .normal
        case .scanning: .scanning
        case .scrubbing: .scrubbing
        }
    }

    init(_ state: WirePlaybackState) {
        self =
            switch state {
            case .normal: .normal
            case .scanning: .scanning
            case .scrubbing: .scrubbing
            }
    }
}

extension RoutingError {
    init(_ error: RouteError) {
        self.init(
            .init(rawValue: error.code.rawValue),
            family: Family(rawValue: error.code.family.rawValue) ?? .connection, error.message,
            number: Int(error.code.number))
    }
}

extension ChangeOrigin {
    init(_ origin: WireOrigin) {
        self =
            switch origin {
            case .sender(let route, let name): .sender(route: route, name: name)
            case .device: .device
            case .content: .content
            case .local: .local
            case .application(let instance, let name): .application(instance: instance, name: name)
            case .group: .group
            case .switching: .switching
            case .several: .several
            }
    }
}

extension Receiver {
    /// The receiver that an advertisement or an answer describes.
    init(_ description: ReceiverDescription, addresses: [Address]) {
        self.init(
            id: description.id, displayName: description.name, addresses: addresses,
            model: description.model, deviceType: description.type,
            capabilities: Capabilities(names: description.capabilities),
            volumeMode: VolumeMode(rawValue: description.volumeMode) ?? .relative,
            canMute: description.canMute, sessionLimit: Int(description.sessionLimit),
            canGroup: description.canGroup,
            protocolVersions: description.versions.compactMap { Int(exactly: $0) },
            accessPolicy: description.access,
            software: description.software.isEmpty ? nil : description.software,
            clockPort: description.clockPort)
    }
}

extension RoutingError {
    /// An application's failure, with what it said last.
    public init(_ failure: ApplicationFailure) {
        // What it said last may be the reason itself.
        let log = failure.log.last == failure.message ? failure.log.dropLast() : failure.log[...]
        let lines = ["\(failure.code.rawValue): \(failure.message)"] + log
        self.init(.applicationFailed, family: .session, lines.joined(separator: "\n"))
    }
}
