// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup

/// A whole answer.
package struct Response {
    package enum Body {
        case bytes([UInt8])
        /// A file, or the range of it that was asked for, read as the peer takes it.
        case file(ServedFile)
    }

    package var status: UInt32
    package var type: String
    package var body: Body
    package var headers: [String: String]

    package init(_ status: UInt32, _ type: String, _ body: [UInt8], headers: [String: String] = [:]) {
        (self.status, self.type, self.body, self.headers) = (status, type, .bytes(body), headers)
    }

    /// Serves a file with status 200, 206 or 416, as the request's range asks.
    package init(_ file: ServedFile, type: String, headers: [String: String] = [:]) {
        (self.status, self.type, self.body, self.headers) = (200, type, .file(file), headers)
    }

    /// For who comes to a WebSocket's address without one, with a browser or curl.
    static var upgradeRequired: Response {
        text(
            426, "This is the address of a WebSocket, version 13: open it with a WebSocket client.",
            headers: ["Upgrade": "websocket", "Sec-WebSocket-Version": "13"])
    }

    static func text(_ status: UInt32, _ text: String, headers: [String: String] = [:]) -> Response {
        Response(status, "text/plain", Array((text + "\n").utf8), headers: headers)
    }
}

extension Response {
    /// Makes this the answer to a message whose handler is running.
    func answer(_ message: OpaquePointer) {
        let headers = unsafe soup_server_message_get_response_headers(message)
        for (name, value) in self.headers where isFit(value) {
            unsafe soup_message_headers_replace(headers, name, value)
        }
        let type = isFit(type) ? type : "application/octet-stream"
        switch body {
        case .bytes(let bytes):
            unsafe soup_server_message_set_status(message, status, nil)
            unsafe soup_server_message_set_response(
                message, type, SOUP_MEMORY_COPY, bytes, gsize(bytes.count))
        case .file(let file):
            unsafe soup_message_headers_replace(headers, "Content-Type", type)
            unsafe FileAnswer(file, message).begin()
        }
    }

    /// A type or name may come out of a media file; a line break in it would become a header of its own.
    private func isFit(_ value: String) -> Bool { value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } }
}
