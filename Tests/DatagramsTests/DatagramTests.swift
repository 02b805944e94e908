// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Testing

@testable import Datagrams

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

struct ArrivalStampsTests {
    @Test func `a stamp is told by the other clock`() {
        var stamps = ArrivalStamps()
        #expect(stamps.time(of: 1_000_005_000, now: 9_000, difference: 1_000_000_000) == 5_000)
        #expect(stamps.time(of: 1_000_025_040, now: 29_000, difference: 1_000_000_040) == 25_000)
        // It was taken before it arrived: the difference was not read exactly.
        #expect(stamps.time(of: 1_000_029_050, now: 29_000, difference: 1_000_000_000) == 29_000)
    }

    @Test func `while the clock is set there are no stamps`() {
        var stamps = ArrivalStamps()
        #expect(stamps.time(of: 1_000_005_000, now: 9_000, difference: 1_000_000_000) == 5_000)
        // Set forward by a second, after the message had come.
        #expect(stamps.time(of: 1_000_015_000, now: 19_000, difference: 2_000_000_000) == 19_000)
        #expect(stamps.time(of: 2_000_025_000, now: 29_000, difference: 2_000_000_000) == 25_000)
    }

    @Test(arguments: [Int64.min, -1, 0, 5_000_000_000, .max])
    func `what no stamp can be is none`(stamp: Int64) {
        var stamps = ArrivalStamps()
        #expect(stamps.time(of: stamp, now: 1_500_000_000, difference: 2_000_000_000) == 1_500_000_000)
        #expect(stamps.time(of: 3_000_000_000, now: 1_500_000_000, difference: nil) == 1_500_000_000)
    }

    @Test func `only what the kernel says of the arrival is read`() {
        let header: UInt64 = UInt64(UInt32(1)) | UInt64(UInt32(ArrivalStamps.option)) << 32
        #expect(ArrivalStamps.stamp(in: (32, header, 7, 5, 0, 0, 0, 0), size: 32) == 7_000_000_005)
        #expect(ArrivalStamps.stamp(in: (32, header, 7, 5, 0, 0, 0, 0), size: 0) == nil)
        #expect(ArrivalStamps.stamp(in: (32, header + 1, 7, 5, 0, 0, 0, 0), size: 32) == nil)
        #expect(ArrivalStamps.stamp(in: (32, header, .max / 2, 5, 0, 0, 0, 0), size: 32) == nil)
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

    @Test func `a message has the time at which it arrived, not that at which it was taken`() throws {
        let server = try DatagramSocket(at: 0)
        let client = try DatagramSocket(to: "127.0.0.1", port: server.port)
        var buffer = [UInt8](repeating: 0, count: 8)
        // The kernel begins to stamp a moment after it was asked to.
        for _ in 0..<500 {
            client.send([1])
            let sent = MonotonicTime.now()
            MonotonicTime.rest(10_000_000)
            guard case .received(let message) = server.receive(into: &buffer, waits: true) else { continue }
            if message.time < sent + 1_000_000 { return }
        }
        Issue.record("no message had a stamp")
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
