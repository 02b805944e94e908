// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A peer that speaks bytes, right or wrong ones. Its calls block, so a test makes them outside a loop.
final class RawPeer: Sendable {
    private let socket: Int32

    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer {
            _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4)
        }
        // No test waits for ever.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        _ = unsafe setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let socket = socket
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe connect(
                socket, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        if result != 0 { throw Refused(number: errno) }
    }

    struct Refused: Error { let number: Int32 }

    deinit { _ = close(socket) }

    func send(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress! + offset, $0.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            offset += count
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// What comes next; empty at the end, nil on a reset or when nothing comes.
    func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(socket, &bytes, bytes.count, 0)
        return count >= 0 ? Array(bytes[..<count]) : nil
    }

    /// Everything until the connection ends.
    func receiveAll() -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = receive(), !bytes.isEmpty { all += bytes }
        return all
    }

    func receiveText() -> String { String(decoding: receiveAll(), as: UTF8.self) }

    /// Headers up to and with the empty line; anything behind them is lost to the test.
    func receiveHeaders() -> String {
        var text = ""
        while !text.contains("\r\n\r\n"), let bytes = receive(), !bytes.isEmpty {
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }

    func endSending() { _ = shutdown(socket, Int32(SHUT_WR)) }

    /// Opens a WebSocket at `path`; the answer's headers.
    func upgrade(_ path: String, extra: String = "") -> String {
        send(
            """
            GET \(path) HTTP/1.1\r
            Host: 127.0.0.1\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            \(extra)\r\n
            """)
        return receiveHeaders()
    }

    /// One frame, masked with zeros. `first` holds FIN, reserved bits and the opcode.
    static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [first]
        switch payload.count {
        case ..<126: frame.append(0x80 | UInt8(payload.count))
        case ..<65_536: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default: frame += [0x80 | 127] + (0..<8).reversed().map { UInt8(payload.count >> (8 * $0) & 255) }
        }
        return frame + [0, 0, 0, 0] + payload
    }
}

/// A port of the loopback interface where connections are accepted by the kernel and nobody ever answers.
final class SilentListener: Sendable {
    private let socket: Int32
    let port: UInt16

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listen(socket, 8) == 0 else { throw RawPeer.Refused(number: errno) }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        unsafe withUnsafeMutablePointer(to: &address) {
            _ = unsafe getsockname(
                socket, UnsafeMutableRawPointer($0).assumingMemoryBound(to: sockaddr.self), &length)
        }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { _ = close(socket) }
}

/// How many descriptors of this process are a server's end of a connection to its port.
func heldConnections(port: UInt16) -> Int {
    (0..<1024).count { descriptor in
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var isListening: Int32 = 0
        var size = socklen_t(4)
        guard
            unsafe getsockopt(Int32(descriptor), SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0,
            isListening == 0
        else { return false }
        return unsafe withUnsafeMutablePointer(to: &address) {
            let generic = unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: sockaddr.self)
            guard unsafe getsockname(Int32(descriptor), generic, &length) == 0 else { return false }
            // The port stands at the same place for both families.
            let internet = unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: sockaddr_in.self)
            let isInternet = unsafe [AF_INET, AF_INET6].contains(Int32($0.pointee.ss_family))
            return unsafe isInternet && UInt16(bigEndian: internet.pointee.sin_port) == port
        }
    }
}
