// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A UDP socket. Whoever receives waits, so it needs a thread of its own; `end()` lets that go, from any other.
package final class DatagramSocket: Sendable {
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let call: String
        package let status: Int32
        package var description: String { unsafe "\(call): \(String(cString: strerror(status)))" }
    }

    private let descriptor: Int32
    /// The socket's own port.
    package let port: UInt16
    private let stamps = Mutex(ArrivalStamps())

    /// A socket that anybody can send to, at a port of all addresses of this machine; 0 is any that is free. Of both
    /// families where the system has both.
    package init(at port: UInt16) throws(Failure) {
        var failure = Failure(call: "socket", status: EAFNOSUPPORT)
        for host in ["::", "0.0.0.0"] {
            guard let address = DatagramAddress(host, port: port) else { continue }
            do throws(Failure) {
                (descriptor, self.port) = try Self.open(address.family) { descriptor throws(Failure) in
                    if address.family == AF_INET6 {
                        var no: Int32 = 0
                        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, 4)
                    }
                    guard unsafe address.withPointer({ unsafe bind(descriptor, $0, $1) }) == 0 else {
                        throw Failure(call: "bind", status: errno)
                    }
                }
                return
            } catch {
                failure = error
                // Only a machine without IPv6 is asked for the other.
                guard failure.status == EAFNOSUPPORT || failure.status == EADDRNOTAVAIL else { break }
            }
        }
        throw failure
    }

    /// A socket that sends to one peer and receives from it alone.
    package init(to host: String, port: UInt16) throws(Failure) {
        guard let address = DatagramAddress(host, port: port) else {
            throw Failure(call: "address", status: EINVAL)
        }
        (descriptor, self.port) = try Self.open(address.family) { descriptor throws(Failure) in
            guard unsafe address.withPointer({ unsafe connect(descriptor, $0, $1) }) == 0 else {
                throw Failure(call: "connect", status: errno)
            }
        }
    }

    deinit { _ = close(descriptor) }

    private static func open(
        _ family: Int32, _ prepare: (Int32) throws(Failure) -> Void
    ) throws(Failure) -> (Int32, UInt16) {
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", status: errno) }
        // A kernel that does not stamp what arrives leaves it to the reader.
        var yes: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, ArrivalStamps.option, &yes, 4)
        do throws(Failure) {
            try prepare(descriptor)
        } catch {
            _ = close(descriptor)
            throw error
        }
        var own = DatagramAddress()
        _ = unsafe own.withMutablePointer { unsafe getsockname(descriptor, $0, $1) }
        return (descriptor, own.port)
    }

    /// What came, and when.
    package struct Received: Sendable {
        /// How many bytes it has; at most as many as there was room for.
        package let count: Int
        /// When it arrived, by the kernel's word where it has one: how long the thread took to wake is not in it. Nanoseconds of
        /// the monotonic clock.
        package let time: Int64
        package let sender: DatagramAddress
    }

    package enum Outcome: Sendable {
        case received(Received)
        /// Nothing is there.
        case nothing
        /// The system told of an earlier message that did not arrive, or has no memory at the moment.
        case failed(Int32)
        /// By `end()`.
        case ended
    }

    /// Takes one message, whose further bytes are cut off; waits for it if `waits`.
    package func receive(into buffer: inout [UInt8], waits: Bool) -> Outcome {
        var sender = DatagramAddress()
        let flags = waits ? 0 : Int32(MSG_DONTWAIT)
        var control: ArrivalStamps.Room = (0, 0, 0, 0, 0, 0, 0, 0)
        var controlSize = 0
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe sender.withMutablePointer { name, size in
                unsafe withUnsafeMutableBytes(of: &control) { room in
                    unsafe take(into: bytes, from: name, size, beside: room, &controlSize, flags: flags)
                }
            }
        }
        let stamp = count < 0 ? nil : ArrivalStamps.stamp(in: control, size: controlSize)
        let time = stamps.withLock { $0.time(of: stamp) }
        if count < 0 {
            let status = errno
            return status == EAGAIN || status == EINTR ? .nothing : .failed(status)
        }
        // A message of no bytes has a sender; the end has none.
        if count == 0, sender.length == 0 { return .ended }
        return .received(Received(count: count, time: time, sender: sender))
    }

    private func take(
        into bytes: UnsafeMutableRawBufferPointer, from name: UnsafeMutablePointer<sockaddr>,
        _ size: UnsafeMutablePointer<socklen_t>, beside room: UnsafeMutableRawBufferPointer,
        _ roomSize: inout Int, flags: Int32
    ) -> Int {
        var piece = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        var message = unsafe msghdr()
        unsafe message.msg_name = UnsafeMutableRawPointer(name)
        unsafe message.msg_namelen = size.pointee
        unsafe message.msg_control = room.baseAddress
        unsafe message.msg_controllen = room.count
        let count = unsafe withUnsafeMutablePointer(to: &piece) { piece in
            unsafe message.msg_iov = piece
            unsafe message.msg_iovlen = 1
            return unsafe recvmsg(descriptor, &message, flags)
        }
        unsafe size.pointee = message.msg_namelen
        roomSize = unsafe message.msg_controllen
        return count
    }

    /// Sends to the peer that the socket is connected to. False if the system did not take it.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(
                descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        } == bytes.count
    }

    /// Sends the first `count` bytes to somebody. False if the system did not take it.
    @discardableResult
    package func send(_ bytes: [UInt8], count: Int, to address: DatagramAddress) -> Bool {
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        return unsafe bytes.withUnsafeBytes { bytes in
            unsafe address.withPointer {
                unsafe sendto(descriptor, bytes.baseAddress, min(count, bytes.count), flags, $0, $1)
            }
        } == count
    }

    /// Waits until there is something to receive or the time has come, in nanoseconds of the monotonic clock; up to a
    /// millisecond later than that.
    package func wait(until time: Int64) {
        let left = time - MonotonicTime.now()
        guard left > 0 else { return }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, Int32(min((left + 999_999) / 1_000_000, 60_000)))
    }

    /// Has whoever waits in the socket, now or later, see its end.
    package func end() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}

extension DatagramAddress {
    func withPointer<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        unsafe withUnsafePointer(to: storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    mutating func withMutablePointer<Value>(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Value
    ) -> Value {
        var size = length
        defer { length = size }
        return unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &size) }
        }
    }
}
