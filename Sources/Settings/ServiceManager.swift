// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

/// systemd's readiness protocol: one datagram a state, no library.
package enum ServiceManager {
    /// The service answers requests.
    @discardableResult
    package static func ready() -> Bool { notify("READY=1") }

    /// The service is on its way down.
    @discardableResult
    package static func stopping() -> Bool { notify("STOPPING=1") }

    /// The service is alive; due at least every `watchdogInterval`.
    @discardableResult
    package static func watchdog() -> Bool { notify("WATCHDOG=1") }

    /// One line about the service for `systemctl status`.
    @discardableResult
    package static func status(_ text: String) -> Bool {
        notify("STATUS=" + String(text.map { $0.isNewline ? " " : $0 }))
    }

    /// Half of the time after which the service manager would restart a silent service; nil if it does not watch.
    package static var watchdogInterval: Duration? {
        if let process = Machine.environment("WATCHDOG_PID"), process != String(Machine.processIdentifier) {
            return nil
        }
        guard let text = Machine.environment("WATCHDOG_USEC"), let time = Int64(text), time > 0 else {
            return nil
        }
        return .microseconds(time / 2)
    }

    /// Sends `state`. False when nobody asked for it.
    @discardableResult
    package static func notify(_ state: String) -> Bool {
        guard let path = Machine.environment("NOTIFY_SOCKET"), !path.isEmpty else { return false }
        let abstract = path.hasPrefix("@")
        let name = abstract ? String(path.dropFirst()) : path
        let address = unsafe g_unix_socket_address_new_with_type(
            name, Int32(name.utf8.count),
            abstract ? G_UNIX_SOCKET_ADDRESS_ABSTRACT : G_UNIX_SOCKET_ADDRESS_PATH)
        defer { unsafe g_object_unref(address) }
        guard
            let socket = unsafe g_socket_new(
                G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_DEFAULT, nil)
        else { return false }
        defer { unsafe g_object_unref(socket) }
        return unsafe g_socket_send_to(socket, address, state, gsize(state.utf8.count), nil, nil) >= 0
    }
}
