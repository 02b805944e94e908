// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
    @Test func `a child talks through descriptor 3`() async throws {
        let here = OnLoop()
        let received = Mailbox<[UInt8]>()
        let closed = Mailbox<Bool>()
        let exit = try await here.run { here in
            var child: ChildProcess?
            let link = try ByteLink { other in
                child = try ChildProcess(
                    ["sh", "-c", "read line <&3; echo \"$WORD $line\" >&3"], environment: ["WORD": "heard"],
                    inheriting: other)
            }
            link.onReceive = { received.put($0) }
            link.onClosed = { closed.put(true) }
            here.keep(link)
            #expect(link.send(Array("hello\n".utf8)))
            return try await child?.wait()
        }
        #expect(exit == .status(0))
        #expect(await received.next() == Array("heard hello\n".utf8))
        #expect(await closed.next() == true)
    }

    @Test func `a program that is not there is an error`() async {
        let here = OnLoop()
        await #expect(throws: Failure.self) {
            try await here.run { _ in _ = try ChildProcess(["/no/such/program"]) }
        }
    }

    @Test func `a signal and a forced exit are told apart from a status`() async throws {
        let here = OnLoop()
        let exits = try await here.run { _ in
            let first = try ChildProcess(["sleep", "1000"])
            first.send(signal: 15)
            let second = try ChildProcess(["sleep", "1000"])
            second.forceExit()
            let third = try ChildProcess(["sh", "-c", "exit 7"])
            return [try await first.wait(), try await second.wait(), try await third.wait()]
        }
        #expect(exits == [.signal(15), .signal(9), .status(7)])
    }

    @Test func `a cancelled wait leaves the child alone`() async throws {
        let here = OnLoop()
        try await here.run { here in
            let child = try ChildProcess(["sleep", "1000"])
            here.keep(child)
            let waiting = Task {
                _ = here
                _ = try await child.wait()
            }
            waiting.cancel()
            await #expect { try await waiting.value } throws: { ($0 as? Failure)?.isCancellation == true }
            #expect(child.identifier != nil)
            child.forceExit()
            #expect(try await child.wait() == .signal(9))
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct ByteLinkTests {
    /// Two ends in one process.
    private func makePair(in here: isolated OnLoop, capacity: Int) throws -> (ByteLink, ByteLink) {
        var far: ByteLink?
        let near = try ByteLink(capacity: capacity) { far = ByteLink($0) }
        here.keep(near)
        guard let far else { throw Failure(domain: "test", code: 0, message: "no other end") }
        here.keep(far)
        return (near, far)
    }

    @Test func `a full queue takes nothing, and tells when it is empty again`() async throws {
        let here = OnLoop()
        let drained = Mailbox<Bool>()
        let total = Mailbox<Int>()
        let sent = try await here.run { here in
            let (near, far) = try makePair(in: here, capacity: 100_000)
            far.isReading = false
            near.onDrained = { drained.put(true) }
            var sent = 0
            while near.send([UInt8](repeating: 7, count: 10_000)) { sent += 10_000 }
            #expect(near.queued > 90_000)
            #expect(near.queued <= 100_000)
            #expect(!near.send([UInt8](repeating: 7, count: 100_001)))
            var received = 0
            far.onReceive = {
                received += $0.count
                #expect($0.count <= 65_536)
                total.put(received)
            }
            far.isReading = true
            return sent
        }
        #expect(await drained.next() == true)
        #expect(await total.first { $0 == sent } == sent)
    }

    @Test func `what was sent before the end still arrives, then the end, once`() async throws {
        let here = OnLoop()
        let events = Mailbox<String>()
        try await here.run { here in
            let (near, far) = try makePair(in: here, capacity: 1000)
            far.onReceive = { events.put("\($0.count) bytes") }
            far.onClosed = { [weak far] in
                events.put("closed \(far?.isOpen ?? true)")
                far?.close()
            }
            #expect(near.send([1, 2, 3]))
            near.close()
            #expect(!near.send([4]))
        }
        #expect(await events.next() == "3 bytes")
        #expect(await events.next() == "closed false")
    }

    @Test func `a link may be dropped inside its own callback`() async throws {
        let here = OnLoop()
        let done = Mailbox<Bool>()
        try await here.run { here in
            let (near, far) = try makePair(in: here, capacity: 1000)
            far.onReceive = { _ in
                here.dropAll()
                done.put(true)
            }
            #expect(near.send([1]))
        }
        #expect(await done.next() == true)
    }
}
