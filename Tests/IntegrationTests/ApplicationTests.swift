// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import Settings
import Testing

/// The daemon, applications in Python and a sender that is not ours.
@Suite(.timeLimit(.minutes(2))) struct ApplicationTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        for name in ["system", "local", "state"] { try FileSystem.makeDirectory("\(folder.path)/\(name)") }
        let sample = "\(Self.root)/Docs/examples/echo"
        try install(
            "org.linnet.echo", try FileSystem.read("\(sample)/application.json", maximum: 65_536),
            program: "echo.py", try FileSystem.read("\(sample)/echo.py", maximum: 65_536))
    }

    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    private func install(_ id: String, _ manifest: [UInt8], program: String, _ body: [UInt8]) throws {
        let path = "\(folder.path)/system/\(id)"
        try FileSystem.makeDirectory(path)
        try FileSystem.write(manifest, to: "\(path)/application.json")
        try FileSystem.write(body, to: "\(path)/\(program)", mode: 0o755)
    }

    private func install(_ id: String, _ members: String, script: String) throws {
        let manifest =
            #"{"id":"\#(id)","name":"T","version":"1","protocol":[1],"executable":"main",\#(members)}"#
        try install(id, Array(manifest.utf8), program: "main", Array(script.utf8))
    }

    private var options: [String] {
        [
            "--config-dir=\(folder.path)", "--state-dir=\(folder.path)/state", "--port=0", "--name=Test",
            "--device=null", "--advertise=no", "--applications-system-folder=\(folder.path)/system",
            "--applications-local-folder=\(folder.path)/local",
            "--applications-python-folder=\(Self.root)/packaging/applications/python",
        ]
    }

    private func start(_ more: [String] = []) async throws -> (run: ProgramRun, address: String) {
        let run = try await ProgramRun.start("linnetd", options + more)
        let line = try #require(await run.line(with: "linnetd: ready on port "))
        return (run, "127.0.0.1:\(line.split(separator: " ")[4])")
    }

    private func send(_ address: String, _ url: String, _ count: Int) async throws -> ProgramRun {
        try await ProgramRun.start(
            "/usr/bin/python3",
            ["\(Self.root)/Tests/Support/python/companion.py", address, url, String(count)])
    }

    @Test func `messages of a sender that is not ours come back from an application in Python`() async throws
    {
        let (run, address) = try await start()
        let sender = try await send(address, "echo:hello", 200)
        #expect(await sender.line() == "active")
        #expect(await sender.line() == "echoed 200")
        await run.send(signal: SIGTERM)
        #expect(await sender.line()?.hasPrefix("ended shutdown") == true)
        // Nothing that came was against the protocol's document.
        #expect(await sender.line() == nil)
        #expect(await sender.exit() == .status(0))
        #expect(await run.exit() == .status(0))
    }

    @Test func `nothing of an application is left when the daemon is killed`() async throws {
        let (run, address) = try await start()
        let sender = try await send(address, "echo:hello", 1)
        #expect(await sender.line(with: "echoed") == "echoed 1")
        let daemon = try #require(await run.process)
        let processes = ProcessTable.descendants(of: daemon, limit: 64)
        let commands = processes.compactMap { FileSystem.firstLine("/proc/\($0)/comm") }
        #expect(commands.contains("python3") && commands.filter { $0 == "bwrap" }.count == 2, "\(commands)")
        await run.send(signal: SIGKILL)
        #expect(await run.exit() == .signal(SIGKILL))
        // Somebody else reaps them now; a process that has ended has no memory.
        while processes.contains(where: { ProcessTable.memory(of: $0) > 0 }) {
            try await run.rest(.milliseconds(10))
        }
    }

    @Test func `a sender is told how an application failed and what it said last`() async throws {
        try install(
            "org.example.broken", #""urls":["broken:*"]"#,
            script: "#!/bin/sh\necho the key is missing\nexit 3\n")
        let (run, address) = try await start()
        let sender = try await send(address, "broken:", 0)
        #expect(await sender.line() == "ended failed launchFailed")
        #expect(await sender.line() == "log the key is missing")
        #expect(await sender.line() == nil)
        await run.send(signal: SIGTERM)
    }

    @Test func `an application that takes too much memory ends with that reason`() async throws {
        try install(
            "org.example.hog", #""urls":["hog:*"],"limits":{"memory":33554432}"#,
            script:
                "#!/usr/bin/python3\nimport time\nkept = []\nwhile True: kept.append(bytearray(1 << 20)); time.sleep(0.01)\n"
        )
        let (run, address) = try await start()
        let sender = try await send(address, "hog:", 0)
        #expect(await sender.line() == "ended failed limitExceeded")
        await run.send(signal: SIGTERM)
    }

    @Test func `a page is loaded by the browser, speaks on its socket, and ends with its session`()
        async throws
    {
        let path = "\(folder.path)/system/org.example.page"
        try FileSystem.makeDirectory(path)
        let manifest =
            #"{"id":"org.example.page","name":"P","version":"1","protocol":[1],"page":"index.html","urls":["page:*"]}"#
        try FileSystem.write(Array(manifest.utf8), to: "\(path)/application.json")
        try FileSystem.write(Array("<p>here".utf8), to: "\(path)/index.html")
        // Where the user of applications can read it.
        let browser = "\(folder.path)/browser.py"
        let script = try FileSystem.read("\(Self.root)/Tests/Support/python/browser.py", maximum: 65_536)
        try FileSystem.write(script, to: browser)
        let (run, address) = try await start(["--applications-browser=/usr/bin/python3 \(browser) %u"])
        let sender = try await send(address, "page:one", 20)
        #expect(await run.line(with: "loaded")?.contains("<p>here") == true)
        #expect(await sender.line() == "active")
        #expect(await sender.line() == "echoed 20")
        await run.send(signal: SIGTERM)
        #expect(await run.exit() == .status(0))
    }

    @Test func `faults of applications are told by the checks`() async throws {
        try install("org.example.typo", #""permision":["network"]"#, script: "#!/bin/sh\n")
        let place = "\(folder.path)/system/org.example.typo/application.json: permision: unknown member"
        let (lines, exit) = try await ProgramRun.output(of: "linnetd", options + ["--check-config"])
        #expect(exit == .status(1))
        #expect(lines.count == 1 && lines.first?.hasPrefix(place) == true, "\(lines)")
        let (report, _) = try await ProgramRun.output(of: "linnetd", options + ["--self-test"])
        #expect(report.contains { $0.hasPrefix("FAIL  application     \(place)") }, "\(report)")
        #expect(report.contains("ok    applications    org.linnet.echo 1.0"), "\(report)")
        #expect(report.contains("ok    confinement     bubblewrap works"), "\(report)")
    }
}
