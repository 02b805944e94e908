// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Avahi
import GLibLoop
import RouteWire

/// Finds receivers in the network by DNS-SD, for as long as the object lives.
///
/// A receiver is known by its UUID: one that is found at several addresses is one receiver, one that changes its name
/// stays the same. Where Avahi's daemon is missing, the browser waits for it.
@RouteActor public final class ReceiverBrowser {
    /// What happened to the receivers that are known.
    public enum Event: Sendable, Equatable {
        /// A receiver is there.
        case found(Receiver)
        /// Something about it is different: its name, an address.
        case updated(Receiver)
        /// It is gone.
        case lost(Receiver)
    }

    /// Whether looking is possible.
    public enum State: Sendable, Equatable {
        /// The network was asked and did not answer yet.
        case searching
        /// What the network answered at once is there; more may follow.
        case settled
        /// Avahi's daemon cannot be reached, for this reason. It is tried again.
        case unavailable(String)
    }

    /// The receivers that are known now, by name.
    public private(set) var receivers: [Receiver] = []
    /// Whether looking is possible.
    public private(set) var state = State.searching

    private var browser: ServiceBrowser?
    private var services: [String: Receiver] = [:]
    private var retry: EventSource?
    private let announcer = Announcer()

    /// Begins to look.
    public init() {
        browser = ServiceBrowser(type: "_linnet._tcp") { [weak self] event in self?.happened(event) }
        start()
    }

    isolated deinit { announcer.finish() }

    /// What happens from now on, beginning with the receivers that are known already. Nothing is lost on a slow reader:
    /// it is told the difference to what it knows.
    public func events() -> AsyncStream<Event> {
        let feed = EventFeed(of: self, updates: announcer.stream())
        return AsyncStream { await feed.next() }
    }

    /// A value after each change, the latest only.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    private func start() {
        guard let browser, !browser.start() else { return }
        // As often as a person waiting for the daemon would look.
        retry = .after(.seconds(1)) { [weak self] in self?.start() }
    }

    private func happened(_ event: ServiceBrowser.Event) {
        switch event {
        case .found(let service): services[service.name] = Receiver(service)
        case .removed(let name): services[name] = nil
        case .allForNow: state = .settled
        case .waitingForDaemon:
            services = [:]
            state = .unavailable("Avahi's daemon is not running")
        case .lost(let reason):
            services = [:]
            state = .unavailable(reason)
            retry = .after(.seconds(1)) { [weak self] in self?.start() }
        case .failed(let reason):
            services = [:]
            state = .unavailable(reason)
        }
        var known: [String: Receiver] = [:]
        for (_, receiver) in services.sorted(by: { $0.key < $1.key }) where known[receiver.id] == nil {
            known[receiver.id] = receiver
        }
        receivers = known.values.sorted { ($0.displayName, $0.id) < ($1.displayName, $1.id) }
        announcer.announce()
    }
}

/// The differences that one reader has not seen.
@RouteActor private final class EventFeed {
    private weak var browser: ReceiverBrowser?
    private var updates: AsyncStream<Void>.Iterator
    private var known: [String: Receiver] = [:]

    init(of browser: ReceiverBrowser, updates: AsyncStream<Void>) {
        self.browser = browser
        self.updates = updates.makeAsyncIterator()
    }

    func next() async -> ReceiverBrowser.Event? {
        while true {
            // The browser is not held while nothing happens.
            guard let receivers = browser?.receivers else { return nil }
            if let event = difference(to: receivers) { return event }
            var iterator = updates
            guard await iterator.next(isolation: RouteActor.shared) != nil else { return nil }
            updates = iterator
        }
    }

    private func difference(to receivers: [Receiver]) -> ReceiverBrowser.Event? {
        for receiver in receivers where known[receiver.id] != receiver {
            let isNew = known.updateValue(receiver, forKey: receiver.id) == nil
            return isNew ? .found(receiver) : .updated(receiver)
        }
        guard let gone = known.keys.sorted().first(where: { id in !receivers.contains { $0.id == id } }),
            let receiver = known.removeValue(forKey: gone)
        else { return nil }
        return .lost(receiver)
    }
}

extension Receiver {
    /// The receiver that a service describes; nil if it is none.
    init?(_ service: DiscoveredService) {
        guard
            let description = ReceiverDescription(
                textEntries: service.text, name: service.name, port: service.port)
        else { return nil }
        self.init(
            description,
            addresses: service.addresses.map { address in
                let scope = address.isIPv6 && address.isLinkLocal ? address.interfaceName : nil
                return Address(host: address.text + (scope.map { "%\($0)" } ?? ""), port: service.port)
            })
    }
}
