// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
package import GLibLoop
import Glibc

/// An open regular file that answers are made from, a piece at a time.
package final class ServedFile {
    /// The size when it was opened. A file that shrinks ends its answers early, by cutting the connection.
    package let size: Int64
    private let descriptor: Int32

    package init(path: String) throws(Failure) {
        let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw Failure(errno: errno, in: path) }
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let reason = errno == 0 ? EINVAL : errno
            _ = close(number)
            throw Failure(errno: reason, in: path)
        }
        (size, descriptor) = (Int64(status.st_size), number)
    }

    deinit { _ = close(descriptor) }

    /// At most `count` bytes; empty at the end or on an error.
    func read(at offset: Int64, count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = unsafe max(pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)), 0)
        }
    }
}

/// The writing of one file answer: the next piece is read when libsoup has written the last one, so a peer that
/// reads slowly costs one piece of memory.
@safe final class FileAnswer {
    private let file: ServedFile
    private let message: OpaquePointer
    private var offset: Int64 = 0
    private var end: Int64
    // Large enough for a quick disk, small enough for many answers at once.
    private let piece = 131_072

    init(_ file: ServedFile, _ message: OpaquePointer) {
        (self.file, end) = (file, file.size)
        unsafe self.message = unsafe message
    }

    /// Sets the status and headers, and the first piece.
    func begin() {
        let headers = unsafe soup_server_message_get_response_headers(message)
        unsafe soup_message_headers_replace(headers, "Accept-Ranges", "bytes")
        var status: UInt32 = 200
        if let range = requestedRange() {
            guard range.lowerBound < file.size else {
                unsafe soup_message_headers_replace(headers, "Content-Range", "bytes */\(file.size)")
                unsafe soup_message_headers_set_content_length(headers, 0)
                unsafe soup_server_message_set_status(message, 416, nil)
                return
            }
            (offset, end) = (range.lowerBound, min(range.upperBound, file.size))
            status = 206
            unsafe soup_message_headers_set_content_range(
                headers, goffset(offset), goffset(end - 1), goffset(file.size))
        }
        unsafe soup_server_message_set_status(message, status, nil)
        unsafe soup_message_headers_set_content_length(headers, goffset(end - offset))
        guard unsafe String(cString: soup_server_message_get_method(message)) != "HEAD", offset < end else {
            return
        }
        let body = unsafe soup_server_message_get_response_body(message)
        unsafe soup_message_body_set_accumulate(body, 0)
        // The closure holds this object for as long as the message lives.
        unsafe connectSignal(UnsafeMutableRawPointer(message), "wrote-chunk") { _ in
            self.append()
            return false
        }
        append()
    }

    private func append() {
        guard offset < end else { return }
        let bytes = file.read(at: offset, count: Int(min(Int64(piece), end - offset)))
        guard !bytes.isEmpty else { return unsafe shut(message) }
        offset += Int64(bytes.count)
        let body = unsafe soup_server_message_get_response_body(message)
        let copy = unsafe g_bytes_new(bytes, gsize(bytes.count))
        unsafe soup_message_body_append_bytes(body, copy)
        unsafe g_bytes_unref(copy)
        unsafe soup_server_message_unpause(message)
    }

    /// The one range that was asked for, or nil for the whole: several at once may be answered that way.
    private func requestedRange() -> Range<Int64>? {
        let headers = unsafe soup_server_message_get_request_headers(message)
        guard
            let text = unsafe soup_message_headers_get_one(headers, "Range").map({
                unsafe String(cString: $0)
            }), text.hasPrefix("bytes=")
        else { return nil }
        let parts = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (first, last) = (parts[0].trimmed, parts[1].trimmed)
        if first.isEmpty {
            guard let suffix = Int64(last), suffix >= 0 else { return nil }
            return max(file.size - suffix, 0)..<max(file.size, 0)
        }
        guard let start = Int64(first), start >= 0 else { return nil }
        guard !last.isEmpty else { return start..<max(start, file.size) }
        guard let final = Int64(last), final >= start else { return nil }
        return start..<(final == .max ? final : final + 1)
    }
}

extension Substring {
    /// Without the blanks around it.
    var trimmed: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
