// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import FoundationEssentials
import MediaModel
import Testing

@testable import RouteWire

/// What only applications say and hear, and what senders see of them. `Docs/protocols/application.openrpc.json` is held
/// against the code.
struct ApplicationWireTests {
    private static let notices: [ApplicationNotice] = [
        .sessionOpened(
            session: "s", channel: 7, url: "x:y", sender: SenderInfo(identifier: "i", name: "Phone"),
            isAttached: true),
        .sessionOpened(session: "s", channel: .max, url: "", sender: nil, isAttached: false),
        .sessionAttached(session: "s", isAttached: false),
        .sessionClosed(session: "s", channel: 7, reason: "stopped"),
        .routeOpened(channel: 8, route: "r", sender: SenderInfo(identifier: "i", name: "")),
        .routeClosed(channel: 8), .ending(reason: "No session is left.", milliseconds: 3_000),
    ]

    @Test(arguments: notices)
    func `a notice written is the notice read, and is documented`(_ notice: ApplicationNotice) throws {
        #expect(try ServerMessage.decode(JSONText.encode(notice.json)) == [.application(notice)])
        let document = try Self.document()
        let known = document["x-notifications"]?.arrayValue ?? []
        let entry = try #require(known.first { $0["name"]?.textValue == notice.method })
        let schemas = Schemas(document["components"]?["schemas"]?.objectValue ?? [:])
        #expect(
            schemas.faults(
                of: try #require(notice.json["params"]), by: try #require(entry["params"]),
                at: notice.method) == [])
    }

    @Test func `the document has exactly the methods and notices of the code`() throws {
        let document = try Self.document()
        func names(_ key: String) -> [String] {
            (document[key]?.arrayValue ?? []).compactMap { $0["name"]?.textValue }
        }
        #expect(names("methods") == ApplicationRequest.methods)
        #expect(names("x-notifications") == ApplicationNotice.methods)
        #expect(Set(Self.notices.map(\.method)) == Set(ApplicationNotice.methods))
    }

    @Test func `every example is taken, and fits its schema`() throws {
        let document = try Self.document()
        let schemas = Schemas(document["components"]?["schemas"]?.objectValue ?? [:])
        for method in document["methods"]?.arrayValue ?? [] {
            let name = try #require(method["name"]?.textValue)
            let example = try #require(method["examples"]?.arrayValue?.first)
            var params: [String: JSONValue] = [:]
            for param in example["params"]?.arrayValue ?? [] {
                params[param["name"]?.textValue ?? ""] = param["value"]
            }
            let whole = try RouteRequest(method: name, params: .object(params))
            #expect(whole.params == .object(params))
            for param in method["params"]?.arrayValue ?? [] {
                let key = try #require(param["name"]?.textValue)
                #expect(
                    schemas.faults(of: try #require(params[key]), by: param["schema"] ?? .null, at: key) == []
                )
                var less = params
                less[key] = nil
                if param["required"] == true {
                    #expect(throws: RouteError.self) {
                        try RouteRequest(method: name, params: .object(less))
                    }
                } else {
                    #expect(try RouteRequest(method: name, params: .object(less)) != whole)
                }
            }
            let result = try #require(example["result"]?["value"])
            #expect(schemas.faults(of: result, by: method["result"]?["schema"] ?? .null, at: name) == [])
        }
    }

    private static func document() throws -> JSONValue {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "Docs/protocols/application.openrpc.json"))
        return try JSONText.decode(String(decoding: data, as: UTF8.self), limit: 1 << 20)
    }

    @Test func `requests by the page are taken`() throws {
        for (name, expected) in [
            ("application-hello.json", ApplicationRequest.hello(library: "python 1")),
            ("application-endSession.json", .endSession(session: "8a1c", failure: "The party is over.")),
        ] {
            guard case .single(let one) = IncomingText.decode(try FixtureFile.text(name)) else {
                Issue.record("a batch")
                return
            }
            #expect(try one.request.get() == .application(expected))
        }
        #expect(throws: RouteError.self) {
            try RouteRequest(method: "application.hello", params: ["version": 2])
        }
    }

    @Test func `the greeting is read as it was written`() throws {
        var limits = ApplicationManifest.Limits()
        (limits.memory, limits.storage, limits.processes) = (1 << 24, 1 << 16, 4)
        (limits.message, limits.idleSeconds) = (2_048, 0)
        for storage in ["/storage", nil] {
            let greeting = HelloResult(
                application: "a.b", instance: "i", permissions: ["player"], limits: limits, storage: storage,
                clock: ClockInfo(id: "c", now: -1), version: 3, state: ["device": [:]])
            #expect(try HelloResult(json: greeting.json) == greeting)
        }
    }

    @Test func `the state names applications, instances and their sessions`() throws {
        var state = Fixtures.state
        state.applications["org.example.a"] = ApplicationDocument(
            name: "A", version: "1", icon: "/v1/applications/org.example.a/icon", urls: ["a:*"],
            instance: "shared")
        state.instances["i1"] = InstanceDocument(
            application: "org.example.a", phase: "running", media: "s1", restarts: 2,
            confinement: [ConfinementLayer(.files)])
        state.applicationSessions["a1"] = ApplicationSessionDocument(
            application: "org.example.a", instance: "i1", isActive: true, route: nil, url: "a:b", channel: 4,
            media: "s1")
        #expect(try StateDocument(json: state.json) == state)
    }

    @Test func `the end of an application's session says why, with its last words`() throws {
        for code in ApplicationFailure.Code.allCases {
            let failure = ApplicationFailure(code, "m", log: ["one", "two"])
            let text = JSONText.encode(
                Notification.sessionEnded(
                    session: "s", reason: "failed", by: nil, error: nil, application: failure))
            #expect(
                try ServerMessage.decode(text)
                    == [
                        .sessionEnded(
                            session: "s", reason: "failed", by: nil, error: nil, application: failure)
                    ])
        }
        let origin = WireOrigin.application(instance: "i", name: "A")
        let change = StateChange(version: 2, base: 1, origin: origin, patch: ["a": 1])
        let text = JSONText.encode(Notification.stateChanged(change))
        #expect(try ServerMessage.decode(text) == [.stateChanged(change)])
    }

    @Test func `the header of a frame is read as the whole frame is`() throws {
        for (kind, endpoint, payload) in [
            (DataFrame.Kind.message, "a", [1, 2]), (.message, "", []), (.refused, "", [9]),
        ] as [(DataFrame.Kind, String, [UInt8])] {
            let frame = DataFrame(
                kind: kind, channel: 0x0102_0304, message: 0x0102_0304_0506_0708, endpoint: endpoint,
                payload: payload)
            var bytes = try #require(frame.bytes)
            let header = try DataFrame.Header(decoding: bytes)
            #expect(header.kind == kind && header.channel == frame.channel && header.message == frame.message)
            #expect(header.endpointLength == endpoint.utf8.count && header.payloadLength == payload.count)
            if endpoint.isEmpty {
                #expect(
                    DataFrame.bytes(
                        kind, channel: frame.channel, message: frame.message, payload: payload[...]) == bytes)
            }
            DataFrame.setMessage(5, in: &bytes)
            #expect(try DataFrame(decoding: bytes).message == 5)
            for count in 0..<16 {
                #expect(throws: DataFrame.Failure.self) {
                    try DataFrame.Header(decoding: Array(bytes[..<count]))
                }
            }
            for index in 0..<16 {
                for value in [0, 2, 4, 255] as [UInt8] {
                    var broken = bytes
                    broken[index] = value
                    let whole = try? DataFrame(decoding: broken)
                    let head = try? DataFrame.Header(decoding: broken)
                    #expect((whole == nil) == (head == nil), "\(index) \(value)")
                }
            }
        }
    }
}
