// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A message on the socket that an application inherits (`Docs/protocols/application.md`, section 2).
package enum SocketMessage: Equatable, Sendable {
    case text(String)
    case binary([UInt8])

    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The longest message, with its kind.
    package static let limit = DataFrame.limit + 1
    private static let textKind: UInt8 = 1
    private static let binaryKind: UInt8 = 2

    /// The bytes on the socket; nil if the message is empty or too long.
    package var frame: [UInt8]? {
        let (kind, count) =
            switch self {
            case .text(let text): (Self.textKind, text.utf8.count)
            case .binary(let bytes): (Self.binaryKind, bytes.count)
            }
        guard count > 0, count < Self.limit else { return nil }
        var frame: [UInt8] = []
        frame.reserveCapacity(5 + count)
        let length = UInt32(count + 1)
        for shift in [24, 16, 8, 0] { frame.append(UInt8(truncatingIfNeeded: length >> UInt32(shift))) }
        frame.append(kind)
        switch self {
        case .text(let text): frame.append(contentsOf: text.utf8)
        case .binary(let bytes): frame.append(contentsOf: bytes)
        }
        return frame
    }
}

extension SocketMessage {
    /// The bytes of data frames on the socket, one after the other. Their length is the caller's concern.
    package static func bytes(of frames: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames.reduce(0) { $0 + 5 + $1.count })
        for frame in frames {
            let length = UInt32(frame.count + 1)
            for shift in [24, 16, 8, 0] as [UInt32] {
                bytes.append(UInt8(truncatingIfNeeded: length >> shift))
            }
            bytes.append(binaryKind)
            bytes += frame
        }
        return bytes
    }
}

/// Finds messages in the bytes of a socket. Holds at most one unfinished message and what was read with it.
package struct SocketMessageReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var failure: SocketMessage.Failure?

    package init() {}

    package mutating func push(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        if start > 0, start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 1 << 17)
            start = 0
        } else if start > 1 << 16 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole message; nil when more bytes are needed. After a failure nothing is found any more.
    package mutating func next() throws(SocketMessage.Failure) -> SocketMessage? {
        if let failure { throw failure }
        guard buffer.count - start >= 5 else { return nil }
        let length =
            Int(buffer[start]) << 24 | Int(buffer[start + 1]) << 16 | Int(buffer[start + 2]) << 8
            | Int(buffer[start + 3])
        guard (2...SocketMessage.limit).contains(length) else { throw fail("a message of \(length) bytes") }
        guard buffer.count - start >= 4 + length else { return nil }
        let kind = buffer[start + 4]
        let contents = buffer[(start + 5)..<(start + 4 + length)]
        start += 4 + length
        switch kind {
        case 1:
            guard let text = String(validating: contents, as: UTF8.self) else {
                throw fail("a text that is not UTF-8")
            }
            return .text(text)
        case 2: return .binary(Array(contents))
        default: throw fail("a message of unknown kind \(kind)")
        }
    }

    private mutating func fail(_ reason: String) -> SocketMessage.Failure {
        let failure = SocketMessage.Failure(description: reason)
        self.failure = failure
        (buffer, start) = ([], 0)
        return failure
    }
}
