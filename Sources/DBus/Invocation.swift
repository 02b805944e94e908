// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

/// A call of one of our objects, which is answered once, now or later. One that is dropped without an answer is refused.
@safe package final class Invocation {
    /// The unique name of the connection that calls.
    package let sender: String
    package let method: String
    package let arguments: [Value]
    private var pointer: OpaquePointer?

    fileprivate init(
        adopting pointer: OpaquePointer, _ sender: String, _ method: String, _ arguments: [Value]
    ) {
        unsafe self.pointer = unsafe pointer
        (self.sender, self.method, self.arguments) = (sender, method, arguments)
    }

    deinit { refuse("org.freedesktop.DBus.Error.Failed", "no answer") }

    /// Answers with what the method returns.
    package func answer(_ values: Value...) {
        guard let pointer = unsafe pointer else { return }
        unsafe self.pointer = nil
        unsafe g_dbus_method_invocation_return_value(pointer, Value.tuple(values).makeVariant())
    }

    /// Refuses with an error of the bus.
    package func refuse(_ name: String, _ message: String) {
        guard let pointer = unsafe pointer else { return }
        unsafe self.pointer = nil
        unsafe g_dbus_method_invocation_return_dbus_error(pointer, name, message)
    }
}

/// What stands behind a path that others call.
final class ExportedObject {
    private let call: (Invocation) -> Void
    private let property: (String) -> Value?

    init(call: @escaping (Invocation) -> Void, property: @escaping (String) -> Value?) {
        (self.call, self.property) = (call, property)
    }

    static let called: GDBusInterfaceMethodCallFunc = {
        _, sender, _, _, method, arguments, invocation, data in
        let object = unsafe Unmanaged<ExportedObject>.fromOpaque(data!).takeUnretainedValue()
        let values = unsafe Value.reading(arguments!)?.elements
        let call = unsafe Invocation(
            adopting: invocation!, sender.map { unsafe String(cString: $0) } ?? "", String(cString: method!),
            values ?? [])
        guard values != nil else {
            return call.refuse("org.freedesktop.DBus.Error.LimitsExceeded", "the call is too large")
        }
        object.call(call)
    }

    static let read: GDBusInterfaceGetPropertyFunc = { _, _, _, _, name, error, data in
        let object = unsafe Unmanaged<ExportedObject>.fromOpaque(data!).takeUnretainedValue()
        if let value = unsafe object.property(String(cString: name!)) { return unsafe value.makeVariant() }
        unsafe g_set_error_literal(
            error, g_io_error_quark(), Int32(G_IO_ERROR_NOT_FOUND.rawValue), "no value")
        return nil
    }
}
