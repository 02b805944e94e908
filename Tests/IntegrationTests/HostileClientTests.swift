// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RouteWire
import SystemProbe
import Testing

/// Connections that mean no good, against the daemon as a process. After each test a sender that keeps to the rules is served
/// and the daemon holds nothing of what came before.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HostileClientTests {
    @Test func `a port scan leaves nothing behind`() async throws {
        try await HostileDaemon.suffer { daemon in
            for _ in 0..<300 { _ = try StreamSocket(host: "127.0.0.1", port: daemon.port) }
        }
    }

    @Test(arguments: [
        ("GET /healthz HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 200"),
        ("GET /healthz HTTP/1.1\r\nHost: [fe80::1%25eth0]:7380\r\n\r\n", "HTTP/1.1 200"),
        ("GET /healthz HTTP/1.1\r\nHost: localhost:1\r\n\r\n", "HTTP/1.1 200"),
        ("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 421"),
        ("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", "HTTP/1.1 421"),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 4"),
        ("GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 421"),
        ("GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 4"),
        (
            "GET /v1/receiver HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
            "HTTP/1.1 403"
        ),
        ("GET /v1/receiver HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", "HTTP/1.1 403"),
        (HostilePeer.upgrade("Origin: https://evil.example\r\n"), "HTTP/1.1 403"),
        (HostilePeer.upgrade(host: "rebound.example"), "HTTP/1.1 421"),
        (HostilePeer.upgrade(path: "/v1/other"), "HTTP/1.1 4"),
        ("GET /v1/route HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 4"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9223372036854775807\r\n\r\n", "cut"),
        ("DELETE /v1/receiver HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 405"),
        ("CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 4"),
    ])
    func `a request that is none of a sender's is refused`(request: String, answer: String) async throws {
        try await HostileDaemon.suffer { daemon in
            let found = HostilePeer.exchange(daemon.port, request)
            daemon.check(found.hasPrefix(answer), "\(found.prefix(60)) instead of \(answer)")
        }
    }

    @Test func `what is no HTTP, or far too much of it, ends the connection`() async throws {
        try await HostileDaemon.suffer { daemon in
            let long = String(repeating: "x", count: 200_000)
            let requests = [
                "\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}\u{01}\u{fc}\u{03}\r\n\r\n", "\r\n\r\n\r\n\r\n",
                "GET\r\n\r\n",
                "GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: localhost\r\nX: \(long)\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: localhost\r\n\(String(repeating: "A: b\r\n", count: 40_000))\r\n",
                "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", "GET % HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET /%00%ff/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET /v1/artwork/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            ]
            for request in requests {
                let answer = HostilePeer.exchange(daemon.port, request)
                daemon.check(
                    answer == "cut"
                        || ["HTTP/1.1 4", "HTTP/1.0 4", "HTTP/1.0 505"].contains { answer.hasPrefix($0) },
                    "\(answer.prefix(60)) for \(request.prefix(60))")
            }
            // A body in chunks is counted as it comes.
            let chunks = [UInt8](repeating: 65, count: 200_000)
            let upload = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n30d40\r\n"
            let answer = HostilePeer.exchange(daemon.port, upload, then: chunks + Array("\r\n0\r\n\r\n".utf8))
            daemon.check(answer == "cut" || answer.hasPrefix("HTTP/1.1 413"), "chunks: \(answer.prefix(60))")
        }
    }

    @Test func `compression is not agreed to`() async throws {
        try await HostileDaemon.suffer { daemon in
            let offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
            let answer = HostilePeer.exchange(daemon.port, HostilePeer.upgrade(offer))
            daemon.check(answer.hasPrefix("HTTP/1.1 101"), "\(answer.prefix(60))")
            daemon.check(!answer.contains("permessage-deflate"), "compression was agreed to")
        }
    }

    @Test func `more than the most connections are cut, and places become free again`() async throws {
        try await HostileDaemon.suffer { daemon in
            var peers: [HostilePeer] = []
            for _ in 0..<256 {
                guard let peer = try? HostilePeer(port: daemon.port) else { break }
                peers.append(peer)
            }
            daemon.check((250...256).contains(peers.count), "\(peers.count) connections")
            for _ in 0..<20 {
                let answer = HostilePeer.exchange(daemon.port, HostilePeer.upgrade())
                daemon.check(answer == "cut", "one too many: \(answer.prefix(40))")
            }
            daemon.check(peers[0].ask("clock.ping")?["result"] != nil, "the first is not answered any more")
            peers.removeAll()
            let isFree = waitUntil(seconds: 30) { (try? HostilePeer(port: daemon.port)) != nil }
            daemon.check(isFree, "no place becomes free")
        }
    }

    /// All that takes its time, at once.
    @Test func `what is silent or slow is cut in time`() async throws {
        try await HostileDaemon.suffer { daemon in
            let start = monotonicNanoseconds()
            func seconds() -> Double { Double(monotonicNanoseconds() - start) / 1e9 }
            let port = daemon.port
            func opened(_ text: String = "") throws -> StreamSocket {
                let socket = try StreamSocket(host: "127.0.0.1", port: port)
                try socket.write(text)
                return socket
            }
            let upload = "POST / HTTP/1.1\r\nHost: localhost\r\n"
            let halfClosed = try opened()
            halfClosed.endSending()
            let asked = try opened("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            asked.endSending()
            let halfOpen = try HostilePeer(port: port)
            halfOpen.socket.endSending()
            let deaf = try HostilePeer(port: port)
            deaf.answersPings = false
            let dribbling = try opened("GET / HTTP/1.1\r\nX: ")
            // Name, what is read from, and the seconds in which it must end.
            let cases: [(name: String, socket: StreamSocket, time: ClosedRange<Double>)] = [
                ("silent", try opened(), 9...30),
                ("half a head", try opened("GET / HTTP/1.1\r\nHos"), 9...30),
                ("dribbling", dribbling, 9...30),
                ("half a body", try opened("\(upload)Content-Length: 1000\r\n\r\nabc"), 9...30),
                ("half a chunk", try opened("\(upload)Transfer-Encoding: chunked\r\n\r\nff\r\na"), 9...30),
                (
                    "an endless chunk",
                    try opened("\(upload)Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\na"), 0...30
                ),
                ("half closed", halfClosed, 0...8), ("half closed with a request", asked, 0...8),
                ("half open", halfOpen.socket, 0...8),
            ]
            let bystander = try HostilePeer(port: port)
            var ends: [Int: Double] = [:]
            var deafEnd: (HostilePeer.End, Double)?
            var worst = 0.0
            while seconds() < 60, ends.count < cases.count || deafEnd == nil {
                for (index, one) in cases.enumerated() where ends[index] == nil {
                    if let bytes = one.socket.read(milliseconds: 0), bytes.isEmpty { ends[index] = seconds() }
                }
                if ends[2] == nil { try? dribbling.write("x") }
                if deafEnd == nil {
                    let end = deaf.end(milliseconds: 1)
                    if end != .stillOpen { deafEnd = (end, seconds()) }
                }
                let asked = seconds()
                daemon.check(bystander.ask("clock.ping")?["result"] != nil, "no answer at \(asked) s")
                worst = max(worst, seconds() - asked)
                pause(milliseconds: 50)
            }
            for (index, one) in cases.enumerated() {
                let end = ends[index]
                daemon.check(
                    end.map(one.time.contains) == true,
                    "\(one.name): ended after \(end.map { "\($0)" } ?? "never")")
            }
            daemon.check(deafEnd?.0 == .closed(1008), "deaf: \(deafEnd.map { "\($0)" } ?? "never ended")")
            daemon.check((deafEnd?.1 ?? 0) >= 14, "deaf: too early")
            daemon.check(worst < 5, "another waited \(worst) s")
        }
    }

    @Test func `a thousand senders that come and go leave the daemon as it was`() async throws {
        try await HostileDaemon.suffer { daemon in
            var readings: [(count: Int, memory: Double, threads: Int, descriptors: Int)] = []
            for count in 1...1_000 {
                let peer = try HostilePeer(port: daemon.port)
                guard peer.activate()?["result"]?["route"] != nil else {
                    return daemon.check(false, "no route for sender \(count)")
                }
                // Every other one is lost without a word.
                if count % 2 == 0 { peer.close() }
                if count % 250 == 0 {
                    let counts = daemon.counts
                    readings.append((count, daemon.memory, counts.threads, counts.descriptors))
                }
            }
            for one in readings {
                print(
                    "after \(one.count): \(one.memory) MB, \(one.threads) threads, \(one.descriptors) descriptors"
                )
            }
            let slope = (readings[3].memory - readings[1].memory) * 1_024 / 500
            print(
                "slope: \(slope) KiB for a sender, \(readings[3].descriptors - readings[1].descriptors) descriptors for 500"
            )
            daemon.check(slope < 2, "\(slope) KiB stay of each sender")
            daemon.check(
                readings[3].descriptors <= readings[1].descriptors + 4, "descriptors grow: \(readings)")
            daemon.check(readings[3].threads <= readings[1].threads + 2, "threads grow: \(readings)")
        }
    }

    @Test func `a shutdown ends in time though senders go on`() async throws {
        let status: Int32? = try await onThread {
            try HostileDaemon.withoutRest { daemon in
                let port = daemon.port
                let attackers = (0..<4).map { _ in
                    Attacker(port: port, seconds: 10) { peer in
                        _ = peer.activate()
                        peer.send(
                            text: #"{"jsonrpc":"2.0","method":"device.setVolume","params":{"volume":0.5}}"#)
                        peer.send(binary: [1, 2, 3])
                    }
                }
                pause(milliseconds: 300)
                daemon.signal(SIGTERM)
                let status = daemon.exitStatus(seconds: 20)
                _ = waitUntil(seconds: 30) { attackers.allSatisfy(\.isDone) }
                return status
            }
        }
        #expect(status == 0)
    }
}
