// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Synchronization

/// What classes of streams do by themselves whose functions were wrapped, and the meters of their streams. One for each kind of
/// wrapper; GIO has no place to count at.
@safe struct MeteredClasses<Meter: AnyObject, Functions: Sendable>: ~Copyable, Sendable {
    private let originals = Mutex<[UInt: Functions]>([:])
    private let mark: GQuark

    /// `name`: that under which a stream keeps its meter.
    init(_ name: StaticString) { mark = unsafe g_quark_from_string(name.utf8Start) }

    /// Has the stream keep the meter for as long as it lives.
    func attach(_ meter: Meter, to stream: UnsafeMutableRawPointer) {
        let object = unsafe stream.assumingMemoryBound(to: GObject.self)
        unsafe g_object_set_qdata_full(object, mark, Unmanaged.passRetained(meter).toOpaque()) {
            unsafe Unmanaged<AnyObject>.fromOpaque($0!).release()
        }
    }

    func meter(of stream: UnsafeMutableRawPointer) -> Meter? {
        unsafe g_object_get_qdata(stream.assumingMemoryBound(to: GObject.self), mark).map {
            unsafe Unmanaged<Meter>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// The functions that the wrappers stand for. A class that was made after its parent was wrapped has the parent's
    /// wrappers.
    func functions(_ stream: UnsafeMutableRawPointer) -> Functions {
        originals.withLock { originals in
            var kind = unsafe Self.classOf(stream)
            while true {
                if let found = originals[UInt(bitPattern: kind)] { return found }
                // The wrappers run for wrapped classes and those below them alone.
                unsafe kind = UnsafeMutableRawPointer(g_type_class_peek_parent(kind)!)
            }
        }
    }

    /// Has `wrap` put the wrappers into the stream's class and return what stood there; nil if they stand there already. One at a
    /// time.
    func wrapClass(of stream: UnsafeMutableRawPointer, _ wrap: (UnsafeMutableRawPointer) -> Functions?) {
        let kind = unsafe Self.classOf(stream)
        originals.withLock { originals in
            if let functions = unsafe wrap(kind) { originals[UInt(bitPattern: kind)] = functions }
        }
    }

    private static func classOf(_ stream: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(stream.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class!)
    }
}
