// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

extension HTTPClient {
    /// Links of this machine on which `address`, which counts on one link only, can be meant.
    package static func linkZones(for address: String) -> [String] { LinkZones.all(for: address, local: nil) }
}

/// The links on which this machine has an IPv6 address of the link.
enum LinkZones {
    /// The name of an interface; nil if it is gone, or for 0, which is none.
    static func name(of index: UInt32) -> String? {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard unsafe if_indextoname(index, &name) != nil else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Names of interfaces such as `eth0`, at most 32, without loopback. The one that has `address` itself comes first, or
    /// else the one that has `local`.
    static func all(for address: String, local: String?) -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        let sought = canonical(address)
        var (zones, own, near): ([String], String?, String?) = ([], nil, nil)
        var next = unsafe list
        while let entry = unsafe next, zones.count < 32 {
            unsafe next = unsafe entry.pointee.ifa_next
            guard let socket = unsafe entry.pointee.ifa_addr, let text = unsafe text(of: socket) else {
                continue
            }
            let name = unsafe String(cString: entry.pointee.ifa_name)
            let flags = unsafe entry.pointee.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0 else { continue }
            if text == sought { own = name }
            if text == local { near = name }
            if text.hasPrefix("fe80:"), !zones.contains(name) { zones.append(name) }
        }
        guard let first = own ?? near, let index = zones.firstIndex(of: first) else { return zones }
        zones.swapAt(0, index)
        return zones
    }

    /// An IPv6 address in the form that the system writes.
    private static func canonical(_ address: String) -> String {
        var binary = in6_addr()
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_pton(AF_INET6, address, &binary) == 1,
            unsafe inet_ntop(AF_INET6, &binary, &buffer, socklen_t(buffer.count)) != nil
        else { return address }
        return string(buffer)
    }

    private static func string(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 && $0 != 0x25 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
        return string(buffer)
    }
}
