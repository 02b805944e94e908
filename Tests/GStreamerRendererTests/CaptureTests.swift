// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GStreamerRenderer
import Glibc
import MediaModel
import ReceiverTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A load that captures` {
    private func capture(_ test: RendererUnderTest, _ name: String, load: LoadID? = nil) {
        test.send(
            .loadCapture(load ?? test.load, CaptureSource(kind: .device(name: name)), playing: true))
    }

    @Test func `is live, and heard, until another load takes its place`() async throws {
        let microphone = try #require(TestCards.takeInput())
        var card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        capture(test, microphone.device)
        let media = try await test.loaded()
        #expect(media.timeline == .capture && media.hasAudio && !media.hasVideo)
        try await test.sounding()
        let began = SimulatedCard.now
        let heard = try #require(
            await card.recording(within: .seconds(30)) { _ in SimulatedCard.now > began + 1_000_000_000 })
        #expect(heard.has(tone: 1_000, from: began))
        let next = LoadID(2)
        test.send(.load(next, MediaItem(uri: Media.file("position.flac")), playing: true))
        try await test.first {
            if case .positionChanged(next, let position) = $0, position.rate == 1 { () } else { nil }
        }
        // And back.
        let again = LoadID(3)
        capture(test, microphone.device, load: again)
        try await test.first {
            if case .positionChanged(again, let position) = $0, position.rate == 1 { () } else { nil }
        }
        test.send(.stop(again))
        try await test.first { $0 == .stopped(again) ? () : nil }
    }

    @Test func `is paused and goes on, and is over when its device is gone`() async throws {
        let microphone = try #require(TestCards.takeInput())
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        capture(test, microphone.device)
        try await test.sounding()
        test.send(.setPlaying(test.load, false))
        try await test.sounding(rate: 0)
        test.send(.setPlaying(test.load, true))
        try await test.sounding()
        try microphone.setUnplugged(true)
        try await test.ended()
    }

    @Test func `is not moved, and is in no group`() async throws {
        let microphone = try #require(TestCards.takeInput())
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        capture(test, microphone.device)
        _ = try await test.loaded()
        test.seek(1, to: 5)
        await #expect(throws: MediaFailure(.unsupportedFormat, "")) { try await test.seekDone(1) }
        test.send(.setSpeed(test.load, 2))
        test.send(.setScan(test.load, 8))
        test.send(.prepareNext(test.load, UpcomingItem(load: LoadID(9), item: MediaItem(uri: "x:"))))
        try await test.sounding()
        test.send(.bind(test.load, nil))
        await #expect(throws: MediaFailure(.unsupportedFormat, "")) { try await test.ended() }
    }

    @Test func `fails without its device, its descriptor, or a form that is played`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        capture(test, "nobody")
        await #expect(throws: MediaFailure(.notFound, "")) { try await test.loaded() }
        test.send(.loadCapture(test.load, CaptureSource(kind: .descriptor(token: 5)), playing: true))
        await #expect(throws: MediaFailure(.notFound, "")) { try await test.loaded() }
        let odd = CaptureSource(kind: .device(name: "nobody"), sampleRate: 7, channels: 90)
        test.send(.loadCapture(test.load, odd, playing: true))
        await #expect(throws: MediaFailure(.unsupportedFormat, "")) { try await test.loaded() }
    }

    @Test func `of a descriptor ends with it`() async throws {
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        test.renderer.hand(over: SharedDescriptor(Descriptor(adopting: ends[0])), token: 5)
        test.send(.loadCapture(test.load, CaptureSource(kind: .descriptor(token: 5)), playing: true))
        _ = try await test.loaded()
        let sound = [UInt8](repeating: 20, count: 48_000)
        let written = unsafe sound.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
        #expect(written == sound.count)
        try await test.sounding()
        _ = close(ends[1])
        try await test.ended()
    }

    @Test func `tells with those that only listen whether there is sound`() async throws {
        let microphone = try #require(TestCards.takeInput())
        let name = microphone.device
        try microphone.setQuiet(true)
        let card = try #require(TestCards.take())
        let test = try RendererUnderTest(device: card.device)
        test.send(.watchCapture([CaptureWatch(name: name, threshold: -40, holdMilliseconds: 300)]))
        func activity(_ isActive: Bool) async throws {
            try await test.first {
                $0 == .captureActivity(name: name, isActive: isActive, reason: nil) ? () : nil
            }
        }
        try await activity(false)
        try microphone.setQuiet(false)
        try await activity(true)
        capture(test, name)
        try await test.sounding()
        try microphone.setQuiet(true)
        try await activity(false)
        test.send(.stop(test.load))
        try microphone.setQuiet(false)
        try await activity(true)
    }
}
