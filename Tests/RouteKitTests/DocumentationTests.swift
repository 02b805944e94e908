// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import Settings
import Testing

@testable import RouteKit
@testable import linnet

struct DocumentationTests {
    /// The package's folder: this file is three levels down.
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

    private func text(_ path: String) throws -> String {
        String(decoding: try FileSystem.read("\(Self.root)/\(path)", maximum: 1 << 20), as: UTF8.self)
    }

    @Test func `the example in the page is the one that is compiled here`() throws {
        let page = try text("Docs/routekit.md")
        let source = try text("Tests/RouteKitTests/DocumentationExample.swift")
        // The licence lines stand in the file only.
        let code = source.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(3)
            .joined(separator: "\n")
        #expect(code.hasPrefix("import MediaModel"))
        #expect(page.contains("```swift\n\(code)```"))
    }

    @Test @RouteActor func `the example plays a URL to its end`() async throws {
        let receiver = try ScriptedReceiver()
        let playing = Task { @RouteActor in
            try await Jukebox().play("http://example.org/a.flac", on: receiver.receiver)
        }
        let seek = await receiver.waitFor("playback.seek")
        #expect(receiver.requests("playback.setSpeed").count == 1)
        #expect(receiver.requests("device.setVolume").count == 1)
        guard case .seek(let session, _, _) = seek.request else { return }
        receiver.tell(
            Notification.sessionEnded(session: session ?? "", reason: "finished", by: nil, error: nil))
        try await playing.value
        #expect(receiver.requests("route.deactivate").count == 1)
    }

    @Test(arguments: [
        ("linnet.bash", CompletionScript.bash), ("_linnet", CompletionScript.zsh),
        ("linnet.fish", CompletionScript.fish),
    ])
    func `the packaged completions are those that the program prints`(file: String, script: String) throws {
        #expect(try text("packaging/completion/\(file)") == script)
    }

    @Test func `the manual page names every verb, option and exit status`() throws {
        let page = try text("Docs/man/linnet.1")
        for verb in Verb.all {
            #expect(page.contains(".SS \(verb.name)"), "\(verb.name)")
            for option in verb.options {
                #expect(page.contains("\\-\\-\(option.name.replacing("-", with: "\\-"))"), "\(option.name)")
            }
        }
        for code in ExitCode.allCases { #expect(page.contains(".B \(code.rawValue)\n"), "\(code)") }
    }
}
