// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    /// Hostile code in the renderer's process, by way of the simulated card, which tests alone load into it.
    struct ConfinementTests {
        @Test @RouteActor func `hostile code in the renderer gets nowhere, and the music plays on`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                let control = try await receiver.playReady("position.flac")
                let state = "\(receiver.folder)/state"
                let daemon = receiver.daemon.pid
                try writeText("secret", to: "\(receiver.folder)/key")
                // Somebody else's local socket without a file, such as the bus of a desktop.
                let name = "linnet-test-\(Machine.makeUUID())"
                let listener = try await receiver.listen(at: name)
                defer { listener.kill() }
                let layers = try #require(receiver.route.device.confinement)
                let standing = Set(layers.filter(\.isOn).map(\.kind))
                let attempts: [(order: String, layer: ConfinementLayer.Kind)] = [
                    ("read \(state)/state.conf", .files), ("list \(state)", .files), ("list /", .files),
                    ("read \(receiver.folder)/key", .files), ("list /root", .files), ("list /tmp", .files),
                    ("write \(receiver.folder)/dropped", .files), ("write /tmp/linnet-dropped", .files),
                    ("write \(state)/state.conf", .files), ("remove \(state)/state.conf", .files),
                    ("write /proc/self/oom_score_adj", .files), ("read /proc/\(daemon)/environ", .files),
                    ("read /proc/\(daemon)/root/etc/hostname", .files),
                    ("start /bin/true", .calls), ("become /bin/true", .calls), ("raw", .calls),
                    ("packet", .calls), ("trace \(daemon)", .calls), ("signal \(daemon)", .calls),
                    ("abstract \(name)", .signals), ("listen", .listening), ("allocate 1100", .limits),
                ]
                let allowed = [
                    "write \(state)/scratch/mine", "read /etc/passwd", "list /usr/share", "tcp", "udp",
                    "links",
                ]
                let reports = try await receiver.attack(attempts.map(\.order) + allowed)
                for (order, layer) in attempts {
                    guard standing.contains(layer) else {
                        print("not checked, this host has no layer '\(layer.rawValue)': \(order)")
                        continue
                    }
                    let report = try #require(reports[order])
                    #expect(report != "done", "\(order)")
                }
                for order in allowed { #expect(reports[order] == "done", "\(order)") }
                #expect(!FileSystem.exists("\(receiver.folder)/dropped"))
                var card = receiver.card
                _ = try await card.beginning(
                    ofSecond: Int(control.position().seconds) + 2, from: SimulatedCard.now)
            }
        }

        /// The walls that this host's kernel has must stand; which those are is found out without the receiver.
        @Test @RouteActor func `every wall that the kernel offers stands, in the state as in the kernel`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                try await receiver.route.wait("a renderer") { $0.device.confinement != nil }
                let layers = try #require(receiver.route.device.confinement)
                #expect(layers.map(\.kind) == [.privileges, .limits, .files, .listening, .signals, .calls])
                let status = readLines("/proc/\(try #require(receiver.renderer))/status")
                func field(_ name: String) -> String? {
                    status.first { $0.hasPrefix("\(name):\t") }.map { String($0.dropFirst(name.count + 2)) }
                }
                #expect(field("NoNewPrivs") == "1")
                // Nothing, or what real-time priorities take where no limit grants them (CAP_SYS_NICE).
                #expect(["0000000000000000", "0000000000800000"].contains(field("CapEff")))
                for layer in layers where [.privileges, .limits].contains(layer.kind) { #expect(layer.isOn) }
                #expect(layers.last?.isOn == (field("Seccomp") == "2"))
                #expect(readText("/proc/\(receiver.renderer ?? 0)/oom_score_adj") == "500\n")
                #expect(readText("/proc/\(receiver.daemon.pid)/oom_score_adj") != "500\n")
                for layer in layers where !layer.isOn {
                    print(
                        "not checked, this host has no layer '\(layer.kind.rawValue)': \(layer.reason ?? "")")
                }
                let line = StatusLine.of(layers)
                #expect(await receiver.logs(line))
            }
        }

        @Test @RouteActor func `names are still resolved`() async throws {
            try await ReceiverUnderTest.use { receiver in
                let url = receiver.media.url("position.flac").replacing("127.0.0.1", with: "localhost")
                let session = RouteSession(url: url)
                #expect(receiver.route.addSession(session))
                let control = try await session.start().playbackControl
                try await control.wait("ready") { $0.isReady }
            }
        }

        @Test @RouteActor func `a renderer that is not confined is said to be so`() async throws {
            try await ReceiverUnderTest.use(["--confine", "no"]) { receiver in
                try await receiver.route.wait("a renderer") { $0.device.confinement != nil }
                let layers = try #require(receiver.route.device.confinement)
                #expect(layers.allSatisfy { $0.reason == "switched off" })
                #expect(await receiver.logs("renderer not fully confined"))
                _ = try await receiver.playReady("position.flac")
                let reports = try await receiver.attack(["list \(receiver.folder)/state"])
                #expect(reports.values.first == "done")
            }
        }

        @Test @RouteActor func `walls that a kernel cannot make are told, and the others stand`() async throws
        {
            let folder = try Programs.makeFolder()
            defer { Programs.remove(folder) }
            let root = Programs.build.split(separator: "/").dropLast().joined(separator: "/")
            let program = "\(folder)/renderer"
            // The call that makes rules for files has this number everywhere.
            let script = "exec python3 /\(root)/Tests/Support/python/without.py 444"
            try FileSystem.write(
                Array("#!/bin/sh\n\(script) \(try Programs.path("linnet-renderer")) \"$@\"\n".utf8),
                to: program,
                mode: 0o755)
            try await ReceiverUnderTest.use(["--renderer-program", program]) { receiver in
                _ = try await receiver.playReady("position.flac")
                let layers = try #require(receiver.route.device.confinement)
                let missing = layers.filter { !$0.isOn }
                #expect(missing.map(\.kind) == [.files, .listening, .signals])
                #expect(missing.allSatisfy { $0.reason == "no Landlock" })
                #expect(await receiver.logs("files: no Landlock"))
                let reports = try await receiver.attack(["raw", "start /bin/true", "list /"])
                #expect(reports["raw"] != "done" && reports["start /bin/true"] != "done")
                #expect(reports["list /"] == "done", "what is said to be missing is missing")
            }
        }

        /// Plugins that are looked at for the first time start threads, which no wall would bind.
        @Test @RouteActor func `a first start, which looks at every plugin, is confined like any other`()
            async throws
        {
            let folder = try Programs.makeFolder()
            defer { Programs.remove(folder) }
            let program = "\(folder)/renderer"
            let script =
                "export XDG_CACHE_HOME=\(folder)/cache\nexec \(try Programs.path("linnet-renderer")) \"$@\""
            try FileSystem.write(Array("#!/bin/sh\n\(script)\n".utf8), to: program, mode: 0o755)
            try await ReceiverUnderTest.use(["--renderer-program", program]) { receiver in
                try await receiver.route.wait("a renderer", within: .seconds(60)) {
                    $0.device.confinement != nil
                }
                let layers = try #require(receiver.route.device.confinement)
                #expect(!layers.contains { $0.reason == "threads run already" })
                #expect(try !FileSystem.list("\(folder)/cache/gstreamer-1.0").isEmpty)
                _ = try await receiver.playReady("position.flac")
            }
        }

        @Test @RouteActor func `with files allowed, all are read but the state's`() async throws {
            try await ReceiverUnderTest.use(["--allow-file", "yes"]) { receiver in
                let session = RouteSession(url: "file://\(Programs.build)/media/position.flac")
                #expect(receiver.route.addSession(session))
                let control = try await session.start().playbackControl
                try await control.wait("a file ready") { $0.isReady }
                let state = "\(receiver.folder)/state/state.conf"
                let reports = try await receiver.attack(["read \(state)", "list \(receiver.folder)/state"])
                let files = receiver.route.device.confinement?.first { $0.kind == .files }
                guard files?.isOn == true else {
                    return print("not checked, this host has no layer 'files': \(files?.reason ?? "")")
                }
                #expect(reports.values.allSatisfy { $0 != "done" }, "\(reports)")
            }
        }
    }
}

/// What the log says of a renderer's walls.
private enum StatusLine {
    static func of(_ layers: [ConfinementLayer]) -> String {
        layers.allSatisfy(\.isOn) ? "renderer confined (layers=" : "renderer not fully confined (missing="
    }
}

extension ReceiverUnderTest {
    /// A program that listens at a local socket without a file.
    fileprivate func listen(at name: String) async throws -> ChildProcess {
        let script =
            "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind('\\0' + sys.argv[1]); s.listen(); s.accept()"
        let listener = try Programs.start(["python3", "-c", script, name], output: "\(folder)/listener.out")
        _ = await Programs.poll(within: .seconds(30)) { readText("/proc/net/unix").contains("@\(name)") }
        return listener
    }

    /// Has the simulated card, inside the renderer, try what hostile code would; what came of each attempt.
    func attack(_ orders: [String]) async throws -> [String: String] {
        let place = "\(card.folder)/sim\(card.number)"
        try? FileSystem.remove("\(place).attacked")
        try writeText(orders.joined(separator: "\n") + "\n", to: "\(place).orders")
        try FileSystem.rename("\(place).orders", to: "\(place).attack")
        guard await Programs.poll(within: .seconds(30), { FileSystem.exists("\(place).attacked") }) else {
            throw TestFailure("the card was not reached: \(readText("\(place).attacking"))")
        }
        var reports: [String: String] = [:]
        for line in readLines("\(place).attacked") {
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            if parts.count == 2 { reports[parts[0]] = parts[1] }
        }
        return reports
    }
}
