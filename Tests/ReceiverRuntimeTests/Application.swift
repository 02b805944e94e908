// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

extension ApplicationManifest {
    static func made(
        _ id: String, _ change: (inout ApplicationManifest) -> Void = { _ in }
    ) throws -> ApplicationManifest {
        var manifest = ApplicationManifest(
            id: try #require(ApplicationID(id)), name: "The \(id)", version: "1.0",
            content: .program(path: "run", arguments: []))
        change(&manifest)
        return manifest
    }

    /// One instance for each session.
    static func echo() throws -> ApplicationManifest {
        try made("org.example.echo") {
            $0.patterns = [URLPattern("echo:*")].compactMap(\.self)
            $0.restart = .onFailure
        }
    }

    /// One for all, which plays.
    static func party() throws -> ApplicationManifest {
        try made("org.example.party") {
            $0.instance = .shared
            $0.hasRouteChannel = true
            $0.permissions = [.player, .volume, .storage]
            $0.whenSenderLost = .stay
            $0.icon = "icon.png"
        }
    }
}

/// An application in a test: what its process does on its socket.
final class TestApplication {
    let client: FakeClient
    let instance: InstanceID
    private(set) var notices: [ApplicationNotice] = []
    private(set) var ended: [ServerMessage] = []
    private var responses: [Int64: Result<JSONValue, RouteError>] = [:]
    private var requests: Int64 = 0

    /// Connects for the instance that was launched last.
    init(_ receiver: TestReceiver) throws {
        let host = try #require(receiver.applications)
        instance = try #require(host.newest)
        client = host.connect(instance)
    }

    /// The same, and says hello.
    static func running(_ receiver: TestReceiver) throws -> TestApplication {
        let application = try TestApplication(receiver)
        try application.ask(.application(.hello()))
        return application
    }

    func read() throws {
        for text in client.takeTexts() {
            for message in try ServerMessage.decode(text) {
                switch message {
                case .response(let id, let result): responses[id] = result
                case .application(let notice): notices.append(notice)
                case .sessionEnded: ended.append(message)
                default: break
                }
            }
        }
    }

    private func response(_ request: RouteRequest) throws -> Result<JSONValue, RouteError> {
        requests += 1
        client.say(request.text(id: requests))
        try read()
        let answer = responses.removeValue(forKey: requests)
        return try #require(answer, "no answer")
    }

    @discardableResult
    func ask(_ request: RouteRequest) throws -> JSONValue { try response(request).get() }

    func refusal(_ request: RouteRequest) throws -> RouteError.Code? {
        if case .failure(let error) = try response(request) { error.code } else { nil }
    }

    func takeNotices() throws -> [ApplicationNotice] {
        try read()
        defer { notices = [] }
        return notices
    }
}

/// The data frames of either end.
extension FakeClient {
    func say(
        _ kind: DataFrame.Kind, _ channel: UInt32, _ message: UInt64, _ payload: [UInt8] = [],
        endpoint: String = ""
    ) throws {
        let frame = DataFrame(
            kind: kind, channel: channel, message: message, endpoint: endpoint, payload: payload)
        say(binary: try #require(frame.bytes))
    }

    func say(
        _ channel: UInt32, _ message: UInt64, _ payload: [UInt8] = [], endpoint: String = ""
    ) throws {
        try say(.message, channel, message, payload, endpoint: endpoint)
    }

    func frames() throws -> [DataFrame] { try takeBinaries().map { try DataFrame(decoding: $0) } }

    /// The reasons of the refusals among the frames that came.
    func reasons() throws -> [String] {
        try frames().filter { $0.kind == .refused }.map {
            try JSONText.decode(String(decoding: $0.payload, as: UTF8.self), limit: 4_096)["reason"]?
                .textValue
                ?? ""
        }
    }
}

extension TestSender {
    /// Starts a session of an application and returns its identifier.
    func open(_ application: String, url: String = "echo:x") throws -> String {
        let result = try ask(.start(SessionStart(url: url, mode: .application, application: application)))
        return try #require(result["session"]?.textValue)
    }

    func channel(_ session: String) throws -> UInt32 {
        UInt32(try #require(member("sessions", session, "channel")?.integerValue))
    }
}
