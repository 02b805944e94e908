// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MediaSource

@Suite struct `A finder of frames` {
    /// A frame of MPEG audio, 128 kbit/s and 44.1 kHz.
    private static let mp3 = [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 1, count: 413)
    /// A frame of AAC of 100 bytes.
    private static let adts = [0xFF, 0xF1, 0x50, 0x80, 0x0C, 0x9F, 0xFC] + [UInt8](repeating: 1, count: 93)

    private static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 88_172_645_463_325_252
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }

    @Test(arguments: [mp3, adts]) func `finds three in a row behind what is none`(frame: [UInt8]) {
        let bytes = Self.noise(40_000) + frame + frame + frame + Self.noise(100)
        #expect(FrameFinder.firstFrame(in: bytes, end: false) == 40_000)
    }

    @Test(arguments: [mp3, adts]) func `takes two for a row only where the bytes end`(frame: [UInt8]) {
        let bytes = Self.noise(1000) + frame + frame
        #expect(FrameFinder.firstFrame(in: bytes, end: true) == 1000)
        #expect(FrameFinder.firstFrame(in: bytes, end: false) == nil)
        #expect(FrameFinder.firstFrame(in: Self.noise(1000) + frame, end: true) == nil)
    }

    @Test func `takes frames of two kinds for no row`() {
        var other = Self.mp3
        other[2] = 0x94
        #expect(FrameFinder.firstFrame(in: Self.mp3 + other + Self.mp3, end: true) == nil)
    }

    @Test func `looks no further than its window`() {
        let row = Self.mp3 + Self.mp3 + Self.mp3
        #expect(FrameFinder.firstFrame(in: Self.noise(FrameFinder.window - 1) + row, end: true) != nil)
        #expect(FrameFinder.firstFrame(in: Self.noise(FrameFinder.window) + row, end: true) == nil)
    }

    @Test func `finds none in noise, zeros or ones`() {
        #expect(FrameFinder.firstFrame(in: Self.noise(200_000), end: true) == nil)
        #expect(FrameFinder.firstFrame(in: [UInt8](repeating: 0, count: 70_000), end: true) == nil)
        #expect(FrameFinder.firstFrame(in: [UInt8](repeating: 0xFF, count: 70_000), end: true) == nil)
        #expect(FrameFinder.firstFrame(in: [], end: true) == nil)
    }

    @Test(
        arguments: [
            ([0xFF, 0xFB, 0x90, 0x64, 0, 0], 417), ([0xFF, 0xFB, 0x92, 0x64, 0, 0], 418),
            // The second version at 22.05 kHz, 64 kbit/s; the second layer; the first one.
            ([0xFF, 0xF3, 0x80, 0x64, 0, 0], 208), ([0xFF, 0xFD, 0x80, 0x04, 0, 0], 417),
            ([0xFF, 0xFF, 0x40, 0x04, 0, 0], 136), ([0xFF, 0xF1, 0x50, 0x80, 0x0C, 0x9F], 100),
        ] as [([UInt8], Int)]) func `reads how long a frame is`(bytes: [UInt8], length: Int)
    {
        #expect(CodedFrame(bytes[...])?.length == length)
    }

    @Test func `reads the length of a tag, with its end`() {
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 2]
        #expect(FrameFinder.tagLength(tag) == 140)
        #expect(FrameFinder.tagLength(Array("ID3".utf8) + [4, 0, 0x10, 0, 0, 1, 2]) == 150)
        #expect(FrameFinder.tagLength(Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 0x80]) == nil)
        #expect(FrameFinder.tagLength(Array("ID3".utf8)) == nil)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A reader that begins further in` {
    @Test func `has its own places, length and end`() async throws {
        let server = try Misbehaving()
        let source = server.open("plain/300000")
        defer { source.close() }
        let reader = SourceReader(source, from: 1000)
        _ = try await outside { reader.awaitFacts() }
        #expect(reader.length == 299_000)
        #expect(try await reader.bytes(from: 500, to: 600) == pattern(1500..<1600))
        #expect(try await reader.bytes() == pattern(1000..<300_000))
    }
}
