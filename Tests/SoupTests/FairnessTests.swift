// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import LoopTestKit
import Soup
import Synchronization
import Testing

/// A peer that does its worst must not have the loop for itself, and leaves nothing behind.
@Suite(.timeLimit(.minutes(1))) struct FairnessTests {
    @Test func `a peer that sends without end does not keep others waiting`() async throws {
        let here = OnLoop()
        let heard = Mailbox<Int>()
        let count = Atomic(0)
        let port = try await here.run { here in
            let server = Server()
            here.keep(server)
            server.handleWebSocket("/socket") { socket, _ in
                socket.onMessage = { message in
                    // Slower than the peer sends.
                    let end = MonotonicClock.nanoseconds + 50_000
                    while MonotonicClock.nanoseconds < end {}
                    if message == .text("other") { heard.put(count.load(ordering: .relaxed)) }
                    count.add(1, ordering: .relaxed)
                }
                here.keep(socket)
            }
            return try server.listen(port: 0)
        }
        let flooder = try RawPeer(port: port)
        let other = try RawPeer(port: port)
        _ = flooder.upgrade("/socket")
        _ = other.upgrade("/socket")
        // 20 000 messages of a second altogether; all are in the kernel's hands or the loop's before the other speaks.
        let messages = [UInt8](
            repeatElement(
                RawPeer.frame(0x81, Array("flood".utf8) + [UInt8](repeating: 65, count: 90)), count: 20_000
            )
            .joined())
        async let flood: Void = Task.detached { flooder.send(messages) }.value
        while count.load(ordering: .relaxed) == 0 { await Task.yield() }
        let start = count.load(ordering: .relaxed)
        other.send(RawPeer.frame(0x81, Array("other".utf8)))
        let waited = try #require(await heard.next()) - start
        // Two turns hold some 1 300 messages of the flood.
        #expect(waited < 3_000, "\(waited) messages came first")
        await flood
    }

    @Test func `a connection whose messages were taken is not behind, however busy its loop is`() async throws
    {
        let here = OnLoop()
        let freed = Mailbox<Bool>()
        let port = try await here.run { here in
            let server = Server()
            here.keep(server)
            server.handleWebSocket("/socket") { socket, _ in
                here.keep(socket)
                var isDrained = false
                socket.onDrained = { isDrained = true }
                socket.send(.binary([UInt8](repeating: 1, count: 1_000)))
                // From now on something else is ready in each turn of the loop, which the news of the empty queue waits for.
                let endless = unsafe open("/dev/zero", O_RDONLY)
                var isDone = false
                here.keep(
                    EventSource.descriptor(endless, .readable) {
                        guard !isDone, !socket.isBehind else { return }
                        isDone = true
                        freed.put(!isDrained && socket.isCongested)
                    })
            }
            return try server.listen(port: 0)
        }
        let peer = try RawPeer(port: port)
        _ = peer.upgrade("/socket")
        #expect(await freed.next() == true)
        await here.dropAll()
    }

    @Test func `a handshake that fails ends the connection`() async throws {
        let here = OnLoop()
        let port = try await here.run { here in
            let server = Server()
            here.keep(server)
            server.handleWebSocket("/socket") { _, _ in }
            return try server.listen(port: 0)
        }
        for path in ["/socket", "/elsewhere"] {
            let peer = try RawPeer(port: port)
            peer.send(
                "GET \(path) HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 1\r\n\r\n"
            )
            // All until the end of the connection; without one the peer's own time limit would give nil and lose it.
            var text = ""
            var last: [UInt8]? = []
            repeat {
                last = peer.receive()
                text += String(decoding: last ?? [], as: UTF8.self)
            } while last?.isEmpty == false
            #expect(last == [])
            #expect(text.hasPrefix("HTTP/1.1 4"))
        }
    }

    @Test(arguments: ["-1", "99999999999999999999", "1e3", "0x10"])
    func `a length that is none, or that no body has, is refused at once`(length: String) async throws {
        let here = OnLoop()
        var limits = Server.Limits()
        limits.refused = .milliseconds(50)
        let port = try await here.run { [limits] here in
            let server = Server(limits: limits)
            here.keep(server)
            return try server.listen(port: 0)
        }
        let start = MonotonicClock.nanoseconds
        let peer = try RawPeer(port: port)
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n")
        _ = peer.receiveAll()
        #expect(MonotonicClock.nanoseconds - start < 5_000_000_000)
    }

    @Test func `answers to pings that nobody reads are not kept without end`() async throws {
        let here = OnLoop()
        let closed = Mailbox<Int>()
        var limits = WebSocket.Limits()
        limits.queue = 100_000
        let port = try await here.run { [limits] here in
            let server = Server()
            here.keep(server)
            server.handleWebSocket("/socket", limits: limits) { socket, _ in
                socket.onClosed = { _, _ in closed.put(1) }
                here.keep(socket)
            }
            return try server.listen(port: 0)
        }
        let peer = try RawPeer(port: port, receiveBuffer: 4_096)
        _ = peer.upgrade("/socket")
        let ping = RawPeer.frame(0x89, [UInt8](repeating: 65, count: 125))
        let message = RawPeer.frame(0x81, [65])
        let some = [UInt8](repeatElement(ping, count: 400).joined()) + message
        // Whole messages between them, so that they do not count as one without end; 52 MB of pings, or a cut.
        async let flood: Void = Task.detached { for _ in 0..<1_000 { peer.send(some) } }.value
        #expect(await closed.next() == 1)
        await flood
    }
}
