// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// The arguments of one signal emission; argument 0 is the emitter. Valid during the handler only.
@safe struct Arguments: ~Copyable {
    private let values: UnsafeBufferPointer<GValue>
    fileprivate init(_ values: UnsafeBufferPointer<GValue>) { unsafe self.values = unsafe values }

    func object(_ index: Int) -> UnsafeMutableRawPointer? {
        guard unsafe index < values.count else { return nil }
        return unsafe g_value_get_object(values.baseAddress! + index)
    }
}

extension Element {
    /// Connects a handler that runs on whatever thread emits the signal. Its result is what the signal returns,
    /// if that is a number. The closure lives as long as the element.
    func connect(_ signal: String, _ handler: @escaping @Sendable (borrowing Arguments) -> Int32) {
        guard unsafe g_signal_lookup(signal, gst_shim_instance_type(pointer)) != 0 else { return }
        let data = unsafe Unmanaged.passRetained(HandlerBox(handler)).toOpaque()
        let closure = unsafe g_closure_new_simple(UInt32(MemoryLayout<GClosure>.size), data)
        unsafe g_closure_add_finalize_notifier(closure, data) { data, _ in
            unsafe Unmanaged<HandlerBox>.fromOpaque(data!).release()
        }
        unsafe g_closure_set_marshal(closure) { closure, result, count, values, _, _ in
            let box = unsafe Unmanaged<HandlerBox>.fromOpaque(closure!.pointee.data).takeUnretainedValue()
            let answer = unsafe box.handler(Arguments(UnsafeBufferPointer(start: values, count: Int(count))))
            if let result = unsafe result, unsafe result.pointee.g_type == gst_shim_type_int() {
                unsafe g_value_set_int(result, answer)
            }
        }
        unsafe g_signal_connect_closure(pointer, signal, closure, 0)
    }

    /// Lets `choose` say for each stream of a set whether it is played: yes, no, or as the element likes (nil).
    package func onStreamOffered(_ choose: @escaping @Sendable (MediaStream, StreamSet) -> Bool?) {
        connect("select-stream") { arguments in
            guard let collection = unsafe arguments.object(1), let stream = unsafe arguments.object(2) else {
                return -1
            }
            unsafe gst_object_ref(collection)
            let set = unsafe StreamSet(adopting: gst_shim_collection(collection))
            guard let choice = unsafe choose(MediaStream(gst_shim_stream(stream)), set) else { return -1 }
            return choice ? 1 : 0
        }
    }

    /// Runs `body` for each element that is added anywhere inside this bin, before it starts.
    package func onElementAdded(_ body: @escaping @Sendable (Element) -> Void) {
        connect("deep-element-added") { arguments in
            guard let added = unsafe arguments.object(2) else { return 0 }
            body(unsafe Element(retaining: gst_shim_element(added)))
            return 0
        }
    }
}

private final class HandlerBox {
    let handler: @Sendable (borrowing Arguments) -> Int32
    init(_ handler: @escaping @Sendable (borrowing Arguments) -> Int32) { self.handler = handler }
}
