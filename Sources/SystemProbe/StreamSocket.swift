// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A connected stream socket. Every call blocks, at most as long as it says.
package final class StreamSocket {
    private let descriptor: Int32

    /// Connects to an address in numbers. A small `receiveBuffer` (bytes) makes a peer that takes little.
    package init(host: String, port: UInt16, receiveBuffer: Int32? = nil) throws(ProbeFailure) {
        let isLong = host.contains(":")
        descriptor = socket(
            isLong ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer { unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4) }
        let result = isLong ? Self.connect6(descriptor, host, port) : Self.connect4(descriptor, host, port)
        guard result == 0 else {
            let status = result < 0 ? errno : 0
            close(descriptor)
            throw ProbeFailure("connecting to \(host):\(port)", status)
        }
        var one: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func connect4(_ descriptor: Int32, _ host: String, _ port: UInt16) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return 1 }
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func connect6(_ descriptor: Int32, _ host: String, _ port: UInt16) -> Int32 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        guard unsafe inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else { return 1 }
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }

    /// Connects to a path in the file system.
    package init(path: String) throws(ProbeFailure) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw ProbeFailure("the path \(path) is too long", 0)
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let status = errno
            close(descriptor)
            throw ProbeFailure("connecting to \(path)", status)
        }
    }

    deinit { close(descriptor) }

    package func write(_ text: String) throws(ProbeFailure) { try write(Array(text.utf8)) }

    package func write(_ bytes: [UInt8]) throws(ProbeFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw ProbeFailure("sending", errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends nothing more; the other direction stays open.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// What comes within `milliseconds`: nil if nothing did, empty at the end of the stream.
    package func read(milliseconds: Int) -> [UInt8]? {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&poller, 1, Int32(milliseconds)) == 1 else { return nil }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
        return count > 0 ? Array(chunk[..<count]) : []
    }

    /// Throws away what has come.
    package func discard() {
        while let bytes = read(milliseconds: 0), !bytes.isEmpty {}
    }

    /// Sends an HTTP request and reads the answer to its end. Nil without a status of 200.
    package static func post(
        host: String, port: UInt16, path: String, headers: [String], body: String, milliseconds: Int = 5_000
    ) throws(ProbeFailure) -> String? {
        let socket = try StreamSocket(host: host, port: port)
        let lines =
            headers + ["Host: \(host):\(port)", "Content-Length: \(body.utf8.count)", "Connection: close"]
        try socket.write("POST \(path) HTTP/1.1\r\n\(lines.joined(separator: "\r\n"))\r\n\r\n\(body)")
        var answer: [UInt8] = []
        while let bytes = socket.read(milliseconds: milliseconds), !bytes.isEmpty, answer.count < 1 << 20 {
            answer += bytes
        }
        let text = String(decoding: answer, as: UTF8.self)
        return text.hasPrefix("HTTP/1.1 200") || text.hasPrefix("HTTP/1.0 200") ? text : nil
    }
}
