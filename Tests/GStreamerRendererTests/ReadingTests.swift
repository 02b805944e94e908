// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import GStreamer
@testable import GStreamerRenderer

@Suite struct `A failure of an element` {
    private static func failure(_ domain: PipelineFailure.Domain, _ code: Int32, element: String = "x")
        -> PipelineFailure
    {
        PipelineFailure(
            domain: domain, code: code, message: "m", debug: "", httpStatus: nil, element: element)
    }

    @Test func `for want of a plugin names what is missing`() {
        let failure = MediaFailure(Self.failure(.stream, 6), missing: "Opus decoder")
        #expect(failure.code == .missingPlugin)
        #expect(failure.message.contains("Opus decoder"))
    }

    @Test(arguments: [
        (PipelineFailure.Domain.stream, Int32(4), MediaFailure.Code.unsupportedFormat), (.stream, 7, .decode),
        (.resource, 3, .notFound), (.resource, 15, .accessDenied), (.core, 1, .internalFailure),
    ])
    func `has a code`(domain: PipelineFailure.Domain, number: Int32, code: MediaFailure.Code) {
        #expect(MediaFailure(Self.failure(domain, number), missing: nil).code == code)
    }
}

@Suite struct `The size of a picture` {
    @Test func `is read from a PNG`() {
        let bytes: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13] + Array("IHDR".utf8) + [
                0, 0, 1, 0x40, 0, 0, 0, 0xF0,
            ]
        #expect(PixelSize(ofPicture: bytes) == PixelSize(width: 320, height: 240))
    }

    @Test func `is read from a JPEG behind other segments`() {
        let bytes: [UInt8] = [
            0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC0, 0, 17, 8, 0, 0xF0, 1, 0x40, 3,
        ]
        #expect(PixelSize(ofPicture: bytes) == PixelSize(width: 320, height: 240))
    }

    @Test func `is not made up for bytes that are cut off or none`() {
        #expect(PixelSize(ofPicture: []) == nil)
        #expect(PixelSize(ofPicture: [0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF]) == nil)
        #expect(PixelSize(ofPicture: [0xFF, 0xD8, 0xFF, 0xE0, 0, 0]) == nil)
        #expect(PixelSize(ofPicture: [0x89, 0x50, 0x4E, 0x47]) == nil)
    }
}

@Suite struct `The delay of an MP3 encoder` {
    private static func frame(_ delay: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 417)
        bytes.replaceSubrange(0..<4, with: [0xFF, 0xFB, 0x90, 0x64])
        bytes.replaceSubrange(36..<40, with: Array("Info".utf8))
        bytes[43] = 0x0F
        let tag = 36 + 8 + 4 + 4 + 100 + 4
        bytes.replaceSubrange(tag..<tag + 4, with: Array("LAME".utf8))
        bytes[tag + 21] = UInt8(delay >> 4)
        bytes[tag + 22] = UInt8(delay & 15) << 4 | 1
        bytes[tag + 23] = 2
        bytes[47] = 100
        return bytes
    }

    @Test func `is read from the first frame`() throws {
        let delay = try #require(EncoderDelay(firstBytes: Self.frame(576)[...]))
        #expect(delay.frames == 576 + 529)
        #expect(delay.rate == 44_100)
        // A hundred frames of 1152, without what stands in front and behind.
        #expect(delay.length == 115_200 - 576 - 258)
    }

    @Test func `is none without a tag, or when the frame is cut off`() {
        #expect(EncoderDelay(firstBytes: [UInt8](repeating: 0xFF, count: 400)[...]) == nil)
        let whole = Self.frame(576)
        for count in stride(from: 0, to: 170, by: 7) {
            #expect(EncoderDelay(firstBytes: whole.prefix(count)) == nil)
        }
    }
}

@Suite struct `The guard of a parser of AAC` {
    /// A frame of `length` bytes, and a header of none.
    private static func frame(_ length: Int, body: [UInt8] = []) -> [UInt8] {
        let head: [UInt8] = [
            0xFF, 0xF1, 0x50, 0x80 | UInt8(length >> 11), UInt8(length >> 3 & 255), UInt8(length & 7) << 5, 0,
        ]
        return head + body + [UInt8](repeating: 1, count: length - 7 - body.count)
    }
    private static let broken: [UInt8] = [0xFF, 0xF1, 0, 0, 0, 0]

    /// What comes of `bytes` that are passed in pieces.
    private static func passed(_ bytes: [UInt8], by step: Int) -> [UInt8] {
        var (sentry, out) = (ADTSGuard(), [UInt8]())
        for start in stride(from: 0, to: bytes.count, by: step) {
            var piece = Array(bytes[start..<min(start + step, bytes.count)])
            for change in sentry.pass(piece) { piece[change.place] = change.byte }
            out += piece
        }
        return out
    }

    @Test(arguments: [1, 2, 3, 5, 7, 64, 100, 1000]) func `leaves frames alone, whatever is in them`(
        step: Int
    ) {
        let bytes = Self.frame(50) + Self.frame(60) + Self.frame(80, body: Self.broken) + Self.frame(70)
        #expect(Self.passed(bytes, by: step) == bytes)
    }

    @Test(arguments: [1, 2, 3, 5, 7, 64, 100, 1000])
    func `lets no header of a frame without room for it stand between frames`(step: Int) {
        let lost = [UInt8](repeating: 2, count: 9) + Self.broken + [UInt8](repeating: 2, count: 30)
        let bytes = Self.frame(50) + Self.frame(60) + lost + Self.frame(70) + Self.frame(70)
        let out = Self.passed(bytes, by: step)
        #expect(out.count == bytes.count)
        let place = 119
        let isHeader = out[place] == 0xFF && out[place + 1] & 0xF6 == 0xF0
        let length = Int(out[place + 3] & 3) << 11 | Int(out[place + 4]) << 3 | Int(out[place + 5] >> 5)
        #expect(!isHeader || length >= 7)
        #expect(out[..<place] == bytes[..<place])
        #expect(out[(place + 6)...] == bytes[(place + 6)...])
    }

    @Test func `finds its step again behind it`() {
        let bytes = Self.frame(50) + Self.broken + Self.frame(70) + Self.frame(70, body: Self.broken)
        #expect(Self.passed(bytes, by: 1000).suffix(140) == bytes.suffix(140))
    }
}

@Suite struct `Pages of an Ogg file` {
    private static func page(stream: UInt8, isFirst: Bool = false) -> [UInt8] {
        Array("OggS".utf8) + [0, isFirst ? 2 : 0] + [UInt8](repeating: 0, count: 8) + [stream, 0, 0, 0]
            + [UInt8](repeating: 7, count: 30)
    }
    private static let first = OggPages(in: page(stream: 1, isFirst: true) + page(stream: 2, isFirst: true))

    @Test func `at the end of a file without a chain are of the streams at its beginning`() {
        #expect(!OggPages(in: Self.page(stream: 1) + Self.page(stream: 2)).areOfLaterLink(than: Self.first))
        #expect(!OggPages(in: []).areOfLaterLink(than: Self.first))
        #expect(!OggPages(in: [UInt8](repeating: 79, count: 1000)).areOfLaterLink(than: Self.first))
    }

    @Test func `of a chain are told by their numbers, or by another beginning`() {
        #expect(OggPages(in: Self.page(stream: 3)).areOfLaterLink(than: Self.first))
        #expect(OggPages(in: Self.page(stream: 1, isFirst: true)).areOfLaterLink(than: Self.first))
    }

    @Test func `that are cut off are none`() {
        #expect(OggPages(in: Array(Self.page(stream: 3).prefix(20))) == OggPages(in: []))
    }
}
