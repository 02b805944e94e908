// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup

/// A free TCP port of the loopback interface, taken before it is known whether anything will be served at it: a process
/// that is confined afterwards cannot take one any more.
@safe package final class LoopbackPort: @unchecked Sendable {
    // GSocket is documented as usable from any thread, as long as only one does one thing with it.
    let socket: UnsafeMutablePointer<GSocket>
    package let number: UInt16

    /// Nil if the system gives none.
    package init?() {
        guard
            let socket = unsafe g_socket_new(
                G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, nil)
        else { return nil }
        unsafe self.socket = unsafe socket
        guard let local = unsafe g_inet_socket_address_new_from_string("127.0.0.1", 0) else { return nil }
        defer { unsafe g_object_unref(local) }
        guard unsafe g_socket_bind(socket, local, 0, nil) != 0, unsafe g_socket_listen(socket, nil) != 0,
            let taken = unsafe g_socket_get_local_address(socket, nil)
        else { return nil }
        defer { unsafe g_object_unref(taken) }
        let address = unsafe UnsafeMutableRawPointer(taken).assumingMemoryBound(to: GInetSocketAddress.self)
        number = unsafe g_inet_socket_address_get_port(address)
    }

    deinit { unsafe g_object_unref(socket) }
}
