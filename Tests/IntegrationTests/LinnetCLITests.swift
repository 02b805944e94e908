// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import Settings
import Testing

/// The command-line sender as a process, against the daemon as a process, without a sound card.
@Suite(.timeLimit(.minutes(2))) struct LinnetCLITests {
    private let folder: ScratchFolder
    private let daemon: ProgramRun
    private let on: String

    init() async throws {
        folder = try ScratchFolder()
        daemon = try await ProgramRun.start(
            "linnetd",
            [
                "--config-dir=\(folder.path)", "--state-dir=\(folder.path)/state", "--port=0", "--name=Test",
                "--device=null", "--advertise=no",
            ])
        let line = try #require(await daemon.line(with: "linnetd: ready on port "))
        on = "--on=127.0.0.1:\(line.split(separator: " ")[4])"
    }

    /// Runs `linnet` to its end.
    private func linnet(_ words: String...) async throws -> (text: String, status: Int32?) {
        let (lines, exit) = try await ProgramRun.output(of: "linnet", words + [on])
        guard case .status(let status) = exit else { return (lines.joined(separator: "\n"), nil) }
        return (lines.joined(separator: "\n"), status)
    }

    private func refused(_ words: [String]) async throws -> (text: String, exit: ChildProcess.Exit?) {
        let (lines, exit) = try await ProgramRun.output(of: "linnet", words)
        return (lines.joined(separator: "\n"), exit)
    }

    /// A file of silence, in a form that needs no encoder.
    private func makeSound(seconds: Int) throws -> String {
        let rate = 8_000
        let count = rate * seconds * 2
        func little(_ number: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        var bytes = Array("RIFF".utf8) + little(36 + count, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(1, 2) + little(rate, 4) + little(rate * 2, 4) + little(2, 2)
        bytes += little(16, 2) + Array("data".utf8) + little(count, 4)
        bytes += [UInt8](repeating: 0, count: count)
        let path = "\(folder.path)/A sound.wav"
        try FileSystem.write(bytes, to: path)
        return path
    }

    @Test func `an announcement is waited for, and its failure is told`() async throws {
        let path = try makeSound(seconds: 1)
        let heard = try await linnet("announce", path, "--volume=50", "--duck=12")
        #expect(heard.status == 0, "\(heard.text)")
        let gone = try await linnet("announce", "http://127.0.0.1:9/bell.wav")
        #expect(gone.status == 5, "\(gone.text)")
        #expect(try await linnet("announce", "http://127.0.0.1:9/bell.wav", "--no-wait").status == 0)
        #expect(try await linnet("announce", "cancel").status == 0)
        #expect(try await linnet("announce", path, "--no-wait").status == 2)
        #expect(try await linnet("announce", path, "--duck=61").status == 2)
    }

    private func play(_ path: String, _ options: String...) async throws -> ProgramRun {
        let run = try await ProgramRun.start("linnet", ["play", path, on] + options)
        _ = try #require(await run.line(with: "playing: "))
        return run
    }

    @Test func `a local file plays to its end`() async throws {
        let (text, status) = try await linnet("play", try makeSound(seconds: 1), "--title", "Silence")
        #expect(status == 0, "\(text)")
        #expect(text.contains("playing: Silence (0:00 / 0:01"))
    }

    @Test func `what plays is controlled by other runs of the program`() async throws {
        let run = try await play(try makeSound(seconds: 600))
        #expect(try await linnet("pause").text == "paused: A_sound.wav")
        #expect(await run.line(with: "paused: ") != nil)
        #expect(try await linnet("seek", "1:30").text == "position 1:30")
        #expect(try await linnet("seek", "-30").text == "position 1:00")
        let status = try await linnet("status", "--json")
        #expect(status.text.contains(#""isPlaying":false"#))
        #expect(status.text.contains(#""position":60"#))
        #expect(try await linnet("speed", "9").text == "speed 4, the nearest that the receiver can do")
        #expect(try await linnet("tracks", "audio", "nothing").status == 4)
        #expect(try await linnet("resume").status == 0)
        #expect(try await linnet("stop").status == 0)
        #expect(await run.line(with: "stopped at the receiver") != nil)
        #expect(await run.exit() == .status(0))
    }

    @Test func `several files play one after the other, and the queue is shown and changed`() async throws {
        let sound = try makeSound(seconds: 600)
        let run = try await ProgramRun.start("linnet", ["play", sound, sound, sound, on])
        _ = try #require(await run.line(with: "playing: "))
        // So that the second item stays at its beginning, where the one before it is the first.
        #expect(try await linnet("pause").status == 0)
        let name = "A_sound.wav"
        #expect(try await linnet("queue").text == "* 1  \(name)\n  2  \(name)\n  3  \(name)")
        #expect(try await linnet("queue", "remove", "2").text == "removed \(name)")
        let added = try await linnet("queue", "add", "http://127.0.0.1:9/encore.flac", "--next")
        #expect(added.text == "added one item")
        #expect(try await linnet("queue", "move", "2", "end").text == "moved encore.flac")
        #expect(try await linnet("queue", "repeat", "all").text == "repeat all")
        #expect(
            try await linnet("queue", "list").text
                == "* 1  \(name)\n  2  \(name)\n  3  encore.flac\nrepeat all")
        #expect(try await linnet("queue", "next").text == "next")
        #expect(try await linnet("status").text.contains("queue: item 2 of 3, repeat all"))
        #expect(try await linnet("queue").text.contains("* 2  \(name)"))
        #expect(try await linnet("queue", "previous").status == 0)
        #expect(try await linnet("queue", "--json").text.contains(#""current":"1","repeat":"all""#))
        #expect(try await linnet("queue", "jump", "9").status == 4)
        #expect(try await refused(["queue", "repeat", "twice", on]).exit == .status(2))
        #expect(try await refused(["queue", "add", "song.flac", on]).exit == .status(2))
        #expect(try await linnet("queue", "clear").status == 0)
        #expect(try await linnet("queue", "repeat", "off").status == 0)
        #expect(try await linnet("queue", "next").status == 0)
        #expect(await run.exit() == .status(0))
    }

    @Test func `Ctrl-C stops what plays`() async throws {
        let run = try await play(try makeSound(seconds: 600))
        await run.send(signal: SIGINT)
        #expect(await run.exit() == .status(130))
        #expect(try await linnet("status").text.contains("nothing plays"))
    }

    @Test func `a sender that is killed leaves the file behind, and the daemon goes on`() async throws {
        let run = try await play(try makeSound(seconds: 600))
        await run.send(signal: SIGKILL)
        #expect(await run.exit() == .signal(SIGKILL))
        #expect(try await linnet("status").status == 0)
    }

    @Test func `another sender takes over, and the first is told who`() async throws {
        let sound = try makeSound(seconds: 600)
        let first = try await play(sound)
        let second = try await play(sound)
        #expect(await first.line(with: "took over") != nil)
        #expect(await first.exit() == .status(1))
        await second.send(signal: SIGINT)
        #expect(await second.exit() == .status(130))
    }

    @Test func `a daemon that goes away ends the command with a reason`() async throws {
        let run = try await play(try makeSound(seconds: 600))
        await daemon.send(signal: SIGTERM)
        #expect(await run.line(with: "the receiver went away") != nil)
        #expect(await run.exit() == .status(1))
    }

    @Test func `volume, mute and name are set and shown`() async throws {
        #expect(try await linnet("volume", "30").text == "volume 30 %")
        #expect(try await linnet("volume", "+5").text == "volume 35 %")
        #expect(try await linnet("volume", "-5").text == "volume 30 %")
        #expect(try await linnet("mute", "toggle").text == "muted")
        #expect(try await linnet("volume").text == "volume 30 % (muted)")
        #expect(try await linnet("rename", "Living room").status == 0)
        #expect(try await linnet("status").text.hasPrefix("Living room"))
    }

    @Test func `media that cannot be played has an exit status of its own`() async throws {
        let path = "\(folder.path)/no.flac"
        try FileSystem.write(Array("this is no sound".utf8), to: path)
        let (text, status) = try await linnet("play", path)
        #expect(status == 5, "\(text)")
        #expect(text.contains("linnet: Test: "))
    }

    @Test func `nothing plays, a scheme that is refused, nobody there, nonsense: each has its status`()
        async throws
    {
        #expect(try await linnet("pause").status == 4)
        #expect(try await linnet("play", "ftp://example.org/a").status == 4)
        #expect(try await refused(["pause", "--on=127.0.0.1:1"]).exit == .status(3))
        #expect(try await refused(["seek", "soon"]).exit == .status(2))
        #expect(try await refused(["pause", "--nonsense"]).exit == .status(2))
        #expect(try await refused(["play", "/nonexistent"]).exit == .status(1))
    }

    @Test func `the doctor finds everything fine`() async throws {
        let (text, status) = try await linnet("doctor")
        #expect(status == 0, "\(text)")
        #expect(!text.contains("BAD"))
    }
}
