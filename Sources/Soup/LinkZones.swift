// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// The links on which this machine has an IPv6 address of the link.
enum LinkZones {
    /// Names of interfaces such as `eth0`, at most 32; the one that has `address` comes first. Not loopback.
    static func all(preferring address: String?) -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var (zones, preferred): ([String], String?) = ([], nil)
        var next = unsafe list
        while let entry = unsafe next, zones.count < 32 {
            unsafe next = unsafe entry.pointee.ifa_next
            guard let socket = unsafe entry.pointee.ifa_addr, let text = unsafe text(of: socket) else {
                continue
            }
            let name = unsafe String(cString: entry.pointee.ifa_name)
            let flags = unsafe entry.pointee.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0 else { continue }
            if text == address { preferred = name }
            if text.hasPrefix("fe80:"), !zones.contains(name) { zones.append(name) }
        }
        guard let preferred, let index = zones.firstIndex(of: preferred) else { return zones }
        zones.swapAt(0, index)
        return zones
    }

    /// An address as text, without its zone; nil if it is none of IP.
    private static func text(of socket: UnsafeMutablePointer<sockaddr>) -> String? {
        let size: Int
        switch unsafe Int32(socket.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            unsafe getnameinfo(
                socket, socklen_t(size), &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        return String(
            decoding: buffer.prefix { $0 != 0 && $0 != 0x25 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
