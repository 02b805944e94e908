// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// A stream of bytes to another process over a connected socket, or from one over a pipe, without ever blocking the loop. It lives on the
/// thread that made it. Not `Sendable`.
///
/// Both directions are bounded: what is sent waits in a queue of at most `capacity` bytes, and what is received is
/// handed on at once, in pieces of at most 64 KiB, or left to the kernel while `isReading` is false.
package final class ByteLink {
    /// Bytes have come.
    package var onReceive: (([UInt8]) -> Void)?
    /// A descriptor has come, before the bytes that it was sent with. Without this, and beyond eight at a time, the kernel
    /// closes what comes.
    package var onDescriptor: ((SharedDescriptor) -> Void)?
    /// The queue of sent bytes has become empty after it was not.
    package var onDrained: (() -> Void)?
    /// The other side has gone, or an error ended the link. Called once, never after `close()`.
    package var onClosed: (() -> Void)?

    private let descriptor: Int32
    private let capacity: Int
    private var reading: EventSource?
    private var writing: EventSource?
    private var chunks: [(bytes: [UInt8], passed: SharedDescriptor?)] = []
    /// How much of the first chunk the kernel has taken.
    private var taken = 0
    package private(set) var queued = 0
    package private(set) var isOpen = true

    /// Takes over a connected stream socket. `capacity` bounds the bytes that wait to be sent.
    package init(_ descriptor: consuming Descriptor, capacity: Int = 1 << 20) {
        self.descriptor = descriptor.take()
        self.capacity = capacity
        let flags = fcntl(self.descriptor, F_GETFL)
        _ = fcntl(self.descriptor, F_SETFL, flags | O_NONBLOCK)
        // A child of ours must not inherit it.
        _ = fcntl(self.descriptor, F_SETFD, FD_CLOEXEC)
        isReading = true
        watchInput()
    }

    /// Makes a connected pair and keeps one end; `handOver` gives the other to a child process.
    package convenience init(
        capacity: Int = 1 << 20, handOver: (consuming Descriptor) throws -> Void
    ) throws {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
            throw Failure(errno: errno, in: "socketpair")
        }
        self.init(Descriptor(adopting: pair[0]), capacity: capacity)
        try handOver(Descriptor(adopting: pair[1]))
    }

    /// Connects to who listens at `path`, a local socket, which is there at once or not at all.
    package convenience init(connectingTo path: String, capacity: Int = 1 << 20) throws(Failure) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Descriptor(adopting: socket(AF_UNIX, kind, 0))
        guard descriptor.number >= 0 else { throw Failure(errno: errno, in: "socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8) + [0]
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count <= room else { throw Failure(errno: ENAMETOOLONG, in: "connect") }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let status = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Failure(errno: errno, in: "connect") }
        self.init(descriptor, capacity: capacity)
    }

    /// Makes a pipe and reads it; `handOver` gives the end for writing to a child process.
    package static func pipe(handOver: (consuming Descriptor) throws -> Void) throws -> ByteLink {
        var pair: [Int32] = [-1, -1]
        guard unsafe glib_shim_pipe(&pair) == 0 else { throw Failure(errno: errno, in: "pipe") }
        let link = ByteLink(Descriptor(adopting: pair[0]), capacity: 0)
        try handOver(Descriptor(adopting: pair[1]))
        return link
    }

    deinit { close() }

    /// False leaves what comes to the kernel, and so holds the other side back.
    package var isReading: Bool {
        didSet { watchInput() }
    }

    /// Queues `bytes`. False if they do not fit, or the link is closed: then nothing of them was taken.
    package func send(_ bytes: [UInt8]) -> Bool { send(bytes, passing: nil) }

    /// The same; a descriptor goes with the first byte, over a local socket only. It is closed here once it was sent.
    package func send(_ bytes: [UInt8], passing descriptor: SharedDescriptor?) -> Bool {
        guard isOpen, bytes.count <= capacity - queued else { return false }
        guard !bytes.isEmpty else { return true }
        chunks.append((bytes, descriptor))
        queued += bytes.count
        if writing == nil { flush() }
        return true
    }

    /// Lets the other side run at once, where it was put behind this thread: the kernel takes it that who writes to a
    /// socket is about to wait, and has the reader wait for that on the writer's processor, however much else is idle.
    package func letReaderRun() {
        if isOpen { sched_yield() }
    }

    /// Ends the link; what is still queued is dropped.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        reading?.destroy()
        writing?.destroy()
        (reading, writing) = (nil, nil)
        (chunks, queued, taken) = ([], 0, 0)
        _ = Glibc.close(descriptor)
    }

    private func watchInput() {
        guard isOpen, isReading else {
            reading?.destroy()
            reading = nil
            return
        }
        guard reading == nil else { return }
        reading = EventSource.descriptor(descriptor, .readable) { [unowned self] in receive() }
    }

    private func receive() {
        var count = 0
        var passed = [Int32](repeating: -1, count: Int(GLIB_SHIM_DESCRIPTORS))
        var passedCount: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
            if onDescriptor == nil {
                count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
            } else {
                count = unsafe glib_shim_receive_descriptors(
                    descriptor, buffer.baseAddress, buffer.count, &passed, &passedCount)
            }
            initialized = max(count, 0)
        }
        for number in passed.prefix(Int(passedCount)) {
            onDescriptor?(SharedDescriptor(Descriptor(adopting: number)))
        }
        if count > 0 { return onReceive?(bytes) ?? () }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        end()
    }

    /// Hands the kernel what it takes, and watches for more room while something is left.
    private func flush() {
        while let chunk = chunks.first {
            let count = unsafe chunk.bytes.withUnsafeBytes { bytes in
                if let passed = chunk.passed, taken == 0 {
                    return unsafe glib_shim_send_descriptor(
                        descriptor, bytes.baseAddress!, bytes.count, passed.number)
                }
                return unsafe Glibc.send(
                    descriptor, bytes.baseAddress! + taken, bytes.count - taken, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                // The reading side reports the end, after what is still to be read.
                return drop()
            }
            (taken, queued) = (taken + count, queued - count)
            guard taken == chunk.bytes.count else { continue }
            chunks.removeFirst()
            taken = 0
        }
        if chunks.isEmpty {
            guard writing != nil else { return }
            writing?.destroy()
            writing = nil
            onDrained?()
        } else if writing == nil {
            writing = EventSource.descriptor(descriptor, .writable) { [unowned self] in flush() }
        }
    }

    private func drop() {
        writing?.destroy()
        writing = nil
        (chunks, queued, taken) = ([], 0, 0)
        if reading == nil { end() }
    }

    private func end() {
        guard isOpen else { return }
        close()
        onClosed?()
    }
}
