// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// What a process may do about itself.
extension Machine {
    /// Ends the process at once; nothing that is buffered is lost.
    package static func exit(_ code: Int32) -> Never { Glibc.exit(code) }

    /// Puts this program, with the same arguments and descriptors, in the place of this process: all threads are gone.
    /// Returns only if that fails.
    package static func beginAnew() {
        guard let path = programPath else { return }
        var words = unsafe Swift.CommandLine.arguments.map { unsafe strdup($0) }
        unsafe words.append(nil)
        unsafe execv(path, words)
        unsafe words.forEach { unsafe free($0) }
    }

    /// Sets a variable of the environment. Only before any thread was started.
    package static func setEnvironment(_ name: String, _ value: String) {
        _ = unsafe g_setenv(name, value, 1)
    }

    /// One heap for all threads, which saves memory where few threads allocate at a time. Only before any thread was
    /// started.
    package static func keepMemorySmall() { _ = mallopt(M_ARENA_MAX, 1) }

    /// The kernel kills this process when the thread that started it ends. For a child whose work is worth nothing
    /// without its parent.
    package static func dieWithParent() { glib_shim_die_with_parent() }

    package static var isRoot: Bool { geteuid() == 0 }

    package static var homeFolder: String { unsafe String(cString: g_get_home_dir()) }

    package static var currentFolder: String {
        let text = unsafe g_get_current_dir()!
        defer { unsafe g_free(text) }
        return unsafe String(cString: text)
    }

    /// Seconds since 1970, for names of files; it may jump.
    package static var secondsSinceEpoch: Int64 { Int64(g_get_real_time() / 1_000_000) }

    /// True if GIO has a module for TLS, which is not among its own.
    package static var hasTLS: Bool { unsafe g_tls_backend_supports_tls(g_tls_backend_get_default()) != 0 }

    /// Gives what the allocator keeps back to the system.
    package static func trimMemory() { _ = malloc_trim(0) }
}

extension Machine {
    /// True if this number is an open socket, such as one that the parent has handed down.
    package static func isSocket(_ descriptor: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
