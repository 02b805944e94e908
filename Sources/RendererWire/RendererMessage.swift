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
    /// Daemon to renderer: the next descriptor that comes over the socket, with this message's first byte, goes by this token.
    case handOver(token: UInt64)

    /// The version of these messages, said in `hello`.
    package static let version: UInt16 = 5
    /// The version of the frame itself, its fifth byte. It changes only if a `hello` could no longer be read.
    static let frameVersion: UInt8 = 1
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

/// Finds messages in a stream of bytes. It keeps at most one unfinished frame and what was pushed with its end; after
/// a failure it fails for ever, because nothing says where the next frame would begin.
package struct FrameDecoder: Sendable {
    /// The longest body of a frame: the largest picture and what goes with it.
    package static let bodyLimit = Artwork.maximumBytes + 65_536
    /// The most bytes that may wait to be read: one frame and one generous read of the socket.
    package static let bufferLimit = headerLength + bodyLimit + (1 << 20)
    static let headerLength = 4
    /// Room that is kept between frames; what a picture needed is given back.
    private static let keptCapacity = 16_384

    private var buffer: [UInt8] = []
    private var start = 0
    private var failure: FrameFailure?

    package init() {}

    /// Bytes that wait for the rest of their frame.
    package var pendingBytes: Int { buffer.count - start }

    /// Takes bytes as they came. Call `next` until it returns nil before pushing more.
    package mutating func push(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        guard bytes.count <= Self.bufferLimit - pendingBytes else {
            fail(FrameFailure("more than \(Self.bufferLimit) bytes wait to be read"))
            return
        }
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
            start = 0
        } else if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// The next whole message, or nil until more bytes come.
    package mutating func next() throws(FrameFailure) -> RendererMessage? {
        if let failure { throw failure }
        do throws(FrameFailure) { return try read() } catch {
            fail(error)
            throw error
        }
    }

    private mutating func fail(_ reason: FrameFailure) {
        failure = reason
        (buffer, start) = ([], 0)
    }

    private mutating func read() throws(FrameFailure) -> RendererMessage? {
        guard pendingBytes >= Self.headerLength else { return nil }
        let length = (0..<Self.headerLength).reduce(0) { $0 << 8 | Int(buffer[start + $1]) }
        guard length >= 2, length <= Self.bodyLimit else {
            throw FrameFailure("a frame of \(length) bytes is not allowed")
        }
        let bodyStart = start + Self.headerLength
        // A stranger is told by the first byte, not after four megabytes of it.
        if buffer.count > bodyStart, buffer[bodyStart] != RendererMessage.frameVersion {
            throw FrameFailure("version \(buffer[bodyStart]) of the frames is not spoken here")
        }
        guard buffer.count - bodyStart >= length else { return nil }
        var reader = ByteReader(buffer[bodyStart + 1..<bodyStart + length])
        let message = try RendererMessage(&reader)
        guard reader.isAtEnd else { throw FrameFailure("a frame has \(reader.remaining) bytes too many") }
        start = bodyStart + length
        if start == buffer.count, buffer.capacity > Self.keptCapacity { (buffer, start) = ([], 0) }
        return message
    }
}

extension RendererMessage {
    /// The message as a frame: length of what follows in four bytes, big endian, version, kind, contents. Nil if it is
    /// too long, or if it is a picture over its own limit.
    package var frame: [UInt8]? {
        if case .event(.artworkFound(_, let artwork)) = self, artwork.bytes.count > Artwork.maximumBytes {
            return nil
        }
        var writer = ByteWriter()
        writer.put(UInt32(0))
        writer.put(Self.frameVersion)
        write(to: &writer)
        let length = writer.bytes.count - FrameDecoder.headerLength
        guard length <= FrameDecoder.bodyLimit else { return nil }
        var frame = writer.bytes
        for index in 0..<FrameDecoder.headerLength {
            frame[index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
        return frame
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
        case .handOver(let token):
            writer.put(UInt8(7))
            writer.put(token)
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
        case 7: self = .handOver(token: try reader.integer())
        case let kind: throw FrameFailure("a message of kind \(kind) is unknown")
        }
    }
}
