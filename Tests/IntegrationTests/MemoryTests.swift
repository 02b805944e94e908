// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    /// A renderer that wants all of the machine's memory, on a machine made small by a control group.
    struct MemoryTests {
        @Test @RouteActor
        func `when memory runs out the renderer goes, the daemon stays, the music comes back`()
            async throws
        {
            let group: MemoryGroup
            do {
                group = try MemoryGroup(mebibytes: 400)
            } catch {
                return print("not checked, this machine makes no memory control group: \(error)")
            }
            defer { group.remove() }
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: 0)
                let renderer = try #require(receiver.renderer)
                try group.add([receiver.daemon.pid, renderer])
                let asked = SimulatedCard.now
                // Below the renderer's own limit, above the group's.
                try writeText("allocate 900\n", to: "\(card.folder)/sim0.attack")
                #expect(await Programs.poll(within: .seconds(30)) { receiver.renderer != renderer })
                #expect(receiver.daemon.isRunning)
                let back = try await card.soundAfterDeath(at: asked)
                #expect(await receiver.logs("renderer exited (reason="))
                let log = readText("\(receiver.folder)/linnetd.log")
                // The end of a large process takes its time; it may be told for a process that has closed its socket.
                let exit = log.split(separator: "\n").first { $0.contains("renderer exited (reason=") }
                #expect(exit?.hasSuffix("signal 9)") == true, "\(log)")
                #expect(group.kills == 1)
                #expect(control.end == nil)
                print("back \((back - asked) / 1_000_000) ms after all memory was asked for")
            }
        }

        @Test @RouteActor func `a renderer that wants more than its own limit does not get it`() async throws
        {
            try await ReceiverUnderTest.use(["--memory-limit", "256"]) { receiver in
                _ = try await receiver.playReady("position.flac")
                let reports = try await receiver.attack(["allocate 64", "allocate 256"])
                #expect(reports == ["allocate 64": "done", "allocate 256": "Cannot allocate memory"])
            }
        }
    }
}

/// A group of processes that share a bounded memory, by whichever of the kernel's two interfaces is there.
private struct MemoryGroup {
    private let folder: String
    private let counter: String

    init(mebibytes: Int) throws {
        let name = "linnet-test-\(Machine.makeUUID())"
        let isOld = FileSystem.isDirectory("/sys/fs/cgroup/memory")
        folder = isOld ? "/sys/fs/cgroup/memory/\(name)" : "/sys/fs/cgroup/\(name)"
        counter = isOld ? "memory.oom_control" : "memory.events"
        try FileSystem.makeDirectory(folder)
        do {
            let limit = isOld ? "memory.limit_in_bytes" : "memory.max"
            try writeText("\(mebibytes << 20)", to: "\(folder)/\(limit)")
        } catch {
            remove()
            throw error
        }
    }

    func add(_ pids: [Int32]) throws {
        for pid in pids { try writeText("\(pid)", to: "\(folder)/cgroup.procs") }
    }

    /// How many processes of the group the kernel has ended.
    var kills: Int? {
        readLines("\(folder)/\(counter)").first { $0.hasPrefix("oom_kill ") }.flatMap { Int($0.dropFirst(9)) }
    }

    func remove() { try? FileSystem.removeDirectory(folder) }
}
