// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// What the process may know of the machine and the terminal it runs on.
package enum Machine {
    package enum Stream: Int32, Sendable {
        case input = 0
        case output = 1
        case error = 2
    }

    /// The host's name, without a domain.
    package static var hostName: String {
        let full = unsafe String(cString: g_get_host_name())
        return String(full.prefix { $0 != "." })
    }

    /// The UUID that the kernel makes at each boot: the identity of the monotonic clock.
    package static var bootIdentifier: String? {
        FileSystem.firstLine("/proc/sys/kernel/random/boot_id")
    }

    package static func environment(_ name: String) -> String? {
        unsafe g_getenv(name).map { unsafe String(cString: $0) }
    }

    /// The path of the running program.
    package static var programPath: String? {
        guard let text = unsafe g_file_read_link("/proc/self/exe", nil) else { return nil }
        defer { unsafe g_free(text) }
        return unsafe String(cString: text)
    }

    package static var processIdentifier: Int32 { getpid() }

    /// A random UUID in lower case.
    package static func makeUUID() -> String {
        let text = unsafe g_uuid_string_random()!
        defer { unsafe g_free(text) }
        return unsafe String(cString: text)
    }

    package static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) != 0 }

    /// The columns of the terminal; nil when the stream is none.
    package static func terminalWidth(_ stream: Stream) -> Int? {
        var size = winsize()
        guard unsafe ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes text at once, whatever is buffered elsewhere.
    package static func write(_ text: String, to stream: Stream) { write(Array(text.utf8), to: stream) }

    /// The same for bytes.
    package static func write(_ bytes: [UInt8], to stream: Stream) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(stream.rawValue, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Writes text if the stream takes it now: a socket whose reader does not read gets nothing. Other kinds of streams
    /// may wait.
    package static func offer(_ text: String, to stream: Stream) {
        let bytes = Array(text.utf8)
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        let sent = unsafe send(stream.rawValue, bytes, bytes.count, flags)
        if sent < 0, errno == ENOTSOCK { write(text, to: stream) }
    }

    /// Makes standard output line-buffered, so that nothing is lost when the process is killed, and the command line
    /// UTF-8 for GOption, whatever the environment says. First thing in a program.
    package static func prepareProcess() { glib_shim_start_process() }
}
