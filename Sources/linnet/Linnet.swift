// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

/// The command-line sender.
@main enum Linnet {
    static func main() async {
        Machine.prepareProcess()
        let code = await run(Array(Swift.CommandLine.arguments.dropFirst()))
        Machine.exit(code.rawValue)
    }

    @RouteActor private static func run(_ arguments: [String]) async -> ExitCode {
        do {
            return try await dispatch(arguments)
        } catch let error as Settings.CommandLine.Fault {
            return tell(
                CommandFailure(.usage, error.description, advice: "linnet --help lists what there is."))
        } catch {
            return tell(CommandFailure(error, at: nil))
        }
    }

    @RouteActor private static func dispatch(_ arguments: [String]) async throws -> ExitCode {
        let options = [
            Verb.on, Verb.help, Settings.CommandLine.Option("version", "V", .flag, "Show the version."),
        ]
        let line = try Settings.CommandLine(arguments, options: options, stopsAtFirstWord: true)
        if line.flags.contains("version") {
            print("linnet \(Product.version)")
            return .success
        }
        guard let word = line.rest.first, !line.flags.contains("help") else {
            print(page(options).rendered(width: width), terminator: "")
            return line.flags.contains("help") ? .success : .usage
        }
        guard let verb = Verb.all.first(where: { $0.name == word }) else {
            if word == "help" {
                return try await dispatch(Array(line.rest.dropFirst().prefix(1)) + ["--help"])
            }
            throw CommandFailure(
                .usage, "there is no '\(TerminalText.clean(word))'",
                advice: "There are: \(Verb.all.map(\.name).joined(separator: ", ")).")
        }
        let rest = withNumbersLast(Array(line.rest.dropFirst()))
        let inner = try Settings.CommandLine(rest, options: verb.allOptions)
        if inner.flags.contains("help") {
            print(verb.helpPage.rendered(width: width), terminator: "")
            return .success
        }
        let on = inner.strings["on"] ?? line.strings["on"] ?? Machine.environment("LINNET_ON")
        return try await verb.run(Invocation(line: inner, on: on.flatMap { $0.isEmpty ? nil : $0 }))
    }

    private static var width: Int { min(Machine.terminalWidth(.output) ?? 80, 100) }

    private static func page(_ options: [Settings.CommandLine.Option]) -> HelpText {
        var page = HelpText(
            usage: "linnet [OPTION…] COMMAND [ARGUMENT…]",
            summary: "Plays media on Linnet receivers in the network, and controls what plays there.")
        page.words = [("Commands", Verb.all.map { ($0.name, $0.summary) })]
        page.options = options
        page.examples = [
            ("linnet play song.flac", "Plays a local file on the only receiver."),
            ("linnet --on Kitchen volume 40", "Sets the volume of one of several."),
            ("linnet seek --help", "Shows the page of a command."),
        ]
        page.exitCodes = ExitCode.allCases.map { (Int($0.rawValue), $0.help) }
        return page
    }

    private static func tell(_ failure: CommandFailure) -> ExitCode {
        Machine.write("linnet: \(failure)\n", to: .error)
        return failure.code
    }
}
