// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RouteWire
import Settings
import Synchronization
import SystemProbe
import Testing

/// A daemon that is treated badly, and what came of it. Its peers' calls block, so it lives on a thread of its own.
final class HostileDaemon {
    private let folder: ScratchFolder
    private let process: ChildProcess
    let port: UInt16
    /// What a daemon that is left alone has open.
    private(set) var base: (threads: Int, descriptors: Int) = (0, 0)
    private(set) var complaints: [String] = []

    private init(_ options: [String]) throws {
        folder = try ScratchFolder()
        let own = Machine.programPath ?? ""
        let programs = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
        let output = "\(folder.path)/output"
        process = try ChildProcess(
            [
                "\(programs)/linnetd", "--config-dir=\(folder.path)", "--state-dir=\(folder.path)/state",
                "--port=0",
                "--name=Test", "--device=null", "--advertise=no", "--log-level=warning",
            ] + options, output: output)
        var found: UInt16?
        let isReady = waitUntil(seconds: 30) {
            for line in readLines(output) where line.hasPrefix("linnetd: ready on port ") {
                found = UInt16(line.split(separator: " ")[4])
            }
            return found != nil
        }
        guard isReady, let found else { throw ProbeFailure("the daemon says: \(readText(output))", 0) }
        port = found
    }

    /// Runs `attack` against a daemon, then looks whether the daemon still lives, serves, and holds nothing of it.
    static func suffer(
        _ options: [String] = [], _ attack: @escaping @Sendable (HostileDaemon) throws -> Void
    ) async throws {
        let complaints = try await onThread {
            let daemon = try HostileDaemon(options)
            daemon.serve("before")
            _ = waitUntil(seconds: 30) { ProcessTable.family(of: daemon.process.pid).count > 1 }
            daemon.rest()
            try attack(daemon)
            daemon.serve("after")
            daemon.checkRest()
            return daemon.complaints
        }
        #expect(complaints == [])
    }

    /// Runs `body` against a daemon that may end in it.
    static func withoutRest<Value>(_ body: (HostileDaemon) throws -> Value) throws -> Value {
        let daemon = try HostileDaemon([])
        daemon.serve("before")
        return try body(daemon)
    }

    func check(_ isRight: Bool, _ complaint: @autoclosure () -> String) {
        if !isRight, complaints.count < 20 { complaints.append(complaint()) }
    }

    /// A sender that keeps to the rules is served as ever.
    func serve(_ when: String) {
        guard process.isRunning else { return check(false, "\(when): the daemon is gone") }
        do {
            let sender = try HostilePeer(port: port)
            let route = sender.activate()?["result"]?["route"]
            check(route != nil, "\(when): no route")
            let volume = sender.ask("device.setVolume", #"{"volume":0.25}"#)
            check(volume?["result"]?["outcome"] == "accepted", "\(when): the volume was not taken")
            check(sender.ask("route.deactivate") != nil, "\(when): no answer")
            sender.close()
        } catch { check(false, "\(when): \(error)") }
    }

    /// Takes what a daemon has open that is left alone, once that is the same for a while: its renderer starts meanwhile.
    private func rest() {
        var same = 0
        _ = waitUntil(seconds: 30) {
            let now = counts
            same = now == base ? same + 1 : 0
            base = now
            return same == 20
        }
    }

    /// Nothing is held that was not before.
    private func checkRest() {
        guard process.isRunning else { return }
        _ = waitUntil(seconds: 30) { counts.descriptors <= base.descriptors }
        check(
            counts.descriptors <= base.descriptors,
            "\(counts.descriptors) descriptors, \(base.descriptors) before")
        _ = waitUntil(seconds: 30) { counts.threads <= base.threads + 2 }
        check(counts.threads <= base.threads + 2, "\(counts.threads) threads, \(base.threads) before")
    }

    var counts: (threads: Int, descriptors: Int) { ProcessTable.counts(of: process.pid) }

    /// Resident memory of the daemon alone, in MB.
    var memory: Double { ProcessTable.memory(of: [process.pid]).resident }

    /// A counter of the daemon's metrics page.
    func metric(_ name: String) -> Int {
        let text = HostilePeer.exchange(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Int($0.split(separator: " ")[1]) } ?? -1
    }

    /// The longest time in milliseconds that a well-behaved sender waited for an answer while `attack` ran elsewhere.
    func longestWait(during attack: @escaping @Sendable () -> Void) throws -> Double {
        let bystander = try HostilePeer(port: port)
        let attacker = Attacker(attack)
        var worst = 0.0
        while !attacker.isDone {
            let start = monotonicNanoseconds()
            guard bystander.ask("clock.ping")?["result"] != nil else { return .infinity }
            worst = max(worst, Double(monotonicNanoseconds() - start) / 1e6)
            pause(milliseconds: 5)
        }
        bystander.close()
        return worst
    }

    func signal(_ number: Int32) { process.signal(number) }
    func exitStatus(seconds: Int) -> Int32? { process.wait(milliseconds: seconds * 1_000) }
}

/// Something that goes on beside the test's own thread.
final class Attacker: Sendable {
    private let done = Atomic(false)
    var isDone: Bool { done.load(ordering: .acquiring) }

    init(_ attack: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "attacker").async {
            attack()
            self.done.store(true, ordering: .releasing)
        }
    }

    /// Lets a new peer act again and again, until its connection ends or the time is over.
    convenience init(port: UInt16, seconds: Double, _ act: @escaping @Sendable (HostilePeer) -> Void) {
        self.init {
            guard let peer = try? HostilePeer(port: port) else { return }
            let end = monotonicNanoseconds() + Int64(seconds * 1e9)
            while !peer.isAtEnd, monotonicNanoseconds() < end { act(peer) }
        }
    }
}

/// A count that several threads share.
final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}

/// Runs blocking `body` beside the tests' own threads.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { waiting in
        DispatchQueue(label: "hostile").async { waiting.resume(with: Result(catching: body)) }
    }
}

/// Looks again and again until `condition` holds; false if it never does.
func waitUntil(seconds: Double, _ condition: () -> Bool) -> Bool {
    let end = monotonicNanoseconds() + Int64(seconds * 1e9)
    while !condition() {
        guard monotonicNanoseconds() < end else { return false }
        pause(milliseconds: 5)
    }
    return true
}
