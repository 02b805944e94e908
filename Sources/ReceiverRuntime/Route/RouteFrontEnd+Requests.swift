// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import RouteWire
import SessionCore

extension RouteFrontEnd {
    /// Handles a text frame: one request, or a batch whose answers leave together, before the states they caused.
    func handle(_ text: String, received: Int64, from connection: RouteConnection) {
        // Answers leave in the order of what they answer.
        shell.tellHeld()
        let incoming = IncomingText.decode(text)
        defer { judge(incoming, of: connection) }
        switch incoming {
        case .single(let request):
            handle(
                request, received: received, from: connection,
                AnswerCollector(requests: 1, isBatch: false))
        case .batch(let requests):
            let answers = AnswerCollector(requests: requests.count, isBatch: true)
            connection.isInBatch = true
            for request in requests {
                handle(request, received: received, from: connection, answers)
            }
            connection.isInBatch = false
            push(to: connection)
        }
    }

    /// Closes a connection whose peer has spoken something else for a while; the last of it was answered all the same.
    private func judge(_ incoming: IncomingText, of connection: RouteConnection) {
        connection.nonsense = incoming.isNonsense ? connection.nonsense + 1 : 0
        guard connection.nonsense >= RouteConnection.nonsenseLimit else { return }
        cut(connection, 1008, "\(connection.nonsense) messages in a row were no requests")
    }

    private func handle(
        _ incoming: IncomingRequest, received: Int64, from connection: RouteConnection,
        _ answers: AnswerCollector
    ) {
        guard !connection.isClosing else { return }
        let request: RouteRequest
        switch incoming.request {
        case .success(let known): request = known
        case .failure(let error):
            let waiting = WaitingRequest(id: incoming.id, method: "invalid", answers: answers)
            finish(waiting, .failure(error), to: connection)
            return
        }
        let waiting = WaitingRequest(id: incoming.id, method: request.method, answers: answers)
        do throws(RouteError) {
            if let result = try answer(request, received: received, to: connection) {
                finish(waiting, .success(result), to: connection)
                return
            }
            if connection.isFull { throw RouteError(.tooManyRequests, "32 requests are in flight.") }
            if try askGroup(request, waiting, from: connection) { return }
            if case .accessory(let wanted) = request {
                let result = try askAccessory(wanted, from: connection)
                finish(waiting, .success(result), to: connection)
                return
            }
            let id = connection.expectAnswer(waiting)
            let meant = request.locating { MediaAddress.meant(by: $0, of: connection.client) }
            if let event = event(for: meant, id) { shell.handle(event) }
        } catch {
            finish(waiting, .failure(error), to: connection)
        }
    }

    /// Sends the answer to a request, once all of its batch are there.
    func finish(
        _ request: WaitingRequest, _ result: Result<JSONValue, RouteError>, to connection: RouteConnection
    ) {
        let response: JSONValue
        switch result {
        case .success(let value):
            shell.metrics.count(request.method, value["outcome"]?.textValue ?? "accepted")
            response = Response.success(request.id ?? .null, value)
        case .failure(let error):
            shell.metrics.count(request.method, error.code.rawValue)
            response = Response.failure(request.id ?? .null, error)
        }
        let answer: JSONValue? = if request.id == nil { .none } else { .some(response) }
        guard let text = request.answers.add(answer) else { return }
        send(text, to: connection)
    }

    /// Answers what needs no change of the state; nil for the rest.
    private func answer(
        _ request: RouteRequest, received: Int64, to connection: RouteConnection
    ) throws(RouteError) -> JSONValue? {
        switch request {
        case .ping:
            return PingResult(
                id: shell.identity.clock, received: received, sent: shell.ports.clock.now
            ).json
        case .subscribe:
            connection.seen = publisher.current
            return stateResult
        case .unsubscribe:
            connection.seen = nil
            return Outcome.accepted.json
        case .getState:
            if connection.seen != nil { connection.seen = publisher.current }
            return stateResult
        case .start(let start):
            if start.mode != .player, shell.ports.applications == nil {
                throw RouteError(.modeUnsupported, "Applications are not supported.")
            }
            return nil
        case .activate(let activation):
            connection.joinsFrames = activation.capabilities.contains(JoinedFrames.capability)
            return nil
        case .deactivate, .stop, .setPlaying, .seek, .setSpeed, .setState, .selectTrack,
            .setVolume, .setMuted, .setMetadata, .queue, .announce, .cancelAnnouncement, .application,
            .setDeviceVolume, .changeDeviceVolume, .setDeviceMuted, .rename, .setOutputTrim, .group,
            .accessory,
            .link:
            return nil
        }
    }

    /// Passes on what concerns the group, which may be answered later. False: it concerns something else.
    private func askGroup(
        _ request: RouteRequest, _ waiting: WaitingRequest, from connection: RouteConnection
    ) throws(RouteError) -> Bool {
        switch request {
        case .group, .link: break
        default: return false
        }
        guard let group = shell.group else {
            throw RouteError(.groupUnavailable, "The receiver plays in no groups.")
        }
        if case .group(let wanted) = request, connection.route == nil { try judge(wanted, of: connection) }
        let id = connection.expectAnswer(waiting)
        let reply: GroupAgent.Reply = { [weak self, weak connection] result in
            guard let self, let connection, let waiting = connection.takeWaiting(id) else { return }
            finish(waiting, result, to: connection)
        }
        switch request {
        case .group(let wanted): group.handle(wanted, reply: reply)
        case .link(let said): group.handle(said, from: connection, reply: reply)
        default: break
        }
        return true
    }

    /// What a connection without a route may ask of groups: an application may be a player.
    private func judge(
        _ wanted: WireGroupRequest, of connection: RouteConnection
    ) throws(RouteError) {
        guard case .admit = wanted, let instance = connection.instance else {
            throw RouteError(.routeRequired, "No route is active on this connection.")
        }
        let manifest = shell.state.applications.instances[instance]?.manifest
        guard manifest?.permissions.contains(.network) == true else {
            throw RouteError(.notPermitted, "A player needs the permission network.")
        }
    }

    /// Answers what concerns the receiver as an accessory.
    private func askAccessory(
        _ request: WireAccessoryRequest, from connection: RouteConnection
    ) throws(RouteError) -> JSONValue {
        guard let accessory = shell.accessory else {
            throw RouteError(.sourcesUnavailable, "The receiver has no sources but the network.")
        }
        guard connection.route != nil else {
            throw RouteError(.routeRequired, "No route is active on this connection.")
        }
        return try accessory.answer(request)
    }

    private var stateResult: JSONValue {
        StateResult(version: publisher.current.version, state: publisher.current.state).json
    }

    // MARK: The core's answers

    func answer(_ id: RequestID, _ answer: Answer) {
        guard let connection = connections.first(where: { $0.id == id.connection }),
            let waiting = connection.takeWaiting(id)
        else { return }
        finish(
            waiting, .success(result(answer, isAnswered: waiting.id != nil, to: connection)), to: connection)
        // What it did not answer on its channels follows the answer.
        if case .activated(let route, _, true) = answer { relay.attach(route, connection) }
    }

    func refuse(_ id: RequestID, _ refusal: Refusal) { complete(id, .failure(refusal.routeError)) }

    /// Sends the answer of somebody else: of the group's host.
    func complete(_ id: RequestID, _ result: Result<JSONValue, RouteError>) {
        guard let connection = connections.first(where: { $0.id == id.connection }),
            let waiting = connection.takeWaiting(id)
        else { return }
        finish(waiting, result, to: connection)
    }

    /// An answer that carries the state makes the push of it needless, if it is sent at all.
    private func result(_ answer: Answer, isAnswered: Bool, to connection: RouteConnection) -> JSONValue {
        switch answer {
        case .accepted: return Outcome.accepted.json
        case .clampedNumber(let number): return Outcome.clamped(.number(number)).json
        case .clampedTime(let time): return Outcome.clamped(time.json).json
        case .clampedText(let text): return Outcome.clamped(.text(text)).json
        case .muted(let isMuted): return Outcome.value(.bool(isMuted)).json
        case .level(let level): return Outcome.value(.number(level)).json
        case .announced(let announcement): return Outcome.value(.text(announcement.text)).json
        case .inserted(let items): return Outcome.value(.array(items.map { .text($0.text) })).json
        case .activated(let route, let token, let resumed):
            connection.route = route
            connection.seen = publisher.current
            return ActivationResult(
                route: route.text, resumeToken: token.text, resumed: resumed,
                graceSeconds: shell.configuration.graceTime.components.seconds,
                capabilities: connection.joinsFrames ? [JoinedFrames.capability] : [],
                clock: ClockInfo(id: shell.identity.clock, now: shell.ports.clock.now),
                version: publisher.current.version, state: publisher.current.state
            ).json
        case .greeted(let instance): return greeting(instance)
        case .started(let session):
            if connection.seen != nil, isAnswered { connection.seen = publisher.current }
            return StateResult(
                session: session.text, version: publisher.current.version, state: publisher.current.state
            ).json
        }
    }
}
