// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import Settings
import Testing

/// The daemon as a process: what it prints, what survives, what it leaves behind.
@Suite(.timeLimit(.minutes(1))) struct LinnetdProcessTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func start(_ options: [String] = []) async throws -> (run: ProgramRun, port: UInt16) {
        let run = try await ProgramRun.start(
            "linnetd",
            [
                "--config-dir=\(folder.path)", "--state-dir=\(folder.path)/state", "--port=0", "--name=Test",
                "--device=null", "--advertise=no",
            ] + options)
        let line = try #require(await run.line(with: "linnetd: ready on port "))
        let words = line.split(separator: " ")
        return (run, try #require(UInt16(words[4])))
    }

    private func identity(_ run: ProgramRun, _ port: UInt16) async throws -> String {
        let text = try await run.page("/v1/receiver", port: port).text
        let values = text.split(separator: "\"id\":\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
        return try #require(values.first { $0 != Machine.bootIdentifier })
    }

    private func launched(_ run: ProgramRun) async throws -> Int32 {
        let line = try #require(await run.line(with: "renderer launched"))
        return try #require(Int32(line.split(separator: "pid=")[1].prefix { $0.isNumber }))
    }

    @Test func `it answers, and ends cleanly at a signal`() async throws {
        let (run, port) = try await start()
        #expect(try await run.page("/healthz", port: port) == (200, "ok\n"))
        await run.send(signal: SIGTERM)
        #expect(await run.exit() == .status(0))
    }

    @Test func `a port that is taken is told in one line, with exit status 1`() async throws {
        let (first, port) = try await start()
        let (lines, exit) = try await ProgramRun.output(
            of: "linnetd",
            ["--config-dir=\(folder.path)", "--state-dir=\(folder.path)/other", "--port=\(port)"])
        #expect(lines.filter { $0.hasPrefix("linnetd: ") }.count == 1)
        #expect(lines.contains { $0.hasPrefix("linnetd: cannot listen on port \(port): ") })
        #expect(exit == .status(1))
        await first.send(signal: SIGTERM)
        #expect(await first.exit() == .status(0))
    }

    @Test func `a renderer that is killed comes back`() async throws {
        let (run, port) = try await start()
        let first = try await launched(run)
        kill(first, SIGKILL)
        #expect(await run.line(with: "renderer exited")?.contains("signal 9") == true)
        #expect(try await launched(run) != first)
        #expect(try await run.page("/healthz", port: port).status == 200)
    }

    @Test func `nothing is left when the daemon is killed`() async throws {
        let (run, _) = try await start()
        _ = try await launched(run)
        await run.send(signal: SIGKILL)
        // The renderer shares the output, so the lines end with it.
        while await run.line() != nil {}
        #expect(await run.exit() == .signal(SIGKILL))
    }

    @Test func `on demand, no renderer runs before there is something to play`() async throws {
        let (run, port) = try await start(["--renderer-mode=on-demand"])
        #expect(try await run.page("/healthz", port: port).status == 200)
        await run.send(signal: SIGTERM)
        while let line = await run.line() { #expect(!line.contains("renderer launched")) }
    }

    @Test func `its identity survives a kill`() async throws {
        let (first, firstPort) = try await start()
        let identifier = try await identity(first, firstPort)
        await first.send(signal: SIGKILL)
        _ = await first.exit()
        let (second, secondPort) = try await start()
        #expect(try await identity(second, secondPort) == identifier)
    }

    @Test func `a damaged state is set aside with a warning`() async throws {
        try FileSystem.makeDirectory("\(folder.path)/state")
        try FileSystem.write(Array("[device]\nidentifier=no\n".utf8), to: "\(folder.path)/state/state.conf")
        let run = try await ProgramRun.start(
            "linnetd", ["--state-dir=\(folder.path)/state", "--port=0", "--device=null", "--advertise=no"])
        #expect(await run.line(with: "the state is damaged")?.contains("no UUID") == true)
        #expect(await run.line(with: "linnetd: ready") != nil)
        let names = try FileSystem.list("\(folder.path)/state")
        #expect(names.contains { $0.hasPrefix("state.conf.corrupt-") })
        #expect(names.contains("state.conf"))
    }

    @Test func `damaged rates of clocks and cards are set aside with a warning`() async throws {
        try FileSystem.makeDirectory("\(folder.path)/state")
        let text = "[clock 1]\nmachine=a\nrate=much\ndeviation=1\n"
        try FileSystem.write(Array(text.utf8), to: "\(folder.path)/state/rates.conf")
        let run = try await ProgramRun.start(
            "linnetd", ["--state-dir=\(folder.path)/state", "--port=0", "--device=null", "--advertise=no"])
        #expect(await run.line(with: "linnetd: ready") != nil)
        let names = try FileSystem.list("\(folder.path)/state")
        #expect(names.contains { $0.hasPrefix("rates.conf.corrupt-") })
        #expect(!names.contains("rates.conf"))
    }

    @Test func `the self-test names the package that https needs`() async throws {
        let own = Machine.programPath ?? ""
        let program = "\(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])/linnetd"
        let options = [
            "--config-dir=\(folder.path)", "--state-dir=\(folder.path)", "--port=0", "--self-test",
        ]
        let (lines, exit) = try await ProgramRun.output(
            of: "/usr/bin/env", ["GIO_USE_TLS=dummy", program] + options)
        let line = lines.first { $0.contains("https") }
        #expect(line?.hasPrefix("FAIL") == true && line?.contains("install glib-networking") == true)
        #expect(exit == .status(1))
        let (good, _) = try await ProgramRun.output(of: "linnetd", options)
        #expect(good.first { $0.contains("https") }?.hasPrefix("ok") == true)
    }

    @Test func `a state folder that cannot be written is a warning`() async throws {
        try FileSystem.write([], to: "\(folder.path)/state")
        let (run, port) = try await start()
        #expect(try await run.page("/healthz", port: port).status == 200)
    }
}

/// Settings, as files and options.
@Suite(.timeLimit(.minutes(1))) struct LinnetdSettingsTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func write(_ text: String, to name: String = "receiver.conf") throws {
        try FileSystem.makeDirectory("\(folder.path)/receiver.conf.d")
        try FileSystem.write(Array(text.utf8), to: "\(folder.path)/\(name)")
    }

    private func linnetd(_ options: String...) async throws -> (lines: [String], exit: ChildProcess.Exit?) {
        try await ProgramRun.output(of: "linnetd", ["--config-dir=\(folder.path)"] + options)
    }

    @Test func `each mistake is named with file and line`() async throws {
        try write("[receiver]\nnmae=x\n[nope]\na=1\n[network]\nport=99999\n")
        try write("[sessions]\ntakeover=maybe\n", to: "receiver.conf.d/a.conf")
        try write("[output]\nnonsense\n", to: "receiver.conf.d/b.conf")
        let (lines, exit) = try await linnetd("--check-config")
        let path = folder.path
        #expect(lines.count == 5)
        #expect(lines.first == "\(path)/receiver.conf:2: unknown key 'receiver.nmae'")
        #expect(lines.contains("\(path)/receiver.conf:3: unknown group 'nope'"))
        #expect(lines.contains("\(path)/receiver.conf:6: port must be a whole number from 0 to 65535"))
        #expect(
            lines.contains("\(path)/receiver.conf.d/a.conf:2: takeover must be one of takeOver, refuse"))
        #expect(lines.last?.hasPrefix("\(path)/receiver.conf.d/b.conf:2: ") == true)
        #expect(exit == .status(1))
    }

    @Test func `what does not fit together is named with file and line, too`() async throws {
        try write("[accessory]\ncapabilities=audioSwitching;flying;placement\n")
        let (lines, exit) = try await linnetd("--check-config", "--line-in=One=hw:1;Two=hw:1")
        let path = "\(folder.path)/receiver.conf:2: "
        #expect(
            lines == [
                path
                    + "there is no 'flying'; there are audioSwitching, placement, audioSpatialization, headTracking",
                path + "placement is declared, and no placement-sensor is named",
                "--line-in: a device is named twice",
            ])
        let jack = try await linnetd("--check-config", "--device=hw:1", "--jack-device=hw:1")
        #expect(
            jack.lines.suffix(2) == [
                "--jack-device: nothing tells whether something is plugged in; [accessory] jack names what does",
                "--jack-device: it is the usual device",
            ])
        #expect(exit == .status(1))
        // It starts without what is wrong, and says so.
        let test = try await ProgramRun.output(
            of: "linnetd", ["--config-dir=\(folder.path)", "--print-config"])
        #expect(test.exit == .status(0))
    }

    @Test func `settings without a mistake are told by silence`() async throws {
        try write("# all is well\n[receiver]\nname = Küche \"1\"\n")
        let (lines, exit) = try await linnetd("--check-config")
        #expect(lines.isEmpty)
        #expect(exit == .status(0))
    }

    @Test func `a wrong value keeps the daemon from starting`() async throws {
        try write("[network]\nport=x\n")
        let (lines, exit) = try await linnetd()
        #expect(
            lines == ["linnetd: \(folder.path)/receiver.conf:2: port must be a whole number from 0 to 65535"])
        #expect(exit == .status(78))
    }

    @Test func `the last file counts, and an option counts more`() async throws {
        try write("[receiver]\nname=a\nmodel=a\ntype=tv\n")
        try write("[receiver]\nname=c\nmodel=c\n", to: "receiver.conf.d/20.conf")
        try write("[receiver]\nname=b\nmodel=b\n", to: "receiver.conf.d/10.conf")
        let (lines, _) = try await linnetd("--print-config", "--name=d")
        #expect(lines.contains("name=d"))
        #expect(lines.contains("model=c"))
        #expect(lines.contains("type=tv"))
    }

    @Test func `what is printed as settings is read as the same`() async throws {
        try write("[receiver]\nname=\\sx\\\\y\n[network]\nhostnames=a;b\n[output]\nvolume=0.25\n")
        let (printed, _) = try await linnetd("--print-config")
        try write(printed.joined(separator: "\n") + "\n")
        let (again, exit) = try await linnetd("--print-config")
        #expect(again == printed)
        #expect(exit == .status(0))
        #expect(try await linnetd("--check-config").lines.isEmpty)
    }

    @Test func `an option that does not exist is refused`() async throws {
        let (lines, exit) = try await linnetd("--nmae=x")
        #expect(lines.first?.contains("--nmae") == true)
        #expect(exit == .status(64))
    }

    @Test func `manual and documentation are made from the table`() async throws {
        let manual = try FileSystem.read("Docs/man/receiver.conf.5", maximum: 1 << 20)
        let (lines, _) = try await linnetd("--print-manual")
        #expect(String(decoding: manual, as: UTF8.self) == lines.joined(separator: "\n") + "\n")
        let page = try FileSystem.read("Docs/configuration.md", maximum: 1 << 20)
        let (tables, _) = try await linnetd("--print-tables")
        #expect(String(decoding: page, as: UTF8.self).contains(tables.joined(separator: "\n")))
    }

    @Test func `the daemon links neither GStreamer nor ALSA`() throws {
        let own = Machine.programPath ?? ""
        let program = "\(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])/linnetd"
        let bytes = try FileSystem.read(program, maximum: 256 << 20)
        for library in ["libgstreamer-1.0.so.0", "libasound.so.2"] {
            #expect(bytes.firstRange(of: Array(library.utf8)) == nil)
        }
    }
}
