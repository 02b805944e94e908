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
    }

    fileprivate func beginTurn() { left = Self.share }
}

/// What the class of a stream does by itself.
@safe private struct Functions: @unchecked Sendable {
    typealias Read =
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, gsize,
            UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
        ) -> gssize
    typealias MakeSource =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<GCancellable>?
        ) -> UnsafeMutablePointer<GSource>?
    let read: Read
    let makeSource: MakeSource
}

private let mark = unsafe g_quark_from_string("linnet-input-meter")
private let tables = Mutex<[UInt: Functions]>([:])

private func classOf(_ stream: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(stream.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class!)
}

private func functionsOf(_ kind: UnsafeMutableRawPointer) -> UnsafeMutablePointer<
    GPollableInputStreamInterface
>? {
    unsafe g_type_interface_peek(kind, g_pollable_input_stream_get_type())?
        .assumingMemoryBound(to: GPollableInputStreamInterface.self)
}

/// A class that has no functions of its own shares its parent's table, or has a copy of it that may have been made after
/// the parent's was wrapped. So tables are looked for, not classes, and then the parents' tables.
private func functions(_ stream: UnsafeMutableRawPointer) -> Functions? {
    var kind: UnsafeMutableRawPointer? = unsafe classOf(stream)
    while let current = unsafe kind, let table = unsafe functionsOf(current) {
        let key = UInt(bitPattern: table)
        if let found = tables.withLock({ $0[key] }) { return found }
        unsafe kind = g_type_class_peek_parent(current)
    }
    return nil
}

private func wrapClass(of stream: UnsafeMutableRawPointer) {
    guard let table = unsafe functionsOf(classOf(stream)) else { return }
    let key = UInt(bitPattern: table)
    tables.withLock { tables in
        guard tables[key] == nil, let read = unsafe table.pointee.read_nonblocking,
            let makeSource = unsafe table.pointee.create_source
        else { return }
        // A copy of a wrapped table is wrapped.
        guard unsafe address(of: read) != address(of: meteredRead) else { return }
        tables[key] = unsafe Functions(read: read, makeSource: makeSource)
        unsafe table.pointee.read_nonblocking = meteredRead
        unsafe table.pointee.create_source = meteredSource
    }
}

private func address(of function: Functions.Read) -> UInt { unsafe unsafeBitCast(function, to: UInt.self) }

private let meteredRead: Functions.Read = { stream, buffer, count, error in
    guard let stream = unsafe UnsafeMutableRawPointer(stream) else { return -1 }
    let meter = unsafe InputMeter.of(stream)
    guard meter?.isSpent != true, let functions = unsafe functions(stream) else {
        let status = Int32(G_IO_ERROR_WOULD_BLOCK.rawValue)
        unsafe g_set_error_literal(error, g_io_error_quark(), status, "enough for this turn")
        return -1
    }
    let read = unsafe functions.read(OpaquePointer(stream), buffer, count, error)
    if read > 0 { meter?.read(read) }
    return read
}

private let meteredSource: Functions.MakeSource = { stream, cancellable in
    guard let stream = unsafe UnsafeMutableRawPointer(stream) else { return nil }
    unsafe InputMeter.of(stream)?.beginTurn()
    return unsafe functions(stream)?.makeSource(OpaquePointer(stream), cancellable)
}
