// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Synchronization

/// Counts what is read from a WebSocket's stream, and ends a turn of reading.
///
/// libsoup reads for as long as something has come, so a peer that sends faster than its messages are handled would
/// have the loop for itself. GIO has no place to say "enough for now", so the two functions of the stream's class that
/// matter are wrapped: once the turn's share is read, the stream says that it would block; the source that libsoup
/// then makes fires at once, after everybody else had a turn.
@safe final class InputMeter {
    /// Bytes that may be read in one turn.
    static let share = 65_536

    private var left = share
    /// All bytes that were read.
    private(set) var total: UInt64 = 0
    /// Called after each read, inside of it.
    var onRead: (() -> Void)?

    /// Counts from now on, for as long as the stream lives.
    init(_ input: UnsafeMutablePointer<GInputStream>) {
        let stream = UnsafeMutableRawPointer(input)
        unsafe wrapClass(of: stream)
        let object = unsafe stream.assumingMemoryBound(to: GObject.self)
        unsafe g_object_set_qdata_full(object, mark, Unmanaged.passRetained(self).toOpaque()) {
            unsafe Unmanaged<InputMeter>.fromOpaque($0!).release()
        }
    }

    fileprivate static func of(_ stream: UnsafeMutableRawPointer) -> InputMeter? {
        unsafe g_object_get_qdata(stream.assumingMemoryBound(to: GObject.self), mark).map {
            unsafe Unmanaged<InputMeter>.fromOpaque($0).takeUnretainedValue()
        }
    }

    fileprivate var isSpent: Bool { left <= 0 }

    fileprivate func read(_ count: Int) {
        left -= count
        total += UInt64(count)
        onRead?()
    }

    fileprivate func beginTurn() { left = Self.share }
}

/// What the class of a stream does by itself.
@safe private struct Functions: @unchecked Sendable {
    let read: ReadFunction
    let makeSource: SourceFunction
}

private typealias ReadFunction =
    @convention(c) (
        OpaquePointer?, UnsafeMutableRawPointer?, gsize, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
    ) -> gssize
private typealias SourceFunction =
    @convention(c) (
        OpaquePointer?, UnsafeMutablePointer<GCancellable>?
    ) -> UnsafeMutablePointer<GSource>?

private let mark = unsafe g_quark_from_string("linnet-input-meter")
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

private let readMetered: ReadFunction = { stream, buffer, count, error in
    let stream = unsafe UnsafeMutableRawPointer(stream!)
    let meter = unsafe InputMeter.of(stream)
    if meter?.isSpent == true {
        let status = Int32(G_IO_ERROR_WOULD_BLOCK.rawValue)
        unsafe g_set_error_literal(error, g_io_error_quark(), status, "enough for this turn")
        return -1
    }
    let read = unsafe functions(stream).read(OpaquePointer(stream), buffer, count, error)
    if read > 0 { meter?.read(read) }
    return read
}

private let makeMeteredSource: SourceFunction = { stream, cancellable in
    let stream = unsafe UnsafeMutableRawPointer(stream!)
    unsafe InputMeter.of(stream)?.beginTurn()
    return unsafe functions(stream).makeSource(OpaquePointer(stream), cancellable)
}

private func wrapClass(of stream: UnsafeMutableRawPointer) {
    let kind = unsafe classOf(stream)
    let table = unsafe g_type_interface_peek(kind, g_pollable_input_stream_get_type())!
        .assumingMemoryBound(to: GPollableInputStreamInterface.self)
    classes.withLock { classes in
        let read = unsafe table.pointee.read_nonblocking!
        guard unsafe unsafeBitCast(read, to: UInt.self) != unsafeBitCast(readMetered, to: UInt.self) else {
            return
        }
        unsafe classes[UInt(bitPattern: kind)] = Functions(
            read: read, makeSource: table.pointee.create_source!)
        unsafe table.pointee.read_nonblocking = readMetered
        unsafe table.pointee.create_source = makeMeteredSource
    }
}
