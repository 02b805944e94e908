// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RendererWire
import SeededNumbers
import Testing

/// Everything that a decoder finds in these bytes, and whether it failed at their end.
private func decode(_ chunks: [[UInt8]]) -> (messages: [RendererMessage], failure: FrameFailure?) {
    var decoder = FrameDecoder()
    var messages: [RendererMessage] = []
    for chunk in chunks {
        decoder.push(chunk)
        do throws(FrameFailure) {
            while let message = try decoder.next() { messages.append(message) }
        } catch { return (messages, error) }
    }
    return (messages, nil)
}

/// A frame with this body after the version byte.
private func frame(_ body: [UInt8], version: UInt8 = 1) -> [UInt8] {
    let length = body.count + 1
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + [version] + body
}

@Suite struct RendererMessageTests {
    @Test(arguments: Samples.messages) func `a message comes back as it was`(message: RendererMessage) throws
    {
        let bytes = try #require(message.frame)
        let result = decode([bytes])
        #expect(result.failure == nil)
        #expect(result.messages == [message])
        // Texts of failures do not count for equality, so the bytes are compared, too.
        #expect(result.messages.first?.frame == bytes)
    }

    @Test func `a frame is length, version, kind and contents`() {
        #expect(RendererMessage.hello(version: 1).frame == [0, 0, 0, 4, 1, 1, 0, 1])
        #expect(RendererMessage.ping(258).frame == [0, 0, 0, 10, 1, 5, 0, 0, 0, 0, 0, 0, 1, 2])
        #expect(
            RendererMessage.command(.stop(LoadID(5))).frame == [0, 0, 0, 11, 1, 3, 9, 0, 0, 0, 0, 0, 0, 0, 5])
        #expect(
            RendererMessage.configure([RendererSetting(key: "a", value: "é")]).frame
                == [0, 0, 0, 17, 1, 2, 0, 0, 0, 1, 0, 0, 0, 1, 97, 0, 0, 0, 2, 0xc3, 0xa9])
    }

    @Test(arguments: Samples.messages)
    func `a message cut at any byte waits, and one shortened by any byte fails`(
        message: RendererMessage
    ) throws {
        let bytes = try #require(message.frame)
        for count in 0..<bytes.count {
            let result = decode([Array(bytes[..<count])])
            #expect(result.messages.isEmpty && result.failure == nil)
        }
        let body = Array(bytes[5...])
        for count in 0..<body.count {
            let result = decode([frame(Array(body[..<count]))])
            #expect(result.messages.isEmpty && result.failure != nil, "cut to \(count)")
        }
        #expect(decode([frame(body + [0])]).failure != nil)
    }

    @Test func `messages are found however the stream is cut`() {
        let stream = Samples.messages.compactMap(\.frame).flatMap(\.self)
        for size in [1, 2, 3, 5, 64, 1_000, stream.count] {
            let chunks = stride(from: 0, to: stream.count, by: size).map {
                Array(stream[$0..<min($0 + size, stream.count)])
            }
            let result = decode(chunks)
            #expect(result.failure == nil)
            #expect(result.messages == Samples.messages)
        }
    }

    @Test func `the largest picture passes and a larger one is refused by the encoder`() throws {
        let largest = Artwork(
            bytes: Array(repeating: 7, count: Artwork.maximumBytes), type: "image/png",
            size: PixelSize(width: 1, height: 1))
        let bytes = try #require(RendererMessage.event(.artworkFound(LoadID(1), largest)).frame)
        #expect(decode([bytes]).messages == [.event(.artworkFound(LoadID(1), largest))])
        let larger = Artwork(bytes: largest.bytes + [7], type: "image/png", size: nil)
        #expect(RendererMessage.event(.artworkFound(LoadID(1), larger)).frame == nil)
        let long = String(repeating: "x", count: FrameDecoder.bodyLimit)
        #expect(RendererMessage.event(.exited(reason: long)).frame == nil)
    }

    @Test func `a frame beyond the limit is refused by its length alone`() {
        #expect(decode([[0xff, 0xff, 0xff, 0xff]]).failure != nil)
        let over = FrameDecoder.bodyLimit + 1
        #expect(decode([[24, 16, 8, 0].map { UInt8(truncatingIfNeeded: over >> $0) }]).failure != nil)
        let limit = FrameDecoder.bodyLimit
        #expect(decode([[24, 16, 8, 0].map { UInt8(truncatingIfNeeded: limit >> $0) }]).failure == nil)
        #expect(decode([[0, 0, 0, 0]]).failure != nil)
        #expect(decode([[0, 0, 0, 1]]).failure != nil)
    }

    @Test func `another version is refused by its first byte`() {
        #expect(decode([[0, 0x40, 0, 0, 2]]).failure != nil)
        #expect(decode([frame([1, 0, 1], version: 0)]).failure != nil)
    }

    @Test(
        arguments: [
            [0], [8], [7], [3, 0], [3, 20], [3, 11], [4, 0], [4, 16], [3, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2],
            [3, 6, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0],
            [4, 15, 0, 0, 0, 1, 0xff],
            [4, 15, 0xff, 0xff, 0xff, 0xff],
            [2, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]])
    func `unknown kinds, bad booleans, bad texts and false counts fail`(body: [UInt8]) {
        let result = decode([frame(body)])
        #expect(result.messages.isEmpty && result.failure != nil)
    }

    @Test func `after a failure nothing is found any more and nothing is kept`() throws {
        var decoder = FrameDecoder()
        decoder.push([0, 0, 0, 0])
        #expect(throws: FrameFailure.self) { try decoder.next() }
        decoder.push(try #require(RendererMessage.ping(1).frame))
        #expect(decoder.pendingBytes == 0)
        #expect(throws: FrameFailure.self) { try decoder.next() }
    }

    @Test func `bytes that nobody reads have a limit`() throws {
        var decoder = FrameDecoder()
        let half = [UInt8](repeating: 1, count: FrameDecoder.bufferLimit / 2)
        decoder.push(half)
        decoder.push(half)
        #expect(decoder.pendingBytes <= FrameDecoder.bufferLimit)
        decoder.push([1, 1])
        #expect(decoder.pendingBytes == 0)
        #expect(throws: FrameFailure.self) { try decoder.next() }
    }

    @Test func `a level outside of its range is clamped and a timescale below 1 makes a time invalid`() {
        let nan: [UInt8] = [3, 8, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0, 0]
        #expect(decode([frame(nan)]).messages == [.command(.setOutputVolume(Volume(level: 0)))])
        let time: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff]
        let seek = [3, 3] + [UInt8](repeating: 0, count: 16) + time + time
        #expect(
            decode([frame(seek)]).messages
                == [.command(.seek(LoadID(0), SeekID(0), to: .invalid, tolerance: .invalid))])
    }
}

@Suite struct RendererFrameFuzzTests {
    @Test func `30 000 damaged or random frames never trap, and what is read can be written`() {
        var random = SeededNumbers(seed: 20_261_130)
        let frames = Samples.messages.compactMap(\.frame)
        var taken = 0
        for _ in 0..<30_000 {
            var bytes = frames.randomElement(using: &random) ?? []
            if Int.random(in: 0..<8, using: &random) == 0 {
                bytes = frame(
                    (0..<Int.random(in: 1..<64, using: &random)).map { _ in .random(in: 0...6, using: &random)
                    })
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = Bool.random(using: &random) ? 0xff : .random(in: 0...255, using: &random)
            }
            for message in decode([bytes]).messages {
                taken += 1
                // A number may be NaN, which is not equal to itself: the bytes are compared.
                let written = message.frame
                #expect(written != nil && decode([written ?? []]).messages.first?.frame == written)
            }
        }
        #expect(taken > 3_000)
    }
}
