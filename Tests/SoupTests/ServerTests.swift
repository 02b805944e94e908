// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import LoopTestKit
import Soup
import Testing

@Suite(.timeLimit(.minutes(1)), .serialized) struct ServerTests {
    /// A server with a few paths, on a free port.
    private func makeServer(
        in here: isolated OnLoop, limits: Server.Limits = .init(),
        judge: @escaping (Request) -> UInt32? = { _ in nil }
    ) throws -> UInt16 {
        let server = Server(limits: limits, judge: judge)
        server.handle("/hello") { request in
            Response(200, "text/plain", Array("hello \(request.remote ?? "?")".utf8))
        }
        server.handle(below: "/art") { request in
            Response(
                200, "image/x", Array(request.path.utf8),
                headers: ["ETag": "\"1\"", "X-Bad": "a\r\nX-Evil: 1"])
        }
        server.handleWebSocket("/echo") { socket, _ in
            socket.onMessage = { [unowned socket] in socket.send($0) }
            here.keep(socket)
        }
        here.keep(server)
        return try server.listen(port: 0, loopbackOnly: true)
    }

    private func ask(_ port: UInt16, _ text: String) throws -> String {
        let peer = try RawPeer(port: port)
        peer.send(text)
        return peer.receiveText()
    }

    @Test func `a request is answered and the connection closed`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        let answer = try ask(port, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.hasSuffix("\r\n\r\nhello 127.0.0.1"))
    }

    private static let handshake =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

    @Test func `what is below a path is answered there, by the longest path that covers it`() async throws {
        let here = OnLoop()
        let port = try await here.run { here in
            let server = Server()
            for path in ["/", "/a/", "/a/b"] {
                server.handle(below: path) { _ in Response(200, "text/plain", Array("[\(path)]".utf8)) }
            }
            server.handle("/a/bc") { _ in Response(200, "text/plain", Array("[alone]".utf8)) }
            server.handleWebSocket("/a/s") { _, _ in }
            here.keep(server)
            return try server.listen(port: 0, loopbackOnly: true)
        }
        for (path, answer) in [
            ("/", "/"), ("/ab", "/"), ("/a", "/"), ("/a/x", "/a/"), ("/a/b", "/a/b"), ("/a/b/c", "/a/b"),
            ("/a/bx", "/a/"), ("/a/bc", "alone"), ("/a/bcd", "/a/"), ("/a/bc/d", "/a/"), ("/a/ss", "/a/"),
        ] {
            let text = try ask(port, "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(text.hasSuffix("[\(answer)]"), "\(path)")
        }
    }

    @Test(arguments: [
        ("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        ("GET /hello/more HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        ("POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", 405),
        ("GET /hellos HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        ("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", 426),
        ("GET /echoes HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        ("GET /echoes HTTP/1.1\r\nHost: x\r\n\(Self.handshake)\r\n", 404),
        ("GET /echo/more HTTP/1.1\r\nHost: x\r\n\(Self.handshake)\r\n", 404),
        ("GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", 426),
        (
            "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\n\r\n", 400
        ),
        ("rubbish\r\n\r\n", 400),
    ]) func `a wrong request is refused and the connection closed`(request: String, status: Int) async throws
    {
        let here = OnLoop()
        var limits = Server.Limits()
        limits.request = .milliseconds(200)
        let port = try await here.run { [limits] in try makeServer(in: $0, limits: limits) }
        // Reading to the end is the test of the closing.
        let answer = try ask(port, request)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") || answer.hasPrefix("HTTP/1.0 \(status) "))
    }

    @Test func `HEAD tells the length and sends no body`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        let answer = try ask(port, "HEAD /art/7 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.contains("\r\nContent-Length: 6\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test func `a header with a line break in it is left out`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        let answer = try ask(port, "GET /art/7 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.contains("\r\nETag: \"1\"\r\n"))
        #expect(!answer.contains("X-Bad") && !answer.contains("X-Evil"))
        #expect(answer.hasSuffix("/art/7"))
    }

    @Test(arguments: [
        ("/hello", "Host: evil.example\r\n", 421),
        ("/hello", "Host: x\r\nOrigin: http://evil.example\r\n", 403),
        ("/echo", "Host: evil.example\r\n", 421), ("/art/1", "Host: x\r\nOrigin: null\r\n", 403),
    ]) func `the judge stops a request on any path`(path: String, headers: String, status: Int) async throws {
        let here = OnLoop()
        let port = try await here.run {
            try makeServer(in: $0) { request in
                if request.host != "x" { return 421 }
                return request.origin == nil ? nil : 403
            }
        }
        let upgrade =
            path == "/echo"
            ? "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            : ""
        let answer = try ask(port, "GET \(path) HTTP/1.1\r\n\(headers)\(upgrade)\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test func `a body over the limit is refused, declared or not`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        let body = String(repeating: "x", count: 100_000)
        let declared = try ask(
            port, "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n\(body)")
        #expect(declared.hasPrefix("HTTP/1.1 413 "))
        let chunk = String(body.count, radix: 16) + "\r\n" + body + "\r\n"
        let chunked = try ask(
            port, "POST /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n")
        #expect(chunked.hasPrefix("HTTP/1.1 413 "))
    }

    @Test(arguments: [
        "", "GET /hello HTTP/1.1\r\nHo", "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
    ])
    func `a request that does not come to its end is cut`(beginning: String) async throws {
        let here = OnLoop()
        var limits = Server.Limits()
        limits.request = .milliseconds(100)
        let port = try await here.run { [limits] in try makeServer(in: $0, limits: limits) }
        let peer = try RawPeer(port: port)
        peer.send(beginning)
        #expect(peer.receiveAll().isEmpty)
    }

    @Test func `an answer that nobody takes is cut`() async throws {
        let here = OnLoop()
        let port = try await here.run { here in
            var limits = Server.Limits()
            limits.answer = .milliseconds(100)
            let server = Server(limits: limits)
            server.handle("/large") { _ in
                Response(200, "text/plain", [UInt8](repeating: 0, count: 20_000_000))
            }
            here.keep(server)
            return try server.listen(port: 0, loopbackOnly: true)
        }
        let peer = try RawPeer(port: port, receiveBuffer: 4096)
        peer.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(peer.receive()?.isEmpty == false)
        #expect(try await here.run { try await settled(port, here: $0) } == 0)
    }

    @Test func `a WebSocket outlives the time that its request had`() async throws {
        let here = OnLoop()
        let port = try await here.run { here in
            var limits = Server.Limits()
            limits.request = .milliseconds(50)
            limits.answer = .milliseconds(50)
            return try makeServer(in: here, limits: limits)
        }
        let peer = try RawPeer(port: port)
        #expect(peer.upgrade("/echo").hasPrefix("HTTP/1.1 101 "))
        try await here.run { try await $0.loop.sleep(for: .milliseconds(150)) }
        peer.send(RawPeer.frame(0x81, Array("still here".utf8)))
        #expect(peer.receive() == [0x81, 10] + Array("still here".utf8))
    }

    @Test func `connections over the limit are cut, and places become free again`() async throws {
        let here = OnLoop()
        var limits = Server.Limits()
        limits.connections = 3
        let port = try await here.run { [limits] in try makeServer(in: $0, limits: limits) }
        var peers = try (0..<3).map { _ in try RawPeer(port: port) }
        #expect(peers[2].upgrade("/echo").hasPrefix("HTTP/1.1 101 "))
        #expect(try RawPeer(port: port).receiveAll().isEmpty)
        peers[0].send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(peers[0].receiveText().hasPrefix("HTTP/1.1 200 "))
        peers.removeFirst()
        #expect(try ask(port, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a hundred requests leave no descriptor behind`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        let request = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
        for number in 0..<100 {
            switch number % 4 {
            case 0: _ = try ask(port, request)
            case 1: _ = try ask(port, "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
            case 2: _ = try RawPeer(port: port)
            default:
                let peer = try RawPeer(port: port)
                _ = peer.upgrade("/echo")
                peer.send(RawPeer.frame(0x88, [3, 232]))
                _ = peer.receiveAll()
            }
        }
        #expect(try await here.run { try await settled(port, here: $0) } == 0)
    }

    /// The number of connections that the server holds, once it is none or some seconds have passed.
    private func settled(_ port: UInt16, here: isolated OnLoop) async throws -> Int {
        for _ in 0..<500 where heldConnections(port: port) > 0 {
            try await here.loop.sleep(for: .milliseconds(10))
        }
        return heldConnections(port: port)
    }

    @Test func `a stopped server is not reached any more`() async throws {
        let here = OnLoop()
        let port = try await here.run { here in
            let server = Server()
            let port = try server.listen(port: 0)
            server.stop()
            return port
        }
        #expect(throws: RawPeer.Refused.self) { try RawPeer(port: port) }
    }

    @Test func `a port that is taken is an error`() async throws {
        let here = OnLoop()
        let port = try await here.run { try makeServer(in: $0) }
        await #expect(throws: Failure.self) {
            try await here.run { _ in _ = try Server().listen(port: port) }
        }
    }
}
