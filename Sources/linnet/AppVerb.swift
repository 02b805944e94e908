// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import RouteKit
import Settings

extension Verb {
    /// The words that may stand first, for completion.
    static let appWords = ["list", "new", "check", "run", "install", "remove"]

    static let app = Verb(
        name: "app", arguments: "list | new NAME | check DIR | run DIR | install DIR | remove ID",
        summary: "Makes, tries and manages companion applications of receivers.",
        options: [
            .init("language", "l", .string, "new: python (default) or swift.", argument: "LANGUAGE"),
            .init("id", "i", .string, "new: the id; default org.example.NAME.", argument: "ID"),
            .init("source", "s", .string, "new: the source folder of Linnet, for Swift.", argument: "DIR"),
            .init("url", "u", .string, "run: the URL that the application is handed.", argument: "URL"),
            .init(
                "folder", "f", .string,
                "install, remove: the folder of applications; default \(ApplicationFolder.local).",
                argument: "DIR"),
            .init("json", "j", .flag, "list: one JSON object a line."),
        ],
        examples: [
            ("linnet app list --on Kitchen", "Shows what a receiver has."),
            ("linnet app new doorbell", "Makes a folder with a working application in Python."),
            ("linnet app check doorbell", "Says what is wrong with it, if anything is."),
            (
                "linnet app run doorbell",
                "Runs it at a receiver of its own, its log on the screen; lines that are typed are sent to it."
            ),
            ("sudo linnet app install doorbell", "Installs it at the receiver on this machine."),
        ]
    ) { invocation in
        let words = try invocation.words(1, 2)
        func argument() throws(CommandFailure) -> String {
            guard words.count == 2 else {
                throw CommandFailure(.usage, "something is missing", advice: "Add --help to see what.")
            }
            return words[1]
        }
        switch words[0] {
        case "list":
            guard words.count == 1 else {
                throw CommandFailure(.usage, "'\(TerminalText.clean(words[1]))' is too much")
            }
            return try await list(invocation)
        case "new":
            try ApplicationTemplate(try argument(), invocation).write()
            return .success
        case "check": return try check(ApplicationFolder(try argument()))
        case "run": return try await run(ApplicationFolder(try argument()), invocation)
        case "install":
            let folder = try ApplicationFolder(try argument())
            let place = try folder.install(under: invocation.text("folder") ?? ApplicationFolder.local)
            print("\(folder.manifest.name) \(folder.manifest.version) is installed in \(place)")
            return .success
        case "remove":
            let name = try argument()
            try ApplicationFolder.remove(name, under: invocation.text("folder") ?? ApplicationFolder.local)
            print("\(name) is removed")
            return .success
        default:
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(words[0]))' is nothing to do with applications",
                advice: "There are: \(appWords.joined(separator: ", ")).")
        }
    }

    private static func list(_ invocation: Invocation) async throws -> ExitCode {
        try await watching(invocation) { connection in
            let applications = connection.applications
            if invocation.has("json") {
                for application in applications { print(application.json.line) }
                return .success
            }
            if applications.isEmpty { print("no applications") }
            for application in applications {
                let urls =
                    application.patterns.isEmpty ? "" : "  \(application.patterns.joined(separator: " "))"
                print(
                    TerminalText.clean("\(application.id)  \(application.name) \(application.version)\(urls)")
                )
            }
            return .success
        }
    }

    private static func check(_ folder: ApplicationFolder) throws -> ExitCode {
        let manifest = folder.manifest
        print("\(manifest.name) \(manifest.version), \(manifest.id)")
        let permissions = manifest.permissions.map(\.rawValue).sorted()
        print("  may: \(permissions.isEmpty ? "nothing but talk" : permissions.joined(separator: ", "))")
        print(
            "  claims: \(manifest.patterns.isEmpty ? "no URLs" : manifest.patterns.map(\.text).joined(separator: " "))"
        )
        for warning in folder.warnings { print("  note: \(warning)") }
        print("It can be installed.")
        return .success
    }

    private static func run(_ folder: ApplicationFolder, _ invocation: Invocation) async throws -> ExitCode {
        let receiver = try await TrialReceiver(for: folder)
        let target = ApplicationTarget(folder.manifest.id, url: invocation.text("url"))
        var invocation = invocation
        invocation.on = receiver.address
        do {
            let code = try await withApplication(invocation, target) { speaker in
                print("\(target.words) runs; lines that you type are sent to it, Ctrl-C ends it")
                return try await speaker.pipe(staysOpen: true)
            }
            await receiver.end()
            return code
        } catch {
            await receiver.end()
            throw error
        }
    }
}

extension InstalledApplication {
    fileprivate var json: JSONText {
        .object([
            ("id", .string(id)), ("name", .string(name)), ("version", .string(version)),
            ("icon", .text(icon)),
            ("urls", .array(patterns.map { .string($0) })), ("shared", .bool(isShared)),
        ])
    }
}
