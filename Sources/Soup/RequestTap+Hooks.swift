// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
import Synchronization

extension RequestTap {
    /// Hooks into the signals of every session and message of this process, for good.
    static func install() {
        // A signal can be looked up once its class is there.
        let (session, message) = (soup_session_get_type(), soup_message_get_type())
        unsafe g_type_class_ref(session)
        unsafe g_type_class_ref(message)
        unsafe g_signal_add_emission_hook(
            g_signal_lookup("request-queued", session), 0,
            { _, count, values, _ in
                unsafe RequestTap.shared.begun(
                    RequestTap.object(1, of: values, count: count),
                    of: RequestTap.object(0, of: values, count: count))
                return 1
            }, nil, nil)
        unsafe g_signal_add_emission_hook(
            g_signal_lookup("request-unqueued", session), 0,
            { _, count, values, _ in
                unsafe RequestTap.shared.ended(RequestTap.object(1, of: values, count: count))
                return 1
            }, nil, nil)
        unsafe g_signal_add_emission_hook(
            g_signal_lookup("starting", message), 0,
            { _, count, values, _ in
                unsafe RequestTap.shared.starting(RequestTap.object(0, of: values, count: count))
                return 1
            }, nil, nil)
    }

    static func object(
        _ index: UInt32, of values: UnsafePointer<GValue>?, count: guint
    ) -> OpaquePointer? {
        guard let values = unsafe values, index < count else { return nil }
        return unsafe OpaquePointer(g_value_get_object(values + Int(index)))
    }

    /// A message entered a session's queue.
    private func begun(_ message: OpaquePointer?, of session: OpaquePointer?) {
        guard let message = unsafe message, let session = unsafe session else { return }
        let headers = unsafe soup_message_get_request_headers(message)
        guard let agent = unsafe soup_message_headers_get_one(headers, "User-Agent"),
            let number = unsafe Self.number(of: String(cString: agent))
        else { return }
        let address = unsafe Self.address(of: message)
        let isFile = unsafe Self.isFile(message)
        let (line, standIn) = state.withLock { state -> (Line?, String?) in
            guard var entry = state.entries[number] else { return (nil, nil) }
            state.messages[UInt(bitPattern: message)] = number
            entry.activity.inFlight += 1
            entry.activity.changed = Int64(g_get_monotonic_time()) * 1000
            var standIn: String?
            if isFile, (entry.failures[address] ?? 0) > Self.patience, entry.skippedInRow < Self.skipLimit {
                standIn = state.standIn
                if standIn != nil {
                    entry.failures[address] = nil
                    entry.skippedInRow += 1
                    entry.activity.skipped += 1
                }
            }
            state.entries[number] = entry
            return (entry.line, standIn)
        }
        guard let line else { return unsafe soup_message_headers_remove(headers, "User-Agent") }
        unsafe soup_message_headers_replace(headers, "User-Agent", line.userAgent)
        let limit = UInt32(clamping: line.answerLimit.components.seconds)
        let owner = unsafe UnsafeMutableRawPointer(session).assumingMemoryBound(to: SoupSession.self)
        if unsafe soup_session_get_timeout(owner) != limit { unsafe soup_session_set_timeout(owner, limit) }
        if unsafe soup_session_get_proxy_resolver(owner) != HTTPSession.proxies {
            unsafe soup_session_set_proxy_resolver(owner, HTTPSession.proxies)
        }
        if line.acceptsAnyCertificate {
            unsafe soup_shim_accept_any_certificate(message, Self.origin(of: line.address).host)
        }
        if let standIn, let uri = unsafe g_uri_parse(standIn, Self.uriFlags, nil) {
            unsafe soup_message_headers_remove(headers, "Range")
            unsafe soup_message_set_uri(message, uri)
            unsafe g_uri_unref(uri)
        }
    }

    /// A message is about to be sent, for the first time or after a redirection.
    private func starting(_ message: OpaquePointer?) {
        guard let message = unsafe message, unsafe isFollowed(message) else { return }
        let address = unsafe Self.address(of: message)
        let (entry, failures) = state.withLock { state -> (Entry?, Int) in
            guard let number = state.messages[UInt(bitPattern: message)],
                let entry = state.entries[number]
            else { return (nil, 0) }
            return (entry, entry.failures[address] ?? 0)
        }
        guard let entry, let uri = unsafe soup_message_get_uri(message) else { return }
        let headers = unsafe soup_message_get_request_headers(message)
        let target = unsafe Self.origin(of: uri)
        if !Self.isOwn(target, of: entry.origin) {
            // The demuxer names the playlist, whose address may hold a secret.
            unsafe soup_message_headers_remove(headers, "Referer")
        }
        for field in entry.line.fields where !Self.isReserved(field.name) {
            if Self.isOwn(target, of: entry.origin) || Self.isPublic(field.name) {
                unsafe soup_message_headers_replace(headers, field.name, field.value)
            } else {
                unsafe soup_message_headers_remove(headers, field.name)
            }
        }
        // The demuxer itself asks again after ten milliseconds.
        if failures > 0, failures <= Self.patience {
            g_usleep(gulong(Self.firstPause << UInt(failures - 1)))
        }
    }

    /// A message left its session.
    private func ended(_ message: OpaquePointer?) {
        guard let message = unsafe message, unsafe isFollowed(message) else { return }
        let status = unsafe soup_message_get_status(message).rawValue
        let address = unsafe Self.address(of: message)
        let isFile = unsafe Self.isFile(message)
        state.withLock { state in
            guard let number = state.messages.removeValue(forKey: UInt(bitPattern: message)),
                var entry = state.entries[number]
            else { return }
            entry.activity.inFlight -= 1
            entry.activity.changed = Int64(g_get_monotonic_time()) * 1000
            if !(200..<400).contains(status) { entry.activity.failures += 1 }
            if isFile, status >= 400 {
                if entry.failures.count >= Self.failureLimit { entry.failures.removeAll() }
                // What a server may take back is asked for again; what is not there is not.
                let mayComeBack = status >= 500 || status == 408 || status == 425 || status == 429
                entry.failures[address] = mayComeBack ? (entry.failures[address] ?? 0) + 1 : Self.patience + 1
            } else if isFile, status >= 200, address != state.standIn {
                entry.failures[address] = nil
                entry.skippedInRow = 0
            }
            state.entries[number] = entry
        }
    }

    /// Most messages of the process are other people's, and are not even looked at.
    private func isFollowed(_ message: OpaquePointer) -> Bool {
        state.withLock { $0.messages[UInt(bitPattern: message)] != nil }
    }

    /// True of segments, which a demuxer asks for as they are, unlike playlists.
    private static func isFile(_ message: OpaquePointer) -> Bool {
        unsafe soup_message_is_feature_disabled(message, soup_content_decoder_get_type()) != 0
    }

    private static func address(of message: OpaquePointer) -> String {
        guard let uri = unsafe soup_message_get_uri(message), let text = unsafe g_uri_to_string(uri) else {
            return ""
        }
        defer { unsafe g_free(text) }
        return unsafe String(cString: text)
    }

    /// Fields that tell whence a request comes, and are no secret: hosts of segments may insist on them.
    static func isPublic(_ name: String) -> Bool {
        ["user-agent", "referer", "origin"].contains(name.lowercased())
    }

    /// Fields that belong to the transport.
    static func isReserved(_ name: String) -> Bool {
        ["range", "host", "connection", "content-length", "transfer-encoding", "te", "upgrade", "user-agent"]
            .contains(name.lowercased())
    }
}
