// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
import GLibLoop

/// Which requests and WebSockets are open, and until when a request may take. libsoup itself has neither a limit on
/// connections nor a time limit.
@safe final class ConnectionLedger {
    private var deadlines: [UnsafeMutableRawPointer: EventSource?] = unsafe [:]
    private var addresses: [UnsafeMutableRawPointer: String] = unsafe [:]
    private var counts: [String: Int] = [:]
    /// The sockets of connections, each with a reference of ours, until they are closed.
    private var sockets: [UnsafeMutableRawPointer: UnsafeMutablePointer<GSocket>] = unsafe [:]
    private var ending: [UnsafeMutablePointer<GSocket>] = unsafe []
    private var sweep: EventSource?
    /// How many connections are open.
    var count: Int { unsafe deadlines.count }

    /// How many connections of that peer are open; none of the loopback interface are counted.
    func count(of address: String?) -> Int { address.flatMap { counts[$0] } ?? 0 }

    // What is still alive must not call back into a ledger that is gone.
    deinit {
        unsafe (Array(sockets.values) + ending).forEach { unsafe g_object_unref($0) }
        unsafe deadlines.keys.forEach {
            unsafe g_object_weak_unref(
                $0.assumingMemoryBound(to: GObject.self), objectIsGone,
                Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// Counts `object`, a connection of the peer at `address`, until it is finalised.
    func add(_ object: UnsafeMutableRawPointer, from address: String?) {
        unsafe deadlines.updateValue(nil, forKey: object)
        if let address, !isLoopback(address) {
            unsafe addresses[object] = address
            counts[address, default: 0] += 1
        }
        unsafe g_object_weak_ref(
            object.assumingMemoryBound(to: GObject.self), objectIsGone,
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// libsoup 3.2 forgets to give back its first reference to a socket that it accepts, 340 bytes for each connection.
    func watchSocket(of message: UnsafeMutableRawPointer) {
        guard let socket = unsafe soup_server_message_get_socket(OpaquePointer(message)),
            unsafe sockets[message] == nil
        else { return }
        unsafe g_object_ref(socket)
        unsafe sockets[message] = socket
    }

    /// Gives back what libsoup forgot, once nobody can use the socket any more: it is closed, neither a message nor a
    /// stream holds it (a connection's two streams hold one reference each), and one reference is left beside ours.
    private func sweepSockets() {
        sweep = nil
        unsafe ending.removeAll { socket in
            guard unsafe g_socket_is_closed(socket) != 0 else { return false }
            let count = unsafe UnsafeMutableRawPointer(socket).assumingMemoryBound(to: GObject.self).pointee
                .ref_count
            guard count <= 2 else { return false }
            if count == 2 { unsafe g_object_unref(socket) }
            unsafe g_object_unref(socket)
            return true
        }
    }

    /// Cuts the connection of a message that is still there after `time`, in place of an earlier deadline. Nil
    /// lifts the deadline.
    func limit(_ message: UnsafeMutableRawPointer, to time: Duration?) {
        guard let earlier = unsafe deadlines[message] else { return }
        earlier?.destroy()
        // Not by subscript, which takes a nil for a removal.
        unsafe deadlines.updateValue(
            time.map { time in EventSource.after(time) { unsafe shut(OpaquePointer(message)) } },
            forKey: message)
    }

    fileprivate func forget(_ object: UnsafeMutableRawPointer) {
        let deadline = unsafe deadlines.removeValue(forKey: object)
        deadline??.destroy()
        if let socket = unsafe sockets.removeValue(forKey: object) { unsafe ending.append(socket) }
        if unsafe !ending.isEmpty, sweep == nil {
            sweep = EventSource.after(.seconds(1)) { [unowned self] in sweepSockets() }
        }
        guard let address = unsafe addresses.removeValue(forKey: object) else { return }
        let left = (counts[address] ?? 1) - 1
        counts[address] = left > 0 ? left : nil
    }
}

private func isLoopback(_ address: String) -> Bool {
    address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
}

private let objectIsGone: GWeakNotify = { ledger, object in
    let ledger = unsafe Unmanaged<ConnectionLedger>.fromOpaque(ledger!).takeUnretainedValue()
    unsafe ledger.forget(UnsafeMutableRawPointer(object!))
}

/// Ends the connection under a message at once.
func shut(_ message: OpaquePointer) {
    if let socket = unsafe soup_server_message_get_socket(message) {
        unsafe g_socket_shutdown(socket, 1, 1, nil)
    }
}
