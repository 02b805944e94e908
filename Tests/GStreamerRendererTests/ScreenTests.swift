// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import Glibc
import MediaModel
import ReceiverTestKit
import Testing

/// Videos played to a simulated card and to an X server in memory. Picture number n of a video stands at n · 40 ms.
@Suite(.timeLimit(.minutes(1)), .serialized) struct `Pictures` {
    private let display: VirtualDisplay
    private var card: SimulatedCard

    init() throws {
        display = try #require(VirtualDisplay(), "no Xvfb: make deps, or apt-get install xvfb")
        card = try #require(TestCards.take())
        unsafe setenv("DISPLAY", display.name, 1)
    }

    private func renderer(_ sink: RendererConfiguration.VideoSink = .x11) throws -> RendererUnderTest {
        try RendererUnderTest(device: card.device) { $0.video = sink }
    }

    @Test(arguments: ["video.mp4", "video.webm", "vp9.webm", "beeps.mkv"])
    func `are shown, also at the exact place of a seek`(name: String) async throws {
        let test = try renderer()
        test.play(try Media.http(name))
        #expect(try await test.loaded().hasVideo)
        #expect(try await test.picture().state == .shown)
        let display = display
        #expect(await display.shows { ($0.number ?? 0) >= 10 })
        test.seek(1, to: 6)
        try await test.seekDone(1)
        #expect(await display.shows { (150...160).contains($0.number ?? 0) })
    }

    @Test func `stand still in a pause, and show the place of a seek in it`() async throws {
        let test = try renderer()
        test.play(Media.file("video.mp4"))
        try await test.sounding()
        #expect(await display.shows { ($0.number ?? 0) >= 5 })
        test.send(.setPlaying(test.load, false))
        let position = try await test.sounding(rate: 0)
        let number = try #require(display.number)
        #expect(abs(Double(number) * 0.04 - position.position.seconds) < 0.1)
        test.seek(1, to: 7.2)
        try await test.seekDone(1)
        #expect(await display.shows { $0.number == 180 })
        test.send(.setPlaying(test.load, true))
        #expect(await display.shows { $0.number == 190 })
    }

    @Test func `leave the screen with a stop`() async throws {
        let test = try renderer()
        test.play(Media.file("video.webm"))
        #expect(await display.shows { $0.number != nil })
        test.send(.stop(test.load))
        #expect(await display.shows { $0.blue(20, 100) == 0 })
    }
}
