// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import Soup
import Testing

@Suite(.timeLimit(.minutes(1)), .serialized) struct WebSocketTests {
    private struct Closed: Equatable, Sendable {
        let code: UInt16
        let reason: String?
    }

    /// A server that echoes at `/echo`, and what it saw.
    private struct Echo: Sendable {
        let port: UInt16
        let closed = Mailbox<Closed>()
        let received = Notes<Int>()
    }

    private func makeEcho(in here: isolated OnLoop, limits: WebSocket.Limits = .init()) throws -> Echo {
        let server = Server()
        here.keep(server)
        let echo = Echo(port: try server.listen(port: 0))
        server.handleWebSocket("/echo", limits: limits) { socket, _ in
            socket.onMessage = { [unowned socket] message in
                echo.received.add(message == .text("") ? 0 : 1)
                socket.send(message)
            }
            socket.onClosed = { echo.closed.put(Closed(code: $0, reason: $1)) }
            here.keep(socket)
        }
        return echo
    }

    @Test(arguments: ["127.0.0.1", "[::1]"])
    func `messages of both kinds come back as they were sent`(host: String) async throws {
        let here = OnLoop()
        let echo = try await here.run { try makeEcho(in: $0) }
        let answers = Mailbox<WebSocket.Message>()
        let sent: [WebSocket.Message] = [
            .text("hello"), .text(""), .text("a\u{0}b ☕️"), .binary([]), .binary([0, 255, 10]),
            .text(String(repeating: "x", count: 65_536)),
        ]
        try await here.run { here in
            let client = HTTPClient()
            let socket = try await client.connect("ws://\(host):\(echo.port)/echo") { socket in
                socket.onMessage = { answers.put($0) }
            }
            #expect(socket.isOpen)
            #expect(socket.remoteAddress == (host == "[::1]" ? "::1" : host))
            #expect(socket.localAddress == socket.remoteAddress)
            for message in sent { socket.send(message) }
            here.keep(socket)
            here.keep(client)
        }
        for message in sent { #expect(await answers.next() == message) }
    }

    @Test func `a close comes with its code and reason, on both sides`() async throws {
        let here = OnLoop()
        let echo = try await here.run { try makeEcho(in: $0) }
        let closed = Mailbox<Closed>()
        try await here.run { here in
            let socket = try await HTTPClient().connect("ws://127.0.0.1:\(echo.port)/echo") { socket in
                socket.onClosed = { closed.put(Closed(code: $0, reason: $1)) }
            }
            here.keep(socket)
            socket.close(code: 4001, reason: "enough")
            socket.send(.text("too late"))
        }
        #expect(await echo.closed.next() == Closed(code: 4001, reason: "enough"))
        #expect(await closed.next()?.code == 4001)
    }

    @Test func `compression is not agreed to, and a compressed frame ends the connection`() async throws {
        let here = OnLoop()
        let echo = try await here.run { try makeEcho(in: $0) }
        let peer = try RawPeer(port: echo.port)
        let answer = peer.upgrade("/echo", extra: "Sec-WebSocket-Extensions: permessage-deflate\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 101 "))
        #expect(!answer.lowercased().contains("sec-websocket-extensions"))
        peer.send(RawPeer.frame(0xc1, [1, 2, 3]))
        _ = peer.receiveAll()
        #expect(await echo.closed.next() != nil)
        #expect(echo.received.all.isEmpty)
    }

    @Test func `a client does not offer compression`() async throws {
        let here = OnLoop()
        let seen = Mailbox<String?>()
        let port = try await here.run { here in
            let server = Server { request in
                seen.put(request.header("Sec-WebSocket-Extensions"))
                seen.put(request.header("Accept-Encoding"))
                seen.put(request.origin)
                return 403
            }
            here.keep(server)
            return try server.listen(port: 0)
        }
        await #expect(throws: Failure.self) {
            try await here.run { _ in
                _ = try await HTTPClient().connect("ws://127.0.0.1:\(port)/echo") { _ in }
            }
        }
        for _ in 0..<3 { #expect(await seen.next() == .some(.none)) }
    }

    @Test(arguments: [
        RawPeer.frame(0x81, [UInt8](repeating: 65, count: 70_000)),  // larger than the limit
        [0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0],  // declared larger still
        RawPeer.frame(0x81, [0xc3, 0x28]),  // no UTF-8
        [0x81, 0x02, 65, 66],  // not masked
        RawPeer.frame(0xf1, [65]),  // reserved bits
        RawPeer.frame(0x83, [65]),  // reserved opcode
        RawPeer.frame(0x80, [65]),  // continues nothing
    ]) func `a wrong frame ends the connection and nothing of it is delivered`(frame: [UInt8]) async throws {
        let here = OnLoop()
        let echo = try await here.run { try makeEcho(in: $0) }
        let peer = try RawPeer(port: echo.port)
        #expect(peer.upgrade("/echo").hasPrefix("HTTP/1.1 101 "))
        peer.send(frame)
        _ = peer.receiveAll()
        #expect(await echo.closed.next() != nil)
        #expect(echo.received.all.isEmpty)
    }

    @Test func `fragments without end are cut at twice the limit`() async throws {
        let here = OnLoop()
        var limits = WebSocket.Limits()
        limits.message = 10_000
        let echo = try await here.run { [limits] in try makeEcho(in: $0, limits: limits) }
        let peer = try RawPeer(port: echo.port)
        _ = peer.upgrade("/echo")
        peer.send(RawPeer.frame(0x01, [UInt8](repeating: 65, count: 9000)))
        let piece = RawPeer.frame(0x00, [UInt8](repeating: 65, count: 9000))
        // 100 of them would be ten times the limit's bound.
        for _ in 0..<100 { peer.send(piece) }
        _ = peer.receiveAll()
        #expect(await echo.closed.next() != nil)
        #expect(echo.received.all.isEmpty)
    }

    @Test func `many whole messages are not taken for one without end`() async throws {
        let here = OnLoop()
        var limits = WebSocket.Limits()
        limits.message = 10_000
        let echo = try await here.run { [limits] in try makeEcho(in: $0, limits: limits) }
        let answers = Mailbox<Int>()
        try await here.run { [limits] here in
            let socket = try await HTTPClient().connect("ws://127.0.0.1:\(echo.port)/echo", limits: limits) {
                socket in
                var count = 0
                socket.onMessage = { _ in
                    count += 1
                    answers.put(count)
                }
            }
            here.keep(socket)
            for _ in 0..<100 { socket.send(.binary([UInt8](repeating: 1, count: 9000))) }
        }
        #expect(await answers.first { $0 == 100 } == 100)
    }

    @Test func `a slow reader gets the newest state and no queue of old ones`() async throws {
        let here = OnLoop()
        let opened = Mailbox<Bool>()
        let last = 20_000
        let sends = Notes<Int>()
        let port = try await here.run { here in
            let server = Server()
            here.keep(server)
            server.handleWebSocket("/state") { socket, _ in
                here.keep(socket)
                let pad = String(repeating: "x", count: 8000)
                var state = 0
                let push = { [unowned socket] in
                    sends.add(state)
                    socket.send(.text("\(state) \(pad)"))
                }
                socket.onDrained = { [unowned socket] in
                    if state > 0, !socket.isCongested, sends.all.last != state { push() }
                }
                let clock = EventSource.repeating(every: .milliseconds(1)) { [unowned socket] in
                    for _ in 0..<500 where state < last {
                        state += 1
                        if !socket.isCongested { push() }
                    }
                    if state == last, socket.isOpen { opened.put(true) }
                }
                here.keep(clock)
            }
            return try server.listen(port: 0, loopbackOnly: true)
        }
        let peer = try RawPeer(port: port, receiveBuffer: 4096)
        _ = peer.upgrade("/state")
        #expect(await opened.next() == true)
        // All states exist, nothing has been read: only what the kernel holds was sent.
        #expect(sends.all.count < 500)
        var tail: [UInt8] = []
        let goal = Array("\(last) ".utf8)
        var found = false
        while !found, let bytes = peer.receive(), !bytes.isEmpty {
            tail = tail.suffix(16) + bytes
            found = tail.indices.contains { tail[$0...].starts(with: goal) }
        }
        #expect(found)
        await here.dropAll()
    }

    @Test func `an owner that goes on sending to a peer that does not read is cut off`() async throws {
        let here = OnLoop()
        let closed = Mailbox<Bool>()
        let port = try await here.run { here in
            let server = Server()
            here.keep(server)
            var limits = WebSocket.Limits()
            limits.queue = 1_000_000
            server.handleWebSocket("/x", limits: limits) { socket, _ in
                here.keep(socket)
                socket.onClosed = { _, _ in closed.put(true) }
                for _ in 0..<100 { socket.send(.binary([UInt8](repeating: 0, count: 50_000))) }
            }
            return try server.listen(port: 0, loopbackOnly: true)
        }
        let peer = try RawPeer(port: port, receiveBuffer: 4096)
        _ = peer.upgrade("/x")
        #expect(await closed.next() == true)
    }

    @Test func `an aborted connection is closed at once though its peer does not read`() async throws {
        let here = OnLoop()
        let closed = Mailbox<Bool>()
        let port = try await here.run { here in
            let server = Server()
            here.keep(server)
            server.handleWebSocket("/x") { socket, _ in
                here.keep(socket)
                socket.onClosed = { _, _ in closed.put(true) }
                socket.send(.binary([UInt8](repeating: 0, count: 3_000_000)))
                socket.abort()
            }
            return try server.listen(port: 0, loopbackOnly: true)
        }
        let peer = try RawPeer(port: port, receiveBuffer: 4096)
        _ = peer.upgrade("/x")
        #expect(await closed.next() == true)
    }

    @Test func `a connection whose queue was empty in the middle of a long message stays`() async throws {
        let here = OnLoop()
        let heard = Mailbox<Int?>()
        let drains = Notes<Bool>()
        let quiet = Notes<Bool>()
        let port = try await here.run { here in
            let server = Server()
            here.keep(server)
            var limits = WebSocket.Limits()
            limits.message = 1 << 20
            server.handleWebSocket("/x", limits: limits) { socket, _ in
                here.keep(socket)
                socket.onMessage = { message in
                    if case .binary(let bytes) = message { heard.put(bytes.count) }
                }
                socket.onClosed = { _, _ in heard.put(nil) }
                socket.onDrained = { drains.add(true) }
                here.keep(
                    EventSource.repeating(every: .milliseconds(1)) { [unowned socket] in
                        if quiet.all.isEmpty, !socket.isCongested { socket.send(.text("x")) }
                    })
            }
            return try server.listen(port: 0, loopbackOnly: true)
        }
        let peer = try RawPeer(port: port)
        _ = peer.upgrade("/x")
        let frame = RawPeer.frame(0x82, [UInt8](repeating: 7, count: 1_000_000))
        peer.send(Array(frame[..<600_000]))
        // What is sent from now on is taken only when all of that was read.
        let before = drains.all.count
        while drains.all.count < before + 3 { await Task.yield() }
        quiet.add(true)
        await here.run { _ in }
        // So much at once that something is always there to be read, and the queue is not seen empty between the two.
        peer.send(Array(frame[600_000...]) + RawPeer.frame(0x82, [UInt8](repeating: 7, count: 500_000)))
        #expect(await heard.next() == 1_000_000)
        #expect(await heard.next() == 500_000)
        await here.dropAll()
    }

    @Test func `the answer to a ping counts as hearing from the peer`() async throws {
        let here = OnLoop()
        var limits = WebSocket.Limits()
        limits.pingEvery = 1
        let heard = Mailbox<Bool>()
        let port = try await here.run { [limits] here in
            let server = Server()
            here.keep(server)
            server.handleWebSocket("/x", limits: limits) { socket, _ in
                here.keep(socket)
                let start = socket.lastHeard
                here.keep(
                    EventSource.repeating(every: .milliseconds(20)) { [unowned socket] in
                        if socket.lastHeard > start { heard.put(true) }
                    })
            }
            return try server.listen(port: 0, loopbackOnly: true)
        }
        try await here.run { here in
            let socket = try await HTTPClient().connect("ws://127.0.0.1:\(port)/x") { _ in }
            here.keep(socket)
        }
        #expect(await heard.next() == true)
        await here.dropAll()
    }
}
