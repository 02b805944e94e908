// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import Soup
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPClientTests {
    private func makeServer(in here: isolated OnLoop) throws -> UInt16 {
        let server = Server()
        server.handle("/a") { _ in Response(200, "text/x", [UInt8](repeating: 9, count: 200_000)) }
        here.keep(server)
        return try server.listen(port: 0)
    }

    @Test func `an answer comes with status, type and body`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        let answers = try await here.run { _ in
            let client = HTTPClient()
            return [
                try await client.get("http://127.0.0.1:\(port)/a", maximum: 200_000),
                try await client.get("http://127.0.0.1:\(port)/b", maximum: 200_000),
            ]
        }
        #expect(answers[0].status == 200)
        #expect(answers[0].type == "text/x")
        #expect(answers[0].body == [UInt8](repeating: 9, count: 200_000))
        #expect(answers[1].status == 404)
    }

    @Test func `an answer over the limit is an error`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        await #expect(throws: HTTPClient.tooLong) {
            try await here.run { _ in
                _ = try await HTTPClient().get("http://127.0.0.1:\(port)/a", maximum: 199_999)
            }
        }
    }

    @Test(arguments: ["", "no uri", "ftp://x/", "http://[::1", "http://127.0.0.1:1/"])
    func `a URI that leads nowhere is an error`(uri: String) async {
        let here = OnLoop()
        await #expect(throws: Failure.self) {
            try await here.run { _ in _ = try await HTTPClient().get(uri, maximum: 10) }
        }
    }

    @Test func `a server that does not answer is given up in time`() async throws {
        let silent = try SilentListener()
        let here = OnLoop()
        await #expect(throws: Failure.timedOut) {
            try await here.run { _ in
                _ = try await HTTPClient().connect(
                    "ws://127.0.0.1:\(silent.port)/", timeout: .milliseconds(50)
                ) { _ in }
            }
        }
        await #expect(throws: Failure.timedOut) {
            try await here.run { _ in
                _ = try await HTTPClient().get(
                    "http://127.0.0.1:\(silent.port)/", maximum: 1, timeout: .milliseconds(50))
            }
        }
    }

    @Test func `a cancelled task ends its request`() async throws {
        let silent = try SilentListener()
        let here = OnLoop()
        let asking = Task {
            try await here.run { _ in
                _ = try await HTTPClient().get("http://127.0.0.1:\(silent.port)/", maximum: 1)
            }
        }
        asking.cancel()
        await #expect { try await asking.value } throws: { ($0 as? Failure)?.isCancellation == true }
    }
}
