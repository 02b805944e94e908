// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

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
        unsafe classes.attach(self, to: stream)
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

private let classes = MeteredClasses<OutputMeter, Functions>("linnet-output-meter")

private let writeMetered: WriteFunction = { stream, buffer, count, error in
    let stream = unsafe UnsafeMutableRawPointer(stream!)
    let written = unsafe classes.functions(stream).write(OpaquePointer(stream), buffer, count, error)
    if written > 0 {
        unsafe classes.meter(of: stream)?.wrote(UnsafeRawBufferPointer(start: buffer, count: written))
    }
    return written
}

private func wrapClass(of stream: UnsafeMutableRawPointer) {
    unsafe classes.wrapClass(of: stream) { kind in
        let table = unsafe g_type_interface_peek(kind, g_pollable_output_stream_get_type())!
            .assumingMemoryBound(to: GPollableOutputStreamInterface.self)
        let write = unsafe table.pointee.write_nonblocking!
        guard unsafe unsafeBitCast(write, to: UInt.self) != unsafeBitCast(writeMetered, to: UInt.self) else {
            return nil
        }
        unsafe table.pointee.write_nonblocking = writeMetered
        return unsafe Functions(write: write)
    }
}
