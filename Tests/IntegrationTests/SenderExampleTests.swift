// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import ReceiverTestKit
import RouteKit
import Testing

extension Receiving {
    struct SenderExampleTests {
        /// Docs/senders.md.
        @Test @RouteActor func `the sender of the documentation plays to the end, and says what is refused`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                let script = "\(ApplicationStage.root)/Docs/examples/sender/sender.py"
                let command = [script, "--at", "127.0.0.1:\(receiver.port)"]
                func run(_ words: String...) async throws -> (lines: [String], succeeded: Bool) {
                    let (lines, exit) = try await ProgramRun.output(of: "/usr/bin/python3", command + words)
                    return (lines, exit == .status(0))
                }
                let played = try await run(receiver.media.url("position.flac"), "--from", "58")
                #expect(played.succeeded && played.lines.last == "ended: finished", "\(played)")
                #expect(
                    played.lines.contains { $0.hasPrefix("untitled  59.") && $0.hasSuffix(" of 60.0 s") },
                    "\(played)")
                var card = receiver.card
                #expect(card.recording().firstSound(from: 0) != nil)
                let refused = try await run("ftp://127.0.0.1/a")
                #expect(!refused.succeeded)
                #expect(refused.lines.last == "sender.py: URLs of this scheme are not played.", "\(refused)")
                let missing = try await run(receiver.media.url("nothing.flac"))
                #expect(missing.lines.last?.hasPrefix("ended: failed ") == true, "\(missing)")
            }
        }
    }
}
