// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
import Glibc

/// Connections to servers of media, kept for the next request of the same server. It lives on the thread that made it.
/// Not `Sendable`.
///
/// A connection that was made although its certificate is no good is kept like any other, so who accepts such ones has a
/// session of its own.
///
/// Redirections and cookies are left to the caller, who alone knows how far they may lead. A body that a server packed
/// although it was not asked to is unpacked a piece at a time.
@safe package final class HTTPSession {
    let pointer: UnsafeMutablePointer<SoupSession>

    package init() {
        CancelledRequests.prepare()
        unsafe pointer = soup_shim_new_session(8)
        unsafe soup_session_remove_feature_by_type(pointer, soup_websocket_extension_manager_get_type())
        unsafe soup_session_set_proxy_resolver(pointer, Self.proxies)
        // Silence is told by the exchange's own limits.
        unsafe soup_session_set_timeout(pointer, 0)
    }

    deinit {
        unsafe soup_session_abort(pointer)
        unsafe g_object_unref(pointer)
    }

    /// Makes a connection to the server of `uri` for a request that may come. Whether that works shows then.
    package func preconnect(to uri: String, acceptingAnyCertificate: Bool = false) {
        guard let message = unsafe soup_message_new("GET", uri) else { return }
        if acceptingAnyCertificate { unsafe Self.acceptAnyCertificate(of: message) }
        unsafe soup_session_preconnect_async(
            pointer, message, G_PRIORITY_LOW, nil,
            { session, result, _ in
                let session = unsafe UnsafeMutableRawPointer(session!).assumingMemoryBound(
                    to: SoupSession.self)
                unsafe soup_session_preconnect_finish(session, result, nil)
            }, nil)
        unsafe g_object_unref(UnsafeMutableRawPointer(message))
    }

    /// Has a request take every certificate of its host.
    static func acceptAnyCertificate(of message: OpaquePointer) {
        guard let uri = unsafe soup_message_get_uri(message), let host = unsafe g_uri_get_host(uri) else {
            return
        }
        unsafe soup_shim_accept_any_certificate(message, host)
    }

    /// The proxies that the environment names, as other programs read it; nil for none. GLib's own resolver would
    /// start helpers and ask the desktop's settings. It is never changed, so every thread may ask it.
    nonisolated(unsafe) static let proxies: OpaquePointer? = {
        func variable(_ name: String) -> String? {
            let value = unsafe getenv(name) ?? getenv(name.uppercased())
            return unsafe value.flatMap { unsafe String(validatingCString: $0) }.flatMap {
                $0.isEmpty ? nil : $0
            }
        }
        let common = variable("all_proxy")
        guard variable("http_proxy") ?? variable("https_proxy") ?? common != nil else { return nil }
        let exceptions = (variable("no_proxy") ?? "").filter { $0 != " " }
        let list = unsafe g_strsplit(exceptions, ",", 64)
        defer { unsafe g_strfreev(list) }
        guard let resolver = unsafe g_simple_proxy_resolver_new(common, list) else { return nil }
        let simple = unsafe UnsafeMutableRawPointer(resolver).assumingMemoryBound(
            to: GSimpleProxyResolver.self)
        for scheme in ["http", "https"] {
            guard let proxy = variable("\(scheme)_proxy") else { continue }
            unsafe g_simple_proxy_resolver_set_uri_proxy(simple, scheme, proxy)
        }
        return unsafe resolver
    }()
}

/// The cookies that the servers of one item have set. It lives on the thread that made it. Not `Sendable`.
@safe package final class CookieShelf {
    private let jar: UnsafeMutablePointer<SoupCookieJar>
    private var count = 0
    /// A server that sets more has something else in mind than a session.
    private static let limit = 64

    package init() { unsafe jar = soup_cookie_jar_new() }

    deinit { unsafe g_object_unref(jar) }

    /// Takes over what an answer sets.
    func take(from message: OpaquePointer) {
        guard let uri = unsafe soup_message_get_uri(message) else { return }
        let list = unsafe soup_cookies_from_response(message)
        defer { unsafe g_slist_free(list) }
        var next = unsafe list
        while let item = unsafe next {
            let cookie = unsafe OpaquePointer(item.pointee.data)
            if count < Self.limit {
                unsafe soup_cookie_jar_add_cookie_full(jar, cookie, uri, nil)
                count += 1
            } else {
                unsafe soup_cookie_free(cookie)
            }
            unsafe next = unsafe item.pointee.next
        }
    }

    /// What a request to `uri` sends along; nil for nothing.
    func text(for uri: OpaquePointer) -> String? {
        guard let text = unsafe soup_cookie_jar_get_cookies(jar, uri, 1) else { return nil }
        defer { unsafe g_free(text) }
        return unsafe String(cString: text)
    }
}
