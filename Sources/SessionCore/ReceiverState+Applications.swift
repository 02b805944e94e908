// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel

// Sessions of senders with applications.

extension ReceiverState {
    mutating func startApplication(
        _ request: RequestID, _ wanted: ApplicationStart, fresh: SessionID, instance freshInstance: InstanceID
    ) throws(Refusal) -> [ReceiverEffect] {
        guard case .route(let route) = try asker(request) else {
            throw Refusal(.notPermitted, "An application starts no other.")
        }
        guard wanted.url.utf8.count <= QueueItem.urlLimit, !wanted.url.containsControlCharacters,
            !wanted.url.utf8.contains(0x20)
        else { throw Refusal(.invalidURL, "The URL has spaces or control characters, or is too long.") }
        guard let manifest = manifest(for: wanted) else {
            throw Refusal(.applicationUnknown, "There is no such application, or none that claims the URL.")
        }
        guard applications.sessions.count < Applications.sessionLimit,
            applications.sessions(of: route).count < Applications.routeSessionLimit,
            applications.sessions.values.reduce(wanted.url.utf8.count, { $0 + $1.url.utf8.count })
                <= Applications.urlLimit
        else { throw Refusal(.limitReached, "There are too many sessions of applications.") }
        let channel = try nextChannel()
        let (id, launched) = try instance(of: manifest, fresh: freshInstance)
        applications.sessions[fresh] = ApplicationSession(
            application: manifest.id, instance: id, route: route, url: wanted.url, channel: channel)
        let opening = ChannelOpening(
            channel: channel, instance: id, route: route, kind: .session,
            messageLimit: manifest.limits.message)
        return launched + [.openChannel(opening), .answer(request, .started(fresh))] + join(id, fresh)
    }

    private func manifest(for wanted: ApplicationStart) -> ApplicationManifest? {
        guard let name = wanted.application, !name.isEmpty else {
            return applications.catalog.claiming(wanted.url)
        }
        return applications.catalog.first { $0.id.text == name }
    }

    private mutating func nextChannel() throws(Refusal) -> UInt32 {
        guard applications.lastChannel < .max else {
            throw Refusal(.limitReached, "There are no numbers for channels left.")
        }
        applications.lastChannel += 1
        return applications.lastChannel
    }

    /// The instance that another session is for: the one that is shared, or a new one.
    private mutating func instance(
        of manifest: ApplicationManifest, fresh: InstanceID
    ) throws(Refusal) -> (InstanceID, [ReceiverEffect]) {
        if manifest.instance == .shared,
            let id = applications.instances.first(where: {
                $0.value.manifest.id == manifest.id && $0.value.takesSessions
            })?.key
        {
            applications.instances[id]?.timers[.idle] = nil
            return (id, [])
        }
        guard applications.instances.count < Applications.instanceLimit else {
            throw Refusal(
                .limitReached, "\(applications.instances.count) applications run, which is the most.")
        }
        applications.instances[fresh] = ApplicationInstance(manifest)
        return (fresh, [.launch(fresh, manifest.id)] + arm(.launch, fresh))
    }

    func isRunning(_ id: InstanceID) -> Bool { applications.instances[id]?.phase == .running }

    /// Opens a session at an instance that runs; at one that is launched it waits for hello.
    private mutating func join(_ id: InstanceID, _ session: SessionID) -> [ReceiverEffect] {
        guard isRunning(id) else { return [] }
        applications.sessions[session]?.phase = .active
        return [.tell(id, .opened(session))]
    }

    /// A message came on the route channel for an application. What cannot be opened is seen by its absence.
    mutating func openRouteChannel(
        _ connection: ConnectionID, _ application: ApplicationID, fresh: InstanceID
    ) -> [ReceiverEffect] {
        guard !isShutDown, let route = route(of: connection),
            let manifest = applications.catalog.first(where: { $0.id == application }),
            manifest.hasRouteChannel, manifest.instance == .shared,
            !applications.routeChannels.contains(where: {
                $0.value.connection == connection
                    && applications.instances[$0.value.instance]?.manifest.id == application
            })
        else { return [] }
        guard let channel = try? nextChannel(), let (id, launched) = try? instance(of: manifest, fresh: fresh)
        else { return [] }
        applications.routeChannels[channel] = RouteChannel(
            instance: id, route: route, connection: connection)
        let opening = ChannelOpening(
            channel: channel, instance: id, route: route, kind: .route(connection),
            messageLimit: manifest.limits.message)
        let told: [ReceiverEffect] = isRunning(id) ? [.tell(id, .routeOpened(channel: channel))] : []
        return launched + [.openChannel(opening)] + told
    }

    mutating func hello(_ request: RequestID) throws(Refusal) -> [ReceiverEffect] {
        guard let id = applications.instance(of: request.connection),
            var instance = applications.instances[id]
        else { throw Refusal(.notPermitted, "The connection is no application's.") }
        guard instance.phase == .launching else {
            let refusal = Refusal(.notPermitted, "The application has said hello before.")
            return [.refuse(request, refusal)]
                + doom(id, ApplicationFailure(.protocolViolation, "The application said hello twice."))
        }
        instance.phase = .running
        instance.timers[.launch] = nil
        applications.instances[id] = instance
        var effects: [ReceiverEffect] = [.answer(request, .greeted(id))]
        if instance.crashes > 0 { effects += arm(.calm, id) }
        for session in applications.sessions(of: id) { effects += join(id, session) }
        for channel in applications.channels(of: id) {
            effects.append(.tell(id, .routeOpened(channel: channel)))
        }
        return effects
    }

    /// The application ends a session of its own, with words for the sender if it does not want it.
    mutating func endSession(
        _ request: RequestID, _ session: SessionID, failure: String?
    ) throws(Refusal) -> [ReceiverEffect] {
        guard case .instance(let id) = try asker(request) else {
            throw Refusal(.notPermitted, "The connection is no application's.")
        }
        guard let known = applications.sessions[session] else { return [.answer(request, .accepted)] }
        guard known.instance == id else {
            throw Refusal(.notPermitted, "The session is not the application's.")
        }
        let reason =
            failure.map { EndReason.applicationFailed(ApplicationFailure(.refused, $0)) } ?? .finished
        return [.answer(request, .accepted)] + endApplicationSession(session, reason)
    }

    /// Ends a session, and with the last one its instance's work.
    mutating func endApplicationSession(_ id: SessionID, _ reason: EndReason) -> [ReceiverEffect] {
        guard let session = applications.sessions.removeValue(forKey: id) else { return [] }
        var effects: [ReceiverEffect] = [.closeChannel(session.channel)]
        if session.phase == .active {
            effects.append(.tell(session.instance, .closed(id, channel: session.channel, reason)))
        }
        return effects + [.announceEnd(id, reason)] + restIfUnused(session.instance)
    }

    // MARK: Senders

    /// The sender's connection was lost or is back.
    func tellAttached(_ route: RouteID, _ isAttached: Bool) -> [ReceiverEffect] {
        applications.sessions(of: route).compactMap { id in
            guard let session = applications.sessions[id], session.phase == .active else { return nil }
            return .tell(session.instance, .attached(id, isAttached))
        }
    }

    mutating func closeRouteChannels(of connection: ConnectionID) -> [ReceiverEffect] {
        var effects: [ReceiverEffect] = []
        for (number, channel) in applications.routeChannels.sorted(by: { $0.key < $1.key })
        where channel.connection == connection {
            applications.routeChannels[number] = nil
            effects.append(.closeChannel(number))
            if isRunning(channel.instance) {
                effects.append(.tell(channel.instance, .routeClosed(channel: number)))
            }
            effects += restIfUnused(channel.instance)
        }
        return effects
    }

    /// A route is given up that lost its sender: the manifest says what becomes of its sessions.
    mutating func leaveApplications(_ route: RouteID) -> [ReceiverEffect] {
        var effects: [ReceiverEffect] = []
        for id in applications.sessions(of: route) {
            guard let session = applications.sessions[id] else { continue }
            switch applications.instances[session.instance]?.manifest.whenSenderLost {
            case .stay:
                applications.sessions[id]?.route = nil
                effects.append(.abandonChannel(session.channel))
            case .end, nil: effects += endApplicationSession(id, .routeEnded)
            }
        }
        return effects
    }
}
