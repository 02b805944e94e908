// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import Settings

/// A new application that works, to begin with.
struct ApplicationTemplate {
    enum Language: String, CaseIterable { case python, swift }

    private let folder: String
    /// The last part of the id.
    private let word: String
    private let id: ApplicationID
    private let language: Language
    /// The source folder of Linnet.
    private let source: String?

    init(_ name: String, _ invocation: Invocation) throws(CommandFailure) {
        let last = String(name.split(separator: "/" as Character).last ?? "")
        let isWord =
            !last.isEmpty
            && last.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isWord, last.count <= 64, last.first != "-" else {
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(last))' is no name for an application",
                advice: "Letters, digits and '-' make one.")
        }
        let text = invocation.text("id") ?? "org.example.\(last)"
        guard let id = ApplicationID(text) else {
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(text))' is no id", advice: "An id is like org.example.\(last)."
            )
        }
        let wanted = invocation.text("language") ?? "python"
        guard let language = Language(rawValue: wanted) else {
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(wanted))' is no language",
                advice: "There are: \(Language.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        (folder, word, self.id, self.language) = (name, last, id, language)
        source = invocation.text("source").flatMap { FileSystem.absolute($0) } ?? Self.source
        guard language != .swift || source != nil else {
            throw CommandFailure(
                .usage, "the source folder of Linnet is not known", advice: "Give it with --source DIR.")
        }
        guard !FileSystem.exists(name) else {
            throw CommandFailure(.failure, "'\(TerminalText.clean(name))' is there already")
        }
    }

    /// Where this program was built, if that is still there.
    private static var source: String? {
        guard let program = Machine.programPath else { return nil }
        let names = program.split(separator: "/" as Character)
        guard let build = names.lastIndex(of: ".build") else { return nil }
        let folder = "/" + names[..<build].joined(separator: "/")
        return FileSystem.exists("\(folder)/Package.swift") ? folder : nil
    }

    func write() throws(CommandFailure) {
        do {
            try FileSystem.makeDirectory(folder)
            switch language {
            case .python: try writePython()
            case .swift: try writeSwift()
            }
        } catch {
            throw CommandFailure(.failure, error.message)
        }
        switch language {
        case .python: print("\(folder) is made. Try it: linnet app run \(folder)")
        case .swift: print("\(folder) is made. Try it: make -C \(folder) && linnet app run \(folder)")
        }
    }

    private func manifest(_ executable: String) -> String {
        """
        {
            "id": "\(id)",
            "name": "\(word)",
            "version": "0.1",
            "protocol": [1],
            "executable": "\(executable)",
            "urls": ["\(word.lowercased()):*"]
        }

        """
    }

    private func put(_ text: String, _ path: String, mode: UInt32 = 0o644) throws(Failure) {
        try FileSystem.write(Array(text.utf8), to: "\(folder)/\(path)", mode: mode)
    }

    private func writePython() throws(Failure) {
        try put(manifest("\(word).py"), "application.json")
        try put(
            """
            #!/usr/bin/env python3
            \"""\(word): answers what senders say.\"""

            from linnet_application import Application, Refused


            class Main(Application):
                async def opened(self, session):
                    print(f"{session.sender.name} is here with {session.url}")

                async def message(self, session, payload):
                    if not payload:
                        raise Refused("empty", "say something")
                    await session.post(b"you said: " + payload)

                async def closed(self, session, reason):
                    print(f"{session.sender.name} is gone: {reason}")


            Main().run()

            """, "\(word).py", mode: 0o755)
    }

    private func writeSwift() throws(Failure) {
        try FileSystem.makeDirectory("\(folder)/application")
        try FileSystem.makeDirectory("\(folder)/Sources/\(word)")
        try put(manifest(word), "application/application.json")
        try put(
            """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "\(word)",
                dependencies: [.package(name: "linnet", path: "\(source ?? "")")],
                targets: [
                    .executableTarget(
                        name: "\(word)",
                        dependencies: [
                            .product(name: "LinnetApplication", package: "linnet"),
                            .product(name: "RouteKit", package: "linnet"),
                        ])
                ])

            """, "Package.swift")
        try put(
            """
            # Builds the program and puts it beside its manifest.
            application/\(word): Package.swift $(wildcard Sources/*/*.swift)
            \tswift build -c release --static-swift-stdlib
            \tcp .build/release/\(word) $@

            """, "Makefile")
        try put(".build\napplication/\(word)\n", ".gitignore")
        try put(
            """
            import LinnetApplication
            import RouteKit

            /// Answers what senders say.
            @RouteActor final class Main: ApplicationDelegate, SessionDataChannelDelegate {
                func application(_ application: Application, opened session: ApplicationSession) async throws {
                    print("\\(session.sender.name) is here with \\(session.url)")
                    session.dataChannel.delegate = self
                }

                func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
                    guard !message.isEmpty else {
                        throw RoutingError(.init(rawValue: "empty"), family: .session, "say something")
                    }
                    try await channel.post(Array("you said: ".utf8) + message)
                }
            }

            @main enum Program {
                static func main() async {
                    await Application.run(delegate: Main())
                }
            }

            """, "Sources/\(word)/Program.swift")
    }
}
