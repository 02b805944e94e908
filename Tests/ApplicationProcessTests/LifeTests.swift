// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ApplicationProcess
import MediaModel
import Settings
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LifeTests {
    private let stage: HostStage

    init() throws { stage = try HostStage() }

    @Test func `an application is launched, answers, and ends with its status`() async throws {
        try await stage.running()
        #expect(await stage.ask("one", "result = 6 * 7") == "42")
        await stage.tell("one", "sys.exit(3)")
        #expect(await stage.exit(of: "one")?.cause == .status(3))
    }

    @Test func `all walls stand but the one that only a service manager can give`() async throws {
        try await stage.running()
        let layers = await stage.layers(of: "one")
        #expect(Set(layers.filter { !$0.isOn }.map(\.kind)).isSubset(of: [.group]), "\(layers)")
        #expect(layers.count == ConfinementLayer.Kind.allCases.count)
    }

    @Test func `data messages of the longest size go both ways`() async throws {
        try await stage.running()
        let bytes = (0..<1_048_720).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        await stage.send("one", bytes)
        #expect(await stage.answer(of: "one") == "1048720 bytes")
        #expect(await stage.lastBinary() == bytes)
    }

    @Test func `the end of the socket asks a program to exit`() async throws {
        try await stage.running()
        #expect(await stage.ask("one", "pass") == "done")
        await stage.closeSocket("one")
        #expect(await stage.exit(of: "one")?.cause == .status(0))
    }

    @Test func `a program that closes its socket and stays is ended`() async throws {
        try await stage.running()
        await stage.tell("one", "link.close(); time.sleep(100)")
        #expect(await stage.exit(of: "one")?.cause == .signal(9))
    }

    @Test func `a program that breaks the rules of the frames is ended and told why`() async throws {
        try await stage.running()
        await stage.tell("one", "link.sendall(b'\\xff' * 100); time.sleep(100)")
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .signal(9))
        #expect(exit?.log.last == "(a message of 4294967295 bytes)")
    }

    @Test func `the last lines of the log come with the end`() async throws {
        try await stage.running()
        await stage.tell(
            "one",
            "for n in range(30): print('line', n)\nsys.stderr.write('no end'); sys.stdout.flush(); os._exit(1)"
        )
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .status(1))
        #expect(exit?.log.count == 20)
        #expect(exit?.log.contains("line 29") == true)
        #expect(exit?.log.contains { $0.hasSuffix("no end") } == true)
    }

    @Test func `a signal is asked for first and may be obeyed`() async throws {
        try await stage.running()
        #expect(
            await stage.ask("one", "import signal\nsignal.signal(15, lambda *_: os._exit(5))") == "done")
        await stage.terminate("one")
        #expect(await stage.exit(of: "one")?.cause == .status(5))
    }

    @Test func `a crash is told by its signal`() async throws {
        try await stage.running()
        await stage.tell("one", "os.kill(os.getpid(), 11)")
        #expect(await stage.exit(of: "one")?.cause == .signal(11))
    }

    @Test func `nothing that was started is left, wherever it went`() async throws {
        try await stage.running()
        let before = await stage.ask(
            "one",
            """
            for n in range(5):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        link.close()
                        os.close(1); os.close(2)
                    time.sleep(1000)
            result = "forked"
            """)
        #expect(before == "forked")
        let processes = stage.processes()
        #expect(processes.count >= 12)
        await stage.kill("one", limit: "for the test")
        #expect(await stage.exit(of: "one")?.cause == .limit("for the test"))
        #expect(
            processes.filter { FileSystem.exists("/proc/\($0)/exe") && stage.processes().contains($0) } == [])
    }

    @Test func `what is not installed, has no interpreter or is a page without a browser says so`()
        async throws
    {
        try stage.install("org.example.broken", script: "#!/usr/bin/nothing\n")
        try stage.install("org.example.page", #""page":"index.html""#)
        try FileSystem.write(Array("<p>".utf8), to: "\(stage.system)/org.example.page/index.html")
        await stage.start()
        #expect(await stage.catalog().count == 2)
        await stage.launch("a", "org.example.nothing")
        #expect(await stage.exit(of: "a")?.cause == .notStarted("org.example.nothing is not installed"))
        await stage.launch("b", "org.example.broken")
        let broken = await stage.exit(of: "b")
        #expect(broken?.cause == .status(127))
        #expect(broken?.log.last?.contains("No such file") == true)
        await stage.launch("c", "org.example.page", page: "http://127.0.0.1/")
        guard case .notStarted(let reason) = await stage.exit(of: "c")?.cause else {
            Issue.record("the page was started")
            return
        }
        #expect(reason.contains("[applications] browser"))
    }

    @Test func `a page is shown by the browser, which ends with all that it started`() async throws {
        try stage.install("org.example.page", #""page":"index.html""#)
        try FileSystem.write(Array("<p>".utf8), to: "\(stage.system)/org.example.page/index.html")
        await stage.start {
            $0.browser = ["/bin/sh", "-c", "echo $0 >&2; sleep 1000 & exec sleep 1001", "%u"]
        }
        _ = await stage.catalog()
        await stage.launch("one", "org.example.page", page: "http://127.0.0.1:1/page?token=t")
        let layers = await stage.layers(of: "one")
        #expect(layers.first { $0.kind == .files }?.isOn == false)
        await stage.log.waitFor("http://127.0.0.1:1/page?token=t")
        let processes = stage.processes()
        await stage.kill("one")
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .signal(9))
        #expect(exit?.log == ["http://127.0.0.1:1/page?token=t"])
        #expect(processes.count >= 2)
        try await stage.waitUntilGone(processes)
    }

    @Test func `without bubblewrap an application is refused with the reason`() async throws {
        try stage.install()
        await stage.start { $0.bubblewrap = nil }
        _ = await stage.catalog()
        await stage.launch("one")
        #expect(
            await stage.exit(of: "one")?.cause
                == .notStarted("applications cannot be confined on this host: bubblewrap is not installed"))
    }

    @Test func `a host that does not let bubblewrap work says what it said`() async throws {
        try stage.install()
        try FileSystem.write(
            Array("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n".utf8),
            to: "\(stage.root)/bwrap", mode: 0o755)
        let program = "\(stage.root)/bwrap"
        await stage.start { $0.bubblewrap = program }
        _ = await stage.catalog()
        await stage.launch("one")
        guard case .notStarted(let reason) = await stage.exit(of: "one")?.cause else {
            Issue.record("it was started")
            return
        }
        #expect(reason.hasSuffix("bwrap: No permissions to create new namespace"))
    }

    @Test func `where confinement is only preferred an application runs without, and its layers say so`()
        async throws
    {
        try stage.install()
        await stage.start {
            $0.bubblewrap = nil
            $0.requiresConfinement = false
        }
        _ = await stage.catalog()
        await stage.launch("one")
        let layers = await stage.layers(of: "one")
        #expect(layers.first { $0.kind == .files }?.reason == "no bubblewrap: bubblewrap is not installed")
        #expect(layers.first { $0.kind == .privileges }?.isOn == true)
        #expect(await stage.ask("one", "result = os.fork() and 'forked' or time.sleep(1000)") == "forked")
        let processes = stage.processes()
        await stage.kill("one")
        #expect(await stage.exit(of: "one")?.cause == .signal(9))
        try await stage.waitUntilGone(processes)
    }

    @Test func `storage is kept from one launch to the next and belongs to the application alone`()
        async throws
    {
        try await stage.running("one", #""permissions":["storage"]"#)
        #expect(
            await stage.ask("one", "open(os.environ['LINNET_STORAGE'] + '/x', 'w').write('kept')") == "done")
        #expect(await stage.storage(of: "one") == "/storage")
        await stage.tell("one", "sys.exit(0)")
        #expect(await stage.exit(of: "one")?.cause == .status(0))
        await stage.launch("two")
        #expect(await stage.ask("two", "result = open('/storage/x').read()") == "kept")
    }

    @Test func `the environment is what the protocol says and nothing else`() async throws {
        try await stage.running("one", #""permissions":["storage"]"#)
        #expect(
            await stage.ask("one", "result = sorted(os.environ)")
                == "['HOME', 'LANG', 'LINNET_APPLICATION', 'LINNET_APPLICATION_SOCKET', 'LINNET_STORAGE', 'PATH']"
        )
        #expect(await stage.ask("one", "result = os.getcwd()") == "/application")
        #expect(
            await stage.ask("one", "result = sorted(int(n) for n in os.listdir('/proc/self/fd'))")
                == "[0, 1, 2, 3, 4]")
    }
}
