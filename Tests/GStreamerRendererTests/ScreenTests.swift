// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import Glibc
import MediaModel
import ReceiverTestKit
import Testing

/// The X server in memory, which is this process's display from now on.
private func openDisplay() throws -> VirtualDisplay {
    let display = try #require(VirtualDisplay.shared, "no Xvfb: make deps, or apt-get install xvfb")
    unsafe setenv("DISPLAY", display.name, 1)
    return display
}

/// Videos played to a simulated card and to an X server in memory. Picture number n of a video stands at n · 40 ms.
@Suite(.timeLimit(.minutes(1)), .serialized) struct `Pictures` {
    private let display: VirtualDisplay
    private var card: SimulatedCard

    init() throws {
        display = try openDisplay()
        card = try #require(TestCards.take())
    }

    /// A renderer, once the one of the test before has given the display up.
    private func renderer(_ sink: RendererConfiguration.VideoSink = .x11) async throws -> RendererUnderTest {
        #expect(await display.shows { $0.blue(20, 100) == 0 })
        return try RendererUnderTest(device: card.device) { $0.video = sink }
    }

    @Test(arguments: ["video.mp4", "video.webm", "vp9.webm", "beeps.mkv"])
    func `are shown, also at the exact place of a seek`(name: String) async throws {
        let test = try await renderer()
        test.play(try Media.http(name))
        #expect(try await test.loaded().hasVideo)
        #expect(try await test.picture().state == .shown)
        let display = display
        #expect(await display.shows { ($0.number ?? 0) >= 10 })
        test.seek(1, to: 6)
        try await test.seekDone(1)
        #expect(await display.shows { (150...200).contains($0.number ?? 0) })
    }

    @Test func `stand still in a pause, and show the place of a seek in it`() async throws {
        let test = try await renderer()
        test.play(Media.file("video.mp4"))
        try await test.sounding()
        #expect(await display.shows { ($0.number ?? 0) >= 5 })
        test.send(.setPlaying(test.load, false))
        let position = try await test.sounding(rate: 0)
        #expect(
            await display.shows { abs(Double($0.number ?? -9) * 0.04 - position.position.seconds) < 0.1 })
        test.seek(1, to: 7.2)
        try await test.seekDone(1)
        #expect(await display.shows { $0.number == 180 })
        test.send(.setPlaying(test.load, true))
        #expect(await display.shows { (190...240).contains($0.number ?? 0) })
    }

    @Test func `without sound follow a silent clock, and end when the last one was there`() async throws {
        let test = try await renderer()
        test.play(Media.file("silent.mp4"))
        let media = try await test.loaded()
        #expect(media.hasVideo && !media.hasAudio)
        let display = display
        #expect(await display.shows { ($0.number ?? 0) >= 20 })
        test.seek(1, to: 2)
        try await test.seekDone(1)
        let start = AudioOutput.now()
        #expect(await display.shows { (50...75).contains($0.number ?? 0) })
        // The last one is there for 40 ms, in which this thread may not run.
        #expect(await display.shows { (90...99).contains($0.number ?? 0) })
        try await test.ended()
        #expect((1.7..<8).contains(Double(AudioOutput.now() - start) / 1e9))
        #expect(await display.shows { $0.number == nil })
    }

    @Test func `that nobody can decode leave the sound alone, and the decoder is named`() async throws {
        let test = try await renderer()
        test.play(Media.file("unknown.mkv"))
        #expect(try await !test.loaded().hasVideo)
        let status = try await test.picture()
        #expect(status.state == .undecodable)
        #expect(status.reason?.contains("Not installed") == true)
        var card = card
        let sound = try await listen(&card, from: SimulatedCard.now, for: .milliseconds(100))
        #expect(sound.positionSecond != nil)
    }

    @Test func `are not sought in a cover`() async throws {
        let test = try await renderer()
        test.play(Media.sample)
        #expect(try await !test.loaded().hasVideo)
        try await test.sounding()
        #expect(display.number == nil)
    }

    @Test(arguments: [RendererConfiguration.VideoSink.x11, .kms, .wayland, .auto])
    mutating func `without a display leave the sound alone, and the reason is told`(
        sink: RendererConfiguration.VideoSink
    ) async throws {
        unsafe unsetenv("DISPLAY")
        unsafe unsetenv("WAYLAND_DISPLAY")
        let test = try await renderer(sink)
        test.play(Media.file("beeps.mkv"))
        #expect(try await !test.loaded().hasVideo)
        let status = try await test.picture()
        #expect(status.state == .noDisplay)
        #expect(status.reason?.isEmpty == false)
        try await test.sounding()
        #expect(try await !listen(&card, from: SimulatedCard.now, for: .seconds(1)).isSilent)
    }

    @Test mutating func `that lose their server leave the sound alone`() async throws {
        let display = try #require(VirtualDisplay())
        unsafe setenv("DISPLAY", display.name, 1)
        let test = try await renderer()
        test.play(Media.file("video.mp4"))
        #expect(try await test.picture().state == .shown)
        display.end()
        let status = try await test.picture()
        #expect(status == PictureStatus(.noDisplay, reason: "The X server has gone."))
        let sound = try await listen(&card, from: SimulatedCard.now + 200_000_000, for: .milliseconds(100))
        #expect(sound.positionSecond != nil)
        // Moves, changes and stops go on as well.
        test.seek(1, to: 8)
        try await test.seekDone(1)
        let position = try await test.sounding()
        #expect((position.position.seconds - 8).magnitude < 0.1)
        try await test.ended()
    }

    @Test mutating func `on a display that stands leave the sound alone`() async throws {
        let display = try #require(VirtualDisplay())
        unsafe setenv("DISPLAY", display.name, 1)
        let test = try await renderer()
        test.play(Media.file("video.mp4"))
        #expect(try await test.picture().state == .shown)
        display.setStopped(true)
        let status = try await test.picture()
        #expect(status == PictureStatus(.noDisplay, reason: "The display does not answer."))
        let sound = try await listen(&card, from: SimulatedCard.now, for: .milliseconds(100))
        #expect(sound.positionSecond != nil)
        display.end()
    }

    @Test func `keep the display while another language is chosen`() async throws {
        let test = try await renderer()
        test.play(Media.file("languages.mkv"))
        let audio = try await test.loaded().tracks.audio
        let display = display
        #expect(await display.shows { ($0.number ?? 0) > 10 })
        test.send(.selectTrack(test.load, .audio, identifier: audio.options[1].identifier))
        let start = SimulatedCard.now
        var isDark = false
        #expect(
            await display.shows {
                isDark = isDark || $0.blue(20, 100) == 0
                return SimulatedCard.now - start > 300_000_000 && ($0.number ?? 0) > 20
            })
        #expect(!isDark)
    }

    /// Texts stand in `languages.mkv` from 0.5 to 3 s and from 4 to 8 s in the first track, from 0.5 to 8 s in the other.
    @Test mutating func `carry the chosen texts, whose change is not heard`() async throws {
        let test = try await renderer()
        test.play(Media.file("languages.mkv"))
        let texts = try await test.loaded().tracks.legible
        #expect(texts.options.map(\.languageTag) == ["en", "de"])
        // Both tracks are marked as default: what the media wants is shown until somebody chooses.
        #expect(texts.current == texts.options.first?.identifier)
        let display = display
        try await test.sounding()
        let start = SimulatedCard.now
        func choose(_ number: Int?) {
            test.send(
                .selectTrack(test.load, .legible, identifier: number.map { texts.options[$0].identifier }))
        }
        choose(nil)
        #expect(await display.shows { ($0.number ?? 0) > 15 && $0.covered == 0 })
        choose(0)
        #expect(await display.shows { $0.covered > 60 })
        // Not while it is being drawn.
        let number = display.number ?? 0
        #expect(await display.shows { ($0.number ?? 0) > number + 1 && $0.covered > 60 })
        let first = display.covered
        choose(1)
        #expect(await display.shows { $0.covered > 20 && $0.covered < first * 3 / 4 })
        choose(nil)
        #expect(await display.shows { $0.covered == 0 })
        choose(0)
        #expect(await display.shows { $0.covered > 60 })
        let end = SimulatedCard.now
        // After its end, before the next one.
        test.seek(1, to: 3.4)
        try await test.seekDone(1)
        #expect(await display.shows { (85...98).contains($0.number ?? 0) && $0.covered == 0 })
        #expect(await display.shows { (100...180).contains($0.number ?? 0) && $0.covered > 60 })
        // Up to the move one tone was heard, without a gap.
        let sound = try await listen(
            &card, from: start + 50_000_000, for: .nanoseconds(end - start - 60_000_000))
        let tone = try #require(sound.frequency)
        #expect(abs(tone - 500) < 3)
    }

    @Test func `leave the screen with a stop`() async throws {
        let test = try await renderer()
        test.play(Media.file("video.webm"))
        #expect(await display.shows { $0.number != nil })
        test.send(.stop(test.load))
        #expect(await display.shows { $0.blue(20, 100) == 0 })
    }
}

/// How pictures and sound stand to each other, for an eye at the X server and an ear at the card.
@Suite(.timeLimit(.minutes(1)), .serialized) struct `Pictures and sound` {
    private let display: VirtualDisplay
    private var card: SimulatedCard

    init() throws {
        display = try openDisplay()
        card = try #require(TestCards.take())
    }

    private func check(_ offsets: [Double], _ what: String) {
        #expect(offsets.count > 10)
        let median = offsets.isEmpty ? .infinity : offsets[offsets.count / 2]
        // Of single pictures a machine that is busy shows some late.
        #expect(abs(median) < 20, "\(what): \(offsets)")
    }

    @Test mutating func `are together after a seek and after a pause`() async throws {
        let display = display
        #expect(await display.shows { $0.blue(20, 100) == 0 })
        let test = try RendererUnderTest(device: card.device) { $0.video = .x11 }
        test.play(Media.file("beeps.mkv"))
        try await test.sounding()
        test.seek(1, to: 4.5)
        try await test.seekDone(1)
        #expect(await display.shows { ($0.number ?? 0) > 113 })
        let moved = await display.watch(for: .milliseconds(1200))
        check(card.recording().offsets(of: moved), "seek")
        test.send(.setPlaying(test.load, false))
        try await test.sounding(rate: 0)
        test.send(.setPlaying(test.load, true))
        try await test.sounding()
        let resumed = await display.watch(for: .milliseconds(1500))
        check(card.recording().offsets(of: resumed), "pause")
    }

    @Test func `go on together when the card was lost`() async throws {
        var card = card
        let display = display
        #expect(await display.shows { $0.blue(20, 100) == 0 })
        let test = try RendererUnderTest(device: card.device) {
            $0.video = .x11
            $0.output.retryDelays = .milliseconds(20)...(.milliseconds(40))
        }
        test.play(Media.file("beeps.mkv"))
        try await test.sounding()
        try card.setUnplugged(true)
        let position = try await test.sounding(rate: 0)
        // While nothing is heard the picture stands.
        let seen = await display.watch(for: .milliseconds(200)).map(\.number)
        #expect(seen.allSatisfy { abs(Double($0) / 25 - position.position.seconds) < 0.15 })
        #expect(seen.count <= 2)
        try card.setUnplugged(false)
        try await test.sounding()
        let sightings = await display.watch(for: .milliseconds(1500))
        check(card.recording().offsets(of: sightings), "lost")
    }

    @Test(arguments: [1, 0.5, 2])
    mutating func `are together`(speed: Double) async throws {
        let display = display
        #expect(await display.shows { $0.blue(20, 100) == 0 })
        let test = try RendererUnderTest(device: card.device) { $0.video = .x11 }
        test.play(Media.file("beeps.mkv"))
        try await test.sounding()
        if speed != 1 {
            test.send(.setSpeed(test.load, speed))
            try await test.sounding(rate: speed)
        }
        let sightings = await display.watch(for: .milliseconds(3500))
        check(card.recording().offsets(of: sightings, speed: speed), "speed \(speed)")
    }
}
