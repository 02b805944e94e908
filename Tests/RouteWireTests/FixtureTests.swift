// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import FoundationEssentials
import MediaModel
import SeededNumbers
import Testing

@testable import RouteWire

/// The files of `Fixtures/`, written by hand from `Docs/protocols/route.md` and not by this code. The fuzzer starts from
/// them, too.
enum FixtureFile {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures").path

    static func names(_ prefix: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasPrefix("\(prefix)-") }.sorted()
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
    }

    static func text(_ name: String) throws -> String {
        String(decoding: try bytes(name), as: UTF8.self)
    }
}

struct FixtureTests {
    @Test(arguments: FixtureFile.names("request"))
    func `a request by the page is taken`(name: String) throws {
        let incoming = IncomingText.decode(try FixtureFile.text(name))
        switch incoming {
        case .single(let one):
            let request = try one.request.get()
            #expect(name == "request-\(request.method).json")
        case .batch(let several):
            #expect(several.count == 3)
            for one in several { _ = try one.request.get() }
        }
    }

    @Test func `there is a request of every method`() {
        let names = FixtureFile.names("request").filter { $0 != "request-batch.json" }
        #expect(Set(names) == Set(RouteRequest.methods.map { "request-\($0).json" }))
    }

    @Test(arguments: FixtureFile.names("bad"))
    func `what the page forbids is refused with its reason`(name: String) throws {
        let reason = name.split(separator: "-")[1]
        guard case .single(let one) = IncomingText.decode(try FixtureFile.text(name)),
            case .failure(let error) = one.request
        else {
            Issue.record("taken")
            return
        }
        #expect(error.code.rawValue == reason)
    }

    @Test(arguments: FixtureFile.names("server"))
    func `a receiver's message by the page is understood`(name: String) throws {
        let messages = try ServerMessage.decode(try FixtureFile.text(name))
        #expect(messages.count == (name == "server-batch.json" ? 2 : 1))
        #expect(messages.first != .unknown)
    }

    @Test(arguments: FixtureFile.names("state"))
    func `a state by the page is read, and written as it was`(name: String) throws {
        let state = try JSONText.decode(try FixtureFile.text(name), limit: 65_536)
        let document = try StateDocument(json: state)
        #expect(document.device.name == "Küche 🎵")
        // Members that only a later receiver knows are lost, nothing else.
        if name == "state-playing.json" { #expect(MergePatch.diff(from: document.json, to: state) == nil) }
    }

    @Test func `a step applied to the state gives the next state`() throws {
        let state = try JSONText.decode(try FixtureFile.text("state-playing.json"), limit: 65_536)
        guard
            case .stateChanged(let change) = try ServerMessage.decode(
                try FixtureFile.text("server-state.changed.json")
            ).first
        else {
            Issue.record("no step")
            return
        }
        let next = try StateDocument(json: MergePatch.apply(change.patch, to: state))
        #expect(next.player == nil)
        #expect(next.sessions.values.first?.isPlaying == false)
        #expect(next.sessions.count == 1)
    }

    @Test func `choices that only a later receiver knows do not make a state unreadable`() throws {
        let state = try JSONText.decode(try FixtureFile.text("state-playing.json"), limit: 65_536)
        let id = try #require(state["player"]?["session"]?.textValue)
        func with(_ changes: JSONValue) throws -> SessionDocument? {
            let patch: JSONValue = ["sessions": .object([id: changes])]
            return try StateDocument(json: MergePatch.apply(patch, to: state)).sessions[id]
        }
        #expect(try with(["currentSegment": ["type": "chapter"]])?.currentSegment.kind == .other)
        #expect(try with(["state": "rehearsing"])?.state == .normal)
        #expect(throws: RouteError.self) { try with(["state": 5]) }
        #expect(throws: RouteError.self) { try with(["currentSegment": ["type": true]]) }
    }

    @Test(arguments: FixtureFile.names("frame"))
    func `a data frame by the page is read and written`(name: String) throws {
        let bytes = try FixtureFile.bytes(name)
        #expect(try DataFrame(decoding: bytes).bytes == bytes)
        for count in 0..<DataFrame.headerLength {
            #expect(throws: DataFrame.Failure.self) { try DataFrame(decoding: Array(bytes[..<count])) }
        }
    }

    @Test func `all fixtures are found`() {
        let kinds = ["request", "bad", "server", "state", "frame"].map { FixtureFile.names($0).count }
        #expect(kinds == [51, 27, 11, 2, 3])
    }

    @Test func `10 000 changed steps never trap, whatever becomes of the state`() throws {
        var random = SeededNumbers(seed: 4)
        let seed = Array(try FixtureFile.text("state-playing.json").utf8)
        // Without nulls, as whoever follows the steps has it.
        let whole = try JSONText.decode(String(decoding: seed, as: UTF8.self), limit: 65_536)
        let state = MergePatch.apply(whole, to: .null)
        var (patched, read) = (0, 0)
        for _ in 0..<10_000 {
            // A stretch of the state, put where another one was.
            var bytes = Array("{\"sessions\":".utf8)
            let start = Int.random(in: 0..<seed.count, using: &random)
            bytes += seed[start...].prefix(Int.random(in: 0...80, using: &random))
            bytes += Array("null}0]\"".utf8).prefix(Int.random(in: 0...5, using: &random)) + [0x7d]
            guard let patch = try? JSONText.decode(String(decoding: bytes, as: UTF8.self), limit: 65_536)
            else { continue }
            patched += 1
            let next = MergePatch.apply(patch, to: state)
            if let difference = MergePatch.diff(from: state, to: next) {
                #expect(MergePatch.apply(difference, to: state) == MergePatch.apply(difference, to: next))
            }
            if (try? StateDocument(json: next)) != nil { read += 1 }
        }
        #expect(patched > 50 && read > 10)
    }
}

/// The part of `route.openrpc.json` that OpenRPC itself has no place for.
struct OpenRPCNotificationTests {
    @Test func `the notifications of the document are those of the code, member by member`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "Docs/protocols/route.openrpc.json"))
        let document = try JSONText.decode(utf8: Array(data), limit: 1 << 20)
        let schemas = Schemas(document["components"]?["schemas"]?.objectValue ?? [:])
        let written = [
            Notification.stateChanged(StateChange(version: 2, base: 1, origin: .several, patch: ["a": 1])),
            Notification.routeEnded(route: "r", reason: "shutdown", message: "m"),
            Notification.sessionEnded(
                session: "s", reason: "failed", by: "n", error: .init(.decode, "x", httpStatus: 404),
                application: ApplicationFailure(.crashed, "m", log: ["l"])),
            Notification.announcementEnded(
                announcement: "a", reason: "failed", by: "n", error: .init(.decode, "x", httpStatus: 404)),
        ]
        let documented = document["x-notifications"]?.arrayValue ?? []
        #expect(
            documented.compactMap { $0["name"]?.textValue } == written.compactMap { $0["method"]?.textValue })
        for (entry, message) in zip(documented, written) {
            let schema = try #require(entry["params"])
            let params = try #require(message["params"]?.objectValue)
            #expect(schemas.faults(of: .object(params), by: schema, at: "params") == [])
            #expect(Set(params.keys) == Set((schema["properties"]?.objectValue ?? [:]).keys))
            #expect(try ServerMessage.decode(JSONText.encode(message)).first != .unknown)
            for key in schema["required"]?.arrayValue?.compactMap(\.textValue) ?? [] where key != "patch" {
                var less = params
                less[key] = nil
                let text = JSONText.encode([
                    "jsonrpc": "2.0", "method": message["method"] ?? .null, "params": .object(less),
                ])
                #expect(throws: RouteError.self, "without \(key)") { try ServerMessage.decode(text) }
            }
        }
    }
}
