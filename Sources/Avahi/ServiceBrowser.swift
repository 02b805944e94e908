// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CAvahi

/// Services of one type on the network, as they come, change and go. It lives on the thread that made it. Not
/// `Sendable`.
///
/// Two services of one name cannot exist, so a name is their identity here; what they are is in their text.
@safe package final class ServiceBrowser {
    package enum Event: Sendable, Equatable {
        /// A service was found, or something about it has changed.
        case found(DiscoveredService)
        /// The service of that name is gone.
        case removed(name: String)
        /// What the network answered at once has been reported.
        case allForNow
        /// The daemon is not there; services follow by themselves when it comes.
        case waitingForDaemon
        /// The connection is gone or could not be made, and all that was found is stale: start again after a pause.
        case lost(String)
        /// The daemon refuses to browse; trying again is of no use.
        case failed(String)
    }

    /// Where a service was heard: Avahi reports each interface and family on its own.
    private struct Place: Hashable {
        let name: String
        let interface: Int32
        let family: Int32
    }

    /// More services than this are not looked at, whatever the network says.
    private static let maximumPlaces = 1024

    private let type: String
    private let client = Client()
    private let reporter: Reporter<Event>
    private var browser: OpaquePointer?
    private var resolvers: [Place: OpaquePointer] = unsafe [:]
    private var found: [Place: DiscoveredService] = [:]
    private var unanswered: Set<Place> = []
    private var isComplete = false

    /// Events come in turns of the loop of their own.
    package init(type: String, report: @escaping (Event) -> Void) {
        (self.type, reporter) = (type, Reporter(report))
        client.onState = { [unowned self] in clientChanged(to: $0) }
    }

    /// Connects, or connects anew. A short synchronous call. False means that there is no bus, which is reported as
    /// a loss, too.
    package func start() -> Bool {
        forget()
        if let fault = client.connect() {
            reporter.report(.lost(fault))
            return false
        }
        return true
    }

    /// Ends browsing.
    package func stop() {
        forget()
        client.disconnect()
    }

    /// Frees nothing: the client takes its browsers and resolvers along.
    private func forget() {
        unsafe (browser, resolvers) = unsafe (nil, [:])
        (found, unanswered, isComplete) = ([:], [], false)
    }

    private func clientChanged(to state: AvahiClientState) {
        switch state {
        case AVAHI_CLIENT_S_RUNNING, AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: browse()
        case AVAHI_CLIENT_CONNECTING: reporter.report(.waitingForDaemon)
        default: reporter.report(.lost(client.errorText))
        }
    }

    private func browse() {
        guard unsafe browser == nil else { return }
        unsafe browser = avahi_service_browser_new(
            client.pointer, Int32(AVAHI_IF_UNSPEC), Int32(AVAHI_PROTO_UNSPEC), type, nil,
            AvahiLookupFlags(rawValue: 0),
            { _, interface, family, event, name, _, domain, _, data in
                let this = unsafe Unmanaged<ServiceBrowser>.fromOpaque(data!).takeUnretainedValue()
                let text = unsafe name.map { unsafe String(cString: $0) } ?? ""
                let place = Place(name: text, interface: interface, family: family)
                unsafe this.changed(event, place, domain)
            }, Unmanaged.passUnretained(self).toOpaque())
        // A connection that has just ended is reported by the client itself.
        if unsafe browser == nil, client.isConnected { reporter.report(.failed(client.errorText)) }
    }

    private func changed(_ event: AvahiBrowserEvent, _ place: Place, _ domain: UnsafePointer<CChar>?) {
        switch event {
        case AVAHI_BROWSER_NEW: unsafe resolve(place, domain)
        case AVAHI_BROWSER_REMOVE:
            if let resolver = unsafe resolvers.removeValue(forKey: place) {
                _ = unsafe avahi_service_resolver_free(resolver)
            }
            let wasKnown = found.removeValue(forKey: place) != nil
            answered(place)
            if wasKnown { announce(place.name) }
        case AVAHI_BROWSER_ALL_FOR_NOW:
            isComplete = true
            reportIfComplete()
        case AVAHI_BROWSER_FAILURE: reporter.report(.lost(client.errorText))
        default: break
        }
    }

    private func resolve(_ place: Place, _ domain: UnsafePointer<CChar>?) {
        guard unsafe resolvers[place] == nil, unsafe resolvers.count < Self.maximumPlaces else { return }
        // The resolver stays, and calls again when something changes.
        let resolver = unsafe avahi_service_resolver_new(
            client.pointer, place.interface, place.family, place.name, type, domain, place.family,
            AvahiLookupFlags(rawValue: 0),
            { _, interface, family, event, name, _, _, host, address, port, text, _, data in
                let this = unsafe Unmanaged<ServiceBrowser>.fromOpaque(data!).takeUnretainedValue()
                let label = unsafe name.map { unsafe String(cString: $0) } ?? ""
                let place = Place(name: label, interface: interface, family: family)
                guard event == AVAHI_RESOLVER_FOUND, let address = unsafe address else {
                    return this.answered(place)
                }
                let service = unsafe DiscoveredService(
                    name: label, host: host.map { unsafe String(cString: $0) } ?? "", port: port,
                    addresses: [DiscoveredService.Address(address, interface)], text: entries(of: text))
                this.resolved(place, service)
            }, Unmanaged.passUnretained(self).toOpaque())
        guard let resolver = unsafe resolver else { return }
        unsafe resolvers[place] = unsafe resolver
        unanswered.insert(place)
    }

    private func resolved(_ place: Place, _ service: DiscoveredService) {
        guard unsafe resolvers[place] != nil else { return }
        if let known = found[place], known.host != service.host, known.addresses == service.addresses {
            // A resolver whose service has gone to another host goes on with the address of the old one; a new one does not.
            return resolveAnew(place)
        }
        let isNews = found.updateValue(service, forKey: place) != service
        if isNews { announce(place.name) }
        answered(place)
    }

    private func resolveAnew(_ place: Place) {
        if let resolver = unsafe resolvers.removeValue(forKey: place) {
            _ = unsafe avahi_service_resolver_free(resolver)
        }
        found[place] = nil
        unsafe resolve(place, nil)
    }

    /// Reports what all places together know of a name.
    private func announce(_ name: String) {
        let parts = found.filter { $0.key.name == name }.values
        guard var whole = parts.min(by: { $0.addresses[0] < $1.addresses[0] }) else {
            return reporter.report(.removed(name: name))
        }
        whole.addresses = Set(parts.flatMap(\.addresses)).sorted()
        reporter.report(.found(whole))
    }

    private func answered(_ place: Place) {
        guard unanswered.remove(place) != nil else { return }
        reportIfComplete()
    }

    private func reportIfComplete() {
        guard isComplete, unanswered.isEmpty else { return }
        isComplete = false
        reporter.report(.allForNow)
    }
}

extension DiscoveredService.Address: Comparable {
    fileprivate init(_ address: UnsafePointer<AvahiAddress>, _ interface: Int32) {
        var text = [CChar](repeating: 0, count: 64)
        unsafe avahi_address_snprint(&text, text.count, address)
        self.init(
            text: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self),
            isIPv6: unsafe address.pointee.proto == AVAHI_PROTO_INET6, interface: interface)
    }

    /// The order in which addresses are worth a try.
    package static func < (one: Self, other: Self) -> Bool {
        (one.isLinkLocal ? 1 : 0, one.isIPv6 ? 1 : 0, one.interface, one.text)
            < (other.isLinkLocal ? 1 : 0, other.isIPv6 ? 1 : 0, other.interface, other.text)
    }
}

/// Copies a list of text entries, in the order of the record. Bytes that are no UTF-8 are replaced.
private func entries(of list: UnsafeMutablePointer<AvahiStringList>?) -> [String] {
    var result: [String] = []
    var item = unsafe list
    while let entry = unsafe item {
        let bytes = unsafe UnsafeRawBufferPointer(
            start: avahi_string_list_get_text(entry), count: avahi_string_list_get_size(entry))
        unsafe result.append(String(decoding: bytes, as: UTF8.self))
        unsafe item = avahi_string_list_get_next(entry)
    }
    return result
}
