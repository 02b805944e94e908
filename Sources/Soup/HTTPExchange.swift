// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
import GLibLoop

/// One header line.
package struct HTTPHeader: Sendable, Equatable {
    package var name: String
    package var value: String
    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// The head of an answer.
package struct HTTPAnswer: Sendable, Equatable {
    package var status: Int32
    package var headers: [HTTPHeader]
    /// Bytes of the body that follow, where the server says so and they come unpacked.
    package var contentLength: Int64?
    /// Where a redirection leads, as a whole address.
    package var location: String?
    /// The request as it was sent.
    package var requestHeaders: [HTTPHeader]

    package init(
        status: Int32, headers: [HTTPHeader] = [], contentLength: Int64? = nil, location: String? = nil,
        requestHeaders: [HTTPHeader] = []
    ) {
        (self.status, self.headers, self.contentLength) = (status, headers, contentLength)
        (self.location, self.requestHeaders) = (location, requestHeaders)
    }

    /// The first value of a header; names do not depend on case.
    package subscript(name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}

/// Why an exchange came to nothing.
package struct HTTPFault: Error, Sendable, Equatable {
    package enum Kind: Sendable { case address, resolving, connecting, secrecy, silence, broken }
    package var kind: Kind
    /// A few words for people, without the address.
    package var reason: String
    package init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }
}

/// One GET, whose body comes a piece at a time, when asked for. It lives on the thread that made it. Not `Sendable`.
@safe package final class HTTPExchange {
    package enum Event: Sendable {
        case answered(HTTPAnswer)
        /// What came of a `read`; never empty.
        case bytes([UInt8])
        case ended
        /// Nothing follows.
        case failed(HTTPFault)
    }

    /// Header lines that are looked at.
    private static let headerLimit = 100
    private static let valueLimit = 8192

    private let session: HTTPSession
    private let cookies: CookieShelf
    private let message: OpaquePointer
    private let cancellable: UnsafeMutablePointer<GCancellable>
    private let silence: Duration
    private var stream: UnsafeMutablePointer<GInputStream>?
    private var deadline: EventSource?
    private var isLate = false
    private var onEvent: ((Event) -> Void)?

    /// Sends the request. `silence` is how long nothing may come while a piece is awaited. `acceptsAnyCertificate`: also one
    /// that proves nothing. Nil if `uri` is no address of HTTP.
    package init?(
        _ uri: String, headers: [HTTPHeader], userAgent: String, cookies: CookieShelf,
        acceptsAnyCertificate: Bool = false, answerWithin limit: Duration, silence: Duration,
        in session: HTTPSession,
        onEvent: @escaping (Event) -> Void
    ) {
        guard let message = unsafe soup_message_new("GET", uri) else { return nil }
        (self.session, self.cookies, self.silence, self.onEvent) = (session, cookies, silence, onEvent)
        unsafe self.message = unsafe message
        unsafe cancellable = g_cancellable_new()
        unsafe soup_message_add_flags(message, SOUP_MESSAGE_NO_REDIRECT)
        if acceptsAnyCertificate { unsafe HTTPSession.acceptAnyCertificate(of: message) }
        let lines = unsafe soup_message_get_request_headers(message)
        unsafe soup_message_headers_replace(lines, "User-Agent", userAgent)
        for header in headers { unsafe soup_message_headers_replace(lines, header.name, header.value) }
        if let address = unsafe soup_message_get_uri(message), let text = unsafe cookies.text(for: address) {
            unsafe soup_message_headers_append(lines, "Cookie", text)
        }
        send(within: limit)
    }

    deinit {
        deadline?.destroy()
        if let stream = unsafe stream { unsafe g_object_unref(stream) }
        unsafe g_object_unref(cancellable)
        unsafe g_object_unref(UnsafeMutableRawPointer(message))
    }

    /// Ends the exchange; no more is heard of it.
    package func cancel() {
        onEvent = nil
        deadline?.destroy()
        deadline = nil
        unsafe g_cancellable_cancel(cancellable)
    }

    /// Asks for the next piece of the body, of at most `maximum` bytes. Once the answer has come, one at a time.
    package func read(_ maximum: Int) {
        guard let stream = unsafe stream, onEvent != nil else { return }
        watchSilence(silence)
        unsafe g_input_stream_read_bytes_async(
            stream, gsize(maximum), G_PRIORITY_DEFAULT, cancellable,
            { source, result, data in
                let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(data!).takeRetainedValue()
                var error: UnsafeMutablePointer<GError>?
                let source = unsafe UnsafeMutableRawPointer(source!).assumingMemoryBound(
                    to: GInputStream.self)
                guard let bytes = unsafe g_input_stream_read_bytes_finish(source, result, &error) else {
                    return exchange.fail(unsafe Failure(adopting: error))
                }
                defer { unsafe g_bytes_unref(bytes) }
                var count: gsize = 0
                let start = unsafe g_bytes_get_data(bytes, &count)
                exchange.tell(
                    count == 0
                        ? .ended
                        : .bytes(unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(count)))))
            }, Unmanaged.passRetained(self).toOpaque())
    }

    private func send(within limit: Duration) {
        watchSilence(limit)
        unsafe soup_session_send_async(
            session.pointer, message, G_PRIORITY_DEFAULT, cancellable,
            { source, result, data in
                let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(data!).takeRetainedValue()
                var error: UnsafeMutablePointer<GError>?
                let source = unsafe UnsafeMutableRawPointer(source!).assumingMemoryBound(to: SoupSession.self)
                guard let stream = unsafe soup_session_send_finish(source, result, &error) else {
                    return exchange.fail(unsafe Failure(adopting: error))
                }
                unsafe exchange.stream = unsafe stream
                unsafe exchange.cookies.take(from: exchange.message)
                exchange.tell(.answered(exchange.answer()))
            }, Unmanaged.passRetained(self).toOpaque())
    }

    private func watchSilence(_ limit: Duration) {
        deadline = EventSource.after(limit) { [weak self] in
            self?.isLate = true
            if let cancellable = unsafe self?.cancellable { unsafe g_cancellable_cancel(cancellable) }
        }
    }

    private func tell(_ event: Event) {
        deadline?.destroy()
        deadline = nil
        onEvent?(event)
    }

    private func fail(_ failure: Failure) {
        tell(.failed(fault(failure)))
        onEvent = nil
    }

    private func fault(_ failure: Failure) -> HTTPFault {
        if isLate { return HTTPFault(.silence, "no answer in time") }
        let wrongs = unsafe soup_message_get_tls_peer_certificate_errors(message)
        if wrongs.rawValue != 0 { return HTTPFault(.secrecy, Self.reason(wrongs)) }
        switch failure.domain {
        case "g-tls-error-quark": return HTTPFault(.secrecy, failure.message)
        case "g-resolver-error-quark": return HTTPFault(.resolving, "the server's name is not known")
        case "g-io-error-quark":
            let kinds: [(GIOErrorEnum, HTTPFault.Kind)] = [
                (G_IO_ERROR_CONNECTION_REFUSED, .connecting), (G_IO_ERROR_HOST_UNREACHABLE, .connecting),
                (G_IO_ERROR_NETWORK_UNREACHABLE, .connecting), (G_IO_ERROR_HOST_NOT_FOUND, .resolving),
                (G_IO_ERROR_TIMED_OUT, .silence),
            ]
            let code = failure.code
            let kind = kinds.first { Int32(bitPattern: $0.0.rawValue) == code }?.1 ?? .broken
            return HTTPFault(kind, failure.message)
        default: return HTTPFault(.broken, failure.message)
        }
    }

    private static func reason(_ wrongs: GTlsCertificateFlags) -> String {
        let names: [(GTlsCertificateFlags, String)] = [
            (G_TLS_CERTIFICATE_EXPIRED, "expired"), (G_TLS_CERTIFICATE_NOT_ACTIVATED, "not valid yet"),
            (G_TLS_CERTIFICATE_REVOKED, "revoked"), (G_TLS_CERTIFICATE_BAD_IDENTITY, "for another name"),
            (G_TLS_CERTIFICATE_UNKNOWN_CA, "signed by nobody who is trusted"),
            (G_TLS_CERTIFICATE_INSECURE, "of a kind that is not safe"),
        ]
        let found = names.filter { $0.0.rawValue & wrongs.rawValue != 0 }.map(\.1)
        return found.isEmpty ? "not valid" : found.joined(separator: ", ")
    }

    // MARK: The answer

    private func answer() -> HTTPAnswer {
        let lines = unsafe soup_message_get_response_headers(message)
        var answer = unsafe HTTPAnswer(
            status: Int32(bitPattern: soup_message_get_status(message).rawValue),
            headers: Self.headers(lines),
            requestHeaders: Self.headers(soup_message_get_request_headers(message)))
        let isPacked = answer["Content-Encoding"].map { $0.lowercased() != "identity" } ?? false
        if !isPacked, unsafe soup_message_headers_get_encoding(lines) == SOUP_ENCODING_CONTENT_LENGTH {
            answer.contentLength = unsafe Int64(soup_message_headers_get_content_length(lines))
        }
        if let location = answer["Location"], let base = unsafe soup_message_get_uri(message),
            let target = unsafe g_uri_parse_relative(base, location, Self.uriFlags, nil)
        {
            defer { unsafe g_uri_unref(target) }
            if let text = unsafe g_uri_to_string(target) {
                answer.location = unsafe String(cString: text)
                unsafe g_free(text)
            }
        }
        return answer
    }

    /// Addresses as libsoup reads them (`SOUP_HTTP_URI_FLAGS`), and those that people write with blanks.
    private static let uriFlags = GUriFlags(
        rawValue: RequestTap.uriFlags.rawValue | G_URI_FLAGS_PARSE_RELAXED.rawValue)

    private static func headers(_ lines: OpaquePointer?) -> [HTTPHeader] {
        guard let lines = unsafe lines else { return [] }
        var iterator = SoupMessageHeadersIter()
        unsafe soup_message_headers_iter_init(&iterator, lines)
        var headers: [HTTPHeader] = []
        var (name, value): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
        while headers.count < headerLimit,
            unsafe soup_message_headers_iter_next(&iterator, &name, &value) != 0
        {
            guard let name = unsafe name, let value = unsafe value else { continue }
            headers.append(
                unsafe HTTPHeader(String(cString: name), String(String(cString: value).prefix(valueLimit))))
        }
        return headers
    }
}
