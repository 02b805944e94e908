// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An address and a port, as the kernel has them.
@safe package struct DatagramAddress: Sendable {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    init() {}

    /// An address in numbers, of IPv6 perhaps with its zone (`fe80::1%eth0`); nil for a name.
    package init?(_ host: String, port: UInt16) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &found) == 0, let first = unsafe found else {
            return nil
        }
        defer { unsafe freeaddrinfo(first) }
        guard let address = unsafe first.pointee.ai_addr else { return nil }
        let size = unsafe min(Int(first.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
        unsafe withUnsafeMutableBytes(of: &storage) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
        }
        length = socklen_t(size)
    }

    var family: Int32 { Int32(storage.ss_family) }

    package var port: UInt16 {
        // In the same place for both families.
        unsafe withUnsafeBytes(of: storage) {
            unsafe UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// The address without its port; one of IPv4 as IPv6 has it, so that it is the same through either socket.
    package var host: Host {
        unsafe withUnsafeBytes(of: storage) { bytes in
            if family == AF_INET {
                let number = unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
                return Host(
                    high: 0, low: 0xffff_0000_0000 | UInt64(UInt32(bigEndian: number)))
            }
            return Host(
                high: unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                low: unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
        }
    }

    /// The 128 bits of an address.
    package struct Host: Hashable, Sendable {
        package let high: UInt64
        package let low: UInt64

        package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

        /// Whether it is this machine, by the address that never leaves it.
        package var isLoopback: Bool {
            high == 0 && (low == 1 || low >> 24 == 0xffff_7f)
        }
    }
}
