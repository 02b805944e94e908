// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// What a process may do about itself.
extension Machine {
    /// Ends the process at once; nothing that is buffered is lost.
    package static func exit(_ code: Int32) -> Never { Glibc.exit(code) }

    /// Sets a variable of the environment. Only before any thread was started.
    package static func setEnvironment(_ name: String, _ value: String) {
        _ = unsafe g_setenv(name, value, 1)
    }

    /// The kernel kills this process when the thread that started it ends. For a child whose work is worth nothing
    /// without its parent.
    package static func dieWithParent() { glib_shim_die_with_parent() }

    package static var isRoot: Bool { geteuid() == 0 }

    package static var homeFolder: String { unsafe String(cString: g_get_home_dir()) }

    /// Seconds since 1970, for names of files; it may jump.
    package static var secondsSinceEpoch: Int64 { Int64(g_get_real_time() / 1_000_000) }

    /// Gives what the allocator keeps back to the system.
    package static func trimMemory() { _ = malloc_trim(0) }
}
