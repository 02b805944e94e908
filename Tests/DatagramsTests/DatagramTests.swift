// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Datagrams
import GLibLoop
import Testing

/// The next message, waited for; nil at the end of the socket.
private func next(_ socket: DatagramSocket, room: Int = 64) -> (bytes: [UInt8], sender: DatagramAddress)? {
    var buffer = [UInt8](repeating: 0, count: room)
    while true {
        switch socket.receive(into: &buffer, waits: true) {
        case .received(let message): return (Array(buffer[..<message.count]), message.sender)
        case .ended: return nil
        case .nothing, .failed: continue
        }
    }
}

struct DatagramTests {
    @Test(arguments: ["127.0.0.1", "::1"])
    func `messages go to and fro`(host: String) throws {
        let server = try DatagramSocket(at: 0)
        let client = try DatagramSocket(to: host, port: server.port)
        let before = MonotonicTime.now()
        #expect(client.send([1, 2, 3]))
        let asked = try #require(next(server))
        #expect(asked.bytes == [1, 2, 3])
        #expect(asked.sender.port == client.port)
        #expect(asked.sender.host.isLoopback)
        #expect(server.send([9, 8, 7], count: 2, to: asked.sender))
        var buffer = [UInt8](repeating: 0, count: 8)
        guard case .received(let answer) = client.receive(into: &buffer, waits: true) else {
            Issue.record("nothing was received")
            return
        }
        #expect(Array(buffer[..<answer.count]) == [9, 8])
        #expect(answer.time > before && answer.time <= MonotonicTime.now())
    }

    @Test func `a connected socket hears its peer alone`() throws {
        let (server, stranger) = (try DatagramSocket(at: 0), try DatagramSocket(at: 0))
        let client = try DatagramSocket(to: "127.0.0.1", port: server.port)
        let own = try #require(DatagramAddress("127.0.0.1", port: client.port))
        // What the server's socket takes is of both families, and this address as it has it.
        client.send([0])
        let asked = try #require(next(server))
        #expect(asked.sender.host == own.host)
        stranger.send([66], count: 1, to: asked.sender)
        server.send([1], count: 1, to: asked.sender)
        #expect(try #require(next(client)).bytes == [1])
        var buffer = [UInt8](repeating: 0, count: 8)
        guard case .nothing = client.receive(into: &buffer, waits: false) else {
            Issue.record("a stranger was heard")
            return
        }
    }

    @Test func `the end lets go whoever waits`() throws {
        for _ in 0..<20 {
            let server = try DatagramSocket(at: 0)
            let client = try DatagramSocket(to: "127.0.0.1", port: server.port)
            for socket in [server, client] {
                let gate = Gate()
                let ticket = gate.ticket
                BackgroundThread.run(named: "waits") {
                    while next(socket) != nil {}
                    gate.open()
                }
                socket.end()
                #expect(gate.pass(ticket, timeout: .seconds(30)))
            }
        }
    }

    @Test func `a message of no bytes is none of the end`() throws {
        let server = try DatagramSocket(at: 0)
        let client = try DatagramSocket(to: "127.0.0.1", port: server.port)
        client.send([])
        client.send([5])
        #expect(try #require(next(server)).bytes == [])
        #expect(try #require(next(server)).bytes == [5])
    }

    @Test func `longer messages are cut off`() throws {
        let server = try DatagramSocket(at: 0)
        let client = try DatagramSocket(to: "127.0.0.1", port: server.port)
        client.send([UInt8](repeating: 1, count: 1_400))
        #expect(try #require(next(server, room: 17)).bytes.count == 17)
    }

    @Test func `what was refused is told and the socket goes on`() throws {
        let free = try DatagramSocket(at: 0).port
        let client = try DatagramSocket(to: "127.0.0.1", port: free)
        client.send([1])
        var buffer = [UInt8](repeating: 0, count: 8)
        client.wait(until: MonotonicTime.now() + 20_000_000_000)
        guard case .failed = client.receive(into: &buffer, waits: false) else {
            Issue.record("it was not told")
            return
        }
        // Another socket may have taken the port meanwhile.
        guard let server = try? DatagramSocket(at: free) else { return }
        client.send([2])
        #expect(try #require(next(server)).bytes == [2])
    }

    @Test func `a port that is taken is refused`() throws {
        let server = try DatagramSocket(at: 0)
        #expect(throws: DatagramSocket.Failure.self) { try DatagramSocket(at: server.port) }
    }

    @Test func `names are no addresses`() {
        #expect(DatagramAddress("localhost", port: 1) == nil)
        #expect(DatagramAddress("", port: 1) == nil)
        #expect(DatagramAddress("1.2.3.4.5", port: 1) == nil)
        #expect(DatagramAddress("192.0.2.1", port: 7)?.port == 7)
        #expect(
            DatagramAddress("::ffff:192.0.2.1", port: 7)?.host == DatagramAddress("192.0.2.1", port: 7)?.host)
        #expect(DatagramAddress("192.0.2.1", port: 7)?.host.isLoopback == false)
        #expect(DatagramAddress("127.9.9.9", port: 7)?.host.isLoopback == true)
        #expect(throws: DatagramSocket.Failure.self) { try DatagramSocket(to: "example", port: 1) }
    }
}
