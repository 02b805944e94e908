// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

/// Follows who owns a name on the bus, beginning with the present owner, until it is dropped.
@safe package final class NameWatch {
    private let id: guint
    // What is watched on must not end before the watch.
    private let bus: Bus

    /// `changed` gets the unique name of the owner, or nil.
    package init(_ bus: Bus, _ name: String, _ changed: @escaping (_ owner: String?) -> Void) {
        self.bus = bus
        unsafe id = g_bus_watch_name_on_connection(
            bus.pointer, name, G_BUS_NAME_WATCHER_FLAGS_NONE,
            { _, _, owner, data in
                unsafe Box.call(data, owner.map { unsafe String(cString: $0) })
            }, { _, _, data in unsafe Box.call(data, nil) },
            Unmanaged.passRetained(Box(changed)).toOpaque(),
            { unsafe Unmanaged<Box>.fromOpaque($0!).release() })
    }

    deinit { g_bus_unwatch_name(id) }

    private final class Box {
        private let body: (String?) -> Void
        init(_ body: @escaping (String?) -> Void) { self.body = body }
        static func call(_ data: gpointer?, _ owner: String?) {
            unsafe Unmanaged<Box>.fromOpaque(data!).takeUnretainedValue().body(owner)
        }
    }
}

/// Signals of one sender, until it is dropped. Signals larger than ``Value/Bounds`` allow are passed over.
@safe package final class SignalSubscription {
    private let id: guint
    private let bus: Bus

    /// `sender` is a unique name: a well-known one could be anybody's at the moment of the signal. Nil as `path`: signals of
    /// every object.
    package init(
        _ bus: Bus, sender: String, path: String? = nil, interface: String, member: String,
        _ received: @escaping (_ path: String, _ arguments: [Value]) -> Void
    ) {
        self.bus = bus
        unsafe id = g_dbus_connection_signal_subscribe(
            bus.pointer, sender, interface, member, path, nil, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, path, _, _, arguments, data in
                let box = unsafe Unmanaged<Box>.fromOpaque(data!).takeUnretainedValue()
                guard let values = unsafe Value.reading(arguments!)?.elements else { return }
                unsafe box.body(String(cString: path!), values)
            }, Unmanaged.passRetained(Box(received)).toOpaque(),
            { unsafe Unmanaged<Box>.fromOpaque($0!).release() })
    }

    deinit { unsafe g_dbus_connection_signal_unsubscribe(bus.pointer, id) }

    private final class Box {
        let body: (String, [Value]) -> Void
        init(_ body: @escaping (String, [Value]) -> Void) { self.body = body }
    }
}
