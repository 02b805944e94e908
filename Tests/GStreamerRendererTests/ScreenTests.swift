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

/// How pictures and sound stand to each other, for an eye at the X server and an ear at the card.
@Suite(.timeLimit(.minutes(1)), .serialized) struct `Pictures and sound` {
    private let display: VirtualDisplay
    private var card: SimulatedCard

    init() throws {
        display = try #require(VirtualDisplay(), "no Xvfb: make deps, or apt-get install xvfb")
        card = try #require(TestCards.take())
        unsafe setenv("DISPLAY", display.name, 1)
    }

    /// Milliseconds by which each of the pictures came after its sound, sorted. A beep at each second of the media tells
    /// when its sound was heard.
    private mutating func offsets(_ sightings: [VirtualDisplay.Sighting], speed: Double) throws -> [Double] {
        let recording = card.recording()
        let beeps: [(second: Double, time: Int64)] = sightings.filter { $0.number % 25 == 0 }.compactMap {
            // Before the beep there is silence, of more than this at each speed.
            guard let time = recording.firstSound(from: $0.time - 200_000_000, threshold: 4000) else {
                return nil
            }
            return (Double($0.number) / 25, time)
        }
        return sightings.compactMap { sighting in
            let place = Double(sighting.number) / 25
            guard let beep = beeps.min(by: { abs($0.second - place) < abs($1.second - place) }) else {
                return nil
            }
            return Double(sighting.time - beep.time) / 1e6 - (place - beep.second) / speed * 1e3
        }.sorted()
    }

    @Test(arguments: [1, 0.5, 2])
    mutating func `are together`(speed: Double) async throws {
        let test = try RendererUnderTest(device: card.device) { $0.video = .x11 }
        test.play(Media.file("beeps.mkv"))
        try await test.sounding()
        if speed != 1 {
            test.send(.setSpeed(test.load, speed))
            try await test.sounding(rate: speed)
        }
        let sightings = await display.watch(for: .milliseconds(3500))
        let offsets = try offsets(sightings, speed: speed)
        let median = offsets[offsets.count / 2]
        print(
            "speed \(speed): \(offsets.count) pictures, min \(offsets[0]) p5 \(offsets[offsets.count / 20]) median"
                + " \(median) p95 \(offsets[offsets.count * 19 / 20]) max \(offsets[offsets.count - 1])")
        #expect(abs(median) < 20)
    }
}
