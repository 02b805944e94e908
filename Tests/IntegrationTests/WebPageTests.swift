// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import ReceiverTestKit
import RouteKit
import Settings
import Testing

extension Receiving {
    /// The receiver's own page, in a browser without a screen.
    struct WebPageTests {
        /// Has the browser take steps, as `page.py` has them; returns what the page shows in the end.
        @RouteActor private func look(at receiver: ReceiverUnderTest, _ steps: [String]) async throws
            -> String
        {
            let folder = try ScratchFolder()
            let browser = try await ProgramRun.start(
                "/usr/bin/chromium",
                [
                    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--window-size=480,900", "--user-data-dir=\(folder.path)/profile",
                    "--remote-debugging-port=0", "http://127.0.0.1:\(receiver.port)/",
                ])
            let line = try #require(await browser.line(with: "DevTools listening on "))
            let address = try #require(
                line.split(separator: " " as Character).first { $0.hasPrefix("ws://") })
            let picture = "\(folder.path)/page.png"
            let (lines, exit) = try await ProgramRun.output(
                of: "/usr/bin/python3",
                ["\(ApplicationStage.root)/Tests/Support/python/page.py", String(address)] + steps
                    + ["--in", ":\(receiver.port)/", "--shot", picture])
            await browser.send(signal: SIGTERM)
            _ = await browser.exit()
            #expect(exit == .status(0) && !lines.contains { $0.hasPrefix("fault") }, "\(lines)")
            #expect(try FileSystem.read(picture, maximum: 1 << 22).starts(with: [0x89, 0x50, 0x4e, 0x47]))
            let first = try #require(lines.firstIndex { $0.hasPrefix("shown ") }, "\(lines)")
            return lines[first...].joined(separator: "\n")
        }

        @Test @RouteActor func `a browser plays, pauses, seeks, changes the volume and stops`() async throws {
            try await ReceiverUnderTest.use { receiver in
                let url = receiver.media.url("position.flac")
                let shown = try await look(
                    at: receiver,
                    [
                        "Sound output: ",
                        "do:element('url').value = '\(url)'; element('open').requestSubmit()",
                        "playing", "do:element('toggle').click()", "paused",
                        "do:element('position').value = 500; element('position').onchange()", "0:30",
                        "do:element('volume').value = 30; element('volume').oninput()", "30 %",
                        "do:element('mute').click()", "30 %, muted",
                        // What a receiver refuses is said.
                        "do:element('url').value = 'ftp://a/b'; element('open').requestSubmit()",
                        "this scheme",
                        "do:element('stop').click()", "Nothing plays",
                    ])
                #expect(shown.contains("Receiver under test"))
                var card = receiver.card
                #expect(card.recording().firstSound(from: 0) != nil)
                let control = try await receiver.anotherSender("after").device
                #expect(control.volume == 0.3 && control.isMuted)
            }
        }

        @Test(arguments: [("yes", "200"), ("no", "404")]) @RouteActor
        func `the page is there unless it is not wanted`(wanted: String, status: String) async throws {
            try await ReceiverUnderTest.use(["--web-page", wanted]) { receiver in
                for path in ["", "web/page.js", "web/page.css"] {
                    let answer = try receiver.fetch("http://127.0.0.1/\(path)")
                    #expect(answer.head.hasPrefix("HTTP/1.1 \(status) "), "\(path): \(answer.head)")
                    #expect(
                        status != "200" || answer.head.contains("Content-Security-Policy: default-src 'none'")
                    )
                }
                for path in ["web/", "web/index", "web/../linnet.js", "web/%2e%2e/page.js"] {
                    #expect(try receiver.fetch("http://127.0.0.1/\(path)").head.hasPrefix("HTTP/1.1 404 "))
                }
            }
        }
    }
}
