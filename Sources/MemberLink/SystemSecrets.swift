// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupLink
import Settings

/// Random bytes of the kernel's, codes of GLib's.
package final class SystemSecrets: GroupSecrets {
    package init() {}
    package func random() -> [UInt8] { Secrets.random(32) }
    package func code(of message: [UInt8], key: [UInt8]) -> [UInt8] { Secrets.code(of: message, key: key) }
}
