// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CAvahi
import CGLib
import GLibLoop

/// A connection to the Avahi daemon on the thread-default context of the thread that makes it. Not `Sendable`.
@safe final class Client {
    private let poll: OpaquePointer
    private(set) var pointer: OpaquePointer?
    /// Called for each state, also from inside `connect`. It must not disconnect.
    var onState: ((AvahiClientState) -> Void)?

    init() {
        unsafe poll = avahi_glib_poll_new(g_main_context_get_thread_default(), G_PRIORITY_DEFAULT)
    }

    // The client must go before the poll that it uses.
    deinit {
        disconnect()
        unsafe avahi_glib_poll_free(poll)
    }

    /// Connects anew. It is a short synchronous call; an error text means that there is no bus.
    func connect() -> String? {
        disconnect()
        var status: Int32 = 0
        let made = unsafe avahi_client_new(
            avahi_glib_poll_get(poll), AVAHI_CLIENT_NO_FAIL,
            { client, state, data in
                let this = unsafe Unmanaged<Client>.fromOpaque(data!).takeUnretainedValue()
                // The first call comes from inside avahi_client_new.
                unsafe this.pointer = unsafe client
                this.onState?(state)
            }, Unmanaged.passUnretained(self).toOpaque(), &status)
        unsafe pointer = unsafe made
        return unsafe made == nil ? String(cString: avahi_strerror(status)) : nil
    }

    /// Frees the client, and with it its groups, browsers and resolvers.
    func disconnect() {
        if let pointer = unsafe pointer { unsafe avahi_client_free(pointer) }
        unsafe pointer = nil
    }

    /// False once the connection has ended, though the client is still to be freed.
    var isConnected: Bool {
        unsafe pointer.map { unsafe avahi_client_errno($0) != AVAHI_ERR_DISCONNECTED } ?? false
    }

    /// The last error, in words.
    var errorText: String {
        guard let pointer = unsafe pointer else { return "not connected" }
        return unsafe String(cString: avahi_strerror(avahi_client_errno(pointer)))
    }
}

/// Hands events to their receiver in a turn of the loop of their own, in order, so that it may free and start again
/// what they came from.
final class Reporter<Event> {
    private let receive: (Event) -> Void
    private var pending: [Event] = []
    private var turn: EventSource?

    init(_ receive: @escaping (Event) -> Void) { self.receive = receive }

    func report(_ event: Event) {
        pending.append(event)
        guard turn == nil else { return }
        turn = EventSource.after(.zero) { [weak self] in self?.deliver() }
    }

    private func deliver() {
        turn = nil
        let events = pending
        pending = []
        for event in events { receive(event) }
    }
}
