// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import Settings
import SystemProbe
import Testing

/// Frames and messages that mean no good, against the daemon as a process.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HostileMessageTests {
    @Test func `frames that break the protocol end the connection`() async throws {
        try await HostileDaemon.suffer { daemon in
            let text = Array(#"{"jsonrpc":"2.0","id":1,"method":"clock.ping"}"#.utf8)
            // 64 KiB that would unpack to 64 MiB, marked as compressed.
            let bomb = [UInt8](repeating: 0xaa, count: 60_000)
            let frames: [(String, [UInt8])] = [
                ("not masked", HostilePeer.frame(0x81, text, isMasked: false)),
                ("reserved bits", HostilePeer.frame(0xf1, text)),
                ("compressed", HostilePeer.frame(0xc1, bomb)),
                ("reserved opcode", HostilePeer.frame(0x83, text)),
                ("reserved control opcode", HostilePeer.frame(0x8b, [])),
                ("not UTF-8", HostilePeer.frame(0x81, [0x22, 0xc3, 0x28, 0x22])),
                ("surrogates", HostilePeer.frame(0x81, [0xed, 0xa0, 0x80])),
                ("a text too large", HostilePeer.frame(0x81, [UInt8](repeating: 65, count: 65_537))),
                ("a binary too large", HostilePeer.frame(0x82, [UInt8](repeating: 65, count: 1_048_721))),
                ("a length of 2^63", [0x82, 0xff] + [0x80, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0]),
                (
                    "a length of 2^63-1",
                    [0x82, 0xff, 0x7f] + [UInt8](repeating: 255, count: 7) + [0, 0, 0, 0]
                ),
                ("a large ping", HostilePeer.frame(0x89, [UInt8](repeating: 65, count: 126))),
                ("a ping in pieces", HostilePeer.frame(0x09, text)),
                ("a continuation of nothing", HostilePeer.frame(0x80, text)),
                ("a new message within one", HostilePeer.frame(0x01, text) + HostilePeer.frame(0x81, text)),
                ("a close of one byte", HostilePeer.frame(0x88, [3])),
                ("a data frame without its header", HostilePeer.frame(0x82, [1, 1, 0])),
                ("an empty data frame", HostilePeer.frame(0x82, [])),
                (
                    "data frame version 2",
                    HostilePeer.frame(0x82, [2, 1, 0, 0] + [UInt8](repeating: 1, count: 12))
                ),
                (
                    "data frame of kind 9",
                    HostilePeer.frame(0x82, [1, 9, 0, 0] + [UInt8](repeating: 1, count: 12))
                ),
                (
                    "a name that is not there",
                    HostilePeer.frame(0x82, [1, 1, 0, 9] + [UInt8](repeating: 1, count: 12))
                ),
            ]
            for (name, frame) in frames {
                let peer = try HostilePeer(port: daemon.port)
                peer.send(frame)
                let end = peer.end()
                daemon.check(end != .stillOpen, "\(name): the connection stays")
                print("\(name): \(end)")
            }
        }
    }

    @Test func `floods end or are borne, and others hardly wait`() async throws {
        try await HostileDaemon.suffer { daemon in
            let port = daemon.port
            let before = daemon.memory
            let pings = [UInt8](
                repeatElement(HostilePeer.frame(0x89, [UInt8](repeating: 65, count: 125)), count: 1_000)
                    .joined())
            let small = String(repeating: "1,", count: 32_700)
            let large = HostilePeer.text(#"{"jsonrpc":"2.0","method":"state.unsubscribe","x":[\#(small)1]}"#)
            let empty = [UInt8](repeatElement(HostilePeer.text(""), count: 10_000).joined())
            let fragment = HostilePeer.frame(0x00, [UInt8](repeating: 65, count: 60_000))
            let notes = [UInt8](
                repeatElement(HostilePeer.text(#"{"jsonrpc":"2.0","method":"no"}"#), count: 2_000).joined())
            // Seconds for which each may go on; the peers read nothing.
            let floods: [(name: String, first: [UInt8], again: [UInt8])] = [
                ("pings", [], pings),
                ("pings and pongs", HostilePeer.frame(0x8a, []), pings + HostilePeer.text("{}")),
                ("64 KiB of small values", [], large), ("empty texts", [], empty),
                ("endless fragments", HostilePeer.frame(0x01, [65]), fragment), ("notifications", [], notes),
            ]
            for flood in floods {
                let count = Counter()
                let wait = try daemon.longestWait {
                    guard let peer = try? HostilePeer(port: port) else { return }
                    peer.send(flood.first)
                    let end = monotonicNanoseconds() + 2_000_000_000
                    while count.value < 1_000, monotonicNanoseconds() < end {
                        guard (try? peer.socket.write(flood.again)) != nil else { break }
                        count.add()
                    }
                }
                print("\(flood.name): \(count.value) times, another waited \(wait) ms, \(daemon.memory) MB")
                daemon.check(wait < 5_000, "\(flood.name): another waited \(wait) ms")
            }
            daemon.check(daemon.memory - before < 16, "memory grew from \(before) to \(daemon.memory) MB")
        }
    }

    @Test func `every method takes wrong types for an error`() async throws {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = String(
            decoding: try FileSystem.read("/\(path)/Docs/protocols/route.openrpc.json", maximum: 1 << 20),
            as: UTF8.self)
        let document = try JSONText.decode(text, limit: 1 << 20)
        let methods = try #require(document["methods"]?.arrayValue)
        let values: [JSONValue] = [
            .null, true, 7, -1, .number(1e308), .number(-0.5), "", "x",
            .text(String(repeating: "ß", count: 3_000)), [],
            [[], [:]], [:], ["value": 1], .integer(.max), .integer(.min),
            ["value": .integer(.max), "timescale": 1],
            ["value": .integer(.min), "timescale": 1], ["name": "indefinite"], ["name": "positiveInfinity"],
        ]
        var requests: [JSONValue] = []
        for method in methods {
            let name = method["name"] ?? .null
            let examples = method["examples"]?.arrayValue?.first?["params"]?.arrayValue ?? []
            var whole: [String: JSONValue] = [:]
            for param in examples { whole[param["name"]?.textValue ?? ""] = param["value"] }
            for params in [.null, 5, "x", [1, 2], [:]] + values {
                requests.append(["method": name, "params": params])
            }
            for key in whole.keys.sorted() {
                for value in values {
                    var params = whole
                    params[key] = value
                    requests.append(["method": name, "params": .object(params)])
                }
            }
        }
        let all = requests
        try await HostileDaemon.suffer { daemon in
            for isRouted in [false, true] {
                let peer = try HostilePeer(port: daemon.port)
                if isRouted { _ = peer.activate() }
                for (index, request) in all.enumerated() {
                    var members = request.objectValue ?? [:]
                    members["jsonrpc"] = "2.0"
                    members["id"] = JSONValue(index)
                    peer.send(text: JSONText.encode(.object(members)))
                    let answer = peer.answer()
                    guard answer?["id"] == JSONValue(index) else {
                        daemon.check(false, "\(JSONText.encode(request).prefix(200)): \(answer ?? "none")")
                        break
                    }
                    daemon.check(HostilePeer.reason(answer) != "internalError", "\(JSONText.encode(request))")
                }
                peer.close()
            }
            print("\(all.count) requests with wrong parameters, with and without a route")
        }
    }

    @Test func `batches with errors, unknown methods, equal ids and deep JSON are answered`() async throws {
        try await HostileDaemon.suffer { daemon in
            let peer = try HostilePeer(port: daemon.port)
            func request(_ id: String, _ method: String) -> String {
                #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"}"#
            }
            func answer(_ text: String) -> JSONValue? {
                peer.send(text: text)
                return peer.answer()
            }
            let mixed = answer(
                "[\(request("1", "clock.ping")),7,\(request("1", "no.such")),{},\(request("\"1\"", "state.get"))]"
            )
            daemon.check(mixed?.arrayValue?.count == 5, "a mixed batch: \(mixed ?? "none")")
            daemon.check(HostilePeer.reason(mixed?.arrayValue?[2]) == "methodNotFound", "an unknown method")
            for method in ["rpc.discover", "", String(repeating: "x", count: 60_000), "state.get\\u0000"] {
                daemon.check(
                    HostilePeer.reason(answer(request("2", method))) == "methodNotFound",
                    "\(method.prefix(20))")
            }
            for id in ["{}", "[]", "1.5", "1e400", "true", "\"\(String(repeating: "x", count: 5_000))\""] {
                let reason = HostilePeer.reason(answer(request(id, "clock.ping")))
                daemon.check(
                    reason == "invalidRequest" || reason == "parseError",
                    "id \(id.prefix(20)): \(reason ?? "none")")
                _ = answer(request("3", "clock.ping"))
            }
            for depth in [31, 33, 30_000] {
                let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                let reply = answer(#"{"jsonrpc":"2.0","id":4,"method":"clock.ping","x":\#(deep)}"#)
                daemon.check(reply.map { ($0["result"] != nil) == (depth < 32) } == true, "depth \(depth)")
            }
            peer.close()
        }
    }

    @Test func `a peer that speaks something else is told so, then closed with a reason`() async throws {
        try await HostileDaemon.suffer { daemon in
            let peer = try HostilePeer(port: daemon.port)
            for number in 1...8 {
                peer.send(text: "GET / HTTP/1.1")
                daemon.check(
                    HostilePeer.reason(peer.answer()) == "parseError", "message \(number) is not answered")
            }
            let frame = peer.next()
            daemon.check(frame?.opcode == 8, "not closed")
            daemon.check(frame?.payload.starts(with: [3, 240]) == true, "not with 1008")
            daemon.check(frame?.text.contains("were no requests") == true, "without a reason")
        }
    }

    @Test func `data without a route, to nobody or too much of it is refused`() async throws {
        try await HostileDaemon.suffer { daemon in
            func frame(_ id: UInt8, _ name: String, _ payload: [UInt8], channel: UInt8 = 0) -> [UInt8] {
                [1, 1, 0, UInt8(name.utf8.count), 0, 0, 0, channel, 0, 0, 0, 0, 0, 0, 0, id]
                    + Array(name.utf8) + payload
            }
            let peer = try HostilePeer(port: daemon.port)
            func refusal(_ bytes: [UInt8]) -> String {
                peer.send(binary: bytes)
                while let frame = peer.next() {
                    guard frame.opcode == 2, frame.payload.count >= 16, frame.payload[1] != 1 else {
                        continue
                    }
                    return frame.payload[1] == 2
                        ? "acknowledged" : String(decoding: frame.payload[16...], as: UTF8.self)
                }
                return "none"
            }
            daemon.check(
                refusal(frame(1, "org.linnet.echo", [1])).contains("routeRequired"), "without a route")
            _ = peer.activate()
            daemon.check(
                refusal(frame(2, "org.linnet.echo", [1], channel: 7)).contains("channelUnknown"), "channel 7")
            daemon.check(refusal(frame(3, "nobody", [1])).contains("endpointUnknown"), "nobody")
            daemon.check(refusal(frame(4, "", [])).contains("endpointUnknown"), "no name")
            daemon.check(refusal(frame(5, "org.linnet.echo", [1])) == "acknowledged", "a right message")
            let million = [UInt8](repeating: 7, count: 1 << 20)
            daemon.check(refusal(frame(6, "org.linnet.echo", million)) == "acknowledged", "1 MiB")
            // The echoes are never acknowledged, nor read: the receiver must not keep them all.
            let before = daemon.memory
            for number in 0..<100 { peer.send(binary: frame(UInt8(number + 7), "org.linnet.echo", million)) }
            let growth = daemon.memory - before
            print("100 MiB of messages, nothing read: memory grew by \(growth) MB")
            daemon.check(growth < 24, "memory grew by \(growth) MB")
        }
    }

    @Test func `resume tokens are not guessed`() async throws {
        try await HostileDaemon.suffer { daemon in
            let owner = try HostilePeer(port: daemon.port)
            let token = owner.activate()?["result"]?["resumeToken"]?.textValue ?? ""
            daemon.check(token.utf8.count >= 22, "a short token: \(token)")
            let thief = try HostilePeer(port: daemon.port)
            let guesses =
                [String(token.dropLast()), token.lowercased() + "A", token + "x", token.uppercased() + "B"]
                + (0..<1_000).map { "\($0)" }
            for guess in guesses {
                let reason = HostilePeer.reason(thief.activate(resume: guess))
                guard reason == "routeUnknown" else {
                    return daemon.check(false, "\(guess): \(reason ?? "taken")")
                }
            }
            let other = #"{"version":1,"sender":{"id":"thief","name":"Thief"},"resume":"\#(token)"}"#
            let reason = HostilePeer.reason(thief.ask("route.activate", other))
            daemon.check(
                reason == "routeUnknown", "another sender has the token's route: \(reason ?? "taken")")
            daemon.check(owner.ask("clock.ping")?["result"] != nil, "the owner is not answered")
            owner.close()
            thief.close()
        }
    }

    @Test func `thirty-two routes are the most`() async throws {
        try await HostileDaemon.suffer { daemon in
            var peers = try (0..<32).map { _ in try HostilePeer(port: daemon.port) }
            // The route of the sender that looked before is gone: it deactivated.
            for peer in peers { daemon.check(peer.activate()?["result"] != nil, "not activated") }
            let late = try HostilePeer(port: daemon.port)
            daemon.check(HostilePeer.reason(late.activate()) == "limitReached", "a thirty-third is taken")
            peers.removeLast().close()
            let isTaken = waitUntil(seconds: 30) { late.activate()?["result"] != nil }
            daemon.check(isTaken, "a route in its grace time is not given up for a new one")
            for peer in peers { _ = peer.ask("route.deactivate") }
            late.close()
        }
    }

    @Test func `a reader that does not read costs little and then gets the newest state`() async throws {
        try await HostileDaemon.suffer { daemon in
            let slow = try HostilePeer(port: daemon.port, receiveBuffer: 4_096)
            _ = slow.ask("state.subscribe")
            let writer = try HostilePeer(port: daemon.port)
            _ = writer.activate()
            let before = daemon.memory
            let skipped = daemon.metric("linnet_states_skipped_total")
            var newest: JSONValue?
            let start = monotonicNanoseconds()
            for count in 0..<3_000 {
                _ = writer.ask("device.setVolume", #"{"volume":\#(Double(count % 100) / 128)}"#)
                if count == 2_999 { newest = writer.ask("state.get")?["result"] }
            }
            let rate = 3_000 / (Double(monotonicNanoseconds() - start) / 1e9)
            let growth = daemon.memory - before
            let joined = daemon.metric("linnet_states_skipped_total") - skipped
            print("\(Int(rate)) changes/s, \(joined) joined, memory grew by \(growth) MB")
            daemon.check(joined > 100, "no states were joined: \(joined)")
            daemon.check(growth < 4, "memory grew by \(growth) MB")
            daemon.check(rate >= 50, "only \(rate) changes/s")
            var last: JSONValue?
            while let frame = slow.next(milliseconds: 10_000) {
                guard frame.opcode == 1, let value = try? JSONText.decode(frame.text, limit: 1 << 20) else {
                    continue
                }
                if value["method"] == "state.changed" { last = value["params"] }
                if last?["version"] == newest?["version"] { break }
            }
            daemon.check(last?["version"] == newest?["version"], "the newest state did not come")
            slow.close()
            writer.close()
        }
    }
}
