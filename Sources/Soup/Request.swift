// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup

/// What a handler may know of a request, copied out of libsoup.
package struct Request: Sendable {
    package var method: String
    /// The path as it was sent, still percent-encoded.
    package var path: String
    package var query: String?
    package var host: String?
    package var origin: String?
    /// The peer's address, without a port.
    package var remote: String?
    /// The declared length of the body, 0 for one that is sent in chunks.
    package var contentLength: Int64
    package var body: [UInt8] = []
    fileprivate var headers: [(name: String, value: String)] = []

    /// The first header of that name, whatever its case.
    package func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }

    /// True if the request asks for a WebSocket of the version that there is.
    var opensWebSocket: Bool {
        header("Upgrade")?.lowercased() == "websocket" && header("Sec-WebSocket-Version") == "13"
    }

    /// True if the client has the answer with this entity tag already.
    package func hasAnswer(tagged tag: String) -> Bool {
        guard let known = header("If-None-Match") else { return false }
        return known.split(separator: ",").contains { part in
            let text = part.trimmed
            return text == "*" || text == tag || text == "W/" + tag
        }
    }
}

extension Request {
    /// Copies what libsoup knows of the request so far.
    init(copying message: OpaquePointer) {
        let headers = unsafe soup_server_message_get_request_headers(message)
        let uri = unsafe soup_server_message_get_uri(message)
        func text(_ pointer: UnsafePointer<CChar>?) -> String? {
            unsafe pointer.map { unsafe String(cString: $0) }
        }
        let hasLength = unsafe soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CONTENT_LENGTH
        unsafe self.init(
            method: text(soup_server_message_get_method(message)) ?? "",
            path: text(g_uri_get_path(uri)) ?? "", query: text(g_uri_get_query(uri)),
            host: text(soup_message_headers_get_one(headers, "Host")),
            origin: text(soup_message_headers_get_one(headers, "Origin")),
            remote: text(soup_server_message_get_remote_host(message)),
            contentLength: hasLength ? Int64(soup_message_headers_get_content_length(headers)) : 0)
        // libsoup ends a request whose headers are larger than 64 KiB, so this is bounded.
        var iterator = SoupMessageHeadersIter()
        unsafe soup_message_headers_iter_init(&iterator, headers)
        var name: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        while unsafe soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
            unsafe self.headers.append((text(name)?.lowercased() ?? "", text(value) ?? ""))
        }
        let body = unsafe soup_server_message_get_request_body(message).pointee
        if unsafe body.length > 0, let data = unsafe body.data {
            unsafe self.body = Array(UnsafeRawBufferPointer(start: data, count: Int(body.length)))
        }
    }
}
