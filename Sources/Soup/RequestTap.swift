// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
import Synchronization

/// Follows the requests that a library in this process makes with libsoup by itself, such as a demuxer's for segments:
/// adds what their server must hear, counts them, and helps over what is missing.
///
/// Whose requests are whose is told by the user agent: the library is given the name of a `line` as its user agent,
/// which no request carries any further. libsoup is documented to emit signals on the thread of the session, so
/// everything here runs on threads of that library, and waits for nothing but `Line.patience`.
@safe package final class RequestTap: Sendable {
    package static let shared = RequestTap()

    /// What the requests of one line are given.
    package struct Line: Sendable {
        package var userAgent: String
        /// Those that may be secrets go to the host of `address` only, and not in clear if the address is secure.
        package var fields: [(name: String, value: String)]
        /// The address of the item.
        package var address: String
        /// How long the server may be silent, in whole seconds.
        package var answerLimit: Duration
        /// True if the host of `address` may show any certificate.
        package var acceptsAnyCertificate: Bool

        package init(
            userAgent: String, fields: [(name: String, value: String)], address: String,
            answerLimit: Duration = .seconds(10), acceptsAnyCertificate: Bool = false
        ) {
            (self.userAgent, self.fields, self.address) = (userAgent, fields, address)
            (self.answerLimit, self.acceptsAnyCertificate) = (answerLimit, acceptsAnyCertificate)
        }
    }

    /// What is going on on a line.
    package struct Activity: Equatable, Sendable {
        /// Requests that are not over.
        package var inFlight = 0
        /// When one began or ended last, in nanoseconds of the monotonic clock.
        package var changed: Int64 = 0
        /// Files that were not there and were passed over.
        package var skipped = 0
        /// Requests that were not answered with what was asked for.
        package var failures = 0
    }

    struct Entry {
        var line: Line
        var origin: Origin
        var activity = Activity()
        /// How often an address failed in a row.
        var failures: [String: Int] = [:]
        /// Files that were passed over in a row.
        var skippedInRow = 0
    }

    struct State {
        var entries: [UInt64: Entry] = [:]
        var count: UInt64 = 0
        /// The line of each message under way, by its address in memory, which it keeps until it is over.
        var messages: [UInt: UInt64] = [:]
        /// The address that is asked in place of a file that is not there.
        var standIn: String?
    }

    /// Words before the number of a line, in place of a user agent.
    static let prefix = "linnet-line-"
    /// Addresses whose failures are remembered at most; a demuxer asks for one after the other.
    static let failureLimit = 64
    /// As many files in a row are passed over; then it is the stream that is not there.
    static let skipLimit = 5
    /// Answers that a server may take back: so often it is asked again, with twice as long a pause each time.
    static let patience = 4
    static let firstPause: UInt = 100_000

    /// What libsoup parses its addresses with.
    static let uriFlags = GUriFlags(
        rawValue: G_URI_FLAGS_HAS_PASSWORD.rawValue | G_URI_FLAGS_ENCODED_PATH.rawValue
            | G_URI_FLAGS_ENCODED_QUERY.rawValue | G_URI_FLAGS_ENCODED_FRAGMENT.rawValue
            | G_URI_FLAGS_SCHEME_NORMALIZE.rawValue)

    let state = Mutex(State())

    private init() {
        CancelledRequests.prepare()
        Self.install()
    }

    /// Adds a line and answers the name that makes requests its own.
    package func open(_ line: Line) -> String {
        let origin = Self.origin(of: line.address)
        return state.withLock {
            $0.count += 1
            $0.entries[$0.count] = Entry(line: line, origin: origin)
            return "\(Self.prefix)\($0.count)"
        }
    }

    /// Forgets a line. Requests of it that still come carry nothing.
    package func close(_ name: String) {
        guard let number = Self.number(of: name) else { return }
        _ = state.withLock { $0.entries.removeValue(forKey: number) }
    }

    package func activity(of name: String) -> Activity {
        guard let number = Self.number(of: name) else { return Activity() }
        return state.withLock { $0.entries[number]?.activity ?? Activity() }
    }

    /// Sets the address that answers with an empty file; without one nothing is passed over.
    package func setStandIn(_ address: String) { state.withLock { $0.standIn = address } }

    static func number(of name: String) -> UInt64? {
        name.hasPrefix(prefix) ? UInt64(name.dropFirst(prefix.count)) : nil
    }

    /// Who is at an address: the host, in small letters, and whether nobody on the way can read what is sent there.
    typealias Origin = (host: String, isSecure: Bool)

    /// True if the field of the sender of `item` is sent to `address`, too.
    package static func sends(_ field: String, to address: String, of item: String) -> Bool {
        !isReserved(field) && (isPublic(field) || isOwn(origin(of: address), of: origin(of: item)))
    }

    /// True if both addresses are of one host.
    package static func isSameHost(_ address: String, _ other: String) -> Bool {
        let host = origin(of: address).host
        return !host.isEmpty && host == origin(of: other).host
    }

    static func isOwn(_ target: Origin, of item: Origin) -> Bool {
        target.host == item.host && (target.isSecure || !item.isSecure)
    }

    static func origin(of address: String) -> Origin {
        guard let uri = unsafe g_uri_parse(address, uriFlags, nil) else { return ("", false) }
        defer { unsafe g_uri_unref(uri) }
        return unsafe origin(of: uri)
    }

    static func origin(of uri: OpaquePointer) -> Origin {
        let host = unsafe g_uri_get_host(uri).map { unsafe String(cString: $0) } ?? ""
        let scheme = unsafe String(cString: g_uri_get_scheme(uri))
        return (host.lowercased(), scheme.lowercased() == "https")
    }
}
