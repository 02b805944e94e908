// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop

/// The objects of a service that has an `org.freedesktop.DBus.ObjectManager`, as they come, change and go, however often the
/// service itself goes and comes back. It lives on the thread that made it. Not `Sendable`.
package final class RemoteObjects {
    package enum Event: Equatable, Sendable {
        /// The service runs, under this unique name. Its objects follow.
        case appeared(owner: String)
        /// The service is not there, or gone with all of its objects.
        case gone
        case added(path: String, interface: String, [String: Value])
        case changed(path: String, interface: String, [String: Value], invalidated: [String])
        case removed(path: String, interface: String)
        /// The objects that were there from the beginning have been told.
        case listed
        /// They could not be asked for; `list()` asks again.
        case notListed(CallFailure)
    }

    private static let manager = "org.freedesktop.DBus.ObjectManager"

    private let bus: Bus
    private let path: String
    private let report: (Event) -> Void
    private var watch: NameWatch?
    private var subscriptions: [SignalSubscription] = []
    private var owner: String?
    /// False until the bus has said whether the service runs.
    private var isKnown = false
    private var isListed = false

    /// `path` is where the service has its manager.
    package init(_ bus: Bus, service: String, manager path: String, report: @escaping (Event) -> Void) {
        (self.bus, self.path, self.report) = (bus, path, report)
        watch = NameWatch(bus, service) { [weak self] in self?.ownerChanged(to: $0) }
    }

    private func ownerChanged(to new: String?) {
        guard new != owner || !isKnown else { return }
        isKnown = true
        subscriptions = []
        isListed = false
        let wasThere = owner != nil
        owner = new
        if wasThere || new == nil { report(.gone) }
        guard let new, owner == new else { return }
        report(.appeared(owner: new))
        subscribe(to: new)
        list()
    }

    private func subscribe(to owner: String) {
        subscriptions = [
            SignalSubscription(
                bus, sender: owner, path: path, interface: Self.manager, member: "InterfacesAdded"
            ) { [weak self] _, values in
                guard let self, isListed, values.count == 2, let path = values[0].text else { return }
                added(path, values[1])
            },
            SignalSubscription(
                bus, sender: owner, path: path, interface: Self.manager, member: "InterfacesRemoved"
            ) { [weak self] _, values in
                guard let self, isListed, values.count == 2, let path = values[0].text else { return }
                for interface in values[1].strings ?? [] {
                    report(.removed(path: path, interface: interface))
                }
            },
            SignalSubscription(
                bus, sender: owner, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged"
            ) { [weak self] path, values in
                guard let self, isListed, values.count == 3, let interface = values[0].text else { return }
                report(
                    .changed(
                        path: path, interface: interface, values[1].dictionary ?? [:],
                        invalidated: values[2].strings ?? []))
            },
        ]
    }

    /// Asks for the objects that are there. What the service signals before its answer is part of the answer.
    package func list() {
        guard let asked = owner, !isListed else { return }
        bus.call(asked, path, Self.manager, "GetManagedObjects") { [weak self] result in
            guard let self, owner == asked, !isListed else { return }
            switch result {
            case .success(let reply):
                isListed = true
                let objects = reply[0]?.dictionary ?? [:]
                for (path, interfaces) in objects.sorted(by: { $0.key < $1.key }) { added(path, interfaces) }
                report(.listed)
            case .failure(let failure): report(.notListed(failure))
            }
        }
    }

    private func added(_ path: String, _ interfaces: Value) {
        let interfaces = interfaces.dictionary ?? [:]
        for (interface, properties) in interfaces.sorted(by: { $0.key < $1.key }) {
            report(.added(path: path, interface: interface, properties.dictionary ?? [:]))
        }
    }
}
