// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Synchronization

/// Counts the messages of a WebSocket that the kernel has taken whole.
///
/// libsoup does not say what waits in its queue. A source of lower priority than its own fires when nothing does, but only once nothing
/// else is ready either, which on a busy loop may be long after. So the function of the stream's class that writes is wrapped, as
/// `InputMeter` wraps those that read.
@safe final class OutputMeter {
    private var tracker = FrameTracker()
    var messages: UInt64 { tracker.messages }

    /// Counts from now on, for as long as the stream lives.
    init(_ output: UnsafeMutablePointer<GOutputStream>) {
        let stream = UnsafeMutableRawPointer(output)
        unsafe wrapClass(of: stream)
        let object = unsafe stream.assumingMemoryBound(to: GObject.self)
        unsafe g_object_set_qdata_full(object, mark, Unmanaged.passRetained(self).toOpaque()) {
            unsafe Unmanaged<OutputMeter>.fromOpaque($0!).release()
        }
    }

    fileprivate static func of(_ stream: UnsafeMutableRawPointer) -> OutputMeter? {
        unsafe g_object_get_qdata(stream.assumingMemoryBound(to: GObject.self), mark).map {
            unsafe Unmanaged<OutputMeter>.fromOpaque($0).takeUnretainedValue()
        }
    }

    fileprivate func wrote(_ bytes: UnsafeRawBufferPointer) { unsafe tracker.follow(bytes) }
}

private typealias WriteFunction =
    @convention(c) (
        OpaquePointer?, UnsafeRawPointer?, gsize, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
    ) -> gssize

/// What the class of a stream does by itself.
@safe private struct Functions: @unchecked Sendable {
    let write: WriteFunction
}

private let mark = unsafe g_quark_from_string("linnet-output-meter")
private let classes = Mutex<[UInt: Functions]>([:])

private func classOf(_ stream: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(stream.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class!)
}

/// The functions that the wrappers stand for. A class that was made after its parent was wrapped has the parent's
/// wrappers.
private func functions(_ stream: UnsafeMutableRawPointer) -> Functions {
    classes.withLock { classes in
        var kind = unsafe classOf(stream)
        while true {
            if let found = classes[UInt(bitPattern: kind)] { return found }
            // The wrappers run for wrapped classes and those below them alone.
            unsafe kind = UnsafeMutableRawPointer(g_type_class_peek_parent(kind)!)
        }
    }
}

private let writeMetered: WriteFunction = { stream, buffer, count, error in
    let stream = unsafe UnsafeMutableRawPointer(stream!)
    let written = unsafe functions(stream).write(OpaquePointer(stream), buffer, count, error)
    if written > 0 {
        unsafe OutputMeter.of(stream)?.wrote(UnsafeRawBufferPointer(start: buffer, count: written))
    }
    return written
}

private func wrapClass(of stream: UnsafeMutableRawPointer) {
    let kind = unsafe classOf(stream)
    let table = unsafe g_type_interface_peek(kind, g_pollable_output_stream_get_type())!
        .assumingMemoryBound(to: GPollableOutputStreamInterface.self)
    classes.withLock { classes in
        let write = unsafe table.pointee.write_nonblocking!
        guard unsafe unsafeBitCast(write, to: UInt.self) != unsafeBitCast(writeMetered, to: UInt.self) else {
            return
        }
        unsafe classes[UInt(bitPattern: kind)] = Functions(write: write)
        unsafe table.pointee.write_nonblocking = writeMetered
    }
}
