// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

/// What the user typed after a verb.
struct Invocation: Sendable {
    let line: Settings.CommandLine
    /// The receiver that was asked for, by option or environment.
    var on: String?

    /// The words that are no options: at least `least`, at most `most`.
    func words(_ least: Int, _ most: Int) throws(CommandFailure) -> [String] {
        guard line.rest.count >= least else {
            throw CommandFailure(.usage, "something is missing", advice: "Add --help to see what.")
        }
        guard line.rest.count <= most else {
            throw CommandFailure(.usage, "'\(line.rest[most])' is too much")
        }
        return line.rest
    }

    func has(_ flag: String) -> Bool { line.flags.contains(flag) }
    func text(_ option: String) -> String? { line.strings[option] }

    /// The request headers that were given.
    func headers() throws(CommandFailure) -> [HeaderField] {
        var headers: [HeaderField] = []
        for text in line.lists["header"] ?? [] {
            guard let header = ValueText.header(text) else {
                throw CommandFailure(.usage, "'\(text)' is no header", advice: "Write 'Name: value'.")
            }
            headers.append(header)
        }
        return headers
    }
}

/// One thing that the program can do.
struct Verb: Sendable {
    let name: String
    /// What stands behind the verb, such as `TIME|+S|-S`.
    let arguments: String
    let summary: String
    var options: [Settings.CommandLine.Option] = []
    /// False for what has nothing to do with one receiver.
    var takesReceiver = true
    let examples: [(command: String, help: String)]
    let run: @RouteActor @Sendable (Invocation) async throws -> ExitCode

    static let on = Settings.CommandLine.Option(
        "on", "o", .string, "The receiver: its name, or HOST[:PORT]. Default: $LINNET_ON, else the only one.",
        argument: "RECEIVER")
    static let help = Settings.CommandLine.Option("help", "h", .flag, "Show this page.")

    var allOptions: [Settings.CommandLine.Option] { options + (takesReceiver ? [Self.on] : []) + [Self.help] }

    var helpPage: HelpText {
        var page = HelpText(
            usage: "linnet \(name) [OPTION…]\(arguments.isEmpty ? "" : " \(arguments)")", summary: summary)
        page.options = allOptions
        page.examples = examples
        page.exitCodes = ExitCode.allCases.map { (Int($0.rawValue), $0.help) }
        return page
    }
}

extension Verb {
    /// Everything the program can do, in the order of the help page.
    static let all: [Verb] = [
        browse, play, queue, announce, launch, data, app, pause, resume, seek, speed, volume, mute, trim,
        tracks,
        group, sources, status, stop, rename,
        doctor, update, reset, device, completion,
    ]
}

/// `-5` is a word here and an option to GOption: words that begin like a negative number go behind `--`.
package func withNumbersLast(_ arguments: [String]) -> [String] {
    var options: [String] = []
    var words: [String] = []
    for (index, argument) in arguments.enumerated() {
        if argument == "--" {
            words += arguments[(index + 1)...]
            break
        }
        let digits = argument.dropFirst()
        if argument.first == "-", digits.first?.isNumber == true || digits.first == "." {
            words.append(argument)
        } else {
            options.append(argument)
        }
    }
    return words.isEmpty ? options : options + ["--"] + words
}
