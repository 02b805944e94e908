// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import Glibc
import RouteKit
import Settings
import Testing

/// Our sender, the daemon, and applications in Python behind their walls.
@Suite(.timeLimit(.minutes(2))) struct DataChannelTests {
    /// A message that tells its number, of a length that is hard to guess.
    private func message(_ number: Int, length: Int? = nil) -> [UInt8] {
        let length = length ?? number * 997 % 5_000
        return Array("\(number):".utf8) + (0..<length).map { UInt8(truncatingIfNeeded: number * 7 + $0) }
    }

    @RouteActor private func withEcho(_ body: (ApplicationStage) async throws -> Void) async throws {
        try await ApplicationStage.use { folder in
            try await ApplicationStage.makeSamples(in: folder)
        } _: {
            try await body($0)
        }
    }

    @RouteActor private func channel(_ session: MediaSession) throws -> SessionDataChannel {
        try #require(session.dataChannel)
    }

    @Test @RouteActor func `messages of every length come back whole and in order`() async throws {
        try await withEcho { stage in
            let session = try await stage.sender("Ada").open("echo:lengths")
            let box = try Mailbox(session)
            let lengths = (0..<21).flatMap { [(1 << $0) - 1, 1 << $0] }
            var sent: [[UInt8]] = [[]]
            for (number, length) in lengths.enumerated() {
                sent.append((0..<length).map { UInt8(truncatingIfNeeded: number * 31 + $0 * 7) })
            }
            for message in sent { try await channel(session).post(message) }
            try await box.wait("all of them") { $0.messages.count == sent.count }
            #expect(box.messages == sent)
            await #expect(throws: RoutingError(.tooLong, family: .session, "")) {
                try await channel(session).send([UInt8](repeating: 0, count: 1 << 20 | 1))
            }
            try await channel(session).send(Array("still there".utf8))
        }
    }

    @Test @RouteActor func `a connection that is lost again and again loses and doubles nothing`()
        async throws
    {
        try await withEcho { stage in
            let route = try await stage.sender("Ada")
            let session = try await route.open("echo:lost")
            let box = try Mailbox(session)
            var refused = 0
            for number in 0..<300 {
                try await channel(session).post(message(number)) { if case .failure = $0 { refused += 1 } }
                if number % 100 == 50 { route.dropConnection() }
            }
            try await box.wait("all of them") { $0.messages.count >= 300 }
            try await channel(session).send(Array("the last".utf8))
            try await box.wait("the last") { $0.texts.last == "the last" }
            #expect(refused == 0)
            #expect(box.messages.dropLast() == (0..<300).map { message($0) }[...])
        }
    }

    @Test @RouteActor func `each end is told that the other refused, and why`() async throws {
        try await ApplicationStage.use { folder in
            try ApplicationStage.make(
                "org.example.picky", #""urls":["picky:*"],"limits":{"message":1024}"#,
                script: """
                    #!/usr/bin/python3
                    from linnet_application import Application, Refused

                    class Main(Application):
                        async def opened(self, session):
                            print("printed for", session.url)

                        async def message(self, session, payload):
                            if payload == b"bad":
                                raise Refused("tasteless", "not in this house")
                            try:
                                await session.send(payload)
                            except Refused as refusal:
                                await session.post(f"{refusal.reason}, {refusal.message}".encode())

                    Main().run()
                    """, in: folder)
        } _: { stage in
            let session = try await stage.sender("Ada").open("picky:")
            // Read while it runs.
            #expect(await stage.daemon.line(with: "printed for picky:") != nil)
            let box = try Mailbox(session)
            box.refuses = { $0 == Array("mine".utf8) }
            let refusal = await #expect(throws: RoutingError.self) {
                try await channel(session).send(Array("bad".utf8))
            }
            #expect(refusal?.code == .init(rawValue: "tasteless") && refusal?.message == "not in this house")
            try await channel(session).post(Array("mine".utf8))
            try await box.wait("what it was told") { $0.texts == ["unwanted, no, thanks"] }
            let long = await #expect(throws: RoutingError.self) {
                try await channel(session).send([UInt8](repeating: 1, count: 1025))
            }
            #expect(long?.code == .tooLong)
            try await channel(session).post([UInt8](repeating: 1, count: 1024))
            try await box.wait("the longest") { $0.messages.last?.count == 1024 }
        }
    }

    @Test @RouteActor func `an application that is killed fails its session and nobody else's`() async throws
    {
        try await withEcho { stage in
            let ada = try await stage.sender("Ada").open("echo:ada")
            let mailbox = try Mailbox(ada)
            try await channel(ada).send(Array("hello".utf8))
            try await mailbox.wait("the echo") { $0.texts == ["hello"] }
            let victim = try #require(await stage.processes(named: "python3").first)
            let ben = try await stage.sender("Ben").open("echo:ben")
            let box = try Mailbox(ben)
            // So that something is under way.
            mailbox.isReading = false
            var lost: [RoutingError] = []
            for number in 0..<16 {
                try await channel(ada).post(message(number)) {
                    if case .failure(let error) = $0 { lost.append(error) }
                }
            }
            _ = kill(victim, SIGKILL)
            guard case .applicationFailed(let failure) = await ada.ended() else {
                throw TestFailure("it ended with \(String(describing: ada.endReason))")
            }
            #expect(failure.code == .crashed, "\(failure)")
            mailbox.isReading = true
            await #expect(throws: RoutingError.self) { try await channel(ada).send([1]) }
            try await channel(ben).send(Array("hello".utf8))
            try await box.wait("the other's echo") { $0.texts == ["hello"] }
            #expect(try channel(ada).unanswered == 0)
        }
    }

    @Test @RouteActor func `who does not read slows who writes to him, and nobody else`() async throws {
        try await withEcho { stage in
            let route = try await stage.sender("Ada")
            let (slow, quick) = (try await route.open("echo:slow"), try await route.open("echo:quick"))
            let (slowBox, quickBox) = (try Mailbox(slow), try Mailbox(quick))
            slowBox.isReading = false
            var posted = 0
            let writing = Task { @RouteActor in
                for number in 0..<120 {
                    try await channel(slow).post(message(number, length: 16_384))
                    posted += 1
                }
            }
            for number in 0..<300 { try await channel(quick).post(message(number)) }
            try await quickBox.wait("the other session's") { $0.messages.count == 300 }
            // What both windows of both ends hold.
            #expect(posted <= 64, "\(posted)")
            #expect(slowBox.messages.isEmpty)
            slowBox.isReading = true
            try await writing.value
            try await slowBox.wait("all of them") { $0.messages.count == 120 }
            #expect(slowBox.messages == (0..<120).map { message($0, length: 16_384) })
        }
    }
}
