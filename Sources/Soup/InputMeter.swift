// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

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
        unsafe classes.attach(self, to: stream)
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

private let classes = MeteredClasses<InputMeter, Functions>("linnet-input-meter")

private let readMetered: ReadFunction = { stream, buffer, count, error in
    let stream = unsafe UnsafeMutableRawPointer(stream!)
    let meter = unsafe classes.meter(of: stream)
    if meter?.isSpent == true {
        let status = Int32(G_IO_ERROR_WOULD_BLOCK.rawValue)
        unsafe g_set_error_literal(error, g_io_error_quark(), status, "enough for this turn")
        return -1
    }
    let read = unsafe classes.functions(stream).read(OpaquePointer(stream), buffer, count, error)
    if read > 0 { meter?.read(read) }
    return read
}

private let makeMeteredSource: SourceFunction = { stream, cancellable in
    let stream = unsafe UnsafeMutableRawPointer(stream!)
    unsafe classes.meter(of: stream)?.beginTurn()
    return unsafe classes.functions(stream).makeSource(OpaquePointer(stream), cancellable)
}

private func wrapClass(of stream: UnsafeMutableRawPointer) {
    unsafe classes.wrapClass(of: stream) { kind in
        let table = unsafe g_type_interface_peek(kind, g_pollable_input_stream_get_type())!
            .assumingMemoryBound(to: GPollableInputStreamInterface.self)
        let read = unsafe table.pointee.read_nonblocking!
        guard unsafe unsafeBitCast(read, to: UInt.self) != unsafeBitCast(readMetered, to: UInt.self) else {
            return nil
        }
        let functions = unsafe Functions(read: read, makeSource: table.pointee.create_source!)
        unsafe table.pointee.read_nonblocking = readMetered
        unsafe table.pointee.create_source = makeMeteredSource
        return functions
    }
}
