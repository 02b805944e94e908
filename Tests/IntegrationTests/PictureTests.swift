// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    struct PictureTests {
        /// The files that a process has in its memory.
        private static func files(of process: Int32?) -> String {
            process.map { readText("/proc/\($0)/maps") } ?? ""
        }

        @Test @RouteActor func `without a sink for pictures no decoder of theirs is there`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("video.webm")
                _ = try await card.sound(from: 0)
                #expect(!control.hasVideo)
                #expect(control.picture == PictureStatus())
                let files = Self.files(of: receiver.renderer)
                #expect(files.contains("libgstmatroska"))
                #expect(!files.contains("libgstvpx") && !files.contains("libgstvideoconvert"))
            }
        }

        @Test @RouteActor func `senders see what is shown, and what happens to the display`() async throws {
            let display = try #require(VirtualDisplay(), "no Xvfb: make deps, or apt-get install xvfb")
            let folder = try Programs.makeFolder()
            defer { Programs.remove(folder) }
            let settings = try Programs.settings(showingOn: display, in: folder)
            try await ReceiverUnderTest.use(settings) { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("video.webm")
                #expect(control.hasVideo)
                try await control.wait("pictures") { $0.picture.state == .shown }
                #expect(await display.shows { ($0.number ?? 0) > 0 })
                #expect(Self.files(of: receiver.renderer).contains("libgstvpx"))
                let renderer = receiver.renderer
                display.end()
                try await control.wait("the loss of the display") {
                    $0.picture == PictureStatus(.noDisplay, reason: "The X server has gone.")
                }
                let asked = SimulatedCard.now
                try await control.perform(.seek(to: .seconds(6.5), tolerance: .zero))
                _ = try await card.beginning(ofSecond: 7, from: asked)
                #expect(receiver.renderer == renderer)
            }
        }
    }
}
