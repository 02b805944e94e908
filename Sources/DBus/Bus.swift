// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
package import GLibLoop

/// A connection to a message bus. It, and all that is made with it, lives on the thread that made it; everything ends
/// with its last reference. Not `Sendable`.
///
/// Nothing here starts a service that does not run, and nothing waits: outcomes come in later turns of the loop.
@safe package final class Bus {
    /// Calls that may wait for their answers at one time.
    package static let maximumCalls = 256

    /// The name that the bus knows this connection by.
    package var name: String {
        unsafe g_dbus_connection_get_unique_name(pointer).map { unsafe String(cString: $0) } ?? ""
    }

    let pointer: OpaquePointer
    private let cancellable = Cancellable()
    private var closing: gulong = 0
    private var onClosed: ((String) -> Void)?
    private var exports: [guint] = []
    fileprivate var waiting = 0

    init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        unsafe closing = connectSignal(UnsafeMutableRawPointer(pointer), "closed") { [weak self] _ in
            self?.closed()
            return false
        }
    }

    deinit {
        cancellable.cancel()
        let object = unsafe UnsafeMutableRawPointer(pointer)
        unsafe g_signal_handler_disconnect(object, closing)
        for id in exports { _ = unsafe g_dbus_connection_unregister_object(pointer, id) }
        unsafe g_dbus_connection_close(pointer, nil, nil, nil)
        unsafe g_object_unref(object)
    }

    /// Where the system's bus is: what `DBUS_SYSTEM_BUS_ADDRESS` names, or the usual place.
    package static var systemAddress: String? {
        guard let text = unsafe g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, nil) else {
            return nil
        }
        defer { unsafe g_free(text) }
        return unsafe String(cString: text)
    }

    /// Calls `body` with a reason once the bus has gone.
    package func whenClosed(_ body: @escaping (String) -> Void) { onClosed = body }

    private func closed() {
        let body = onClosed
        onClosed = nil
        body?("the connection to the bus has ended")
    }

    // MARK: Calls

    /// What a call was answered with.
    package struct Reply {
        package let value: Value
        package let descriptors: ReceivedDescriptors
        /// What stands at `place` of the answer.
        package subscript(_ place: Int) -> Value? {
            guard let elements = value.elements, elements.indices.contains(place) else { return nil }
            return elements[place]
        }
    }

    /// Calls a method. `reply` is called once, unless this object is dropped before.
    package func call(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ arguments: [Value] = [],
        timeout: Duration = .seconds(5), reply: @escaping (Result<Reply, CallFailure>) -> Void
    ) {
        let isWritten =
            unsafe g_dbus_is_name(service) != 0 && g_variant_is_object_path(path) != 0
            && g_dbus_is_interface_name(interface) != 0 && g_dbus_is_member_name(method) != 0
        guard isWritten, waiting < Self.maximumCalls else {
            let failure: CallFailure = isWritten ? .tooMany : .malformed
            return EventSource.once(after: .zero) { [weak self] in if self != nil { reply(.failure(failure)) }
            }
        }
        waiting += 1
        let call = unsafe Unmanaged.passRetained(PendingCall(on: self, reply))
        let (seconds, attoseconds) = timeout.components
        let milliseconds = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        unsafe g_dbus_connection_call_with_unix_fd_list(
            pointer, service, path, interface, method, Value.tuple(arguments).makeVariant(), nil,
            G_DBUS_CALL_FLAGS_NO_AUTO_START, milliseconds, nil, cancellable.pointer,
            { connection, result, data in
                let call = unsafe Unmanaged<PendingCall>.fromOpaque(data!).takeRetainedValue()
                unsafe call.answered(OpaquePointer(connection!), result!)
            }, call.toOpaque())
    }

    // MARK: Objects of ours

    /// Offers the only interface of `xml`, an introspection document, at `path`. What others call is given to `call`,
    /// what they read to `property`.
    package func export(
        _ path: String, xml: String, call: @escaping (Invocation) -> Void,
        property: @escaping (_ name: String) -> Value? = { _ in nil }
    ) throws(Failure) {
        var error: UnsafeMutablePointer<GError>?
        guard let node = unsafe g_dbus_node_info_new_for_xml(xml, &error) else {
            throw unsafe Failure(adopting: error)
        }
        defer { unsafe g_dbus_node_info_unref(node) }
        let box = unsafe Unmanaged.passRetained(ExportedObject(call: call, property: property))
        // GDBus copies the table. It does not call the destroy notify when registration fails.
        var table = GDBusInterfaceVTable()
        unsafe table.method_call = unsafe ExportedObject.called
        unsafe table.get_property = unsafe ExportedObject.read
        let id = unsafe g_dbus_connection_register_object(
            pointer, path, node.pointee.interfaces[0], &table, box.toOpaque(),
            { unsafe Unmanaged<ExportedObject>.fromOpaque($0!).release() }, &error)
        guard id != 0 else {
            unsafe box.release()
            throw unsafe Failure(adopting: error)
        }
        exports.append(id)
    }
}

/// Why a call has no answer.
package struct CallFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name of the error on the bus, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
    package let name: String
    package let message: String

    static let tooMany = CallFailure(
        name: "org.freedesktop.DBus.Error.LimitsExceeded", message: "too many calls wait for answers")
    static let malformed = CallFailure(
        name: "org.freedesktop.DBus.Error.InvalidArgs", message: "a name is not allowed on a bus")
    static let tooLarge = CallFailure(
        name: "org.freedesktop.DBus.Error.LimitsExceeded", message: "the answer is too large")

    package init(name: String, message: String) { (self.name, self.message) = (name, message) }

    /// Takes over `error`.
    fileprivate init(adopting error: UnsafeMutablePointer<GError>?) {
        guard let error = unsafe error else {
            self.init(name: "org.freedesktop.DBus.Error.Failed", message: "no error was set")
            return
        }
        let name = unsafe g_dbus_error_get_remote_error(error)
        let local = unsafe g_dbus_error_encode_gerror(error)
        defer {
            unsafe g_free(name)
            unsafe g_free(local)
        }
        // GLib has error codes of its own for what did not come from the other side.
        let isLate =
            unsafe g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_TIMED_OUT.rawValue)) != 0
        let text =
            unsafe name.map { unsafe String(cString: $0) }
            ?? (isLate
                ? "org.freedesktop.DBus.Error.NoReply" : local.map { unsafe String(cString: $0) } ?? "")
        _ = unsafe g_dbus_error_strip_remote_error(error)
        let message = unsafe String(cString: error.pointee.message)
        unsafe g_error_free(error)
        self.init(name: text, message: String(message.prefix(400)))
    }

    package var isTimeout: Bool {
        name == "org.freedesktop.DBus.Error.NoReply" || name == "org.freedesktop.DBus.Error.Timeout"
    }
    package var description: String { message.isEmpty ? name : "\(message) (\(name))" }
}

/// A call that waits for its answer.
private final class PendingCall {
    private weak var bus: Bus?
    private let reply: (Result<Bus.Reply, CallFailure>) -> Void

    init(on bus: Bus, _ reply: @escaping (Result<Bus.Reply, CallFailure>) -> Void) {
        (self.bus, self.reply) = (bus, reply)
    }

    func answered(_ connection: OpaquePointer, _ result: OpaquePointer) {
        var error: UnsafeMutablePointer<GError>?
        var list: UnsafeMutablePointer<GUnixFDList>?
        let variant = unsafe g_dbus_connection_call_with_unix_fd_list_finish(
            connection, &list, result, &error)
        // Whatever came is closed with this, unless it is taken.
        let descriptors = unsafe ReceivedDescriptors(adopting: list)
        defer { if let variant = unsafe variant { unsafe g_variant_unref(variant) } }
        let failure = unsafe variant == nil ? CallFailure(adopting: error) : nil
        guard let bus else { return }
        bus.waiting -= 1
        if let failure { return reply(.failure(failure)) }
        guard let variant = unsafe variant, let value = unsafe Value.reading(variant) else {
            return reply(.failure(.tooLarge))
        }
        reply(.success(Bus.Reply(value: value, descriptors: descriptors)))
    }
}
