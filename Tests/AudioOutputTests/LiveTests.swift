// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import AudioOutput
import Glibc
import MediaModel
import ReceiverTestKit
import Synchronization
import Testing

/// Who writes to a pipe that nobody reads is told so, and not ended.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

/// What a phone sends over a pipe: a tone in 16 bits, ten milliseconds at a time, at its own pace.
final class PhoneUnderTest: Sendable {
    struct State {
        /// Of 32767.
        var amplitude = 8_000.0
        var isPaused = false
        /// Frames that are sent at once, beside the others.
        var burst = 0
        var isOver = false
        var sent = 0
    }
    let rate: Int32
    /// The end that is read; to be closed once it was handed over.
    let reader: Int32
    private let state = Mutex(State())

    init(rate: Int32 = 48_000, ppm: Double = 0, hertz: Double = 1_000) throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        (self.rate, reader) = (rate, ends[0])
        let writer = ends[1]
        let isStarted = OutputThread.start(named: "phone") { [self] in
            send(to: writer, ppm: ppm, hertz: hertz)
            _ = close(writer)
        }
        try #require(isStarted)
    }

    func closeReader() { _ = close(reader) }
    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
    var sent: Int { state.withLock { $0.sent } }

    private func send(to writer: Int32, ppm: Double, hertz: Double) {
        let portion = Int(rate) / 100
        var (frame, due) = (0, MonotonicClock.now())
        while true {
            let (isOver, isPaused, amplitude, burst) = state.withLock { state in
                defer { state.burst = 0 }
                return (state.isOver, state.isPaused, state.amplitude, state.burst)
            }
            if isOver { return }
            due += Int64(1e7 / (1 + ppm * 1e-6))
            MonotonicClock.rest(nanoseconds: due - MonotonicClock.now())
            if isPaused { continue }
            let count = portion + burst
            var bytes: [UInt8] = []
            for index in frame..<frame + count {
                let value = Int(amplitude * sin(2 * .pi * hertz * Double(index) / Double(rate)))
                for _ in 0..<2 {
                    bytes.append(UInt8(truncatingIfNeeded: value))
                    bytes.append(UInt8(truncatingIfNeeded: value >> 8))
                }
            }
            frame += count
            // A pipe that nobody reads holds this thread up, as it would nobody in earnest.
            let written = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(writer, $0.baseAddress, $0.count)
            }
            if written < 0 { return }
            state.withLock { $0.sent += count }
        }
    }

    var source: CaptureSource { CaptureSource(kind: .descriptor(token: 1), sampleRate: rate) }
}

extension OutputUnderTest {
    /// Plays the phone, or another source.
    func play(
        _ source: CaptureSource, from descriptor: Int32? = nil, playing: Bool = true,
        _ report: @escaping @Sendable (CaptureFeed.Event) -> Void = { _ in }
    ) throws -> CaptureFeed {
        let feed = CaptureFeed(
            source, descriptor: descriptor, stream: stream, playing: playing, output: output, report: report)
        return try #require(feed)
    }

    func drained() async throws { try await first { $0 == .drained(stream) ? () : nil } }
}

/// The descriptors that this process has open.
private func openDescriptors() -> Int {
    guard let folder = unsafe opendir("/proc/self/fd") else { return 0 }
    defer { _ = unsafe closedir(folder) }
    var count = 0
    while unsafe readdir(folder) != nil { count += 1 }
    return count
}

@Suite(.timeLimit(.minutes(2))) struct `A live stream` {
    @Test(arguments: [Int32(48_000), 44_100])
    func `is heard as it comes, until its source is gone`(rate: Int32) async throws {
        ignoreBrokenPipes()
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        let phone = try PhoneUnderTest(rate: rate, ppm: 200)
        let feed = try test.play(phone.source, from: phone.reader)
        phone.closeReader()
        let began = SimulatedCard.now
        try await test.sounding(true)
        let heard = try #require(
            await card.recording(within: .seconds(30)) { $0.frameCount > 2 * 48_000 })
        phone.change { $0.isOver = true }
        try await test.drained()
        // What there is has the right pitch.
        #expect(heard.has(tone: 1_000, from: began))
        feed.stop()
        test.output.close(test.stream)
    }

    @Test func `is thrown away while it is paused, and heard soon after`() async throws {
        ignoreBrokenPipes()
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        let phone = try PhoneUnderTest()
        let feed = try test.play(phone.source, from: phone.reader)
        phone.closeReader()
        try await test.sounding(true)
        for _ in 0..<2 {
            test.output.setPlaying(false, for: test.stream)
            try await test.sounding(false)
            // Nothing holds the phone up: more comes than a pipe has room for.
            let sent = phone.sent
            while phone.sent < sent + 24_000 { try await Task.sleep(for: .milliseconds(5)) }
            let asked = SimulatedCard.now
            test.output.setPlaying(true, for: test.stream)
            try await test.sounding(true)
            #expect(SimulatedCard.now - asked < 1_000_000_000)
        }
        feed.stop()
        test.output.close(test.stream)
        phone.change { $0.isOver = true }
    }

    /// What goes wrong on the way.
    enum Trouble: Sendable, CaseIterable {
        /// The phone is out of reach for a while, and what it played then is lost.
        case gap
        /// It sends what it has kept back at once.
        case burst
    }

    @Test(arguments: Trouble.allCases)
    func `is heard no later after trouble`(trouble: Trouble) async throws {
        ignoreBrokenPipes()
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        let phone = try PhoneUnderTest()
        phone.change { $0.amplitude = 2_000 }
        let feed = try test.play(phone.source, from: phone.reader)
        phone.closeReader()
        try await test.sounding(true)
        switch trouble {
        case .gap:
            phone.change { $0.isPaused = true }
            try await test.sounding(false)
            phone.change { $0.isPaused = false }
            try await test.sounding(true)
        case .burst: phone.change { $0.burst = 30_000 }
        }
        // What is too much is left out within two windows of the servo.
        let sent = phone.sent
        while phone.sent < sent + 90_000 { try await Task.sleep(for: .milliseconds(5)) }
        let asked = SimulatedCard.now
        phone.change { $0.amplitude = 16_000 }
        let recording = try #require(
            await card.recording(within: .seconds(30)) {
                $0.firstSound(from: asked, threshold: 8_000) != nil
            })
        let heard = try #require(recording.firstSound(from: asked, threshold: 8_000))
        // About 100 ms; with what was sent at once it would be 725 ms.
        #expect(heard - asked < 500_000_000)
        feed.stop()
        test.output.close(test.stream)
        phone.change { $0.isOver = true }
    }

    @Test func `ends while it is paused, and while nothing has come of it`() async throws {
        ignoreBrokenPipes()
        for isPaused in [true, false] {
            let card = try #require(TestCards.take())
            let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
            let phone = try PhoneUnderTest()
            if !isPaused { phone.change { $0.isPaused = true } }
            let feed = try test.play(phone.source, from: phone.reader, playing: !isPaused)
            phone.closeReader()
            phone.change { $0.isOver = true }
            try await test.drained()
            feed.stop()
        }
    }

    @Test func `goes on when its card is back`() async throws {
        ignoreBrokenPipes()
        let card = try #require(TestCards.take())
        let configuration = AudioOutputConfiguration(
            device: card.device, retryDelays: .milliseconds(10)...(.milliseconds(20)))
        let test = try OutputUnderTest(configuration)
        let phone = try PhoneUnderTest()
        let feed = try test.play(phone.source, from: phone.reader)
        phone.closeReader()
        try await test.sounding(true)
        try card.setUnplugged(true)
        _ = try await test.state(.lost)
        let sent = phone.sent
        while phone.sent < sent + 24_000 { try await Task.sleep(for: .milliseconds(5)) }
        try card.setUnplugged(false)
        _ = try await test.state(.open)
        try await test.sounding(true)
        feed.stop()
        test.output.close(test.stream)
        phone.change { $0.isOver = true }
    }

    @Test func `has another sound lie over it`() async throws {
        ignoreBrokenPipes()
        var card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device))
        let phone = try PhoneUnderTest()
        phone.change { $0.amplitude = 2_000 }
        let feed = try test.play(phone.source, from: phone.reader)
        phone.closeReader()
        try await test.sounding(true)
        let over = StreamID(100)
        test.output.openOverlay(over, levels: OverlayLevels(ducking: 20))
        _ = OutputThread.start(named: "feed") { [output = test.output] in
            guard output.setRate(48_000, for: over) == .written else { return }
            let samples = [Float](repeating: 0.25, count: 2 * 14_400)
            _ = output.write(samples.span, position: 0, step: 1e9 / 48_000, for: over)
            output.end(over)
        }
        try await test.first { $0 == .overlayBegan(over) ? () : nil }
        let began = SimulatedCard.now
        try await test.first { $0 == .overlayEnded(over) ? () : nil }
        let heard = card.recording().heard(from: began + 60_000_000, for: .milliseconds(100))
        let mean = heard.samples.reduce(0) { $0 + Int($1) } / max(heard.samples.count, 1)
        #expect((6_000...9_000).contains(mean))
        feed.stop()
        test.output.close(test.stream)
        phone.change { $0.isOver = true }
    }

    @Test func `leaves no descriptor behind`() async throws {
        ignoreBrokenPipes()
        let card = try #require(TestCards.take())
        let test = try OutputUnderTest(AudioOutputConfiguration(device: card.device, closeDelay: .zero))
        _ = try await test.state(.closed)
        let before = openDescriptors()
        for _ in 0..<10 {
            let phone = try PhoneUnderTest()
            let feed = try test.play(phone.source, from: phone.reader)
            phone.closeReader()
            try await test.sounding(true)
            feed.stop()
            test.output.close(test.stream)
            // With its reader its last writing fails.
            while phone.sent < 2_000_000_000 {
                let sent = phone.sent
                try await Task.sleep(for: .milliseconds(30))
                if phone.sent == sent { break }
            }
        }
        _ = try await test.state(.closed)
        // A thread ends a moment after it was told to, and tells nobody.
        for _ in 0..<2_000 where openDescriptors() > before { try await Task.sleep(for: .milliseconds(10)) }
        #expect(openDescriptors() <= before)
    }
}
