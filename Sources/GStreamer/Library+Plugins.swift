// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

extension Library {
    /// The file of the plugin of this name; nil if it is not installed.
    package static func file(ofPlugin name: String) -> String? {
        guard let plugin = unsafe gst_registry_find_plugin(gst_registry_get(), name) else { return nil }
        defer { unsafe gst_object_unref(UnsafeMutableRawPointer(plugin)) }
        return unsafe gst_plugin_get_filename(plugin).map { unsafe String(cString: $0) }
    }
}
