// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import LoopTestKit
import Soup
import Testing

@Suite(.timeLimit(.minutes(1))) final class FileTests: Sendable {
    private let path = "/tmp/linnet-soup-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    private let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }

    init() { write(content) }

    deinit { _ = unsafe unlink(path) }

    private func write(_ bytes: [UInt8]) {
        guard let file = unsafe fopen(path, "w") else { return }
        unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
    }

    private func serve(in here: isolated OnLoop) throws -> UInt16 {
        let server = Server()
        let file = try ServedFile(path: path)
        server.handle("/file") { _ in Response(file, type: "audio/flac") }
        here.keep(server)
        return try server.listen(port: 0, loopbackOnly: true)
    }

    private func ask(_ port: UInt16, _ method: String = "GET", range: String? = nil) throws -> (
        String, [UInt8]
    ) {
        let peer = try RawPeer(port: port)
        let header = range.map { "Range: \($0)\r\n" } ?? ""
        peer.send("\(method) /file HTTP/1.1\r\nHost: x\r\n\(header)\r\n")
        let all = peer.receiveAll()
        let end = all.indices.first { all[$0...].starts(with: [13, 10, 13, 10]) } ?? all.count
        return (String(decoding: all[..<end], as: UTF8.self), Array(all[min(end + 4, all.count)...]))
    }

    @Test func `a file comes whole`() async throws {
        let port = try await OnLoop.serving { try self.serve(in: $0) }
        let (headers, body) = try ask(port.value)
        #expect(headers.hasPrefix("HTTP/1.1 200 OK"))
        #expect(headers.contains("Content-Type: audio/flac"))
        #expect(headers.contains("Accept-Ranges: bytes"))
        #expect(body == content)
    }

    @Test func `who is served a file counts as a connection all the while`() async throws {
        // More than the kernel keeps for a peer that does not read on.
        write([UInt8](repeating: 7, count: 24 << 20))
        let port = try await OnLoop.serving { here in
            var limits = Server.Limits()
            limits.connections = 1
            let server = Server(limits: limits)
            let file = try ServedFile(path: self.path)
            server.handle("/file") { _ in Response(file, type: "audio/flac") }
            here.keep(server)
            return try server.listen(port: 0, loopbackOnly: true)
        }
        let first = try RawPeer(port: port.value)
        first.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(first.receive()?.starts(with: Array("HTTP/1.1 200".utf8)) == true)
        let second = try RawPeer(port: port.value)
        second.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(second.receive()?.isEmpty != false)
    }

    @Test(arguments: [
        ("bytes=0-0", 0, 1), ("bytes=299999-", 299_999, 300_000), ("bytes=100-200", 100, 201),
        ("bytes=-5", 299_995, 300_000), ("bytes=-999999", 0, 300_000),
        ("bytes=140000-280000", 140_000, 280_001),
        ("bytes=1000-9223372036854775807", 1000, 300_000),
    ]) func `a range comes as it was asked for`(range: String, start: Int, end: Int) async throws {
        let port = try await OnLoop.serving { try self.serve(in: $0) }
        let (headers, body) = try ask(port.value, range: range)
        #expect(headers.hasPrefix("HTTP/1.1 206 "))
        #expect(headers.contains("Content-Range: bytes \(start)-\(end - 1)/300000"))
        #expect(body == Array(content[start..<end]))
    }

    @Test(arguments: ["bytes=300000-", "bytes=999999999999-", "bytes=-0"])
    func `a range outside the file is refused`(range: String) async throws {
        let port = try await OnLoop.serving { try self.serve(in: $0) }
        let (headers, body) = try ask(port.value, range: range)
        #expect(headers.hasPrefix("HTTP/1.1 416 "))
        #expect(headers.contains("Content-Range: bytes */300000"))
        #expect(body.isEmpty)
    }

    @Test(arguments: ["bytes=5-2", "bytes=a-b", "seconds=0-1", "bytes=0-1,5-6", "bytes=-", "bytes=--5"])
    func `a range that is none is ignored`(range: String) async throws {
        let port = try await OnLoop.serving { try self.serve(in: $0) }
        let (headers, body) = try ask(port.value, range: range)
        #expect(headers.hasPrefix("HTTP/1.1 200 "))
        #expect(body.count == content.count)
    }

    @Test func `HEAD tells the length of a file`() async throws {
        let port = try await OnLoop.serving { try self.serve(in: $0) }
        let (headers, body) = try ask(port.value, "HEAD")
        #expect(headers.hasPrefix("HTTP/1.1 200 "))
        #expect(headers.contains("Content-Length: 300000"))
        #expect(body.isEmpty)
    }

    @Test func `a file that has shrunk ends early, with the connection`() async throws {
        let port = try await OnLoop.serving { try self.serve(in: $0) }
        write(Array(content[..<100_000]))
        let (headers, body) = try ask(port.value)
        #expect(headers.contains("Content-Length: 300000"))
        #expect(body.count <= 100_000)
    }

    @Test func `an empty file is an empty answer`() async throws {
        write([])
        let port = try await OnLoop.serving { try self.serve(in: $0) }
        let (headers, body) = try ask(port.value)
        #expect(headers.contains("Content-Length: 0"))
        #expect(body.isEmpty)
    }

    @Test func `only a regular file is served`() {
        #expect(throws: Failure.self) { try ServedFile(path: "/tmp") }
        #expect(throws: Failure.self) { try ServedFile(path: "/dev/zero") }
        #expect(throws: Failure.self) { try ServedFile(path: "/no/such/file") }
    }
}

extension OnLoop {
    /// A value, with the loop that must live as long as it is used.
    struct Held<Value: Sendable>: Sendable {
        let value: Value
        let here: OnLoop
    }

    static func serving<Value: Sendable>(
        _ body: @Sendable (isolated OnLoop) throws -> Value
    ) async throws -> Held<Value> {
        let here = OnLoop()
        return try await Held(value: here.run { try body($0) }, here: here)
    }
}
