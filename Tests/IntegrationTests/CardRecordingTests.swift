// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverTestKit
import Testing

/// The ear of the other tests: what it says must be right before anything else is believed.
struct CardRecordingTests {
    /// Appends `count` frames of a tone on the left channel, silence on the right.
    private func add(_ tone: Tone, count: Int, to recording: inout CardRecording) {
        var bytes: [UInt8] = []
        for frame in 0..<count {
            // A triangle has the crossings of a sine and needs no mathematics library.
            let phase = (Double(frame) * tone.frequency / 48000).truncatingRemainder(dividingBy: 1)
            let height = phase < 0.25 ? phase * 4 : phase < 0.75 ? 2 - phase * 4 : phase * 4 - 4
            let sample = UInt16(bitPattern: Int16(height * tone.level))
            bytes += [UInt8(sample & 0xFF), UInt8(sample >> 8), 0, 0]
        }
        recording.add(frames: bytes)
    }

    private struct Tone {
        var frequency: Double
        var level = 16000.0
    }

    private func lines(_ lines: String...) -> CardRecording {
        var recording = CardRecording()
        for line in lines { recording.add(line: line) }
        return recording
    }

    @Test func `a tone is heard at its frequency and its time`() throws {
        var recording = lines("O 5 pid=1 rate=48000 ch=2 ppm=0", "S 0 1000000000 48000.0")
        add(Tone(frequency: 0), count: 4800, to: &recording)
        add(Tone(frequency: 440), count: 48000, to: &recording)
        let first = try #require(recording.firstSound(from: 0))
        #expect(abs(first - 1_100_000_000) < 100_000)
        #expect(recording.firstSound(from: 0, channel: 1) == nil)
        let sound = recording.heard(from: 1_200_000_000, for: .milliseconds(500))
        let frequency = try #require(sound.frequency)
        #expect(abs(frequency - 440) < 0.1)
        #expect(sound.positionSecond == 2)
        #expect(recording.heard(from: 1_000_000_000, for: .milliseconds(90)).isSilent)
    }

    @Test func `frames that were dropped before they were heard are not heard`() {
        var recording = lines("O 5 pid=1 rate=48000 ch=2 ppm=0", "S 0 1000000000 48000.0")
        add(Tone(frequency: 500), count: 9600, to: &recording)
        recording.add(line: "E 4800 1100000000 written=9600")
        recording.add(line: "S 9600 2000000000 48000.0")
        add(Tone(frequency: 700), count: 4800, to: &recording)
        #expect(recording.heard(from: 1_100_000_000, for: .milliseconds(900)).isSilent)
        let later = recording.heard(from: 2_000_000_000, for: .milliseconds(100)).frequency ?? 0
        #expect(abs(later - 700) < 1)
        #expect(recording.firstSound(from: 1_100_000_000).map { abs($0 - 2_000_000_000) < 100_000 } == true)
    }

    @Test func `underruns, openings and faults are counted`() {
        let recording = lines(
            "O 5 pid=1 rate=48000 ch=2 ppm=0", "P 6 rate=44100 ch=2 fmt=S32_LE buffer=4096 period=1024",
            "S 0 7 44100.0", "E 100 8 written=100 ranout", "X 9", "F 10", "C 11")
        #expect(recording.underruns == 1)
        #expect(recording.openings == 1)
        #expect(!recording.isOpen)
        #expect(!recording.isRunning)
        #expect(recording.events.contains(.unplugged(10)))
        #expect(
            recording.events.contains(
                .configured(6, rate: 44100, format: "S32_LE", bufferFrames: 4096, periodFrames: 1024)))
    }

    @Test func `a wrong line changes nothing`() {
        let recording = lines("", "S", "S x y z", "E 5", "Q 5", "S 1 2", "X")
        #expect(recording.segments.isEmpty)
        #expect(recording.events.isEmpty)
    }

    @Test func `noise adds no crossings to a tone`() throws {
        var samples: [Int16] = []
        var noise: UInt32 = 1
        for frame in 0..<48000 {
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let level = frame % 48 < 24 ? 10000 : -10000
            samples.append(Int16(level + Int(noise >> 22) - 512))
        }
        let sound = CardRecording.Sound(samples: samples, rate: 48000)
        let frequency = try #require(sound.frequency)
        #expect(abs(frequency - 1000) < 1)
        #expect(CardRecording.Sound(samples: [], rate: 48000).frequency == nil)
    }
}
