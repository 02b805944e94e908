// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamerRenderer
import Settings

/// `linnet-renderer`, the process that plays media for the daemon.
@main
enum Program {
    private static let options: [CommandLine.Option] = [
        .init("self-test", nil, .flag, "check GStreamer's elements and the sound card"),
        .init(
            "prepare", nil, .string, "make a folder with the plugins that are needed, and their registry",
            argument: "FOLDER"),
        .init("console", nil, .flag, "play what is typed (play URI, pause, seek SECONDS, stop, quit …)"),
        .init("device", nil, .string, "ALSA device for --self-test and --console", argument: "NAME"),
        .init(
            "video-sink", nil, .string, "where pictures go, for --self-test and --console", argument: "SINK"),
        .init(
            "fallback-plugins", nil, .string, "folder of further plugins for --console", argument: "FOLDER"),
        .init(
            "warm-files", nil, .string, "folder of files to warm up with for --console", argument: "FOLDER"),
        .init("index", nil, .string, "part of --prepare: write a registry", argument: "FILE"),
        .init("version", nil, .flag, "print the version"),
        .init("help", "h", .flag, "print this page"),
    ]

    static func main() {
        Machine.prepareProcess()
        Machine.keepMemorySmall()
        Machine.exit(run(Array(Swift.CommandLine.arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        let line: CommandLine
        do {
            line = try CommandLine(arguments, options: options + Confinement.options)
        } catch {
            return misused("\(error)")
        }
        if let word = line.rest.first { return misused("'\(word)' is no option") }
        if line.flags.contains("help") { return say(helpPage) }
        if line.flags.contains("version") { return say("linnet-renderer \(Product.version)\n") }
        if line.flags.contains("self-test") {
            return SelfTest.run(
                device: line.strings["device"] ?? "auto", video: line.videoSink, Confinement(line))
        }
        if let folder = line.strings["index"] { return Preparation.index(folder: folder) }
        if let folder = line.strings["prepare"] {
            return GLibLoop.run { await Preparation(folder: folder, loop: $1).run() }
        }
        if line.flags.contains("console") {
            var configuration = RendererConfiguration()
            configuration.schemes.insert("file")
            configuration.output.device = line.strings["device"] ?? "auto"
            configuration.video = line.videoSink
            configuration.fallbackPlugins = line.strings["fallback-plugins"]
            configuration.warmFiles = line.strings["warm-files"]
            return GLibLoop.run { [configuration] in await Console.run(configuration, loop: $1) }
        }
        guard DaemonLink.isThere else { return misused("it is started by linnetd, on descriptor 3") }
        let confinement = Confinement(line).apply()
        return GLibLoop.run { await DaemonLink.run(on: $1, confinement: confinement) }
    }

    private static var helpPage: String {
        var text = HelpText(
            usage: "linnet-renderer [OPTION]",
            summary: "Plays media for linnetd, which starts it and tells it what to do over descriptor 3.")
        text.options = options.filter { $0.name != "index" } + Confinement.options
        text.exitCodes = [
            (0, "the daemon has gone, or all is well"), (1, "a check found something"),
            (64, "the command line is wrong"), (65, "the daemon sent what cannot be understood"),
        ]
        return text.rendered(width: Machine.terminalWidth(.output) ?? 80)
    }

    private static func misused(_ reason: String) -> Int32 {
        Machine.write("linnet-renderer: \(reason)\nTry 'linnet-renderer --help'.\n", to: .error)
        return 64
    }

    private static func say(_ text: String) -> Int32 {
        Machine.write(text, to: .output)
        return 0
    }
}

extension CommandLine {
    /// Where pictures go; nowhere if there is no such place.
    fileprivate var videoSink: RendererConfiguration.VideoSink {
        strings["video-sink"].flatMap { .init(rawValue: $0) } ?? .none
    }
}
