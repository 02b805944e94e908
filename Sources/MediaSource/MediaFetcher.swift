// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import Soup
import Synchronization

/// Fetches what sources want, on a loop of its own: connections, redirections, cookies, limits of time.
package actor MediaFetcher {
    /// How long nothing may come before a connection is given up.
    package struct Patience: Equatable, Sendable {
        /// Until the server is reached and answers.
        package var answer = Duration.seconds(15)
        /// Between two pieces of a body.
        package var silence = Duration.seconds(10)
        /// How long a server that has played is asked again.
        package var outage = Duration.seconds(120)
        package init() {}
    }

    private nonisolated let loop: GLibLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    /// Sources that want to be looked at; nil is the end. Each asks once until it is looked at.
    private nonisolated let calls: Inbox<MediaSource?>
    private static let callLimit = 4096
    private let patience: Patience
    private nonisolated let limits: FetchState.Limits
    private var session: HTTPSession?
    private var fetches: [ObjectIdentifier: Fetch] = [:]

    package init(patience: Patience = Patience()) {
        var limits = FetchState.Limits()
        limits.patience = patience.outage
        self.init(patience: patience, limits: limits)
    }

    init(patience: Patience, limits: FetchState.Limits) {
        loop = GLibLoop(named: "linnet-source")
        calls = Inbox(on: loop, limit: Self.callLimit)
        (self.patience, self.limits) = (patience, limits)
    }

    /// Works until `shutDown`; at its end nothing is left that belongs to the loop's thread.
    package func run() async {
        await untilShutDown()
        for fetch in fetches.values { fetch.end() }
        fetches.removeAll()
        session = nil
    }

    // Apart and not isolated: the compiler of Swift 6.2.3 ends where such a closure is isolated to this actor.
    private nonisolated func untilShutDown() async {
        await withCheckedContinuation { quitter in
            calls.open { [weak self] source in self?.assumeIsolated { $0.read(source, quitter) } }
        }
    }

    private func read(_ source: MediaSource?, _ quitter: CheckedContinuation<Void, Never>) {
        if let source { return look(at: source) }
        calls.close()
        quitter.resume()
    }

    package nonisolated func shutDown() { calls.yield(nil) }

    /// Begins to fetch. Whoever opens a source closes it.
    package nonisolated func open(_ request: SourceRequest) -> MediaSource {
        let source = MediaSource(request, limits: limits) { [calls] in calls.yield($0) }
        source.look()
        return source
    }

    private func makeSession(for request: SourceRequest) -> HTTPSession {
        // Others must not find a connection that they would not have made.
        if request.allowsInvalidCertificate { return HTTPSession() }
        let session = self.session ?? HTTPSession()
        self.session = session
        return session
    }

    private func look(at source: MediaSource) {
        source.isLooking()
        let name = ObjectIdentifier(source)
        let isOver = source.state.withLock { $0.isClosed }
        let fetch =
            fetches[name] ?? Fetch(source, session: makeSession(for: source.request), patience: patience)
        fetch.advance()
        fetches[name] = isOver ? nil : fetch
    }
}

/// One source's connection. It lives on the fetcher's thread.
private final class Fetch {
    /// As much as the kernel gives at once.
    private static let piece = 64 * 1024

    private let source: MediaSource
    private let session: HTTPSession
    private let patience: MediaFetcher.Patience
    private let cookies = CookieShelf()
    private var exchange: HTTPExchange?
    private var rest: EventSource?
    /// Names the exchange; what an earlier one still says is dropped.
    private var number: UInt64 = 0
    /// Asks for a connection for the next request, after a while.
    private var spare: EventSource?
    private var hasSpare = false
    /// What plays first is heard by then.
    private static let spareDelay = Duration.milliseconds(100)

    init(_ source: MediaSource, session: HTTPSession, patience: MediaFetcher.Patience) {
        (self.source, self.session, self.patience) = (source, session, patience)
    }

    func end() {
        exchange?.cancel()
        rest?.destroy()
        (exchange, rest, spare) = (nil, nil, nil)
        number += 1
    }

    /// Does what is to be done now.
    func advance() {
        act()
        // The connection cannot be used for another place before its body is over: the next one is made ready meanwhile.
        guard !hasSpare, source.state.withLock({ $0.awaitsMove }) else { return }
        hasSpare = true
        spare = EventSource.after(Self.spareDelay) { [unowned self] in
            let uri = source.finalURI
            session.preconnect(to: uri, acceptingAnyCertificate: acceptsAnyCertificate(of: uri))
        }
    }

    /// The sender's word is for the host that it named, like its headers.
    private func acceptsAnyCertificate(of uri: String) -> Bool {
        source.request.allowsInvalidCertificate && RequestTap.isSameHost(uri, source.request.uri)
    }

    private func act() {
        while let step = source.state.withLock({ $0.next() }) {
            switch step {
            case .open(let uri, let offset, let validator): open(uri, offset: offset, guarding: validator)
            case .read: exchange?.read(Self.piece)
            case .drop: end()
            case .rest(let delay):
                end()
                rest = EventSource.after(delay) { [unowned self] in
                    source.apply { $0.rested() }
                    advance()
                }
            }
        }
    }

    private func open(_ uri: String, offset: Int64, guarding validator: String?) {
        end()
        let number = number
        hasSpare = false
        exchange = HTTPExchange(
            uri, headers: headers(to: uri, offset: offset, guarding: validator),
            userAgent: source.request.userAgent, cookies: cookies,
            acceptsAnyCertificate: acceptsAnyCertificate(of: uri), answerWithin: patience.answer,
            silence: patience.silence, in: session
        ) { [weak self] event in
            guard let self, self.number == number else { return }
            handle(event)
        }
        if exchange == nil { handle(.failed(HTTPFault(.address, "not an address of HTTP"))) }
    }

    private func headers(to uri: String, offset: Int64, guarding validator: String?) -> [HTTPHeader] {
        let home = source.request.uri
        let isHome = Origin(uri) == Origin(home)
        // Any header may be a secret, and is meant for the host that was named, not for any that it sends us to; what
        // proves who asks is meant for that very server.
        var headers = source.request.headers
            .filter {
                isHome
                    || RequestTap.sends($0.name, to: uri, of: home)
                        && !Self.secrets.contains($0.name.lowercased())
            }
            .map { HTTPHeader($0.name, $0.value) }
        headers.append(HTTPHeader("Accept-Encoding", "identity"))
        headers.append(HTTPHeader("Icy-MetaData", "1"))
        if offset > 0 {
            headers.append(HTTPHeader("Range", "bytes=\(offset)-"))
            if let validator { headers.append(HTTPHeader("If-Range", validator)) }
        }
        return headers
    }

    private static let secrets: Set<String> = ["authorization", "cookie", "proxy-authorization"]

    private func handle(_ event: HTTPExchange.Event) {
        let now = MonotonicClock.nanoseconds
        switch event {
        case .answered(let answer): source.apply { $0.answered(answer, now: now) }
        case .bytes(let bytes): source.apply { $0.received(bytes, now: now) }
        case .ended: source.apply { $0.bodyEnded(now: now) }
        case .failed(let fault): source.apply { $0.broke(fault, now: now) }
        }
        advance()
    }
}

/// Scheme, host and port of an address.
private struct Origin: Equatable {
    private let text: Substring
    init(_ uri: String) {
        let colon = uri.firstIndex(of: ":").map { uri[$0...] } ?? uri[...]
        let scheme = colon.hasPrefix("://") ? uri.index(colon.startIndex, offsetBy: 3) : uri.startIndex
        let end = uri[scheme...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? uri.endIndex
        text = uri[..<end]
    }
}
