// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import Soup
import Testing

@Suite(.timeLimit(.minutes(1))) struct CancelledRequestsTests {
    @Test func `a request may be cancelled at any moment`() async throws {
        let here = OnLoop(batch: 1)
        let port = try await here.run { here in
            let server = Server()
            server.handle("/a") { _ in Response(200, "text/x", [UInt8](repeating: 9, count: 5000)) }
            here.keep(server)
            return try server.listen(port: 0)
        }
        let answers = await here.run { _ in
            let (session, cookies) = (HTTPSession(), CookieShelf())
            var answers = 0
            // Each is cancelled after one more turn of the loop than the one before, until it has its answer.
            var turns = 0
            for _ in 0..<400 {
                var isAnswered = false
                let exchange = HTTPExchange(
                    "http://127.0.0.1:\(port)/a", headers: [], userAgent: "test", cookies: cookies,
                    answerWithin: .seconds(20), silence: .seconds(20), in: session
                ) { _ in isAnswered = true }
                for _ in 0..<turns { await Task.yield() }
                exchange?.cancel()
                if isAnswered { answers += 1 }
                turns = isAnswered ? 0 : turns + 1
            }
            return answers
        }
        #expect(answers > 0)
    }

    @Test func `what no thread is about to send is not waited for`() {
        #expect(CancelledRequests.shared.awaitSending(atMost: .seconds(20)))
    }
}
