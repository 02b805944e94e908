// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer
import Synchronization

extension Library {
    package static func environment(_ name: String) -> String? {
        unsafe g_getenv(name).map { unsafe String(cString: $0) }
    }

    package static func exists(_ path: String) -> Bool { unsafe g_file_test(path, G_FILE_TEST_EXISTS) != 0 }

    /// Calls `body`, on any thread, when the connection to an X server breaks, if this process has one.
    ///
    /// Xlib would end the process then. A handler that does not return is its only way out, so the thread that noticed
    /// stands for ever, and so does every one that uses the connection.
    package static func onLostX11(_ body: @escaping @Sendable () -> Void) {
        guard unsafe gst_shim_watch_x11({ _ in Library.lostX11() }) != 0 else { return }
        x11Watcher.withLock { $0 = body }
    }

    private static let x11Watcher = Mutex<(@Sendable () -> Void)?>(nil)

    private static func lostX11() -> Int32 {
        x11Watcher.withLock { watcher in
            defer { watcher = nil }
            return watcher
        }?()
        gst_shim_stand_still()
        return 0
    }
}
