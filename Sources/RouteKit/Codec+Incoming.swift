// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire

/// One step of the state.
struct StateStep {
    let version: Int64
    let base: Int64
    let origin: ChangeOrigin?
    let patch: JSONValue
}

extension Codec {
    /// The messages in a text frame: one, or a batch. Anything else is none.
    static func incoming(_ text: String) -> [Incoming] {
        guard let value = JSONValue(text: text) else { return [] }
        return (value.array ?? [value]).compactMap(message)
    }

    private static func message(_ value: JSONValue) -> Incoming? {
        if let method = value["method"]?.string {
            return value["id"] == nil ? .notification(method, value["params"] ?? .object([:])) : nil
        }
        guard let id = value["id"]?.integer else { return nil }
        if let error = value["error"] { return .answer(id, .failure(self.error(error))) }
        return .answer(id, .success(value["result"] ?? .null))
    }

    static func error(_ value: JSONValue) -> RoutingError {
        let number = value["code"]?.integer ?? -32603
        let reason = value["data"]?["reason"]?.string ?? "error\(number)"
        let family = value["data"]?["family"]?.string.flatMap(RoutingError.Family.init(rawValue:))
        return RoutingError(
            .init(rawValue: reason), family: family ?? .connection,
            value["message"]?.string ?? "the receiver refused", number: Int(number))
    }

    // MARK: Answers

    static func greeting(_ value: JSONValue, activates: Bool) throws(RoutingError) -> Greeting {
        guard let version = value["version"]?.integer, let state = value["state"], state.object != nil,
            !activates || value["route"]?.string != nil
        else { throw .badAnswer }
        return Greeting(
            route: value["route"]?.string, resumeToken: value["resumeToken"]?.string,
            graceTime: value["graceSeconds"]?.number.flatMap(seconds), version: version, state: state)
    }

    /// A day at most, so that nothing overflows.
    private static func seconds(_ number: Double) -> Duration? {
        number >= 0 && number <= 86_400 ? .seconds(number) : nil
    }

    static func started(
        _ value: JSONValue
    ) -> (session: String, version: Int64, state: JSONValue?)? {
        guard let session = value["session"]?.string else { return nil }
        let state = value["state"].flatMap { $0["sessions"] == nil ? nil : $0 }
        return (session, value["version"]?.integer ?? -1, state)
    }

    static func outcome(
        of result: Result<JSONValue, RoutingError>, isMute: Bool = false
    ) -> Result<WriteOutcome, RoutingError> {
        result.flatMap { answer in
            let value = answer["value"]
            if isMute, let muted = value?.bool { return .success(.muted(muted)) }
            switch answer["outcome"]?.string {
            case "accepted":
                return .success(value?.number.map { .clampedNumber($0) } ?? .accepted)
            case "clamped":
                if let number = value?.number { return .success(.clampedNumber(number)) }
                if let text = value?.string { return .success(.clampedText(text)) }
                if let time = value.flatMap(time) { return .success(.clampedTime(time)) }
                return .success(.accepted)
            default: return .failure(.badAnswer)
            }
        }
    }

    static func clockReading(_ value: JSONValue) -> (clock: String, received: Int64, sent: Int64)? {
        guard let id = value["id"]?.string, let received = value["received"]?.integer,
            let sent = value["sent"]?.integer
        else { return nil }
        return (id, received, sent)
    }

    // MARK: Notifications

    static func step(_ params: JSONValue) -> StateStep? {
        guard let version = params["version"]?.integer, let base = params["base"]?.integer,
            let patch = params["patch"], patch.object != nil
        else { return nil }
        return StateStep(
            version: version, base: base, origin: params["origin"].flatMap(origin), patch: patch)
    }

    static func origin(_ value: JSONValue) -> ChangeOrigin? {
        switch value["kind"]?.string {
        case "sender":
            .sender(route: value["route"]?.string ?? "", name: value["name"]?.string ?? "")
        case "device": .device
        case "content": .content
        case "local": .local
        case "group": .group
        case "several": .several
        default: nil
        }
    }

    static func sessionEnd(_ params: JSONValue) -> (String, SessionEnd)? {
        guard let session = params["session"]?.string else { return nil }
        let reason: SessionEnd =
            switch params["reason"]?.string {
            case "stopped": .stopped
            case "finished": .finished
            case "preempted": .preempted(by: params["by"]?.string ?? "another sender")
            case "failed":
                .failed(
                    params["error"].flatMap(failure)
                        ?? MediaFailure(.internalFailure, "the receiver did not say why"))
            case "routeEnded": .routeEnded
            case "shutdown": .shutdown
            default: .lost
            }
        return (session, reason)
    }

    /// Nil: it is about another route.
    static func routeEnd(_ params: JSONValue, route: String?) -> RouteEnd? {
        guard let ended = params["route"]?.string, ended == route else { return nil }
        return params["reason"]?.string.flatMap(RouteEnd.init(rawValue:)) ?? .connectionLost
    }

    static func message(_ params: JSONValue) -> String? { params["message"]?.string }

    // MARK: Data frames

    static func refusal(_ payload: [UInt8]) -> RoutingError {
        let value = JSONValue(text: String(decoding: payload, as: UTF8.self)) ?? .null
        return RoutingError(
            .init(rawValue: value["reason"]?.string ?? "refused"), family: .session,
            value["message"]?.string ?? "the message was refused", number: 1)
    }

    static func refusal(reason: String, message: String) -> [UInt8] {
        Array(JSONValue.object(["reason": .string(reason), "message": .string(message)]).text.utf8)
    }

    // MARK: Identity

    /// The receiver that `GET /v1/receiver` describes, at the address that was asked.
    static func receiver(_ text: String, at address: Receiver.Address) -> Receiver? {
        guard let value = JSONValue(text: text), let id = value["id"]?.string, !id.isEmpty else { return nil }
        return Receiver(
            id: id, displayName: value["name"]?.string ?? address.host, addresses: [address],
            model: value["model"]?.string ?? "", deviceType: value["type"]?.string ?? "speaker",
            capabilities: .init(names: value["capabilities"]?.array?.compactMap(\.string) ?? []),
            volumeMode: value["volumeMode"]?.string.flatMap(Receiver.VolumeMode.init(rawValue:))
                ?? .relative,
            canMute: value["canMute"]?.bool ?? true,
            sessionLimit: value["sessionLimit"]?.integer.flatMap { Int(exactly: $0) } ?? 1,
            canGroup: value["canGroup"]?.bool ?? false,
            protocolVersions: value["versions"]?.array?.compactMap { $0.integer.map { Int($0) } } ?? [],
            accessPolicy: value["access"]?.string ?? "open", software: value["software"]?.string,
            clockPort: value["ports"]?["clock"]?.integer.flatMap { UInt16(exactly: $0) })
    }
}
