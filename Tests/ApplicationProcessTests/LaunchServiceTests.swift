// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import SeededNumbers
import Settings
import Testing

@testable import ApplicationProcess

/// Applications that another process starts, as on a device where the daemon may not.
@Suite(.timeLimit(.minutes(1)))
struct LaunchServiceTests {
    private let stage: HostStage

    init() throws { stage = try HostStage() }

    @Test func `an application is launched by the service, answers, and ends with its status and its log`()
        async throws
    {
        try stage.install()
        try await stage.startWithService()
        await stage.launch("one")
        let layers = await stage.layers(of: "one")
        #expect(Set(layers.filter { !$0.isOn }.map(\.kind)).isSubset(of: [.group]), "\(layers)")
        #expect(layers.count == ConfinementLayer.Kind.allCases.count)
        await stage.expect("one", "result = 6 * 7", "42")
        await stage.tell("one", "print('good', 'bye')\nsys.exit(3)")
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .status(3))
        #expect(exit?.log == ["good bye"])
        #expect(stage.log.messages.contains("good bye"))
        #expect(await stage.launcherStatus() == "0")
    }

    @Test func `data messages of the longest size go both ways, past the service`() async throws {
        try stage.install()
        try await stage.startWithService()
        await stage.launch("one")
        let bytes = (0..<1_048_720).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        await stage.send("one", bytes)
        #expect(await stage.answer(of: "one") == "1048720 bytes")
        #expect(await stage.lastBinary() == bytes)
    }

    @Test func `storage is the service's, and kept from one launch to the next`() async throws {
        try stage.install("org.example.obey", #""permissions":["storage"]"#)
        try await stage.startWithService()
        await stage.launch("one")
        await stage.expect("one", "open(os.environ['LINNET_STORAGE'] + '/x', 'w').write('kept')", "done")
        #expect(await stage.storage(of: "one") == "/storage")
        await stage.tell("one", "sys.exit(0)")
        #expect(await stage.exit(of: "one")?.cause == .status(0))
        await stage.launch("two")
        await stage.expect("two", "result = open('/storage/x').read()", "kept")
    }

    @Test func `a signal is asked for first, and force ends everything with the limit as its cause`()
        async throws
    {
        try stage.install()
        try await stage.startWithService()
        await stage.launch("one")
        await stage.expect("one", "import signal\nsignal.signal(15, lambda *_: os._exit(5))", "done")
        await stage.terminate("one")
        #expect(await stage.exit(of: "one")?.cause == .status(5))
        let before = Set(stage.processes())
        await stage.launch("two")
        await stage.expect("two", "result = os.fork() and 'forked' or time.sleep(1000)", "forked")
        let processes = stage.processes().filter { !before.contains($0) }
        #expect(processes.count >= 4)
        await stage.kill("two", limit: "for the test")
        #expect(await stage.exit(of: "two")?.cause == .limit("for the test"))
        try await stage.waitUntilGone(processes)
    }

    @Test func `a program that breaks the rules of the frames is ended and told why`() async throws {
        try stage.install()
        try await stage.startWithService()
        await stage.launch("one")
        await stage.tell("one", "link.sendall(b'\\xff' * 100); time.sleep(100)")
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .signal(9))
        #expect(exit?.log.last == "(a message of 4294967295 bytes)")
    }

    @Test func `what uses too much is ended by the service`() async throws {
        try stage.install("org.example.obey", #""limits":{"memory":33554432}"#)
        try await stage.startWithService()
        await stage.launch("one")
        await stage.tell("one", "hog = [bytes([n % 255 + 1]) * 1048576 for n in range(60)]; time.sleep(100)")
        guard case .limit(let reason) = await stage.exit(of: "one")?.cause else {
            Issue.record("it went on")
            return
        }
        #expect(reason == "more than 32 MiB of memory")
    }

    @Test func `with the receiver everything ends, and the service's process`() async throws {
        try stage.install()
        try await stage.startWithService()
        let before = Set(stage.processes())
        await stage.launch("one")
        await stage.expect("one", "pass", "done")
        let processes = stage.processes().filter { !before.contains($0) }
        #expect(processes.count >= 3)
        await stage.shutDown()
        #expect(await stage.launcherStatus() == "0")
        try await stage.waitUntilGone(processes)
    }

    @Test func `with the service's process its program ends, and the next one starts`() async throws {
        try stage.install()
        try await stage.startWithService()
        let before = Set(stage.processes())
        await stage.launch("one")
        await stage.expect("one", "pass", "done")
        let processes = stage.processes().filter { !before.contains($0) }
        ProcessTable.send(signal: 9, to: try await stage.launcherProcess())
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .signal(9))
        #expect(exit?.log.last == "(the service that starts applications has gone)")
        try await stage.waitUntilGone(processes)
        await stage.launch("two")
        await stage.expect("two", "result = 6 * 7", "42")
    }

    @Test func `a service that is not there, or does not know the application, is told with the reason`()
        async throws
    {
        try stage.install()
        try await stage.startWithService { $0.folders.append("\($0.storageFolder)-more") }
        try FileSystem.makeDirectory("\(stage.storage)-more")
        try stage.install("org.example.other", in: "\(stage.storage)-more")
        #expect(await stage.catalog().count == 2)
        await stage.launch("one", "org.example.other")
        #expect(
            await stage.exit(of: "one")?.cause
                == .notStarted("org.example.other is not installed for the service that starts it"))
        try FileSystem.remove("\(stage.root)/launcher")
        await stage.launch("two")
        guard case .notStarted(let reason) = await stage.exit(of: "two")?.cause else {
            Issue.record("it was started")
            return
        }
        #expect(
            reason.hasPrefix(
                "the service that starts applications cannot be reached at \(stage.root)/launcher"))
    }

    @Test func `a service that says nonsense is left, with the reason`() async throws {
        try stage.install()
        try await stage.startWithService(command: ["/bin/sh", "-c", "echo '{}' >&0; exec cat >/dev/null"])
        await stage.launch("one")
        #expect(
            await stage.exit(of: "one")?.cause
                == .notStarted(
                    "the service that starts applications cannot be understood: a message is of no known kind"
                ))
    }

    @Test func `a service that says nothing is given up when the instance is killed`() async throws {
        try stage.install()
        try await stage.startWithService(command: ["/bin/sh", "-c", "exec cat >/dev/null"])
        await stage.launch("one")
        await stage.kill("one", limit: "it did not say hello")
        #expect(await stage.exit(of: "one")?.cause == .limit("it did not say hello"))
    }

    @Test func `a page is shown by the service's browser, never by one that the receiver names`() async throws
    {
        try stage.install("org.example.page", #""page":"index.html""#)
        try FileSystem.write(Array("<p>".utf8), to: "\(stage.system)/org.example.page/index.html")
        try FileSystem.write(
            Array("[applications]\nbrowser = /bin/echo shown %u\n".utf8),
            to: "\(stage.root)/receiver.conf")
        try await stage.startWithService { $0.browser = ["/bin/false"] }
        await stage.launch("one", "org.example.page", page: "http://127.0.0.1:1/page?token=t")
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .status(0))
        #expect(exit?.log == ["shown http://127.0.0.1:1/page?token=t"])
    }
}

struct LaunchMessageTests {
    @Test(arguments: [
        LaunchMessage.launch(ApplicationID("org.example.one")!, page: nil),
        .launch(ApplicationID("org.example.one")!, page: "http://127.0.0.1/x?token=1"),
        .terminate, .kill(limit: nil), .kill(limit: "more than \"it\" may\nhave"),
        .started(ApplicationStart(layers: [], storage: nil)),
        .started(
            ApplicationStart(
                layers: [ConfinementLayer(.files), ConfinementLayer(.group, reason: "none")],
                storage: "/storage")),
        .line("\u{7f} Ünïcode"), .exited(ApplicationExit(.status(3), log: ["a", "b"])),
        .exited(ApplicationExit(.signal(9))), .exited(ApplicationExit(.notStarted("why"))),
        .exited(ApplicationExit(.limit("much"))),
    ])
    func `a message is read as it was written, however it is cut`(message: LaunchMessage) throws {
        var reader = LaunchMessageReader()
        for byte in message.bytes.dropLast() {
            reader.push([byte])
            let early = try reader.next()
            #expect(early == nil)
        }
        reader.push([10] + LaunchMessage.terminate.bytes)
        let (first, second, third) = (try reader.next(), try reader.next(), try reader.next())
        #expect(first == message)
        #expect(second == .terminate)
        #expect(third == nil)
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "{\"launch\":7}", "{\"launch\":\"..\"}", "{\"started\":true}",
        "{\"exited\":{}}",
        "{\"exited\":{\"status\":99999999999}}", "{\"line\":[]}", "\u{0}", "{\"line\":\"",
    ])
    func `what is no message is a fault`(text: String) {
        #expect(throws: LaunchMessage.Fault.self) { try LaunchMessage(Array(text.utf8)) }
    }

    @Test func `a message without an end does not grow`() throws {
        var reader = LaunchMessageReader()
        let piece = [UInt8](repeating: 65, count: 65_536)
        #expect(throws: LaunchMessage.Fault.self) {
            for _ in 0..<8 {
                reader.push(piece)
                _ = try reader.next()
            }
        }
    }

    @Test func `damaged bytes are a message or a fault, never a trap`() {
        var numbers = SeededNumbers(seed: 7)
        let good = LaunchMessage.exited(ApplicationExit(.status(3), log: ["a", "b"])).bytes
        for _ in 0..<5_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                bytes[Int.random(in: bytes.indices, using: &numbers)] = UInt8.random(
                    in: 0...255, using: &numbers)
            }
            var reader = LaunchMessageReader()
            reader.push(bytes)
            for _ in 0..<8 { guard (try? reader.next()) != nil else { break } }
        }
    }
}
