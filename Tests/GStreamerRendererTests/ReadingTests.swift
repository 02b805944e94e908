// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import MediaModel
import Testing

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
