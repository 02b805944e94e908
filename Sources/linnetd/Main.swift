// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Settings

/// `linnetd`, the receiver's daemon.
@main
enum Program {
    /// As in sysexits(3): the command line, what is not wanted, the settings.
    private static let usageFault: Int32 = 64
    private static let unavailable: Int32 = 69
    private static let configurationFault: Int32 = 78

    static func main() {
        Machine.prepareProcess()
        Machine.keepMemorySmall()
        Machine.exit(run(Array(Swift.CommandLine.arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        let line: CommandLine
        do {
            line = try CommandLine(arguments, options: Help.actions + Help.settings)
        } catch {
            return misused("\(error)")
        }
        if let word = line.rest.first { return misused("'\(word)' is no option") }
        if line.flags.contains("help") { return say(Help.page) }
        if line.flags.contains("version") { return say("linnetd \(Product.version)\n") }
        if line.flags.contains("print-manual") { return say(Reference.manual) }
        if line.flags.contains("print-tables") { return say(Reference.tables) }

        var configuration = Configuration()
        let folder = line.strings["config-dir"]
        configuration.read(folder: folder ?? "/etc/linnet", isRequired: folder != nil)
        configuration.apply(options: line.strings)
        if line.flags.contains("check-config") { return check(configuration) }
        for mistake in configuration.mistakes + configuration.accessoryMistakes {
            Machine.write("linnetd: \(mistake)\(mistake.isFatal ? "" : " (ignored)")\n", to: .error)
        }
        if line.flags.contains("print-config") { return say(Reference.file(configuration)) }
        guard configuration.mistakes.allSatisfy({ !$0.isFatal }) else { return configurationFault }
        if line.flags.contains("launch-application") { return launch(configuration) }
        let isTest = line.flags.contains("self-test")
        return GLibLoop.run { [configuration] actor, loop in
            isTest
                ? await SelfTest(configuration, loop: loop).run()
                : await Daemon(configuration, loop: loop).run(isolation: actor)
        }
    }

    /// Starts an application for another daemon.
    private static func launch(_ configuration: Configuration) -> Int32 {
        guard Machine.isSocket(ApplicationService.connection) else {
            return misused(
                "--launch-application is for linnet-application@.service: standard input must be a socket")
        }
        guard let applications = configuration.applications else { return unavailable }
        return GLibLoop.run { [configuration] _, loop in
            await ApplicationService(
                applications, level: Journal.Level(named: configuration.text(.logLevel)) ?? .info, loop: loop
            ).run()
        }
    }

    private static func misused(_ reason: String) -> Int32 {
        Machine.write("linnetd: \(reason)\nTry 'linnetd --help'.\n", to: .error)
        return usageFault
    }

    private static func say(_ text: String) -> Int32 {
        Machine.write(text, to: .output)
        return 0
    }

    private static func check(_ configuration: Configuration) -> Int32 {
        let lines =
            (configuration.mistakes + configuration.accessoryMistakes).map(\.description)
            + configuration.applicationFaults
        for line in lines { Machine.write("\(line)\n", to: .output) }
        return lines.isEmpty ? 0 : 1
    }
}
