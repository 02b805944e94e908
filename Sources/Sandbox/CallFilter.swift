// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CSandbox

/// A filter of system calls for another program, in the form in which bubblewrap takes it (`--seccomp`).
package enum CallFilter {
    /// For a companion application: it starts programs, but traces none, makes no namespaces and no memory that belongs
    /// to no process. With the host's network it listens nowhere, and reaches no local sockets. Nil on a machine whose
    /// calls are not known.
    package static func forApplication(hasNetwork: Bool) -> [UInt8]? {
        var steps = [sock_filter](repeating: sock_filter(), count: Int(SANDBOX_FILTER_ROOM))
        let count = unsafe Int(sandbox_shim_application_filter(hasNetwork ? 1 : 0, &steps))
        guard count > 0 else { return nil }
        return unsafe steps[..<count].withUnsafeBytes { unsafe Array($0) }
    }
}
