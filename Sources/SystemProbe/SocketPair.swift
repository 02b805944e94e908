// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Two connected stream sockets, one of them for a child process.
package final class SocketPair {
    private let own: Int32
    /// Inherited by children until the pair goes.
    package let other: Int32

    package init() throws(ProbeFailure) {
        var pair: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw ProbeFailure("socketpair", errno)
        }
        (own, other) = (pair[0], pair[1])
        _ = fcntl(own, F_SETFD, FD_CLOEXEC)
    }

    deinit {
        close(own)
        close(other)
    }

    /// Waits until the other end has written something.
    package func awaitBytes(seconds: Int) throws(ProbeFailure) {
        var item = pollfd(fd: own, events: Int16(POLLIN), revents: 0)
        let result = unsafe poll(&item, 1, Int32(seconds * 1_000))
        guard result > 0 else {
            throw ProbeFailure("nothing came within \(seconds) s", result < 0 ? errno : 0)
        }
    }
}
