// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import LoopTestKit
import Settings
import Testing

@Suite struct KeyFileTests {
    @Test func `values are read with their types`() throws {
        let file = try KeyFile(
            parsing: """
                # comment
                [output]
                device = card0
                rate=48000
                gain = -3.5
                mute=true
                hosts = a ; b;;c
                """, file: "a.conf")
        #expect(try file.string("output", "device") == "card0")
        #expect(try file.integer("output", "rate", in: 1...96_000) == 48_000)
        #expect(try file.real("output", "gain", in: -60...0) == -3.5)
        #expect(try file.boolean("output", "mute") == true)
        #expect(try file.list("output", "hosts") == ["a", "b", "c"])
        #expect(try file.string("output", "nothing") == nil)
        #expect(try file.integer("nowhere", "rate", in: 0...1) == nil)
    }

    @Test(arguments: [
        ("[a]\nn = x\n", 2), ("[a]\n\n# c\nn=99\n", 4), ("[b]\nz=1\n[a]\nn=1\n[a]\nn=1.5\n", 6),
    ]) func `a wrong integer is named with its line`(text: String, line: Int) throws {
        let file = try KeyFile(parsing: text, file: "f.conf")
        let fault = #expect(throws: KeyFile.Fault.self) { try file.integer("a", "n", in: 0...10) }
        #expect(fault?.line == line)
        #expect(fault?.file == "f.conf")
    }

    @Test func `wrong booleans, reals and ranges are faults`() throws {
        let file = try KeyFile(parsing: "[a]\nb=maybe\nr=7,5\nx=nan\n", file: "f")
        #expect(throws: KeyFile.Fault.self) { try file.boolean("a", "b") }
        #expect(throws: KeyFile.Fault.self) { try file.real("a", "r", in: 0...10) }
        #expect(throws: KeyFile.Fault.self) { try file.real("a", "x", in: 0...10) }
    }

    @Test func `a syntax error is found on its line`() {
        let text = "[a]\nb=1\nc=2\nnonsense\nd=3\n"
        let fault = #expect(throws: KeyFile.Fault.self) { try KeyFile(parsing: text, file: "d.conf") }
        #expect(fault?.line == 4)
        #expect(fault?.description.hasPrefix("d.conf:4: ") == true)
    }

    @Test func `unknown keys are all named, in order`() throws {
        let file = try KeyFile(parsing: "[a]\nx=1\ny=2\n[b]\nx=3\n", file: "f")
        #expect(file.unknownKeys(known: ["a.x"]).map(\.line) == [3, 5])
    }

    @Test func `an empty file is a file without keys`() throws {
        #expect(try KeyFile(parsing: "", file: "f").unknownKeys(known: []).isEmpty)
    }

    @Test func `text that is written reads back the same`() throws {
        let name = "Küche \\ \"Tee\" ; ☕️ = [x]\n# no"
        let text = KeyFile.text(of: [("device", [("name", name), ("volume", "0.5")])])
        let file = try KeyFile(parsing: text, file: "state")
        #expect(try file.string("device", "name") == name)
        #expect(try file.real("device", "volume", in: 0...1) == 0.5)
    }
}

@Suite struct CommandLineTests {
    private let options: [CommandLine.Option] = [
        .init("json", nil, .flag, "JSON"), .init("on", "o", .string, "which", argument: "NAME"),
        .init("count", "n", .integer, "how many"), .init("speed", nil, .real, "how fast"),
        .init("header", "H", .list, "header"),
    ]

    @Test func `options of every kind are read, words are left`() throws {
        let line = try CommandLine(
            ["play", "--json", "-o", "Küche", "--count=0", "--speed=1.5", "-H", "a", "-H", "b", "x y"],
            options: options)
        #expect(line.flags == ["json"])
        #expect(line.strings == ["on": "Küche"])
        #expect(line.integers == ["count": 0])
        #expect(line.reals == ["speed": 1.5])
        #expect(line.lists == ["header": ["a", "b"]])
        #expect(line.rest == ["play", "x y"])
    }

    @Test func `what is not given is absent`() throws {
        let line = try CommandLine([], options: options)
        #expect(line.flags.isEmpty && line.strings.isEmpty && line.integers.isEmpty)
        #expect(line.reals.isEmpty && line.lists.isEmpty && line.rest.isEmpty)
    }

    @Test func `a program's own options end at the verb`() throws {
        let line = try CommandLine(["--json", "seek", "--on", "x"], options: options, stopsAtFirstWord: true)
        #expect(line.flags == ["json"])
        #expect(line.rest == ["seek", "--on", "x"])
    }

    @Test func `words after two dashes are no options`() throws {
        #expect(try CommandLine(["--", "-10"], options: options).rest == ["-10"])
    }

    @Test(arguments: [["--nothing"], ["-x"], ["--count=many"], ["--on"], ["--help"]])
    func `a wrong option is a fault that names it`(arguments: [String]) {
        let fault = #expect(throws: CommandLine.Fault.self) {
            try CommandLine(arguments, options: options)
        }
        #expect(fault?.description.isEmpty == false)
    }

    @Test func `a help page keeps to its width`() {
        var page = HelpText(usage: "linnet seek [OPTION…] POSITION", summary: "Moves in what plays.")
        page.options = options
        page.examples = [("linnet seek 1:30", "Goes to a minute and a half after the beginning of the item.")]
        page.exitCodes = [
            (0, "done"), (2, "the command line is wrong, and nothing at all was done about it"),
        ]
        let text = page.rendered(width: 50)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 50 })
        #expect(text.contains("  -o, --on=NAME"))
        #expect(text.contains("Exit status:\n  0"))
    }
}

@Suite final class FileSystemTests {
    private let folder = "/tmp/linnet-test-\(Machine.makeUUID())"

    deinit { remove(folder) }

    private func remove(_ path: String) {
        if FileSystem.isDirectory(path) {
            for name in (try? FileSystem.list(path)) ?? [] { remove(path + "/" + name) }
            _ = unsafe rmdir(path)
        } else {
            try? FileSystem.remove(path)
        }
    }

    @Test func `a file is replaced whole`() throws {
        try FileSystem.makeDirectory(folder + "/a/b")
        let path = folder + "/a/b/state"
        try FileSystem.write([1, 2, 3], to: path)
        try FileSystem.write([4], to: path)
        #expect(try FileSystem.read(path, maximum: 10) == [4])
        #expect(try FileSystem.list(folder + "/a/b") == ["state"])
        #expect(throws: FileSystem.tooLarge(path)) { try FileSystem.read(path, maximum: 0) }
    }

    @Test func `a failed write leaves the old file and nothing beside it`() throws {
        try FileSystem.makeDirectory(folder)
        let path = folder + "/state"
        try FileSystem.write([1], to: path)
        // The scratch file cannot be made: a directory has its name.
        try FileSystem.makeDirectory(path + ".new")
        #expect(throws: Failure.self) { try FileSystem.write([2], to: path) }
        #expect(try FileSystem.read(path, maximum: 10) == [1])
    }

    @Test(.enabled(if: isRoot, "NEEDS ROOT: a full file system is made with mount"))
    func `a full disk leaves the old file`() async throws {
        let folder = folder
        try FileSystem.makeDirectory(folder)
        let here = OnLoop()
        func run(_ command: [String]) async throws {
            #expect(try await here.run { _ in try await ChildProcess(command).wait() } == .status(0))
        }
        try await run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder])
        let path = folder + "/state"
        try FileSystem.write([1], to: path)
        let large = [UInt8](repeating: 7, count: 65_536)
        let failure = #expect(throws: Failure.self) { try FileSystem.write(large, to: path) }
        #expect(failure?.code == 28)
        #expect(try FileSystem.read(path, maximum: 10) == [1])
        #expect(try FileSystem.list(folder) == ["state"])
        try await run(["umount", folder])
    }

    @Test func `directories are listed in order, and missing ones are errors`() throws {
        try FileSystem.makeDirectory(folder)
        for name in ["b", "a", "10", "9"] { try FileSystem.write([], to: folder + "/" + name) }
        #expect(try FileSystem.list(folder) == ["10", "9", "a", "b"])
        #expect(throws: Failure.self) { try FileSystem.list(folder + "/none") }
        #expect(throws: Failure.self) { try FileSystem.makeDirectory(folder + "/a") }
    }

}

private var isRoot: Bool { (try? FileSystem.list("/proc/1/fd")) != nil }
