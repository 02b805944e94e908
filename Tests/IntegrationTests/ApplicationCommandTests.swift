// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import RouteKit
import Settings
import Testing

/// The verbs of applications as a process, against the daemon as a process.
@Suite(.timeLimit(.minutes(2))) struct ApplicationCommandTests {
    @RouteActor private func withApplications(_ body: (ApplicationStage) async throws -> Void) async throws {
        try await ApplicationStage.use { folder in
            try await ApplicationStage.makeSamples(in: folder)
            try ApplicationStage.make(
                "org.example.crash",
                script: "#!/bin/sh\necho the key is missing\nprintf '\\033[31mit was red\\n'\nexit 3\n",
                in: folder)
        } _: {
            try await body($0)
        }
    }

    @RouteActor private func linnet(_ stage: ApplicationStage, _ words: String...) async throws
        -> (text: String, status: Int32?)
    {
        let (lines, exit) = try await ProgramRun.output(of: "linnet", words + ["--on=\(stage.address)"])
        guard case .status(let status) = exit else { return (lines.joined(separator: "\n"), nil) }
        return (lines.joined(separator: "\n"), status)
    }

    @Test @RouteActor func `messages are sent and read, and what may not be is refused with a code`()
        async throws
    {
        try await withApplications { stage in
            #expect(try await linnet(stage, "app", "list").text.contains("org.linnet.echo  Echo 1.0  echo:*"))
            let both = try await linnet(stage, "data", "send", "echo:x", "one", "two", "--count=2")
            #expect(both.text == "one\ntwo" && both.status == 0, "\(both)")
            #expect(try await linnet(stage, "data", "send", "org.linnet.echo", "one").status == 0)
            let unknown = try await linnet(stage, "launch", "org.example.nobody")
            #expect(unknown.status == 4 && unknown.text.contains("no such application"), "\(unknown)")
            #expect(try await linnet(stage, "launch", "nobody:x").status == 4)
            #expect(try await linnet(stage, "launch", "nobody").status == 2)
            let file = "\(stage.folder.path)/large"
            try FileSystem.write([UInt8](repeating: 120, count: 1 << 20 | 1), to: file)
            let large = try await linnet(stage, "data", "send", "org.linnet.echo", "--file=\(file)")
            #expect(large.status == 1 && large.text.contains("at most 1 MiB"), "\(large)")
            try FileSystem.write([UInt8](repeating: 120, count: 1 << 20), to: file)
            let echo = try await linnet(stage, "data", "send", "echo:", "--file=\(file)", "--count=1")
            #expect(echo.status == 0 && echo.text.utf8.count == 1 << 20)
        }
    }

    @Test @RouteActor func `an application that crashes at its start is told with its last lines`()
        async throws
    {
        try await withApplications { stage in
            let crash = try await linnet(stage, "launch", "org.example.crash")
            #expect(crash.status == 6)
            #expect(
                crash.text
                    == "linnet: Test: launchFailed: The application ended before hello with status 3.\n"
                    + "  the key is missing\n   [31mit was red")
        }
    }

    @Test @RouteActor func `Ctrl-C ends the application, and says no more`() async throws {
        try await withApplications { stage in
            let run = try await ProgramRun.start(
                "linnet", ["launch", "org.linnet.echo", "--on=\(stage.address)"])
            #expect(await run.line() == "org.linnet.echo runs on Test")
            await run.send(signal: SIGINT)
            #expect(await run.line() == nil)
            #expect(await run.exit() == .status(130))
            let line = await stage.daemon.line(with: "application exited (application=org.linnet.echo")
            #expect(line?.contains("status 0") == true, "\(line ?? "")")
        }
    }

    @Test @RouteActor func `an application that crashes while it is listened to fails the program`()
        async throws
    {
        try await withApplications { stage in
            let run = try await ProgramRun.start(
                "linnet", ["launch", "org.linnet.echo", "--on=\(stage.address)"])
            #expect(await run.line() == "org.linnet.echo runs on Test")
            _ = kill(try #require(await stage.processes(named: "python3").first), SIGKILL)
            #expect(await run.line(with: "crashed: ") != nil)
            #expect(await run.exit() == .status(6))
        }
    }

    @Test @RouteActor func `a new application is checked, tried, installed, used and removed`() async throws {
        try await withApplications { stage in
            let folder = "\(stage.folder.path)/doorbell"
            _ = await stage.daemon.line(with: "applications found (count=4)")
            #expect(try await linnet(stage, "app", "new", folder).status == 0)
            #expect(try await linnet(stage, "app", "new", folder).status == 1)
            #expect(try await linnet(stage, "app", "check", folder).text.hasSuffix("It can be installed."))
            try FileSystem.write(Array("hello\n\n".utf8), to: "\(stage.folder.path)/typed")
            let trial = try await ProgramRun.start(
                "/bin/sh", ["-c", Self.trial, "sh", folder, "\(stage.folder.path)/typed"])
            #expect(await trial.line(with: "you said: ") == "you said: hello")
            #expect(await trial.line(with: "say something") == "linnet: say something")
            await trial.send(signal: SIGINT)
            #expect(await trial.exit() == .status(130))
            // Nil when its receiver is gone, too.
            while await trial.line() != nil {}
            let local = "--folder=\(stage.folder.path)/local"
            #expect(try await linnet(stage, "app", "install", folder, local).status == 0)
            _ = await stage.daemon.line(with: "applications found (count=5)")
            let said = try await linnet(stage, "data", "send", "doorbell:x", "hello", "--count=1")
            #expect(said.text == "you said: hello" && said.status == 0, "\(said)")
            let empty = try await linnet(stage, "data", "send", "doorbell:x", "")
            #expect(empty.status == 4 && empty.text.contains("say something"), "\(empty)")
            #expect(try await linnet(stage, "app", "remove", "org.example.doorbell", local).status == 0)
            _ = await stage.daemon.line(with: "applications found (count=4)")
            #expect(try await linnet(stage, "data", "send", "doorbell:x", "hello").status == 4)
            #expect(try await linnet(stage, "app", "remove", "org.example.doorbell", local).status == 1)
            let typo = #"{"id":"org.example.doorbell","permision":[]}"#
            try FileSystem.write(Array(typo.utf8), to: "\(folder)/application.json")
            let check = try await linnet(stage, "app", "check", folder)
            #expect(check.status == 1 && check.text.contains("permision: unknown member"), "\(check)")
        }
    }

    /// Another user runs it than who installs it.
    @Test @RouteActor func `what is installed can be read by all, whatever the umask`() async throws {
        let folder = try ScratchFolder()
        let made = try await ProgramRun.output(of: "linnet", ["app", "new", "\(folder.path)/doorbell"])
        #expect(made.exit == .status(0), "\(made)")
        try FileSystem.makeDirectory("\(folder.path)/doorbell/pictures")
        try FileSystem.write([1], to: "\(folder.path)/doorbell/pictures/bell.png", mode: 0o600)
        let place = "\(folder.path)/applications"
        let script = #"umask 077; exec "\#(Self.program)" app install "$1" "--folder=$2""#
        let run = try await ProgramRun.start(
            "/bin/sh", ["-c", script, "sh", "\(folder.path)/doorbell", place])
        #expect(await run.exit() == .status(0))
        func mode(_ path: String) throws -> UInt32 {
            try #require(FileSystem.entry("\(place)/\(path)")).mode
        }
        let installed = "org.example.doorbell"
        #expect(try mode("") == 0o755)
        #expect(try mode(installed) == 0o755)
        #expect(try mode("\(installed)/pictures") == 0o755)
        #expect(try mode("\(installed)/pictures/bell.png") == 0o644)
        #expect(try mode("\(installed)/application.json") == 0o644)
        #expect(try mode("\(installed)/doorbell.py") == 0o755)
    }

    /// Tries an application with what is typed.
    private static var trial: String {
        #"exec "\#(program)" app run "$1" <"$2""#
    }

    private static var program: String {
        let own = Machine.programPath ?? ""
        return own[..<(own.lastIndex(of: "/") ?? own.startIndex)] + "/linnet"
    }
}
