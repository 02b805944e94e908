// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
package import GLibLoop

/// An HTTP and WebSocket client without proxies, cookies or compression. It lives on the thread that made it. Not
/// `Sendable`.
@safe package final class HTTPClient {
    /// What came back.
    package struct Answer: Sendable, Equatable {
        package var status: UInt32
        package var type: String?
        package var body: [UInt8]
    }

    /// An answer longer than the caller takes.
    package static let tooLong = Failure(domain: "http", code: 413, message: "the answer is too long")

    let pointer: UnsafeMutablePointer<SoupSession>

    package init() {
        unsafe pointer = soup_session_new()
        // Both unpack without a limit; the first is what permessage-deflate belongs to.
        unsafe soup_session_remove_feature_by_type(pointer, soup_websocket_extension_manager_get_type())
        unsafe soup_session_remove_feature_by_type(pointer, soup_content_decoder_get_type())
        unsafe soup_session_set_proxy_resolver(pointer, nil)
        unsafe soup_session_set_user_agent(pointer, "linnet")
    }

    deinit {
        unsafe soup_session_abort(pointer)
        unsafe g_object_unref(pointer)
    }

    /// Opens a WebSocket. `configure` sets its callbacks as it opens, so that no message is missed.
    package func connect(
        _ uri: String, limits: WebSocket.Limits = WebSocket.Limits(), timeout: Duration = .seconds(10),
        isolation: isolated any Actor = #isolation, configure: @escaping (WebSocket) -> Void
    ) async throws -> WebSocket {
        let message = unsafe try makeMessage(uri)
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(message)) }
        return unsafe try await asyncResult(timeout: timeout) { cancellable, callback, data in
            unsafe soup_session_websocket_connect_async(
                pointer, message, nil, nil, G_PRIORITY_DEFAULT, cancellable, callback, data)
        } finish: { session, result in
            var error: UnsafeMutablePointer<GError>?
            let session = unsafe UnsafeMutableRawPointer(session!).assumingMemoryBound(to: SoupSession.self)
            guard let connection = unsafe soup_session_websocket_connect_finish(session, result, &error)
            else {
                throw unsafe Failure(adopting: error)
            }
            defer { unsafe g_object_unref(UnsafeMutableRawPointer(connection)) }
            let socket = unsafe WebSocket(retaining: connection, limits)
            configure(socket)
            return OnThread(socket)
        }.value
    }

    /// Gets a whole answer of at most `maximum` bytes.
    package func get(
        _ uri: String, maximum: Int, timeout: Duration = .seconds(10),
        isolation: isolated any Actor = #isolation
    ) async throws -> Answer {
        let message = unsafe try makeMessage(uri)
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(message)) }
        let stream = unsafe try await asyncResult(timeout: timeout) { cancellable, callback, data in
            unsafe soup_session_send_async(
                pointer, message, G_PRIORITY_DEFAULT, cancellable, callback, data)
        } finish: { session, result in
            var error: UnsafeMutablePointer<GError>?
            let session = unsafe UnsafeMutableRawPointer(session!).assumingMemoryBound(to: SoupSession.self)
            guard let stream = unsafe soup_session_send_finish(session, result, &error) else {
                throw unsafe Failure(adopting: error)
            }
            return unsafe OnThread(stream)
        }
        defer { unsafe g_object_unref(stream.value) }
        var body: [UInt8] = []
        while true {
            let piece = unsafe try await read(stream, timeout: timeout)
            if piece.isEmpty { break }
            guard body.count + piece.count <= maximum else { throw Self.tooLong }
            body += piece
        }
        let type = unsafe soup_message_headers_get_content_type(
            soup_message_get_response_headers(message), nil)
        return unsafe Answer(
            status: soup_message_get_status(message).rawValue, type: type.map { unsafe String(cString: $0) },
            body: body)
    }

    private func read(
        _ stream: OnThread<UnsafeMutablePointer<GInputStream>>, timeout: Duration,
        isolation: isolated any Actor = #isolation
    ) async throws -> [UInt8] {
        try unsafe await asyncResult(timeout: timeout) { cancellable, callback, data in
            unsafe g_input_stream_read_bytes_async(
                stream.value, 65_536, G_PRIORITY_DEFAULT, cancellable, callback, data)
        } finish: { source, result in
            var error: UnsafeMutablePointer<GError>?
            let source = unsafe UnsafeMutableRawPointer(source!).assumingMemoryBound(to: GInputStream.self)
            guard let bytes = unsafe g_input_stream_read_bytes_finish(source, result, &error) else {
                throw unsafe Failure(adopting: error)
            }
            defer { unsafe g_bytes_unref(bytes) }
            var count: gsize = 0
            let data = unsafe g_bytes_get_data(bytes, &count)
            return unsafe Array(UnsafeRawBufferPointer(start: data, count: Int(count)))
        }
    }

    func makeMessage(_ uri: String) throws(Failure) -> OpaquePointer {
        guard let message = unsafe soup_message_new("GET", uri) else {
            throw Failure(domain: "http", code: 0, message: "not a URI of http: '\(uri)'")
        }
        return unsafe message
    }
}

/// A value on its way out of a callback to the code that awaits it, which runs on the same thread.
@safe private struct OnThread<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
