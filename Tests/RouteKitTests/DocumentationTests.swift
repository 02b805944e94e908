// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
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

    @Test(arguments: [("routekit.md", "DocumentationExample"), ("groups.md", "PlayerExample")])
    func `the example in the page is the one that is compiled here`(page: String, file: String) throws {
        let page = try text("Docs/\(page)")
        let source = try text("Tests/RouteKitTests/\(file).swift")
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

    @Test @RouteActor func `the example of a player does what its group does`() async throws {
        let host = try ScriptedHost()
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)
        let route = try await controller.activate(host.receiver.receiver)
        let renderer = ListRenderer()
        let taking = Task { @RouteActor in try await Desk(renderer).takePart(in: route.group) }
        await host.receiver.until { host.attached.count == 1 }
        host.change {
            $0.item = WireGroupItem(
                identifier: "song", media: QueueItemRequest(url: "http://example.org/a.flac"))
        }
        await host.hears(.moved(item: "song", nil))
        host.command(.seek(itemTime: 5_000_000_000, anticipatedRate: 1, due: nil))
        host.command(.play(itemTime: 5_000_000_000, clockTime: 9_000_000_000, rate: 1))
        host.command(.pause(anticipatedRate: nil))
        await host.receiver.until { host.completions.count == 3 }
        #expect(
            renderer.log == ["load http://example.org/a.flac", "stand at 5.0", "ready", "play 5.0", "stand"])
        await host.hears(.stopped(item: "song", itemTime: 6_000_000_000))
        host.close("dissolved")
        await controller.leave(route)
        try await taking.value
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

/// Writes down what it would render, and stops at second 6.
@RouteActor private final class ListRenderer: DeskRenderer {
    private(set) var log: [String] = []
    func load(_ url: String?) { log.append("load \(url ?? "nothing")") }
    func play(from place: MediaTime, at time: Int64, rate: Double) { log.append("play \(place.seconds)") }

    func stand(at place: MediaTime?) -> MediaTime {
        log.append(place.map { "stand at \($0.seconds)" } ?? "stand")
        return MediaTime(value: 6, timescale: 1)
    }

    func whenReady(_ body: @escaping @Sendable () -> Void) {
        log.append("ready")
        body()
    }
}
