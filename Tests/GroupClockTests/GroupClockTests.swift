// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Datagrams
import GLibLoop
import GroupClock
import LoopTestKit
import MediaModel
import Synchronization
import SystemProbe
import Testing
import Timing

/// A clock that differs from this machine's in every way.
private func strange(_ local: Int64) -> Int64 { local + 86_400_000_000_000 + local / 20_000 }

/// How far a report's line is from what the clock shows really, in nanoseconds.
private func error(_ report: ClockReport, of clock: (Int64) -> Int64) -> Int64 {
    guard let line = report.line else { return .max }
    return abs(line.remote(at: line.local) - clock(line.local))
}

/// Follows a server on a loop of its own.
private struct Follower {
    let place = OnLoop()
    let reports = Mailbox<ClockReport>()

    func follow(port: UInt16, memory: [String: ClockRate] = [:]) async throws {
        let reports = reports
        try await place.run { place in
            let follower = try ClockFollower(
                ClockServer(host: "127.0.0.1", port: port, machine: "server"),
                memory: ClockRateMemory(memory), on: place.loop)
            follower.onReport = { reports.put($0) }
            place.keep(follower)
        }
    }

    func end() async { await place.dropAll() }
}

/// A program of the test support that tells a number, such as its port.
private struct Helper {
    let process: SystemProbe.ChildProcess
    let number: Int64
    var port: UInt16 { UInt16(truncatingIfNeeded: number) }

    init(_ name: String, _ words: (_ reader: UInt16) -> [String]) throws {
        let reader = try DatagramSocket(at: 0)
        process = try SystemProbe.ChildProcess([try support(name)] + words(reader.port))
        reader.wait(until: MonotonicTime.now() + 40_000_000_000)
        var bytes = [UInt8](repeating: 0, count: 32)
        guard case .received(let message) = reader.receive(into: &bytes, waits: false),
            let number = Int64(String(decoding: bytes[..<message.count], as: UTF8.self))
        else { throw ProbeFailure("\(name) tells nothing", 0) }
        self.number = number
    }
}

private func support(_ name: String) throws -> String {
    // The test's folder is Tests/GroupClockTests.
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(
        separator: "/")
    let path = "\(root)/.build/support/\(name)"
    guard fileSize(path) > 0 else { throw ProbeFailure("\(path) is missing: run make support", 0) }
    return path
}

@Suite(.timeLimit(.minutes(2)))
struct GroupClockTests {
    @Test func `a follower reads the provider's clock`() async throws {
        let provider = try ClockProvider(port: 0) { strange(MonotonicTime.now()) }
        let follower = Follower()
        try await follower.follow(port: provider.port)
        let report = try #require(await follower.reports.first { $0.state == .synchronised })
        // A busy machine answers late; by how much is bounded by the round trip.
        #expect(error(report, of: strange) < 10_000_000)
        #expect(provider.counts.answered >= 20)
        await follower.end()
    }

    @Test func `a follower reads the clock through a network with jitter and loss`() async throws {
        let provider = try ClockProvider(port: 0) { strange(MonotonicTime.now()) }
        let relay = try Helper("lossy-relay") { ["\(provider.port)", "\($0)", "2", "8", "0.05"] }
        let follower = Follower()
        try await follower.follow(port: relay.port)
        let report = try #require(
            await follower.reports.first { $0.state == .synchronised && $0.age > 3_000_000_000 })
        #expect(error(report, of: strange) < 10_000_000)
        #expect((report.roundTrip ?? 0) > 4_000_000)
        await follower.end()
        relay.process.kill()
    }

    @Test func `a provider that is gone is lost, and another in its place is followed`() async throws {
        let first = try ClockProvider(port: 0)
        let port = first.port
        let follower = Follower()
        try await follower.follow(port: port)
        _ = try #require(await follower.reports.first { $0.state == .synchronised })
        first.stop()
        _ = try #require(await follower.reports.first { $0.state == .lost })
        // The thread of the first lets the port go when it has seen the end.
        var second: ClockProvider?
        let limit = MonotonicTime.now() + 20_000_000_000
        while second == nil, MonotonicTime.now() < limit {
            second = try? ClockProvider(port: port) { strange(MonotonicTime.now()) }
            if second == nil { MonotonicTime.rest(2_000_000) }
        }
        _ = try #require(second)
        let report = try #require(
            await follower.reports.first {
                $0.state == .synchronised && error($0, of: strange) < 10_000_000
            })
        #expect(report.line != nil)
        await follower.end()
    }

    @Test func `a follower that is dropped lets its socket go`() async throws {
        let server = try DatagramSocket(at: 0)
        let follower = Follower()
        try await follower.follow(port: server.port)
        var bytes = [UInt8](repeating: 0, count: 64)
        guard case .received(let request) = server.receive(into: &bytes, waits: true) else {
            Issue.record("nobody asks")
            return
        }
        await follower.end()
        // As long as the socket is there, what is sent to it is taken.
        let probe = try DatagramSocket(to: "127.0.0.1", port: request.sender.port)
        let limit = MonotonicTime.now() + 30_000_000_000
        var isGone = false
        while !isGone, MonotonicTime.now() < limit {
            probe.send([0])
            probe.wait(until: MonotonicTime.now() + 20_000_000)
            if case .failed = probe.receive(into: &bytes, waits: false) { isGone = true }
        }
        #expect(isGone)
    }

    @Test func `rubbish is not answered and does no harm`() async throws {
        let provider = try ClockProvider(port: 0)
        let client = try DatagramSocket(to: "127.0.0.1", port: provider.port)
        var answer = [UInt8](repeating: 0, count: 16)
        for length in [0, 1, 15, 17, 1_400] { client.send([UInt8](repeating: 255, count: length)) }
        // An answer, as another provider would send it.
        answer[15] = 9
        client.send(answer)
        // What is answered: the form of GStreamer, and of others.
        client.send([UInt8](repeating: 255, count: 16))
        client.send([UInt8](repeating: 0, count: 16))
        var received: [[UInt8]] = []
        var bytes = [UInt8](repeating: 0, count: 64)
        let limit = MonotonicTime.now() + 20_000_000_000
        while received.count < 2, MonotonicTime.now() < limit {
            client.wait(until: limit)
            guard case .received(let message) = client.receive(into: &bytes, waits: false) else { continue }
            received.append(Array(bytes[..<message.count]))
        }
        #expect(received.map(\.count) == [16, 16])
        #expect(received.first?.prefix(8) == ArraySlice(repeating: 255, count: 8))
        #expect(received.last?.prefix(8) == ArraySlice(repeating: 0, count: 8))
        #expect(provider.counts.refused == 6)
    }

    @Test func `a server that lies and floods leaves the follower without a clock`() async throws {
        let server = try DatagramSocket(at: 0)
        BackgroundThread.run(named: "liar") {
            var bytes = [UInt8](repeating: 0, count: 64)
            while true {
                switch server.receive(into: &bytes, waits: true) {
                case .ended: return
                case .received(let request):
                    let peer = request.sender
                    // Marks that were never sent, other lengths, times beyond the range.
                    for index in 0..<20 {
                        let length = index < 10 ? 16 : index
                        server.send(
                            (0..<length).map { UInt8(truncatingIfNeeded: $0 &* index) }, count: length,
                            to: peer)
                    }
                    for index in 8..<16 { bytes[index] = 255 }
                    server.send(bytes, count: 16, to: peer)
                case .nothing, .failed: continue
                }
            }
        }
        let follower = Follower()
        try await follower.follow(port: server.port)
        let reports = follower.reports
        // An honest one beside it is followed, so there was time for the liar, too.
        let provider = try ClockProvider(port: 0)
        let other = Follower()
        try await other.follow(port: provider.port)
        _ = try #require(await other.reports.first { $0.age > 2_000_000_000 })
        await follower.end()
        await other.end()
        server.end()
        var mark = ClockReport()
        mark.age = -1
        reports.put(mark)
        #expect(await reports.next()?.age == -1)
    }

    @Test func `times that mean nothing do no harm`() async throws {
        let reads = Mutex(0)
        let enough = Mailbox<Bool>()
        let provider = try ClockProvider(port: 0) {
            let count = reads.withLock { count in
                count += 1
                return count
            }
            if count == 200 { enough.put(true) }
            return .random(in: 0 ... .max)
        }
        let follower = Follower()
        try await follower.follow(port: provider.port)
        // Nothing is worth anything, but it goes on until it is told to end.
        #expect(await enough.next() == true)
        await follower.end()
    }

    @Test func `a network clock of GStreamer follows the provider`() throws {
        let ahead: Int64 = 5_000_000_000_000
        let provider = try ClockProvider(port: 0) { MonotonicTime.now() + ahead }
        let client = try Helper("gst-clock") { ["client", "\(provider.port)", "\($0)"] }
        #expect(abs(client.number - ahead) < 100_000_000)
    }

    @Test func `a provider of GStreamer is followed`() async throws {
        let helper = try Helper("gst-clock") { ["provider", "\($0)"] }
        let follower = Follower()
        try await follower.follow(port: helper.port)
        let report = try #require(await follower.reports.first { $0.state == .synchronised })
        #expect(error(report) { $0 } < 10_000_000)
        await follower.end()
        helper.process.kill()
    }
}
