// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers
import Testing

@testable import RouteWire

/// 100,000 inputs, the same in every run: valid messages with a few bytes changed, removed, doubled or cut.
struct FuzzTests {
    private static let seeds: [String] =
        RouteRequestTests.requests.map { $0.text(id: 1) }
        + GroupFixtures.links.map { RouteRequest.link($0).text(id: 1) }
        + GroupFixtures.notices.map { JSONText.encode($0.json) }
        + [JSONText.encode(GroupFixtures.told.json)] + [
            JSONText.encode(
                Notification.stateChanged(StateChange(version: 2, base: 1, origin: .device, patch: ["a": 1]))),
            JSONText.encode(Response.failure(.number(1), RouteError(.noSession, "x"))),
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"clock.ping\"},[[[1,2,{}]]],null,1e9,-0.0]",
        ]

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededNumbers) {
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(Array("{}[],:\"\\0-.e".utf8).randomElement(using: &random) ?? 0, at: place)
            case 3: bytes.removeSubrange(place...)
            default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
            }
        }
    }

    @Test func `changed texts never trap and what is taken is written and read again`() throws {
        var random = SeededNumbers(seed: 1)
        var taken = 0
        for index in 0..<60_000 {
            var bytes = Array(Self.seeds[index % Self.seeds.count].utf8)
            Self.mutate(&bytes, &random)
            let text = String(decoding: bytes, as: UTF8.self)
            if case .single(let incoming) = IncomingText.decode(text),
                case .success(let request) = incoming.request
            {
                taken += 1
                #expect(
                    IncomingText.decode(request.text(id: 1))
                        == .single(IncomingRequest(id: .number(1), request: .success(request))))
            }
            if index % 4 == 0 { _ = try? ServerMessage.decode(text) }
            if let json = try? JSONText.decode(text, limit: 1 << 20),
                let group = try? GroupDocument(json: json)
            {
                #expect(try GroupDocument(json: group.json) == group)
            }
        }
        // The generator must reach beyond the first check.
        #expect(taken > 500)
    }

    @Test func `changed data frames never trap`() throws {
        var random = SeededNumbers(seed: 2)
        let seed = try #require(
            DataFrame(kind: .message, message: 300, endpoint: "org.linnet.echo", payload: Array(0..<64)).bytes
        )
        var taken = 0
        for _ in 0..<40_000 {
            var bytes = seed
            Self.mutate(&bytes, &random)
            guard let frame = try? DataFrame(decoding: bytes) else { continue }
            taken += 1
            #expect(frame.bytes == bytes)
        }
        #expect(taken > 1_000)
    }
}
