// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    /// The state on a disk that is full, or cannot be written.
    @Suite(
        .enabled(
            if: MountNamespace.isAllowed, "NOT RUN: needs a mount namespace (root, or unprivileged ones)"))
    struct StorageTests {
        /// A file system of 64 KiB under the state folder.
        private static func smallDisk(_ folder: String) -> String {
            "mkdir -p \(folder)/state; mount -t tmpfs -o size=64k tmpfs \(folder)/state"
        }

        @Test @RouteActor
        func `a full disk keeps the old state, is told, and takes the newest when it has room again`()
            async throws
        {
            try await ReceiverUnderTest.use(inside: Self.smallDisk) { receiver in
                let device = receiver.route.device
                let path = "\(receiver.stateFolder)/state.conf"
                try await device.perform(.setVolume(0.75))
                #expect(await Programs.poll(within: .seconds(30)) { readText(path).contains("volume=0.75") })
                let before = readText(path)
                let filler = "\(receiver.stateFolder)/filler"
                _ = try ChildProcess(["dd", "if=/dev/zero", "of=\(filler)", "bs=1", "count=70000"])
                    .wait(milliseconds: 30_000)
                try await device.perform(.rename("Bath"))
                try await device.perform(.setVolume(0.25))
                try await receiver.route.wait("the fault") {
                    $0.device.storageFault?.contains("No space left on device") == true
                }
                #expect(device.name == "Bath" && device.volume == 0.25)
                #expect(readText(path) == before)
                #expect(!FileSystem.exists("\(path).new"))
                try FileSystem.remove(filler)
                try await receiver.route.wait("no fault") { $0.device.storageFault == nil }
                #expect(readText(path).contains("name=Bath") && readText(path).contains("volume=0.25"))
                func count(_ beginning: String) -> Int {
                    readLines("\(receiver.folder)/linnetd.log").count { $0.hasPrefix(beginning) }
                }
                #expect(await receiver.logs("notice state: the state is written again"))
                #expect(count("warning state: the state cannot be written") == 1)
                #expect(count("notice state: the state is written again") == 1)
            }
        }

        @Test @RouteActor func `a state folder that cannot be written is told, and everything else works`()
            async throws
        {
            try await ReceiverUnderTest.use(inside: { folder in
                Self.smallDisk(folder) + "; mount -o remount,ro \(folder)/state"
            }) { receiver in
                var card = receiver.card
                try await receiver.route.wait("the fault") {
                    $0.device.storageFault?.contains("Read-only file system") == true
                }
                try await receiver.route.device.perform(.rename("Bath"))
                _ = try await receiver.playReady("position.wav")
                _ = try await card.sound(from: 0, for: .milliseconds(50))
                try MountNamespace.run(
                    "mount -o remount,rw \(receiver.folder)/state", inThatOf: receiver.daemon.pid)
                try await receiver.route.wait("no fault") { $0.device.storageFault == nil }
                #expect(readText("\(receiver.stateFolder)/state.conf").contains("name=Bath"))
            }
        }
    }
}

/// What a power cut or a crash leaves of a file that is replaced: `write-probe` is killed at any moment.
struct KilledWriterTests {
    @Test func `a file is whole whenever its writer is killed`() throws {
        let folder = try ScratchFolder()
        let path = "\(folder.path)/state"
        let own = Machine.programPath ?? ""
        let programs = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
        var interrupted = 0
        for turn in 0..<50 {
            try? FileSystem.remove(path)
            let writer = try ChildProcess(["\(programs)/write-probe", path])
            #expect(waitUntil(seconds: 30) { FileSystem.exists(path) })
            // Anywhere within a few writes.
            let end = monotonicNanoseconds() + Int64(turn) * 37_000
            while monotonicNanoseconds() < end {}
            writer.kill()
            let parts = readText(path).split(separator: "\n", omittingEmptySubsequences: false)
            try #require(parts.count == 3 && parts[2].isEmpty)
            #expect(Int(parts[1]) == parts[0].utf8.count && Set(parts[0].utf8).count == 1)
            if FileSystem.exists("\(path).new") { interrupted += 1 }
        }
        // Else this has shown nothing.
        #expect(interrupted > 0)
    }
}
