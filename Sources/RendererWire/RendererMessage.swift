// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What crosses the socket between the daemon and its renderer (`Docs/protocols/renderer.md`).
package enum RendererMessage: Equatable, Sendable {
    /// The first message of either side: the version that it speaks.
    case hello(version: UInt16)
    /// Daemon to renderer, after its hello: settings by name, before any command.
    case configure([RendererSetting])
    case command(RendererCommand)
    case event(RendererEvent)
    /// Daemon to renderer; answered with `pong` from the renderer's loop.
    case ping(UInt64)
    case pong(UInt64)

    /// The version of these frames.
    package static let version: UInt16 = 1
}

/// One setting of the renderer, such as `output.device`.
package struct RendererSetting: Equatable, Sendable {
    package let key: String
    package let value: String
    package init(key: String, value: String) { (self.key, self.value) = (key, value) }
}

/// Why bytes are no message. The connection that sent them is of no use any more.
package struct FrameFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Finds messages in a stream of bytes. It keeps at most one unfinished frame.
package struct FrameDecoder: Sendable {
    /// The longest body of a frame: the largest picture and what goes with it.
    package static let bodyLimit = Artwork.maximumBytes + 65_536
    static let headerLength = 4

    private var buffer: [UInt8] = []
    private var start = 0

    package init() {}

    /// Takes bytes as they came. Call `next` until it returns nil before pushing more.
    package mutating func push(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// The next whole message, or nil until more bytes come.
    package mutating func next() throws(FrameFailure) -> RendererMessage? {
        guard buffer.count - start >= Self.headerLength else { return nil }
        let length = (0..<Self.headerLength).reduce(0) { $0 << 8 | Int(buffer[start + $1]) }
        guard length >= 1, length <= Self.bodyLimit else {
            throw FrameFailure("a frame of \(length) bytes is not allowed")
        }
        let bodyStart = start + Self.headerLength
        guard buffer.count - bodyStart >= length else { return nil }
        var reader = ByteReader(buffer[bodyStart..<bodyStart + length])
        let message = try RendererMessage(&reader)
        guard reader.isAtEnd else { throw FrameFailure("a frame has \(reader.remaining) bytes too many") }
        start = bodyStart + length
        return message
    }
}

extension RendererMessage {
    /// The message as a frame: length of the body in four bytes, big endian, then the body. Nil if it is too long.
    package var frame: [UInt8]? {
        var writer = ByteWriter()
        write(to: &writer)
        guard writer.bytes.count <= FrameDecoder.bodyLimit else { return nil }
        let length = UInt32(writer.bytes.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + writer.bytes
    }

    private func write(to writer: inout ByteWriter) {
        switch self {
        case .hello(let version):
            writer.put(UInt8(1))
            writer.put(version)
        case .configure(let settings):
            writer.put(UInt8(2))
            writer.list(settings) {
                $1.put($0.key)
                $1.put($0.value)
            }
        case .command(let command):
            writer.put(UInt8(3))
            command.write(to: &writer)
        case .event(let event):
            writer.put(UInt8(4))
            event.write(to: &writer)
        case .ping(let number):
            writer.put(UInt8(5))
            writer.put(number)
        case .pong(let number):
            writer.put(UInt8(6))
            writer.put(number)
        }
    }

    fileprivate init(_ reader: inout ByteReader) throws(FrameFailure) {
        switch try reader.byte() {
        case 1: self = .hello(version: try reader.integer())
        case 2:
            self = .configure(
                try reader.list { reader throws(FrameFailure) in
                    RendererSetting(key: try reader.text(), value: try reader.text())
                })
        case 3: self = .command(try RendererCommand(&reader))
        case 4: self = .event(try RendererEvent(&reader))
        case 5: self = .ping(try reader.integer())
        case 6: self = .pong(try reader.integer())
        case let kind: throw FrameFailure("a message of kind \(kind) is unknown")
        }
    }
}
