// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension ReceiverState {
    mutating func activate(
        _ request: RequestID, _ sender: Sender, resume: ResumeToken?, fresh: RouteID, token: ResumeToken
    ) throws(Refusal) -> [ReceiverEffect] {
        guard applications.instance(of: request.connection) == nil else {
            throw Refusal(.notPermitted, "An application opens no route.")
        }
        guard route(of: request.connection) == nil else {
            throw Refusal(.invalidParams, "A route is already active on this connection.")
        }
        if let resume {
            return try self.resume(request, sender, with: resume, token: token)
        }
        var effects: [ReceiverEffect] = []
        if routes.count >= max(policy.routeLimit, 1) {
            let detached = routes.filter { $0.value.connection == nil }
            guard let oldest = detached.min(by: { $0.value.loss < $1.value.loss })?.key else {
                throw Refusal(.limitReached, "\(routes.count) routes are active, which is the most.")
            }
            effects += leave(oldest)
        }
        routes[fresh] = Route(sender: sender, token: token, connection: request.connection)
        effects.append(.answer(request, .activated(fresh, token, resumed: false)))
        // A session is likely to follow.
        return player == nil ? effects + render(.warmUp) : effects
    }

    private mutating func resume(
        _ request: RequestID, _ sender: Sender, with resume: ResumeToken, token: ResumeToken
    ) throws(Refusal) -> [ReceiverEffect] {
        guard let (id, route) = routes.first(where: { $0.value.token == resume }),
            route.sender.identifier == sender.identifier
        else {
            throw Refusal(.routeUnknown, "There is no route to resume, or no longer.")
        }
        lastOrigin = .sender(id, name: sender.name)
        routes[id] = Route(
            sender: sender, token: token, connection: request.connection,
            generation: route.generation &+ 1)
        let answer = ReceiverEffect.answer(request, .activated(id, token, resumed: true))
        guard let old = route.connection else { return [answer] + tellAttached(id, true) }
        return [answer, .announceRouteEnd(old, id, .resumedElsewhere)] + closeRouteChannels(of: old)
    }

    mutating func deactivate(_ request: RequestID) throws(Refusal) -> [ReceiverEffect] {
        let id = try activeRoute(request)
        var effects: [ReceiverEffect] = []
        for session in sessions.filter({ $0.value.route == id }) {
            effects += end(session.key, .routeEnded)
            if session.value.isGrouped { effects.append(.coordinate(session.key, .stop)) }
        }
        effects += endAnnouncements(.routeEnded) { $0.route == id }
        for session in applications.sessions(of: id) {
            effects += endApplicationSession(session, .routeEnded)
        }
        effects += closeRouteChannels(of: request.connection)
        routes[id] = nil
        return effects + [
            .answer(request, .accepted), .announceRouteEnd(request.connection, id, .deactivated),
        ]
    }

    mutating func connectionLost(_ connection: ConnectionID) -> [ReceiverEffect] {
        connections.remove(connection)
        if let instance = applications.instance(of: connection) { return applicationLost(instance) }
        guard let id = route(of: connection), var route = routes[id] else { return [] }
        lastLoss &+= 1
        route.connection = nil
        route.generation &+= 1
        route.loss = lastLoss
        routes[id] = route
        return [.armGraceTimer(id, generation: route.generation)] + tellAttached(id, false)
            + closeRouteChannels(of: connection)
    }

    mutating func graceExpired(_ id: RouteID, generation: UInt64) -> [ReceiverEffect] {
        guard let route = routes[id], route.connection == nil, route.generation == generation else {
            return []
        }
        return leave(id)
    }

    /// Gives up a route that lost its connection; its sessions go on without it or end, as the policy says.
    private mutating func leave(_ id: RouteID) -> [ReceiverEffect] {
        routes[id] = nil
        var effects: [ReceiverEffect] = []
        for session in sessions.filter({ $0.value.route == id }).keys {
            if policy.keepsPlaying {
                sessions[session]?.route = nil
            } else {
                effects += end(session, .routeEnded)
            }
        }
        if policy.keepsPlaying {
            for index in announcements.entries.indices where announcements.entries[index].route == id {
                announcements.entries[index].route = nil
            }
        } else {
            effects += endAnnouncements(.routeEnded) { $0.route == id }
        }
        return effects + leaveApplications(id)
    }

    mutating func shutDown() -> [ReceiverEffect] {
        isShutDown = true
        var effects: [ReceiverEffect] = []
        for session in sessions.keys { effects += end(session, .shutdown) }
        effects += endAnnouncements(.shutdown) { _ in true }
        effects += shutDownApplications()
        for (id, route) in routes.sorted(by: { $0.key.text < $1.key.text }) {
            if let connection = route.connection {
                effects.append(.announceRouteEnd(connection, id, .shutdown))
            }
        }
        routes = [:]
        return effects
    }
}
