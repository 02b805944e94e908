// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
package import GroupLink
import Soup

/// Opens links from a member to the host of its group, over WebSockets. Made and used on a loop.
package final class HostConnector: MemberConnector {
    private let client = HTTPClient()

    package init() {}

    package func connect(
        to addresses: [String], port: UInt16, report: @escaping (MemberLinkEvent) -> Void
    ) -> any MemberLink {
        let link = WebSocketLink(
            client: client, addresses: Self.onLinks(addresses), port: port, report: report)
        link.start()
        return link
    }
}

extension HostConnector {
    /// Tries of addresses, at most.
    private static let limit = 12

    /// An address that counts on one link says nothing of which of this machine's that is, unless it was found on it: each is tried.
    static func onLinks(
        _ addresses: [String], zones: (String) -> [String] = HTTPClient.linkZones
    ) -> [String] {
        let all = addresses.flatMap { address -> [String] in
            guard address.lowercased().hasPrefix("fe80:"), !address.utf8.contains(UInt8(ascii: "%")) else {
                return [address]
            }
            return zones(address).map { "\(address)%\($0)" }
        }
        return Array(all.prefix(limit))
    }
}

/// One link: the first of the addresses that answers.
final class WebSocketLink: MemberLink {
    /// A host that is there answers at once; one that is not must not keep the others from being tried.
    private static let addressTime = Duration.seconds(3)
    /// A host that says nothing for so long, not even to a ping, is gone.
    private static let silence: Int64 = 3_000_000_000
    /// Looks come once a second.
    private static let lateness: Int64 = 1_500_000_000

    private let client: HTTPClient
    private var addresses: [String]
    private let port: UInt16
    private var report: ((MemberLinkEvent) -> Void)?
    private var opening: WebSocketOpening?
    private var socket: WebSocket?
    private var watch: EventSource?
    private var turn: EventSource?
    private var failure = "there is no address"
    private var lookedAt = MonotonicClock.nanoseconds

    init(
        client: HTTPClient, addresses: [String], port: UInt16, report: @escaping (MemberLinkEvent) -> Void
    ) {
        (self.client, self.addresses, self.port, self.report) = (client, addresses, port, report)
    }

    deinit {
        socket?.onMessage = nil
        socket?.onClosed = nil
        socket?.close(code: 1000, reason: "")
    }

    /// The first address is tried in a turn of its own, so that nothing is reported from inside the call.
    func start() { turn = EventSource.after(.zero) { [weak self] in self?.tryNext() } }

    func send(text: String) { socket?.send(.text(text)) }

    private func tryNext() {
        (turn, opening) = (nil, nil)
        guard !addresses.isEmpty else { return end(failure) }
        let address = addresses.removeFirst()
        do {
            opening = try client.open(Self.uri(address, port), limits: Self.limits, timeout: Self.addressTime)
            {
                [weak self] result in self?.opened(result, at: address)
            }
        } catch { retry(error) }
    }

    private func retry(_ failure: Failure) {
        self.failure = failure.message
        turn = EventSource.after(.zero) { [weak self] in self?.tryNext() }
    }

    private func opened(_ result: Result<WebSocket, Failure>, at address: String) {
        switch result {
        case .failure(let failure): retry(failure)
        case .success(let socket):
            self.socket = socket
            socket.onMessage = { [weak self] message in
                if case .text(let text) = message { self?.report?(.received(text)) }
            }
            socket.onClosed = { [weak self] _, reason in self?.end(reason ?? "the host has closed the link") }
            lookedAt = MonotonicClock.nanoseconds
            watch = EventSource.repeating(every: .seconds(1)) { [weak self] in self?.listen() }
            report?(.opened(address: address))
        }
    }

    private func listen() {
        let now = MonotonicClock.nanoseconds
        // A process that was held up itself has not heard what came meanwhile.
        let isLate = now - lookedAt > Self.lateness
        lookedAt = now
        guard !isLate, let socket, now - socket.lastHeard > Self.silence else { return }
        socket.abort()
        end("the host is silent")
    }

    private func end(_ reason: String) {
        let report = report
        (self.report, watch) = (nil, nil)
        report?(.closed(reason: reason))
    }

    private static var limits: WebSocket.Limits {
        var limits = WebSocket.Limits()
        limits.message = 1 << 20
        limits.queue = 1 << 20
        limits.pingEvery = 1
        limits.unacknowledged = .seconds(4)
        return limits
    }

    static func uri(_ address: String, _ port: UInt16) -> String {
        guard address.utf8.contains(UInt8(ascii: ":")) else { return "ws://\(address):\(port)/v1/route" }
        // The link's name follows a percent sign, which a URI escapes.
        let parts = address.split(separator: "%" as Character, maxSplits: 1)
        let zone = parts.count > 1 ? "%25\(parts[1])" : ""
        return "ws://[\(parts.first ?? "")\(zone)]:\(port)/v1/route"
    }
}
