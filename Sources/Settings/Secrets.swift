// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

/// Secrets: what nobody can guess, and codes that only who knows a key can make.
package enum Secrets {
    /// So many random bytes of the kernel's.
    package static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() as UInt64) }
    }

    /// HMAC with SHA-256 (RFC 2104), 32 bytes.
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let hmac = unsafe key.withUnsafeBufferPointer {
            unsafe g_hmac_new(G_CHECKSUM_SHA256, $0.baseAddress, gsize($0.count))!
        }
        defer { unsafe g_hmac_unref(hmac) }
        unsafe message.withUnsafeBufferPointer {
            unsafe g_hmac_update(hmac, $0.baseAddress, gssize($0.count))
        }
        var code = [UInt8](repeating: 0, count: 32)
        var count = gsize(code.count)
        unsafe code.withUnsafeMutableBufferPointer {
            unsafe g_hmac_get_digest(hmac, $0.baseAddress, &count)
        }
        return code
    }
}
