// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteKit
import Settings
import Testing

/// An application that is a page, in a browser without a screen.
@Suite(.timeLimit(.minutes(2))) struct CaptionsTests {
    /// Root's browser, as the user of applications, has no sandbox of its own here: the page is ours.
    private let browser =
        "--applications-browser=chromium --headless=new --no-sandbox --disable-gpu "
        + "--disable-dev-shm-usage --window-size=960,540 --remote-debugging-port=0 %u"

    /// What `page.py` prints.
    @RouteActor private func look(_ stage: ApplicationStage, _ devTools: String, _ texts: String...)
        async throws
        -> [String]
    {
        let picture = "\(stage.folder.path)/page.png"
        let (lines, exit) = try await ProgramRun.output(
            of: "/usr/bin/python3",
            ["\(ApplicationStage.root)/Tests/Support/python/page.py", devTools] + texts + ["--shot", picture])
        #expect(exit == .status(0), "\(lines)")
        #expect(try FileSystem.read(picture, maximum: 1 << 22).starts(with: [0x89, 0x50, 0x4e, 0x47]))
        return lines
    }

    @Test @RouteActor func `what senders say stands on the page`() async throws {
        try await ApplicationStage.use([browser]) { folder in
            try await ApplicationStage.makeSamples(in: folder)
        } _: { stage in
            let ada = try await stage.sender("Ada's phone").open("captions:hall")
            let channel = try #require(ada.dataChannel)
            // Returns when the page has it.
            try await channel.send(Array("Good evening, and welcome.".utf8))
            let line = try #require(await stage.daemon.line(with: "DevTools listening on "))
            let devTools = try #require(line.split(separator: " ").first { $0.hasPrefix("ws://") })
            let ben = try await stage.sender("Ben's laptop").open("captions:hall")
            try await ben.dataChannel?.send(Array("<b>The doors</b> close in five minutes.".utf8))
            let lines = try await look(
                stage, String(devTools), "Good evening, and welcome.",
                "<b>The doors</b> close in five minutes.", "from Ada's phone, Ben's laptop")
            #expect(!lines.contains { $0.hasPrefix("fault") }, "\(lines)")
            let refusal = await #expect(throws: RoutingError.self) {
                try await channel.send([UInt8](repeating: UInt8(ascii: "x"), count: 501))
            }
            #expect(refusal?.message == "at most 500 characters")
            let nonsense = await #expect(throws: RoutingError.self) { try await channel.send([0xff, 0xfe]) }
            #expect(nonsense?.family == .session)
        }
    }

    @Test @RouteActor func `without a browser a page is refused, and its helper is served all the same`()
        async throws
    {
        try await ApplicationStage.use { folder in
            try await ApplicationStage.makeSamples(in: folder)
        } _: { stage in
            let error = await #expect(throws: RoutingError.self) {
                _ = try await stage.sender("Ada").open("captions:hall")
            }
            #expect(error?.code == .applicationFailed)
            let page = try await stage.daemon.page("/v1/linnet.js", port: stage.port)
            #expect(page.status == 200 && page.text.contains("class LinnetApplication"))
            #expect(try await stage.daemon.page("/v1/linnet.jsx", port: stage.port).status == 404)
        }
    }
}
