// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Sends entries to the journal in its native protocol, one datagram each, and waits for nothing: a journal that does not
/// read must not hold up the one who logs. GLib's writer and systemd's library would wait.
///
/// The protocol is on <https://systemd.io/JOURNAL_NATIVE_PROTOCOL>.
@safe package final class JournalSocket: Sendable {
    package typealias Field = (key: String, value: [UInt8])

    static let shared = JournalSocket()

    private static let path = "/run/systemd/journal/socket"
    /// A longer value is cut: with all of its fields an entry stays below the smallest send buffer.
    package static let longestValue = 16_384
    /// The most bytes of an entry; further fields are left out.
    package static let longestEntry = 65_536

    private let descriptor = socket(
        AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    /// Entries that a full journal did not take since the last that it took.
    private let dropped = Mutex(0)

    /// False if there is no journal. An entry that the journal has no room for is dropped, and told with the next.
    func send(_ fields: [Field]) -> Bool {
        guard descriptor >= 0 else { return false }
        let missed = dropped.withLock { count in
            defer { count = 0 }
            return count
        }
        let note: [Field] = missed > 0 ? [("X_DROPPED", Array(String(missed).utf8))] : []
        let status = send(Self.entry(note + fields))
        switch status {
        case 0: return true
        case EAGAIN, ENOBUFS, EMSGSIZE:
            dropped.withLock { $0 += missed + 1 }
            return true
        default: return false
        }
    }

    package static func entry(_ fields: [Field]) -> [UInt8] {
        var entry: [UInt8] = []
        for (key, value) in fields {
            let value = value.prefix(longestValue)
            guard entry.count + key.utf8.count + value.count + 10 <= longestEntry else { continue }
            entry += key.utf8
            if value.contains(10) {
                entry.append(10)
                entry += (0..<8).map { UInt8(value.count >> (8 * $0) & 255) }
            } else {
                entry.append(UInt8(ascii: "="))
            }
            entry += value
            entry.append(10)
        }
        return entry
    }

    /// The error, or 0.
    private func send(_ entry: [UInt8]) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Self.path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let sent = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(
                    descriptor, entry, entry.count, Int32(MSG_NOSIGNAL), address, size)
            }
        }
        return sent < 0 ? errno : 0
    }
}
