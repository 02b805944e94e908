// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A route began or is over.
public struct RouteEvent: Sendable {
    /// What happened to the route.
    public enum Reason: Sendable, Equatable {
        /// It is active: sessions can be added.
        case activate
        /// It is over: its sessions are, too.
        case deactivate
    }

    /// The route.
    public let route: Route
    /// What happened to it.
    public let reason: Reason
}

/// Is told of routes.
@RouteActor public protocol RouteControllerObserver: AnyObject {
    /// A route began or is over. The answer says whether this observer sees to it; a route that no observer takes on is
    /// deactivated again.
    func routeController(_ controller: RouteController, handle event: RouteEvent) async -> Bool
}

/// Where a sender begins: it finds receivers, activates routes to them, and tells observers of the routes.
@RouteActor public final class RouteController {
    /// The controller that most programs need, with an identity made for this run.
    public static let shared = RouteController(sender: SenderIdentity(name: "RouteKit"))

    /// Who receivers are told that we are.
    public let sender: SenderIdentity
    /// The routes that are not over.
    public private(set) var routes: [Route] = []

    private let timing: LinkTiming
    private var observers: [WeakObserver] = []

    /// A controller with an identity of its own.
    public convenience init(sender: SenderIdentity) { self.init(sender: sender, timing: LinkTiming()) }

    package init(sender: SenderIdentity, timing: LinkTiming) { (self.sender, self.timing) = (sender, timing) }

    // MARK: Observers

    /// Adds an observer, which is not retained. False: it is one already.
    @discardableResult public func addObserver(_ observer: any RouteControllerObserver) -> Bool {
        observers.removeAll { $0.observer == nil }
        guard !observers.contains(where: { $0.observer === observer }) else { return false }
        observers.append(WeakObserver(observer: observer))
        return true
    }

    /// Removes an observer. No effect for a stranger.
    public func removeObserver(_ observer: any RouteControllerObserver) {
        observers.removeAll { $0.observer == nil || $0.observer === observer }
    }

    // MARK: Routes

    /// Opens a route to a receiver, and tells the observers.
    ///
    /// With observers, one of them must take the route on, else it is deactivated and `notHandled` thrown. Without any,
    /// the caller sees to the route.
    public func activate(_ receiver: Receiver) async throws -> Route {
        let link = ReceiverLink(to: receiver.addresses, for: .route(sender), timing: timing)
        try await link.open()
        let route = Route(receiver: receiver, link: link, controller: self)
        routes.append(route)
        guard await tell(RouteEvent(route: route, reason: .activate)) else {
            await link.deactivate()
            throw RoutingError(.notHandled, family: .session, "no observer took on the route")
        }
        return route
    }

    /// Ends a route and its sessions in good order. No effect for one that is over.
    public func deactivate(_ route: Route) async { await route.link.deactivate() }

    /// Closes the connection of a route and leaves what plays to the receiver, which plays on where its administrator
    /// lets it.
    public func leave(_ route: Route) async { route.link.close(.left) }

    func ended(_ route: Route) {
        guard let index = routes.firstIndex(where: { $0 === route }) else { return }
        routes.remove(at: index)
        Task { _ = await tell(RouteEvent(route: route, reason: .deactivate)) }
    }

    /// True if an observer took it on, or there is none.
    private func tell(_ event: RouteEvent) async -> Bool {
        let present = observers.compactMap(\.observer)
        var isHandled = present.isEmpty
        for observer in present where await observer.routeController(self, handle: event) {
            isHandled = true
        }
        return isHandled
    }

    private struct WeakObserver {
        weak var observer: (any RouteControllerObserver)?
    }
}
