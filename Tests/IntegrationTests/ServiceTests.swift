// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RouteWire
import Settings
import Testing

/// The daemon as a service: what the service manager and the journal are told. `manager.py` stands for both.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: MountNamespace.isAllowed, "NOT RUN: needs a mount namespace (root, or unprivileged ones)"))
struct ServiceTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func start(journal: String, _ options: [String] = []) async throws -> ProgramRun {
        let sources = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let own = Machine.programPath ?? ""
        let programs = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
        return try await ProgramRun.start(
            "/usr/bin/unshare",
            [
                "-rm", "python3", "\(sources)/Support/python/manager.py", journal, "\(programs)/linnetd",
                "--config-dir=\(folder.path)", "--state-dir=\(folder.path)/state", "--port=0", "--name=Test",
                "--device=null", "--advertise=no",
            ] + options)
    }

    private func port(_ run: ProgramRun) async throws -> UInt16 {
        let line = try #require(await run.line(with: "output linnetd: ready on port "))
        return try #require(UInt16(line.split(separator: " ")[5]))
    }

    /// The time and the state of the next notification that begins so.
    private func notified(_ run: ProgramRun, _ state: String) async throws -> (time: Int, state: String) {
        while let line = await run.line(with: "notify ") {
            let words = line.split(separator: " ", maxSplits: 2)
            if words[2].hasPrefix(state) { return (try #require(Int(words[1])), String(words[2])) }
        }
        throw TestFailure("\(state) is not told")
    }

    /// The next entry of the journal with this text in it.
    private func entry(_ run: ProgramRun, _ text: String) async throws -> JSONValue {
        let line = try #require(await run.line(with: text))
        #expect(line.hasPrefix("journal "))
        return try JSONText.decode(String(line.dropFirst(8)), limit: 1 << 20)
    }

    @Test func `readiness, life and the end are told`() async throws {
        let run = try await start(journal: "reads")
        #expect(try await notified(run, "STATUS=").state.hasPrefix("STATUS=Ready on port "))
        let ready = try await notified(run, "READY=1").time
        var times: [Int] = []
        while times.count < 5 { times.append(try await notified(run, "WATCHDOG=1").time) }
        // Half of the 600 ms that the manager gives; a busy machine brings single ones late.
        #expect((800...4_000).contains(times[4] - times[0]) && times[0] >= ready, "\(ready), \(times)")
        await run.send(signal: SIGTERM)
        _ = try await notified(run, "STOPPING=1")
        #expect(await run.line(with: "exit ") == "exit 0")
    }

    @Test func `the journal has each line with its priority and its fields`() async throws {
        let run = try await start(journal: "reads")
        let started = try await entry(run, "\"MESSAGE\": \"started ")
        #expect(started["PRIORITY"] == "5" && started["LABEL"] == "receiver")
        let port = try await port(run)
        #expect(started["X_PORT"] == .text(String(port)))
        #expect(started["X_DEVICE"]?.textValue?.utf8.count == 36)
        let launched = try await entry(run, "renderer launched")
        #expect(launched["PRIORITY"] == "6" && launched["X_PID"] != nil)
        kill(try #require(launched["X_PID"]?.textValue.flatMap { Int32($0) }), SIGKILL)
        #expect(try await entry(run, "renderer exited")["PRIORITY"] == "4")
    }

    @Test func `without the journal's socket the lines go to its stream, with their priority`() async throws {
        let run = try await start(journal: "missing")
        let line = try #require(await run.line(with: "started (device="))
        #expect(line.hasPrefix("stream <5>receiver: "))
    }

    @Test func `a journal that does not read holds up nothing, and is told what it missed`() async throws {
        let run = try await start(journal: "stands", ["--log-level=debug"])
        let port = try await port(run)
        // Each is refused with a line, more of them than any queue of datagrams holds.
        for _ in 0..<1_000 {
            let answer = HostilePeer.exchange(port, "GET / HTTP/1.1\r\nHost: stranger.example\r\n\r\n")
            try #require(answer.hasPrefix("HTTP/1.1 421"))
        }
        _ = try await notified(run, "WATCHDOG=1")
        await run.send(signal: SIGUSR1)
        // What was queued comes first, then there is room.
        _ = try #require(await run.line(with: "journal "))
        _ = HostilePeer.exchange(port, "GET / HTTP/1.1\r\nHost: stranger.example\r\n\r\n")
        let refused = try await entry(run, "X_DROPPED")
        #expect(Int(refused["X_DROPPED"]?.textValue ?? "") ?? 0 > 0)
    }
}

struct JournalEntryTests {
    @Test func `values with line breaks are framed, and long ones are cut`() {
        let entry = JournalSocket.entry([("A", Array("b".utf8)), ("C", Array("d\ne".utf8))])
        #expect(entry == Array("A=b\nC\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("d\ne\n".utf8))
        let long = [UInt8](repeating: 97, count: 1 << 20)
        let fields = (0..<10).map { (key: "F\($0)", value: long) }
        let cut = JournalSocket.entry(fields)
        #expect(cut.count <= JournalSocket.longestEntry && cut.count > JournalSocket.longestEntry / 2)
        #expect(cut.prefix { $0 != 10 }.count == 3 + JournalSocket.longestValue)
    }
}
