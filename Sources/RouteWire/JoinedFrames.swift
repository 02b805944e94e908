// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Data frames that travel as one message of a WebSocket (`Docs/protocols/route.md`, section 9.1): what an end has to say at once
/// costs one frame of the socket, one call of the kernel and one wake-up of the other end. Only between ends that agreed on it.
package enum JoinedFrames {
    /// The name by which it is asked for and granted.
    package static let capability = "joinedFrames"
    /// The most frames of one message.
    package static let countLimit = 64
    /// The most bytes of one message.
    package static let bytesLimit = 64 << 10
    /// The longest frame that is worth a copy.
    package static let frameLimit = 4 << 10
    /// The kind in the header.
    package static let kind: UInt8 = 4
    private static let lengthSize = 4

    package static func isJoined(_ bytes: [UInt8]) -> Bool { bytes.count > 1 && bytes[1] == kind }

    /// The message that holds these frames, in their order. Their number and length are the caller's concern.
    package static func join(_ frames: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames.reduce(DataFrame.headerLength) { $0 + lengthSize + $1.count })
        bytes += [1, kind]
        bytes += repeatElement(0, count: 10)
        append(UInt32(frames.count), to: &bytes)
        for frame in frames {
            append(UInt32(frame.count), to: &bytes)
            bytes += frame
        }
        return bytes
    }

    private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 24))
        bytes.append(UInt8(truncatingIfNeeded: value >> 16))
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    /// The frames of a message, not looked into.
    package static func split(_ bytes: [UInt8]) throws(DataFrame.Failure) -> [[UInt8]] {
        guard bytes.count <= bytesLimit else {
            throw DataFrame.Failure(description: "the joined frames have more than \(bytesLimit) bytes")
        }
        let header = DataFrame.headerLength
        guard bytes.count >= header, bytes[0] == 1, bytes[1] == kind,
            bytes[2..<12].allSatisfy({ $0 == 0 })
        else { throw DataFrame.Failure(description: "the header of joined frames is wrong") }
        let count = number(bytes, at: 12)
        guard (1...countLimit).contains(count) else {
            throw DataFrame.Failure(description: "\(count) frames are joined")
        }
        var frames: [[UInt8]] = []
        frames.reserveCapacity(count)
        var place = header
        for _ in 0..<count {
            guard bytes.count - place >= lengthSize else { throw cut }
            let length = number(bytes, at: place)
            place += lengthSize
            guard length <= bytes.count - place else { throw cut }
            frames.append(Array(bytes[place..<(place + length)]))
            place += length
        }
        guard place == bytes.count else {
            throw DataFrame.Failure(description: "something follows the joined frames")
        }
        return frames
    }

    private static var cut: DataFrame.Failure { DataFrame.Failure(description: "a joined frame is cut off") }

    private static func number(_ bytes: [UInt8], at place: Int) -> Int {
        Int(bytes[place]) << 24 | Int(bytes[place + 1]) << 16 | Int(bytes[place + 2]) << 8
            | Int(bytes[place + 3])
    }
}
