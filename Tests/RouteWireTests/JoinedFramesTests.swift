// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import SeededNumbers
import Testing

struct JoinedFramesTests {
    private let frames: [[UInt8]] = [
        DataFrame.bytes(.message, channel: 3, message: 1, payload: [1, 2, 3]),
        DataFrame.bytes(.acknowledged, channel: 3, message: 9),
        DataFrame.bytes(.message, channel: 0, message: 2, endpoint: "org.linnet.echo", payload: []),
    ]

    @Test func `what was joined is taken apart again`() throws {
        for count in 1...frames.count {
            let some = Array(frames[..<count])
            let message = JoinedFrames.join(some)
            #expect(JoinedFrames.isJoined(message))
            #expect(try JoinedFrames.split(message) == some)
        }
        #expect(!JoinedFrames.isJoined(frames[0]) && !JoinedFrames.isJoined([]))
        // By the bytes of the document.
        #expect(
            JoinedFrames.join([frames[1]])
                == [1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
                + [0, 0, 0, 16, 1, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 9])
    }

    @Test func `a message that is cut off, longer or damaged is none`() {
        let message = JoinedFrames.join(frames)
        for count in 0..<message.count {
            #expect(throws: DataFrame.Failure.self) { try JoinedFrames.split(Array(message[..<count])) }
        }
        #expect(throws: DataFrame.Failure.self) { try JoinedFrames.split(message + [0]) }
        for place in 0..<16 {
            var damaged = message
            damaged[place] ^= 0x80
            #expect(throws: DataFrame.Failure.self) { try JoinedFrames.split(damaged) }
        }
    }

    @Test func `more frames or bytes than may be joined are none`() throws {
        let most = [[UInt8]](repeating: frames[1], count: JoinedFrames.countLimit)
        #expect(try JoinedFrames.split(JoinedFrames.join(most)).count == most.count)
        #expect(throws: DataFrame.Failure.self) { try JoinedFrames.split(JoinedFrames.join(most + frames)) }
        #expect(throws: DataFrame.Failure.self) { try JoinedFrames.split(JoinedFrames.join([])) }
        let long = [UInt8](repeating: 1, count: JoinedFrames.bytesLimit - 20)
        #expect(try JoinedFrames.split(JoinedFrames.join([long])) == [long])
        #expect(throws: DataFrame.Failure.self) { try JoinedFrames.split(JoinedFrames.join([long + [1]])) }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `whatever the bytes are, taking them apart traps nothing`(_ seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<2_000 {
            var bytes = JoinedFrames.join(frames)
            for _ in 0...(random.next() % 4) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            bytes.removeLast(Int(random.next() % 8))
            guard let parts = try? JoinedFrames.split(bytes) else { continue }
            #expect(parts.reduce(16) { $0 + 4 + $1.count } == bytes.count)
        }
    }

    @Test func `frames on a stream are the messages one after the other`() {
        #expect(
            SocketMessage.bytes(of: frames) == frames.flatMap { SocketMessage.binary($0).frame ?? [] })
    }
}
